package httpapi

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// staticFile is a document that never changes while the program runs. It is stored
// compressed, and decompressed for clients that do not accept gzip.
type staticFile struct {
	contentType, etag string
	compressed        []byte
	size              int // uncompressed, in bytes
}

func newStaticFile(contentType string, body []byte) (*staticFile, error) {
	var zipped bytes.Buffer
	z, err := gzip.NewWriterLevel(&zipped, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := z.Write(body); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	sum := sha256.Sum256(body)
	return &staticFile{
		contentType: contentType, compressed: bytes.Clone(zipped.Bytes()), size: len(body),
		etag: `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`,
	}, nil
}

func (f *staticFile) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Etag", f.etag)
	header.Set("Cache-Control", "no-cache") // clients revalidate and get 304
	header.Set("Vary", "Accept-Encoding")
	header.Set("Content-Security-Policy", referencePolicy)
	if strings.Contains(r.Header.Get("If-None-Match"), f.etag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	header.Set("Content-Type", f.contentType)
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		header.Set("Content-Encoding", "gzip")
		header.Set("Content-Length", strconv.Itoa(len(f.compressed)))
		_, _ = w.Write(f.compressed) // the client may have disconnected
		return
	}
	header.Set("Content-Length", strconv.Itoa(f.size))
	plain, err := gzip.NewReader(bytes.NewReader(f.compressed))
	if err != nil {
		panic(err) // compressed by newStaticFile
	}
	_, _ = io.Copy(w, plain) // as above
}
