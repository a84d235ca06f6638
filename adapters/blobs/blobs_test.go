package blobs_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"causeway/adapters/blobs"
	"causeway/ports"
	"causeway/ports/portstest"
)

var keys = blobs.Credentials{AccessKey: "key", SecretKey: "secret"}

func TestFolder_StoresBlobs(t *testing.T) {
	t.Parallel()
	folder, err := blobs.OpenFolder(filepath.Join(t.TempDir(), "new", "folder"))
	if err != nil {
		t.Fatal(err)
	}
	portstest.Blobs(t, folder)
}

// newBucket returns the location of an empty bucket of a service in memory.
func newBucket(t *testing.T, wrap func(http.Handler) http.Handler) string {
	t.Helper()
	backend := s3mem.New()
	if err := backend.CreateBucket("documents"); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(wrap(gofakes3.New(backend).Server()))
	t.Cleanup(server.Close)
	return "s3://documents/causeway?region=eu-central-1&endpoint=" + server.URL
}

func TestS3_StoresBlobs(t *testing.T) {
	t.Parallel()
	store, err := blobs.Open(newBucket(t, func(h http.Handler) http.Handler { return h }), keys)
	if err != nil {
		t.Fatal(err)
	}
	portstest.Blobs(t, store)
}

func TestS3_ServiceFails(t *testing.T) {
	t.Parallel()
	// A service that fails, or is not there, is an error with the name of the bucket, and no missing
	// blob. No secret is in it.
	failing := newBucket(t, func(http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) })
	})
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = closed.Close()
	for name, location := range map[string]string{"forbidden": failing, "closed": "s3://documents?region=x&endpoint=http://" +
		closed.Addr().String()} {
		store, err := blobs.Open(location, keys)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		_, getErr := store.Get(ctx, "a")
		for operation, err := range map[string]error{"put": store.Put(ctx, "a", strings.NewReader("1"), 1), "get": getErr,
			"delete": store.Delete(ctx, "a")} {
			if err == nil || errors.Is(err, ports.ErrNoBlob) || !strings.Contains(err.Error(), "documents") ||
				strings.Contains(err.Error(), keys.SecretKey) {
				t.Errorf("%s, %s: %v", name, operation, err)
			}
		}
	}
}

func TestOpen_Locations(t *testing.T) {
	t.Parallel()
	// A location is a folder or a bucket; an error says what it must be, and shows nothing of it.
	for location, valid := range map[string]bool{
		"folder:" + filepath.Join(t.TempDir(), "blobs"): true,
		"s3://documents": true,
		"s3://documents/a/b?region=x&endpoint=https://minio.test:9000": true,
		"":                              false,
		"folder:":                       false,
		"/var/lib/blobs":                false,
		"s3://":                         false,
		"s3://key:s3cret@documents":     false,
		"s3://documents?endpoint=minio": false,
		"s3://documents?endpoint=https://m/s3cret": false,
		"s3://documents?secret=s3cret":             false,
		"ftp://documents":                          false,
		"s3://docu\x7fments":                       false,
	} {
		_, err := blobs.Open(location, keys)
		if (err == nil) != valid || err != nil && strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%q: %v", location, err)
		}
	}
	if _, err := blobs.Open("s3://documents", blobs.Credentials{AccessKey: "key"}); err == nil {
		t.Error("one key without the other is accepted")
	}
}

func TestFolder_OnlyOwnerReads(t *testing.T) {
	t.Parallel()
	// Files and folders are private, and nothing but the blob is left of a Put. What a killed process
	// left of one is removed by Delete.
	name := t.TempDir()
	folder, err := blobs.OpenFolder(filepath.Join(name, "blobs"))
	if err != nil {
		t.Fatal(err)
	}
	if err := folder.Put(t.Context(), "a/b/c", bytes.NewReader([]byte("1")), 1); err != nil {
		t.Fatal(err)
	}
	left := func() (files []string) {
		err := filepath.WalkDir(filepath.Join(name, "blobs"), func(path string, entry fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := entry.Info()
			if err == nil && info.Mode().Perm()&0o077 != 0 {
				t.Errorf("%s has the mode %s", path, info.Mode())
			}
			if !entry.IsDir() {
				files = append(files, entry.Name())
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return files
	}
	if files := left(); len(files) != 1 || files[0] != "c" {
		t.Errorf("files %q", files)
	}

	if err := os.WriteFile(filepath.Join(name, "blobs", "a", "b", "d.partial"), []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := folder.Get(t.Context(), "a/b/d"); !errors.Is(err, ports.ErrNoBlob) {
		t.Errorf("a partial file: %v", err)
	}
	for _, blob := range []string{"a/b/c", "a/b/d"} {
		if err := folder.Delete(t.Context(), blob); err != nil {
			t.Fatal(err)
		}
	}
	if files := left(); len(files) != 0 {
		t.Errorf("files %q are left", files)
	}
}

func TestFolder_CancelledRead(t *testing.T) {
	t.Parallel()
	// Reading ends with the context.
	folder, err := blobs.OpenFolder(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := folder.Put(t.Context(), "a", bytes.NewReader(make([]byte, 100)), 100); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	r, err := folder.Get(ctx, "a")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	cancel()
	if _, err := io.ReadAll(r); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
