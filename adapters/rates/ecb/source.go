package ecb

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

// source is where the file is read from. read returns nil if the file has not changed since the
// last accepted read.
type source interface {
	read(ctx context.Context) ([]byte, error)
	// accept marks the last file read as valid.
	accept()
	String() string
}

func newSource(text string, timeout time.Duration) (source, error) {
	if strings.Contains(text, "://") {
		u, err := url.Parse(text)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return nil, errors.New("must be a file path, or a URL such as " + PublishedURL)
		}
		return &httpSource{url: u, client: &http.Client{Timeout: timeout, CheckRedirect: checkRedirect}}, nil
	}
	if text == "" {
		return nil, errors.New("must not be empty; the ECB publishes at " + PublishedURL)
	}
	return fileSource(text), nil
}

// fileSource reads a local file.
type fileSource string

func (p fileSource) read(context.Context) ([]byte, error) {
	file, err := os.Open(string(p))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return readLimited(file)
}

func (fileSource) accept() {}

func (p fileSource) String() string { return string(p) }

// httpSource reads a URL, with conditional requests.
type httpSource struct {
	url    *url.URL
	client *http.Client

	accepted, latest validators
}

// validators identify a version of the file on the server.
type validators struct{ etag, lastModified string }

func (s *httpSource) read(ctx context.Context) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url.String(), nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("User-Agent", "causeway")
	request.Header.Set("Accept", "application/xml, text/xml")
	if s.accepted.etag != "" {
		request.Header.Set("If-None-Match", s.accepted.etag)
	}
	if s.accepted.lastModified != "" {
		request.Header.Set("If-Modified-Since", s.accepted.lastModified)
	}
	response, err := s.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	conditional := s.accepted != validators{}
	switch {
	case response.StatusCode == http.StatusNotModified && conditional:
		return nil, nil
	case response.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("%s responded with %s", s, response.Status)
	}
	s.latest = validators{response.Header.Get("ETag"), response.Header.Get("Last-Modified")}
	return readLimited(response.Body)
}

func (s *httpSource) accept() { s.accepted = s.latest }

func (s *httpSource) String() string { return s.url.Redacted() }

// checkRedirect allows a few redirects, but none from https to http.
func checkRedirect(next *http.Request, previous []*http.Request) error {
	if len(previous) >= 5 {
		return errors.New("too many redirects")
	}
	if previous[0].URL.Scheme == "https" && next.URL.Scheme != "https" {
		return errors.New("redirect from https to http")
	}
	return nil
}

// readLimited reads a file of at most maxBytes.
func readLimited(in io.Reader) ([]byte, error) {
	var text bytes.Buffer
	n, err := text.ReadFrom(io.LimitReader(in, maxBytes+1))
	if err != nil {
		return nil, err
	}
	if n > maxBytes {
		return nil, fmt.Errorf("%w: larger than %d bytes", ErrInvalidFile, maxBytes)
	}
	return text.Bytes(), nil
}
