package portstest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"

	"causeway/ports"
)

// Files stores files in memory, in plain text.
type Files struct {
	mu     sync.Mutex
	stored map[string]storedFile
	fail   error
}

type storedFile struct{ key, content []byte }

var _ ports.Files = (*Files)(nil)

// Fail makes all further calls fail; nil ends that. A Put that fails stores the file all the same, as
// one whose answer was lost.
func (f *Files) Fail(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fail = err
}

// Names returns the names of the stored files, sorted.
func (f *Files) Names() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Sorted(maps.Keys(f.stored))
}

// Put implements ports.Files.
func (f *Files) Put(_ context.Context, name string, content io.Reader, size int64) ([]byte, error) {
	b, err := io.ReadAll(content)
	if err != nil || int64(len(b)) != size {
		return nil, fmt.Errorf("%d bytes of %d: %w", len(b), size, err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, exists := f.stored[name]; exists {
		return nil, fmt.Errorf("%s was used before", name)
	}
	if f.stored == nil {
		f.stored = map[string]storedFile{}
	}
	key := []byte("key of " + name)
	f.stored[name] = storedFile{key, b}
	return key, f.fail
}

// Open implements ports.Files.
func (f *Files) Open(_ context.Context, name string, key []byte) (io.ReadCloser, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	file, ok := f.stored[name]
	switch {
	case f.fail != nil:
		return nil, f.fail
	case !ok:
		return nil, ports.ErrNoBlob
	case !bytes.Equal(key, file.key):
		return nil, fmt.Errorf("%s has another key", name)
	}
	return io.NopCloser(bytes.NewReader(file.content)), nil
}

// Delete implements ports.Files.
func (f *Files) Delete(_ context.Context, name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fail == nil {
		delete(f.stored, name)
	}
	return f.fail
}
