package encryption

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"causeway/ports"
	"causeway/ports/portstest"
)

func TestMaster_FollowsItsSource(t *testing.T) {
	t.Parallel()
	// A key that is new in the source opens what another process sealed with it, and seals within
	// seconds. A source that is broken later leaves the former keys in use.
	clock, keys := portstest.NewFakeClock(noon), newSealer(t, testKey(1))
	var broken error
	master, err := NewMaster(func() (ports.Sealer, error) { return keys, broken }, clock)
	if err != nil {
		t.Fatal(err)
	}
	keys = newSealer(t, testKey(2), testKey(1))
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
	if _, err := NewMaster(func() (ports.Sealer, error) { return nil, broken }, clock); !errors.Is(err, broken) {
		t.Errorf("without a master key: %v", err)
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
		master, err := NewMaster(func() (ports.Sealer, error) {
			if responds {
				return newSealer(t, testKey(1)), nil
			}
			<-silent
			return newSealer(t, testKey(2), testKey(1)), nil
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
		if _, err := NewMaster(func() (ports.Sealer, error) { <-silent; return nil, errors.New("never") }, clock); err == nil {
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
	master, err := NewMaster(func() (ports.Sealer, error) {
		if broken {
			panic("no such file")
		}
		return newSealer(t, testKey(1)), nil
	}, clock)
	if err != nil {
		t.Fatal(err)
	}
	broken = true
	clock.Advance(masterReadInterval)
	if _, err := master.Seal([]byte("private"), nil); err != nil {
		t.Error(err)
	}
	if _, err := NewMaster(func() (ports.Sealer, error) { panic("no such file") }, clock); err == nil ||
		!strings.Contains(err.Error(), "no such file") {
		t.Errorf("the first read: %v", err)
	}
}

func TestParseMaster(t *testing.T) {
	t.Parallel()
	// Keys are separated by commas or lines; each must be valid, and there is at least one. The first
	// seals, and all of them open, also one that is kept elsewhere.
	one, other, kept := NewKey(), NewKey(), newSealer(t, testKey(9))
	elsewhere := func(text string) (ports.Sealer, bool, error) {
		switch text {
		case "elsewhere":
			return kept, true, nil
		case "elsewhere:wrong":
			return nil, true, errors.New("must be elsewhere")
		}
		return nil, false, nil
	}
	parse := func(text string) ports.Sealer {
		t.Helper()
		sealer, err := ParseMaster(text, elsewhere)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		return sealer
	}
	for _, text := range []string{one + "," + other, one + "\n" + other + "\n", " " + one + "\r\n\r\n" + other, one + ",elsewhere",
		"elsewhere\n" + one} {
		sealed, err := parse(text).Seal([]byte("private"), nil)
		if err != nil {
			t.Fatal(err)
		}
		first := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(", \r\n", r) })[0]
		if plain, err := parse(first).Open(sealed, nil); err != nil || string(plain) != "private" {
			t.Errorf("%q: the first key opens %q, %v", text, plain, err)
		}
		reordered := parse(NewKey() + "," + text)
		if plain, err := reordered.Open(sealed, nil); err != nil || string(plain) != "private" {
			t.Errorf("%q: older keys open %q, %v", text, plain, err)
		}
		if _, err := reordered.Open(sealed, []byte("other")); !errors.Is(err, ErrCannotDecrypt) {
			t.Errorf("%q: another context: %v", text, err)
		}
	}
	for _, text := range []string{"", " \n", one + ",short", "elsewhere:wrong", one + ",elsewhere:wrong"} {
		if _, err := ParseMaster(text, elsewhere); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
}

// deaf is a sealer that does not respond.
type deaf struct{ error }

func (d deaf) Seal(_, _ []byte) ([]byte, error) { return nil, d.error }
func (d deaf) Open(_, _ []byte) ([]byte, error) { return nil, d.error }

func TestSealers_DistinguishUnknownFromUnreachable(t *testing.T) {
	t.Parallel()
	// A value that one sealer might have sealed, which does not respond, is not said to be unreadable; and
	// it does not keep another from opening its own.
	silent := deaf{errors.New("no connection")}
	mine, other := newSealer(t, testKey(1)), newSealer(t, testKey(2))
	sealed, err := mine.Seal([]byte("private"), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, sealers := range []Sealers{{silent, mine}, {mine, silent}, {other, silent, mine}} {
		if plain, err := sealers.Open(sealed, nil); err != nil || string(plain) != "private" {
			t.Errorf("opened %q, %v", plain, err)
		}
	}
	for _, sealers := range []Sealers{{silent, other}, {other, silent}} {
		if _, err := sealers.Open(sealed, nil); !errors.Is(err, silent.error) || errors.Is(err, ErrCannotDecrypt) {
			t.Errorf("the error is %v", err)
		}
	}
}

func TestSealers_Conform(t *testing.T) {
	t.Parallel()
	// A key, and several of them, pass the suite of the port.
	portstest.Sealer(t, newSealer(t, testKey(1)), newSealer(t, testKey(2)))
	portstest.Sealer(t, Sealers{newSealer(t, testKey(1)), newSealer(t, testKey(3))},
		Sealers{newSealer(t, testKey(2)), newSealer(t, testKey(3))})
	master, err := NewMaster(func() (ports.Sealer, error) { return newSealer(t, testKey(1)), nil }, portstest.NewFakeClock(noon))
	if err != nil {
		t.Fatal(err)
	}
	portstest.Sealer(t, master, newSealer(t, testKey(2)))
}
