package checkpoints_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"golang.org/x/mod/sumdb/note"

	"causeway/adapters/checkpoints"
	"causeway/adapters/encryption"
	"causeway/adapters/ids"
	"causeway/ledger"
	"causeway/ports"
	"causeway/ports/portstest"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// fakeKeyStore stores keys in memory.
type fakeKeyStore struct {
	mu   sync.Mutex
	keys []ports.SealedCheckpointKey
}

func (s *fakeKeyStore) CheckpointKeys(context.Context) ([]ports.SealedCheckpointKey, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]ports.SealedCheckpointKey{}, s.keys...), nil
}

func (s *fakeKeyStore) ReplaceCheckpointKey(_ context.Context, ends uuid.UUID, with ports.SealedCheckpointKey) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, k := range s.keys {
		if k.ValidUntil.IsZero() {
			if k.ID != ends {
				return false, nil
			}
			s.keys[i].ValidUntil = with.ValidFrom
		}
	}
	s.keys = append([]ports.SealedCheckpointKey{with}, s.keys...)
	return true, nil
}

func newKeyring(t *testing.T, s *fakeKeyStore, master string) *checkpoints.Keyring {
	t.Helper()
	key := sha256.Sum256([]byte(master))
	sealer, err := encryption.New(key[:])
	if err != nil {
		t.Fatal(err)
	}
	return checkpoints.NewKeyring(s, sealer, portstest.NewFakeClock(noon), ids.New())
}

func newCheckpoint(size int64) ledger.Checkpoint {
	c := ledger.Checkpoint{Size: size, Root: [32]byte{byte(size)}}
	c.Platform.SetUUID(uuid.MustParse("01900000-0000-7000-8000-000000000001"))
	return c
}

func TestKeyring_SignsAndRotates(t *testing.T) {
	t.Parallel()
	// Concurrent keyrings sign with one key; a note verifies with its public key, also after that
	// key was replaced.
	s := &fakeKeyStore{}
	var all sync.WaitGroup
	for range 8 {
		ring := newKeyring(t, s, "master")
		all.Go(func() {
			if _, err := ring.Sign(t.Context(), newCheckpoint(1)); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	ring := newKeyring(t, s, "master")
	signed, err := ring.Sign(t.Context(), newCheckpoint(7))
	if err != nil {
		t.Fatal(err)
	}
	if len(s.keys) != 1 {
		t.Errorf("%d keys were created", len(s.keys))
	}

	replaced, err := ring.Rotate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	later, err := ring.Sign(t.Context(), newCheckpoint(8))
	if err != nil {
		t.Fatal(err)
	}

	keys, err := ring.Keys(t.Context())
	if err != nil || len(keys) != 2 || keys[0].ID != replaced.ID || keys[1].ValidUntil.IsZero() {
		t.Fatalf("keys %+v, %v", keys, err)
	}
	for i, text := range []string{later, signed} {
		key, err := note.NewEd25519VerifierKey(ledger.LogOrigin(newCheckpoint(1).Platform), keys[i].Public[:])
		if err != nil {
			t.Fatal(err)
		}
		verifier, err := note.NewVerifier(key)
		if err != nil {
			t.Fatal(err)
		}
		opened, err := note.Open([]byte(text), note.VerifierList(verifier))
		if err != nil || opened.Text != newCheckpoint(int64(8-i)).Text() {
			t.Errorf("note %d: %v", i, err)
		}
	}
}

func TestKeyring_WrongMasterKey(t *testing.T) {
	t.Parallel()
	// A key does not sign with another master key or another public key; a new key does not need
	// the old one.
	s := &fakeKeyStore{}
	if _, err := newKeyring(t, s, "master").Sign(t.Context(), newCheckpoint(1)); err != nil {
		t.Fatal(err)
	}
	if _, err := newKeyring(t, s, "another").Sign(t.Context(), newCheckpoint(1)); !errors.Is(err, encryption.ErrCannotDecrypt) {
		t.Errorf("with another master key: %v", err)
	}
	s.keys[0].Public[0]++
	if _, err := newKeyring(t, s, "master").Sign(t.Context(), newCheckpoint(1)); err == nil || !strings.Contains(err.Error(), "public key") {
		t.Errorf("with another public key: %v", err)
	}
	ring := newKeyring(t, s, "another")
	if _, err := ring.Rotate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := ring.Sign(t.Context(), newCheckpoint(1)); err != nil {
		t.Error(err)
	}
}

func signCheckpoints(t *testing.T, sizes ...int64) (signed []ports.SignedCheckpoint) {
	t.Helper()
	ring := newKeyring(t, &fakeKeyStore{}, "master")
	for _, size := range sizes {
		text, err := ring.Sign(t.Context(), newCheckpoint(size))
		if err != nil {
			t.Fatal(err)
		}
		signed = append(signed, ports.SignedCheckpoint{Checkpoint: newCheckpoint(size), Note: text})
	}
	return signed
}

func TestDirectoryPublisher_AppendsAfterCrash(t *testing.T) {
	t.Parallel()
	// Checkpoints are appended to the file of their platform, wherever a crash truncated it, and
	// are read back unchanged.
	signed := signCheckpoints(t, 1, 2, 3)
	complete := signed[0].Note + "\n" + signed[1].Note + "\n"
	for cut := range len(complete) + 1 {
		dir := filepath.Join(t.TempDir(), "checkpoints")
		publisher, err := checkpoints.NewPublisher(dir, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, checkpoints.FileName(signed[0]))
		if err := os.WriteFile(path, []byte(complete[:cut]), 0o644); err != nil {
			t.Fatal(err)
		}

		if err := publisher.Publish(t.Context(), signed[2:]); err != nil {
			t.Fatal(err)
		}

		left := ""
		for _, h := range signed[:2] {
			if next := left + h.Note + "\n"; cut >= len(next) {
				left = next
			}
		}
		if got := readAll(t, dir); got != left+signed[2].Note+"\n" {
			t.Fatalf("after a crash at byte %d the file is %q", cut, got)
		}
	}
}

func TestDirectoryPublisher_LeavesOtherFilesUnchanged(t *testing.T) {
	t.Parallel()
	// A file with other content is neither appended to nor truncated.
	signed, dir := signCheckpoints(t, 1), t.TempDir()
	path, text := filepath.Join(dir, checkpoints.FileName(signed[0])), strings.Repeat("something else\n", 1000)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	publisher, err := checkpoints.NewPublisher(dir, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if err := publisher.Publish(t.Context(), signed); err == nil || !strings.Contains(err.Error(), "move it away") {
		t.Errorf("got %v", err)
	}
	if got := readAll(t, path); got != text {
		t.Error("the file was changed")
	}
}

func readAll(t *testing.T, location string) (text string) {
	t.Helper()
	sources, err := checkpoints.Open(t.Context(), location)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range sources {
		part, err := io.ReadAll(s.Text)
		if err != nil {
			t.Fatal(err)
		}
		text += string(part)
		s.Text.Close()
	}
	return text
}

func TestHTTPPublisher_PostsInOrder(t *testing.T) {
	t.Parallel()
	// Each checkpoint is posted on its own, in order; another status than 2xx is an error, a
	// redirect is not followed, and the response of a URL can be read back.
	signed := signCheckpoints(t, 1, 2)
	var got []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch {
		case r.Method == http.MethodGet:
			_, _ = io.WriteString(w, strings.Join(got, "\n"))
		case r.URL.Path == "/full":
			w.WriteHeader(http.StatusInsufficientStorage)
		case r.URL.Path == "/moved":
			http.Redirect(w, r, "/", http.StatusTemporaryRedirect)
		default:
			got = append(got, string(body))
			w.WriteHeader(http.StatusNoContent)
		}
	}))
	defer server.Close()
	publish := func(location string) error {
		publisher, err := checkpoints.NewPublisher(location, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		return publisher.Publish(t.Context(), signed)
	}

	if err := publish(server.URL); err != nil || len(got) != 2 || got[0] != signed[0].Note || got[1] != signed[1].Note {
		t.Errorf("got %q, %v", got, err)
	}
	if text := readAll(t, server.URL); text != signed[0].Note+"\n"+signed[1].Note {
		t.Errorf("read back %q", text)
	}
	for path, want := range map[string]string{"/full": "507", "/moved": "307"} {
		if err := publish(server.URL + path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
	server.Close()
	if err := publish(server.URL); err == nil {
		t.Error("a closed server accepts checkpoints")
	}
}

func TestPublisher_SilentPlaceTimesOut(t *testing.T) {
	t.Parallel()
	// An endpoint that does not respond, and a folder whose file another process keeps locked, hold
	// nothing for longer than the timeout. Afterwards checkpoints are published.
	signed := signCheckpoints(t, 1)
	silent := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-silent:
		case <-r.Context().Done():
		}
	}))
	defer server.Close()
	dir := t.TempDir()
	locked, err := os.Create(filepath.Join(dir, checkpoints.FileName(signed[0])))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Flock(int(locked.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	publishers := map[string]ports.CheckpointPublisher{}
	for _, location := range []string{server.URL, dir} {
		if publishers[location], err = checkpoints.NewPublisher(location, 2*time.Second); err != nil {
			t.Fatal(err)
		}
		if err := publishers[location].Publish(t.Context(), signed); err == nil {
			t.Errorf("published to %s", location)
		}
	}

	close(silent)
	if err := locked.Close(); err != nil {
		t.Fatal(err)
	}

	for location, publisher := range publishers {
		if err := publisher.Publish(t.Context(), signed); err != nil {
			t.Errorf("%s: %v", location, err)
		}
	}
	if got := readAll(t, dir); got != signed[0].Note+"\n" {
		t.Errorf("published %q", got)
	}
}

func TestPublisher_NewestIsTheLastCompleteNote(t *testing.T) {
	t.Parallel()
	// The newest checkpoint of a folder is the last that was written completely, of many as of one. An empty folder and a URL have none.
	var sizes []int64
	for size := range int64(30) {
		sizes = append(sizes, size+1)
	}
	signed := signCheckpoints(t, sizes...)
	dir := t.TempDir()
	for _, location := range []string{dir, "http://127.0.0.1:1"} {
		wantNewest(t, location, "")
	}
	publisher, err := checkpoints.NewPublisher(dir, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	for i := range signed {
		if err := publisher.Publish(t.Context(), signed[i:i+1]); err != nil {
			t.Fatal(err)
		}
		wantNewest(t, dir, signed[i].Note+"\n")
	}
	file, err := os.OpenFile(filepath.Join(dir, checkpoints.FileName(signed[0])), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = file.WriteString(signed[0].Note[:len(signed[0].Note)-3])
	if err := errors.Join(err, file.Close()); err != nil {
		t.Fatal(err)
	}
	wantNewest(t, dir, signed[29].Note+"\n")
}

// wantNewest compares the newest notes of a place.
func wantNewest(t *testing.T, location, want string) {
	t.Helper()
	publisher, err := checkpoints.NewPublisher(location, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	notes, err := publisher.Newest(t.Context())
	if err != nil || len(notes) > 1 || strings.Join(notes, "") != want {
		t.Errorf("the newest of %s are %q, %v", location, notes, err)
	}
}

func TestNewPublisher_InvalidLocation(t *testing.T) {
	t.Parallel()
	// A location that is neither a folder nor a URL is refused, and so is reading from one
	// without checkpoints.
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, location := range []string{"ftp://example.com/", "http://", file, file + "/below"} {
		if _, err := checkpoints.NewPublisher(location, time.Minute); err == nil {
			t.Errorf("%s is accepted", location)
		}
	}
	for _, location := range []string{t.TempDir(), file + ".none", "ftp://example.com/", "http://127.0.0.1:1/"} {
		if _, err := checkpoints.Open(t.Context(), location); err == nil {
			t.Errorf("checkpoints are found in %s", location)
		}
	}
}

func TestPlaceOf_HasNoSecrets(t *testing.T) {
	t.Parallel()
	// What is recorded of a place has neither a password nor a path or query, which may be keys.
	for location, want := range map[string]string{
		"/mnt/checkpoints":                           "a folder",
		"https://log:secret@a.example:8443/in?key=1": "https://a.example:8443",
		"ftp://log:secret@a.example":                 "",
	} {
		if got := checkpoints.PlaceOf(location); got != want {
			t.Errorf("%s: %q", location, got)
		}
	}
}
