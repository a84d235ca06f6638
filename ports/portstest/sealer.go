package portstest

import (
	"bytes"
	"errors"
	"sync"
	"testing"

	"causeway/ports"
)

// Sealer tests a sealer. Another sealer of the same kind, with another key, must not open what it sealed.
func Sealer(t *testing.T, sealer, stranger ports.Sealer) {
	t.Helper()
	plain, row := []byte("a private key of a customer"), []byte("row 1")
	seal := func(t *testing.T, plain []byte) []byte {
		t.Helper()
		sealed, err := sealer.Seal(plain, row)
		if err != nil {
			t.Fatal(err)
		}
		return sealed
	}
	refuse := func(t *testing.T, with ports.Sealer, sealed, context []byte) {
		t.Helper()
		if opened, err := with.Open(sealed, context); !errors.Is(err, ports.ErrCannotDecrypt) {
			t.Fatalf("opened %q, %v", opened, err)
		}
	}
	t.Run("what was sealed is opened with its context", func(t *testing.T) {
		for _, text := range [][]byte{plain, {0}, bytes.Repeat([]byte("0123456789"), 1000)} {
			for _, context := range [][]byte{nil, row, bytes.Repeat([]byte{0xff}, 300)} {
				sealed, err := sealer.Seal(text, context)
				if err != nil {
					t.Fatal(err)
				}
				if opened, err := sealer.Open(sealed, context); err != nil || !bytes.Equal(opened, text) {
					t.Fatalf("opened %d bytes, %v; want %d", len(opened), err, len(text))
				}
			}
		}
	})
	t.Run("a sealed value does not show the plain one", func(t *testing.T) {
		// Equal values differ when they are sealed.
		first, second := seal(t, plain), seal(t, plain)
		if bytes.Equal(first, second) || bytes.Contains(first, plain) {
			t.Fatalf("sealed %q and %q", first, second)
		}
	})
	t.Run("nothing else is opened", func(t *testing.T) {
		sealed := seal(t, plain)
		for i := range sealed {
			changed := bytes.Clone(sealed)
			changed[i] ^= 1
			refuse(t, sealer, changed, row)
			refuse(t, sealer, sealed[:i], row)
		}
		refuse(t, sealer, append(bytes.Clone(sealed), 0), row)
		refuse(t, sealer, sealed, []byte("row 2"))
		refuse(t, sealer, sealed, nil)
		refuse(t, sealer, nil, row)
		refuse(t, sealer, []byte("plain text"), row)
		refuse(t, stranger, sealed, row)
	})
	t.Run("many at the same time", func(t *testing.T) {
		var running sync.WaitGroup
		for i := range 20 {
			running.Go(func() {
				context := []byte{byte(i)}
				sealed, err := sealer.Seal(plain, context)
				if err != nil {
					t.Error(err)
					return
				}
				if opened, err := sealer.Open(sealed, context); err != nil || !bytes.Equal(opened, plain) {
					t.Errorf("opened %q, %v", opened, err)
				}
			})
		}
		running.Wait()
	})
}
