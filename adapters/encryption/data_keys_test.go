package encryption

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"causeway/ports"
	"causeway/ports/portstest"
)

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// memoryKeys is a ports.DataKeyStore.
type memoryKeys struct {
	mu   sync.Mutex
	keys []ports.SealedDataKey
	err  error
}

func (m *memoryKeys) DataKeys(context.Context) ([]ports.SealedDataKey, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]ports.SealedDataKey{}, m.keys...), m.err
}

func (m *memoryKeys) AddDataKey(_ context.Context, key ports.SealedDataKey) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, k := range m.keys {
		if k.Purpose == ports.IndexKey && key.Purpose == ports.IndexKey {
			return nil
		}
	}
	m.keys = append(m.keys, key)
	return nil
}

func (m *memoryKeys) ReplaceDataKey(_ context.Context, key ports.SealedDataKey) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, k := range m.keys {
		if k.ID == key.ID && k.Purpose == key.Purpose {
			m.keys[i] = key
		}
	}
	return nil
}

func TestDataKeys_RoundTripAndTampering(t *testing.T) {
	t.Parallel()
	// A sealed value opens for its row only, unchanged only, and does not contain the plain text.
	keys := NewDataKeys(&memoryKeys{}, newSealer(t, testKey(1)), portstest.NewFakeClock(noon))
	if err := keys.Create(t.Context(), uuid.New()); err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		ctx := context.Background()
		plain := rapid.SliceOfN(rapid.Byte(), 8, 200).Draw(t, "plain")
		row := rapid.SliceOf(rapid.Byte()).Draw(t, "row")
		sealed, err := keys.Seal(ctx, plain, row)
		if err != nil || bytes.Contains(sealed, plain) {
			t.Fatalf("sealed %x, %v", sealed, err)
		}
		if opened, err := keys.Open(ctx, sealed, row); err != nil || !bytes.Equal(opened, plain) {
			t.Fatalf("opened %x, %v", opened, err)
		}
		changed := bytes.Clone(sealed)
		changed[rapid.IntRange(0, len(sealed)-1).Draw(t, "position")] ^= 1
		for _, c := range []struct{ sealed, row []byte }{
			{changed, row}, {sealed[:len(sealed)-1], row}, {sealed[:5], row}, {nil, row}, {sealed, append([]byte("x"), row...)},
		} {
			if opened, err := keys.Open(ctx, c.sealed, c.row); !errors.Is(err, ErrCannotDecrypt) {
				t.Fatalf("opened %x, %v", opened, err)
			}
		}
	})
}

func TestDataKeys_WithoutKeyNothingIsSealed(t *testing.T) {
	t.Parallel()
	// Before there is a data key, values are not sealed and fingerprints are the texts themselves.
	// From then on both are, in every process within seconds.
	store, clock := &memoryKeys{}, portstest.NewFakeClock(noon)
	one, other := NewDataKeys(store, newSealer(t, testKey(1)), clock), NewDataKeys(store, newSealer(t, testKey(1)), clock)
	if sealed, err := other.Seal(t.Context(), []byte("ana"), nil); sealed != nil || err != nil {
		t.Fatalf("sealed %x, %v", sealed, err)
	}
	if fingerprint, err := other.Fingerprint(t.Context(), "ana"); fingerprint != "ana" || err != nil {
		t.Fatalf("fingerprint %q, %v", fingerprint, err)
	}

	if err := one.Create(t.Context(), uuid.New()); err != nil {
		t.Fatal(err)
	}
	clock.Advance(DataKeysInterval)

	sealed, err := other.Seal(t.Context(), []byte("ana"), nil)
	if err != nil || sealed == nil {
		t.Fatalf("sealed %x, %v", sealed, err)
	}
	first, errFirst := one.Fingerprint(t.Context(), "ana")
	second, errSecond := other.Fingerprint(t.Context(), "ana")
	if errFirst != nil || errSecond != nil || first != second || !strings.HasPrefix(first, fingerprintPrefix) {
		t.Errorf("fingerprints %q and %q, %v, %v", first, second, errFirst, errSecond)
	}
	if again, err := one.Fingerprint(t.Context(), first); again != first || err != nil {
		t.Errorf("fingerprint of a fingerprint %q, %v", again, err)
	}
}

func TestDataKeys_NewKeyOfAnotherProcess(t *testing.T) {
	t.Parallel()
	// What another process seals with a key that it has just created opens at once. Older values
	// still open, and fingerprints do not change.
	store, clock := &memoryKeys{}, portstest.NewFakeClock(noon)
	one, other := NewDataKeys(store, newSealer(t, testKey(1)), clock), NewDataKeys(store, newSealer(t, testKey(1)), clock)
	ctx := t.Context()
	if err := one.Create(ctx, uuid.New()); err != nil {
		t.Fatal(err)
	}
	old, err := other.Seal(ctx, []byte("old"), []byte("row"))
	if err != nil {
		t.Fatal(err)
	}
	before, err := other.Fingerprint(ctx, "x")
	if err != nil {
		t.Fatal(err)
	}
	clock.Advance(time.Second)

	if err := one.Create(ctx, uuid.New()); err != nil {
		t.Fatal(err)
	}
	fresh, err := one.Seal(ctx, []byte("new"), []byte("row"))
	if err != nil {
		t.Fatal(err)
	}

	if plain, err := other.Open(ctx, fresh, []byte("row")); err != nil || string(plain) != "new" {
		t.Errorf("opened %q, %v", plain, err)
	}
	if plain, err := one.Open(ctx, old, []byte("row")); err != nil || string(plain) != "old" {
		t.Errorf("opened %q, %v", plain, err)
	}
	newest, err := one.NewestKey(ctx)
	if oldKey, freshKey := uuid.UUID(old[1:17]), uuid.UUID(fresh[1:17]); err != nil || oldKey == newest.ID || freshKey != newest.ID || newest.Generation != ports.DataKeyGeneration {
		t.Errorf("sealed with %s and then with %s, the newest is %v, %v", oldKey, freshKey, newest, err)
	}
	if after, err := one.Fingerprint(ctx, "x"); after != before || err != nil {
		t.Errorf("fingerprint %q, then %q, %v", before, after, err)
	}
}

func TestDataKeys_UnreadableStoreKeepsKeys(t *testing.T) {
	t.Parallel()
	// While the store cannot be read, the keys that were read before stay in use.
	store, clock := &memoryKeys{}, portstest.NewFakeClock(noon)
	keys := NewDataKeys(store, newSealer(t, testKey(1)), clock)
	if err := keys.Create(t.Context(), uuid.New()); err != nil {
		t.Fatal(err)
	}
	store.err = errors.New("no connection")
	clock.Advance(time.Hour)

	if sealed, err := keys.Seal(t.Context(), []byte("ana"), nil); sealed == nil || err != nil {
		t.Errorf("sealed %x, %v", sealed, err)
	}
	if _, err := NewDataKeys(store, newSealer(t, testKey(1)), clock).Seal(t.Context(), []byte("ana"), nil); !errors.Is(err, store.err) {
		t.Errorf("without any keys: %v", err)
	}
}

func TestDataKeys_RewrapForNewMasterKey(t *testing.T) {
	t.Parallel()
	// After a rewrap the new master key alone is enough.
	store, clock := &memoryKeys{}, portstest.NewFakeClock(noon)
	before := NewDataKeys(store, newSealer(t, testKey(1)), clock)
	if err := before.Create(t.Context(), uuid.New()); err != nil {
		t.Fatal(err)
	}
	sealed, err := before.Seal(t.Context(), []byte("ana"), nil)
	if err != nil {
		t.Fatal(err)
	}

	if err := NewDataKeys(store, newSealer(t, testKey(2), testKey(1)), clock).Rewrap(t.Context()); err != nil {
		t.Fatal(err)
	}

	if plain, err := NewDataKeys(store, newSealer(t, testKey(2)), clock).Open(t.Context(), sealed, nil); err != nil || string(plain) != "ana" {
		t.Errorf("opened %q, %v", plain, err)
	}
	if _, err := NewDataKeys(store, newSealer(t, testKey(1)), clock).Open(t.Context(), sealed, nil); !errors.Is(err, ErrCannotDecrypt) {
		t.Errorf("with the old master key: %v", err)
	}
}

func TestMaster_FollowsItsSource(t *testing.T) {
	t.Parallel()
	// A key that is new in the source opens what another process sealed with it, and seals within
	// seconds. A source that is broken later leaves the former keys in use.
	clock, keys := portstest.NewFakeClock(noon), [][]byte{testKey(1)}
	var broken error
	master, err := NewMaster(func() ([][]byte, error) { return keys, broken }, clock)
	if err != nil {
		t.Fatal(err)
	}
	keys = [][]byte{testKey(2), testKey(1)}
	clock.Advance(masterRetryInterval)
	sealed, err := newSealer(t, testKey(2)).Seal([]byte("private"), nil)
	if err != nil {
		t.Fatal(err)
	}

	if plain, err := master.Open(sealed, nil); err != nil || string(plain) != "private" {
		t.Errorf("opened %q, %v", plain, err)
	}
	keys, broken = nil, errors.New("no such file")
	clock.Advance(masterReadInterval)
	again, err := master.Seal([]byte("private"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if plain, err := newSealer(t, testKey(2)).Open(again, nil); err != nil || string(plain) != "private" {
		t.Errorf("sealed with another key than the new one: %q, %v", plain, err)
	}
	if _, err := NewMaster(func() ([][]byte, error) { return nil, nil }, clock); err == nil {
		t.Error("no master key is accepted")
	}
}

func TestParseKeys(t *testing.T) {
	t.Parallel()
	// Keys are separated by commas or lines; each must be valid, and there is at least one.
	one, other := NewKey(), NewKey()
	for _, text := range []string{one + "," + other, one + "\n" + other + "\n", " " + one + "\r\n\r\n" + other} {
		if keys, err := ParseKeys(text); err != nil || len(keys) != 2 || bytes.Equal(keys[0], keys[1]) {
			t.Errorf("%q: %x, %v", text, keys, err)
		}
	}
	for _, text := range []string{"", " \n", one + ",short"} {
		if _, err := ParseKeys(text); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
}

// silentKeys is a store that does not respond after the first time.
type silentKeys struct {
	memoryKeys
	silent bool
}

func (s *silentKeys) DataKeys(ctx context.Context) ([]ports.SealedDataKey, error) {
	if s.silent {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return s.memoryKeys.DataKeys(ctx)
}

func TestDataKeys_SilentStoreDelaysOneCallerBriefly(t *testing.T) {
	t.Parallel()
	// While the store does not respond, as when all its connections are in use, a caller without a
	// deadline waits for a moment only, and gets the former keys.
	synctest.Test(t, func(t *testing.T) {
		store, clock := &silentKeys{}, portstest.NewFakeClock(noon)
		keys := NewDataKeys(store, newSealer(t, testKey(1)), clock)
		if err := keys.Create(context.Background(), uuid.New()); err != nil {
			t.Fatal(err)
		}
		store.silent = true
		clock.Advance(DataKeysInterval)
		began := time.Now()
		for range 3 {
			if sealed, err := keys.Seal(context.Background(), []byte("ana"), nil); sealed == nil || err != nil {
				t.Errorf("sealed %x, %v", sealed, err)
			}
		}
		if waited := time.Since(began); waited > reloadTimeout {
			t.Errorf("waited %s", waited)
		}
	})
}
