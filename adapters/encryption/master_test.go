package encryption

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"causeway/ports/portstest"
)

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

func TestMaster_SilentSourceDelaysOneCallerBriefly(t *testing.T) {
	t.Parallel()
	// While the source does not respond, one caller in each interval waits for a moment, the others not
	// at all, and all get the former keys. When it responds, its keys are used. A first read that does
	// not end is an error.
	synctest.Test(t, func(t *testing.T) {
		silent, clock := make(chan struct{}), portstest.NewFakeClock(noon)
		responds := true
		master, err := NewMaster(func() ([][]byte, error) {
			if responds {
				return [][]byte{testKey(1)}, nil
			}
			<-silent
			return [][]byte{testKey(2), testKey(1)}, nil
		}, clock)
		if err != nil {
			t.Fatal(err)
		}
		responds = false

		for range 2 {
			clock.Advance(masterReadInterval)
			began := time.Now()
			for range 5 {
				sealed, err := master.Seal([]byte("private"), nil)
				if err != nil {
					t.Fatal(err)
				}
				if plain, err := newSealer(t, testKey(1)).Open(sealed, nil); err != nil || string(plain) != "private" {
					t.Errorf("opened %q, %v", plain, err)
				}
			}
			if waited := time.Since(began); waited != masterReadTimeout {
				t.Errorf("waited %s, want %s", waited, masterReadTimeout)
			}
		}
		if _, err := NewMaster(func() ([][]byte, error) { <-silent; return nil, errors.New("never") }, clock); err == nil {
			t.Error("a master key that was never read is accepted")
		}

		close(silent)
		synctest.Wait()
		sealed, err := master.Seal([]byte("private"), nil)
		if err != nil {
			t.Fatal(err)
		}
		if plain, err := newSealer(t, testKey(2)).Open(sealed, nil); err != nil || string(plain) != "private" {
			t.Errorf("sealed with another key than the new one: %q, %v", plain, err)
		}
	})
}

func TestMaster_PanicOfSourceIsAnError(t *testing.T) {
	t.Parallel()
	// A source that panics ends neither the process nor the use of the former keys.
	clock, broken := portstest.NewFakeClock(noon), false
	master, err := NewMaster(func() ([][]byte, error) {
		if broken {
			panic("no such file")
		}
		return [][]byte{testKey(1)}, nil
	}, clock)
	if err != nil {
		t.Fatal(err)
	}
	broken = true
	clock.Advance(masterReadInterval)
	if _, err := master.Seal([]byte("private"), nil); err != nil {
		t.Error(err)
	}
	if _, err := NewMaster(func() ([][]byte, error) { panic("no such file") }, clock); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("the first read: %v", err)
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
