package encryption_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"testing"
	"testing/iotest"

	"causeway/adapters/encryption"
	"causeway/ports"
)

// memory stores blobs.
type memory struct {
	mu    sync.Mutex
	blobs map[string][]byte
}

func (m *memory) Put(_ context.Context, name string, content io.Reader, size int64) error {
	b, err := io.ReadAll(content)
	if err == nil && int64(len(b)) != size {
		err = errors.New("the announced size is wrong")
	}
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.blobs[name] = b
	return nil
}

func (m *memory) Get(_ context.Context, name string) (io.ReadCloser, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	b, ok := m.blobs[name]
	if !ok {
		return nil, ports.ErrNoBlob
	}
	return io.NopCloser(iotest.HalfReader(bytes.NewReader(b))), nil
}

func (m *memory) Delete(_ context.Context, name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.blobs, name)
	return nil
}

func readFile(t *testing.T, files *encryption.Files, name string, key []byte) ([]byte, error) {
	t.Helper()
	r, err := files.Open(t.Context(), name, key)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}

const frame = 64 << 10

func TestFiles_RoundTrip(t *testing.T) {
	t.Parallel()
	// A file of any size is read as it was written, with its own key only; the blob shows nothing of
	// it.
	store := &memory{blobs: map[string][]byte{}}
	files := encryption.NewFiles(store)
	var former []byte
	for _, size := range []int{0, 1, 15, 16, frame - 1, frame, frame + 1, 2 * frame, 5*frame + 77} {
		content := bytes.Repeat([]byte("passport"), size/8+1)[:size]

		key, err := files.Put(t.Context(), "a", iotest.OneByteReader(bytes.NewReader(content)), int64(size))

		if err != nil {
			t.Fatalf("%d bytes: %v", size, err)
		}
		if got, err := readFile(t, files, "a", key); err != nil || !bytes.Equal(got, content) {
			t.Errorf("%d bytes: read %d, %v", size, len(got), err)
		}
		if bytes.Contains(store.blobs["a"], []byte("passport")) {
			t.Errorf("%d bytes: stored in plain text", size)
		}
		if former != nil {
			if _, err := readFile(t, files, "a", former); !errors.Is(err, encryption.ErrCannotDecrypt) {
				t.Errorf("%d bytes: the key of another file: %v", size, err)
			}
		}
		former = key
	}
	if err := files.Delete(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	if _, err := readFile(t, files, "a", former); !errors.Is(err, ports.ErrNoBlob) {
		t.Errorf("a deleted file: %v", err)
	}
}

func TestFiles_ChangesAreFound(t *testing.T) {
	t.Parallel()
	// A changed bit, a frame that is missing, repeated, moved or added, an end that is cut off, and the
	// blob of another name are errors, after at most what was written.
	store := &memory{blobs: map[string][]byte{}}
	files := encryption.NewFiles(store)
	content := make([]byte, 3*frame+100)
	for i := range content {
		content[i] = byte(i / frame)
	}
	key, err := files.Put(t.Context(), "a", bytes.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	sealed := store.blobs["a"]
	frames := [][]byte{sealed[:1]}
	frames = append(frames, slices.Collect(slices.Chunk(sealed[1:], frame+16))...)
	flip := func(at int) []byte {
		changed := bytes.Clone(sealed)
		changed[at] ^= 1
		return changed
	}
	join := func(numbers ...int) []byte {
		var all []byte
		for _, n := range numbers {
			all = append(all, frames[n]...)
		}
		return all
	}
	for name, blob := range map[string][]byte{
		"empty": {}, "version": flip(0), "version only": sealed[:1], "first byte": flip(1), "last byte": flip(len(sealed) - 1),
		"middle":           flip(frame * 2),
		"without the last": join(0, 1, 2, 3), "without the first": join(0, 2, 3, 4), "repeated": join(0, 1, 1, 2, 3, 4),
		"moved": join(0, 2, 1, 3, 4),
		"added": append(bytes.Clone(sealed), frames[1]...), "one byte more": append(bytes.Clone(sealed), 0),
		"one byte less":        sealed[:len(sealed)-1],
		"two bytes of a frame": sealed[:frame+19], "the last only": join(0, 4),
	} {
		store.blobs["a"] = blob
		got, err := readFile(t, files, "a", key)
		if !errors.Is(err, encryption.ErrCannotDecrypt) || !bytes.HasPrefix(content, got) {
			t.Errorf("%s: read %d bytes, %v", name, len(got), err)
		}
	}
	store.blobs["b"] = sealed
	if _, err := readFile(t, files, "b", key); !errors.Is(err, encryption.ErrCannotDecrypt) {
		t.Errorf("the blob of another name: %v", err)
	}
	if _, err := readFile(t, files, "b", key[:16]); err == nil {
		t.Error("a short key is accepted")
	}
}

func TestFiles_SizeMustBeRight(t *testing.T) {
	t.Parallel()
	// A file that is not as long as announced, or fails to be read, is not stored.
	store := &memory{blobs: map[string][]byte{}}
	files := encryption.NewFiles(store)
	broken := errors.New("disk failed")
	for name, content := range map[string]io.Reader{
		"shorter": bytes.NewReader(make([]byte, frame)), "longer": bytes.NewReader(make([]byte, frame+2)),
		"fails": io.MultiReader(bytes.NewReader(make([]byte, 10)), iotest.ErrReader(broken)),
	} {
		if _, err := files.Put(t.Context(), name, content, frame+1); err == nil || name == "fails" && !errors.Is(err, broken) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(store.blobs) != 0 {
		t.Errorf("%d blobs are stored", len(store.blobs))
	}
}
