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
	if oldKey, freshKey := uuid.UUID(old[1:17]), uuid.UUID(fresh[1:17]); err != nil || oldKey == newest.ID || freshKey != newest.ID ||
		newest.Generation != ports.DataKeyGeneration {
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

func TestDataKeys_LostKeyEncryptsNothing(t *testing.T) {
	t.Parallel()
	// A key that the database has lost encrypts nothing from the moment that keys are forgotten: not while
	// the store cannot be read, and not if the keys were just being read from the database that was lost.
	store, clock := &memoryKeys{}, portstest.NewFakeClock(noon)
	keys := NewDataKeys(store, newSealer(t, testKey(1)), clock)
	ctx := t.Context()
	if err := keys.Create(ctx, uuid.New()); err != nil {
		t.Fatal(err)
	}
	kept, _ := store.DataKeys(ctx)
	clock.Advance(time.Second)
	if err := keys.Create(ctx, uuid.New()); err != nil {
		t.Fatal(err)
	}
	before, _ := store.DataKeys(ctx)
	sealedWith := func(keys *DataKeys) uuid.UUID {
		sealed, err := keys.Seal(ctx, []byte("ana"), nil)
		if err != nil {
			t.Fatal(err)
		}
		return uuid.UUID(sealed[1:17])
	}
	if key := sealedWith(keys); key != before[len(before)-1].ID {
		t.Fatalf("sealed with %s", key)
	}
	store.keys, store.err = kept, errors.New("no connection")

	keys.Forget()

	if sealed, err := keys.Seal(ctx, []byte("ana"), nil); !errors.Is(err, store.err) {
		t.Errorf("sealed %x without the keys of the database, %v", sealed, err)
	}
	store.err = nil
	if key := sealedWith(keys); key != kept[0].ID && key != kept[1].ID {
		t.Errorf("sealed with %s, which the database has lost", key)
	}

	lost := &lostKeys{memoryKeys: memoryKeys{keys: before}}
	keys = NewDataKeys(lost, newSealer(t, testKey(1)), clock)
	lost.read = func() { lost.keys = kept; keys.Forget() }
	if key := sealedWith(keys); key == before[len(before)-1].ID {
		t.Errorf("sealed with %s, which was lost while it was read", key)
	}
}

// lostKeys is a store that loses keys while they are read for the first time.
type lostKeys struct {
	memoryKeys
	read func()
}

func (l *lostKeys) DataKeys(ctx context.Context) ([]ports.SealedDataKey, error) {
	keys, err := l.memoryKeys.DataKeys(ctx)
	if read := l.read; read != nil {
		l.read = nil
		read()
	}
	return keys, err
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

func TestDataKeys_OldKeysEncryptNothingNew(t *testing.T) {
	t.Parallel()
	// A process that could not read the keys for half a day, and so may not know that one was removed,
	// encrypts nothing until it can read them again. It still decrypts.
	store, clock := &memoryKeys{}, portstest.NewFakeClock(noon)
	keys := NewDataKeys(store, newSealer(t, testKey(1)), clock)
	if err := keys.Create(t.Context(), uuid.New()); err != nil {
		t.Fatal(err)
	}
	sealed, err := keys.Seal(t.Context(), []byte("ana"), nil)
	if err != nil {
		t.Fatal(err)
	}
	store.err = errors.New("no connection")
	for range 14 {
		clock.Advance(time.Hour)
		_, err = keys.Seal(t.Context(), []byte("ana"), nil)
	}

	if !errors.Is(err, store.err) {
		t.Errorf("encrypted with old keys: %v", err)
	}
	if plain, err := keys.Open(t.Context(), sealed, nil); err != nil || string(plain) != "ana" {
		t.Errorf("opened %q, %v", plain, err)
	}
	store.err = nil
	if sealed, err := keys.Seal(t.Context(), []byte("ana"), nil); sealed == nil || err != nil {
		t.Errorf("after the store responded again: %x, %v", sealed, err)
	}
}

func TestCheckRemovable(t *testing.T) {
	t.Parallel()
	// Only a data key that was replaced a day ago can be removed: by then no process encrypts with it.
	first, second, third := uuid.New(), uuid.New(), uuid.New()
	keys := []ports.SealedDataKey{
		{ID: first, Purpose: ports.IndexKey, CreatedAt: noon}, {ID: first, Purpose: ports.DataKey, CreatedAt: noon},
		{ID: third, Purpose: ports.DataKey, CreatedAt: noon.Add(2 * time.Hour)},
		{ID: second, Purpose: ports.DataKey, CreatedAt: noon.Add(time.Hour)},
	}
	for name, tt := range map[string]struct {
		id    uuid.UUID
		after time.Duration
		says  string
	}{
		"newest":                {third, 1000 * time.Hour, "encrypts new data"},
		"replaced a moment ago": {second, 3 * time.Hour, "can be removed from 2026-11-23T14:00:00Z on"},
		"replaced a day ago":    {first, 25 * time.Hour, ""},
		"replaced later":        {second, 25 * time.Hour, "can be removed from"},
		"both":                  {second, 26 * time.Hour, ""},
		"unknown":               {uuid.New(), 1000 * time.Hour, "there is no data key"},
	} {
		err := CheckRemovable(keys, tt.id, noon.Add(tt.after))
		if tt.says == "" && err != nil || tt.says != "" && (err == nil || !strings.Contains(err.Error(), tt.says)) {
			t.Errorf("%s: %v, want %q", name, err, tt.says)
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
