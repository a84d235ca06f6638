package portstest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"
	"testing/iotest"

	"causeway/ports"
)

// Blobs tests a store of blobs that is empty.
func Blobs(t *testing.T, blobs ports.Blobs) {
	t.Helper()
	put := func(name string, content []byte) error {
		return blobs.Put(t.Context(), name, io.MultiReader(bytes.NewReader(content)), int64(len(content)))
	}
	get := func(name string) ([]byte, error) {
		r, err := blobs.Get(t.Context(), name)
		if err != nil {
			return nil, err
		}
		content, err := io.ReadAll(r)
		return content, errors.Join(err, r.Close())
	}
	t.Run("what was put is returned until it is deleted", func(t *testing.T) {
		// Names that begin alike are different blobs. Deleting a blob that is gone is no error.
		contents := map[string][]byte{"a/one": []byte("1"), "a/one-more": bytes.Repeat([]byte("0123456789"), 300_000), "a/b/one": []byte("2")}
		for name, content := range contents {
			if err := put(name, content); err != nil {
				t.Fatalf("put %s: %v", name, err)
			}
		}
		for name, content := range contents {
			if got, err := get(name); err != nil || !bytes.Equal(got, content) {
				t.Fatalf("get %s: %d bytes, %v; want %d", name, len(got), err, len(content))
			}
			for range 2 {
				if err := blobs.Delete(t.Context(), name); err != nil {
					t.Fatalf("delete %s: %v", name, err)
				}
			}
			if _, err := get(name); !errors.Is(err, ports.ErrNoBlob) {
				t.Fatalf("get %s after its deletion: %v", name, err)
			}
			delete(contents, name)
		}
	})
	t.Run("there is no blob of an unknown name", func(t *testing.T) {
		if _, err := get("unknown/name"); !errors.Is(err, ports.ErrNoBlob) {
			t.Fatalf("got %v", err)
		}
	})
	t.Run("an interrupted put leaves no blob", func(t *testing.T) {
		// Whether the content fails, is too short or too long, or the caller gives up.
		broken := errors.New("the sender has gone")
		cancelled, cancel := context.WithCancel(t.Context())
		cancel()
		for name, attempt := range map[string]struct {
			ctx     context.Context
			content io.Reader
		}{
			"fails":     {t.Context(), io.MultiReader(bytes.NewReader(make([]byte, 70_000)), iotest.ErrReader(broken))},
			"too-short": {t.Context(), bytes.NewReader(make([]byte, 99_999))},
			"too-long":  {t.Context(), bytes.NewReader(make([]byte, 100_001))},
			"cancelled": {cancelled, bytes.NewReader(make([]byte, 100_000))},
		} {
			if err := blobs.Put(attempt.ctx, "interrupted/"+name, attempt.content, 100_000); err == nil {
				t.Fatalf("%s: no error", name)
			}
			if _, err := get("interrupted/" + name); !errors.Is(err, ports.ErrNoBlob) {
				t.Fatalf("%s: got %v", name, err)
			}
			if err := blobs.Delete(t.Context(), "interrupted/"+name); err != nil {
				t.Fatalf("%s: delete: %v", name, err)
			}
		}
	})
	t.Run("many at the same time", func(t *testing.T) {
		var running sync.WaitGroup
		for i := range 20 {
			running.Go(func() {
				name, content := fmt.Sprintf("many/%d", i), bytes.Repeat([]byte{byte(i)}, 1+10_000*i)
				if err := put(name, content); err != nil {
					t.Errorf("put %s: %v", name, err)
				}
				if got, err := get(name); err != nil || !bytes.Equal(got, content) {
					t.Errorf("get %s: %d bytes, %v", name, len(got), err)
				}
			})
		}
		running.Wait()
	})
	t.Run("names lead nowhere else", func(t *testing.T) {
		for _, name := range []string{"", "/", "../a", "a/../b", "/etc/passwd", "a//b", "a/", "A", "a.b", "a b", "ä"} {
			if err := put(name, []byte("1")); err == nil {
				t.Fatalf("%q is accepted", name)
			}
			if _, err := get(name); err == nil || errors.Is(err, ports.ErrNoBlob) {
				t.Fatalf("get %q: %v", name, err)
			}
			if err := blobs.Delete(t.Context(), name); err == nil {
				t.Fatalf("delete %q is accepted", name)
			}
		}
	})
}
