package local

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sirupsen/logrus"

	"causeway/core/wallet"
	"causeway/ports"
	"causeway/ports/portstest"
)

// spyStore is a store with one wallet. It keeps references to what it is given and returns.
type spyStore struct {
	public  wallet.Key
	entropy *[entropyLength]byte // a pointer, which formatting the store does not follow
	err     error
	passed  [][]byte
}

func (s *spyStore) WalletKey(context.Context, ports.WalletID) (wallet.Key, error) {
	return s.public, nil
}

func (s *spyStore) WalletEntropy(context.Context, ports.WalletID) ([]byte, wallet.Key, error) {
	if s.entropy == nil {
		return nil, wallet.Key{}, nil
	}
	opened := bytes.Clone(s.entropy[:])
	s.passed = append(s.passed, opened)
	return opened, s.public, s.err
}

func (s *spyStore) AddWalletKey(_ context.Context, _ ports.WalletID, key wallet.Key, entropy []byte) (wallet.Key, error) {
	s.passed = append(s.passed, entropy)
	stored := [entropyLength]byte(entropy)
	s.public, s.entropy = key, &stored
	return key, s.err
}

func (s *spyStore) FixTransferNonce(_ context.Context, _ ports.WalletID, _ [32]byte, nonce uint64, _ time.Time) (uint64, error) {
	return nonce, s.err
}

// spy is a custody whose buffers a test sees.
type spy struct {
	*Custody
	store   *spyStore
	random  [][]byte // filled
	secrets []*secrets
}

func newSpy() *spy {
	s := &spy{store: new(spyStore)}
	s.Custody = New(s.store)
	s.Custody.random = func(b []byte) {
		_, _ = rand.Read(b)
		s.random = append(s.random, b)
	}
	s.Custody.newSecrets = func() *secrets {
		fresh := new(secrets)
		s.secrets = append(s.secrets, fresh)
		return fresh
	}
	return s
}

// calls are the methods of a custody that handle private values, and how many random values and private
// keys of a wallet each uses at the first call.
func calls(t *testing.T) map[string]struct {
	random, keys int
	call         func(*Custody) (any, error)
} {
	client := portstest.NewWalletClient(t).Public
	return map[string]struct {
		random, keys int
		call         func(*Custody) (any, error)
	}{
		"WalletKey":     {1, 1, func(c *Custody) (any, error) { return c.WalletKey(t.Context(), ports.WalletID{}) }},
		"Sign":          {1, 2, func(c *Custody) (any, error) { return c.Sign(t.Context(), ports.WalletID{}, "a statement") }},
		"Export":        {1, 2, func(c *Custody) (any, error) { return c.Export(t.Context(), ports.WalletID{}, client) }},
		"OTPTarget":     {1, 2, func(c *Custody) (any, error) { return c.OTPTarget(t.Context(), ports.WalletID{}) }},
		"Address":       {1, 5, func(c *Custody) (any, error) { return c.Address(t.Context(), ports.WalletID{}) }},
		"NewSessionKey": {1, 0, func(c *Custody) (any, error) { return c.NewSessionKey(t.Context(), client) }},
	}
}

func TestCustody_OverwritesPrivateValues(t *testing.T) {
	t.Parallel()
	// After each call, whether it succeeds or not, every buffer with a private value is zero: what the
	// source of randomness filled, what the store was given or returned, and what was derived.
	for name, tt := range calls(t) {
		for _, failure := range []error{nil, errors.New("no connection")} {
			s := newSpy()
			s.store.err = failure

			_, err := tt.call(s.Custody)

			if failed := failure != nil && tt.keys > 0; (err != nil) != failed {
				t.Fatalf("%s: %v", name, err)
			}
			if len(s.random) != tt.random || len(s.secrets) != 1 || failure == nil && len(s.secrets[0].keys) != tt.keys {
				t.Fatalf("%s: %d random values, %d sets of secrets, %d keys", name, len(s.random), len(s.secrets), len(s.secrets[0].keys))
			}
			for kind, buffers := range map[string][][]byte{"random": s.random, "stored": s.store.passed, "derived": s.secrets[0].buffers} {
				for _, b := range buffers {
					if !isZero(b[:cap(b)]) {
						t.Errorf("%s: a %s buffer of %d bytes is not zero", name, kind, len(b))
					}
				}
			}
			for _, key := range s.secrets[0].keys {
				if !key.Key.IsZero() {
					t.Errorf("%s: a private key is not zero", name)
				}
			}
		}
	}
}

func TestSecrets_HoldEverythingDerived(t *testing.T) {
	t.Parallel()
	// Words, seed, and keys of each step are in buffers that wipe overwrites.
	s := new(secrets)
	entropy := bytes.Repeat([]byte{7}, entropyLength)
	text := words(s, entropy)
	sum := seed(s, text)
	node, err := deriveKey(s, sum, walletPath...)
	if err != nil {
		t.Fatal(err)
	}
	private, err := privateKey(s, text, walletPath)
	if err != nil {
		t.Fatal(err)
	}
	if isZero(text) || isZero(sum) || isZero(node) || private.Key.IsZero() {
		t.Fatal("nothing was derived")
	}

	s.wipe()

	if !isZero(text) || !isZero(sum) || !isZero(node) || !private.Key.IsZero() {
		t.Errorf("words %s, seed %x, key %x or the private key are left", text, sum, node)
	}
}

func isZero(b []byte) bool { return len(bytes.Trim(b, "\x00")) == 0 }

func TestCustody_ShowsNothingPrivate(t *testing.T) {
	t.Parallel()
	// However the values of the package are formatted or logged, also while a call runs and in its error,
	// they show no private value.
	var shown strings.Builder
	log := logrus.New()
	log.SetOutput(&shown)
	log.SetLevel(logrus.TraceLevel)
	show := func(values ...any) {
		for _, v := range values {
			fmt.Fprintf(&shown, "%v %+v %#v %s %x %q\n", v, v, v, v, v, v)
			text, err := json.Marshal(v)
			fmt.Fprintf(&shown, "%s %v\n", text, err)
			log.WithField("value", v).Trace(v)
		}
	}
	var private [][]byte
	for _, tt := range calls(t) {
		for _, failure := range []error{nil, errors.New("no connection")} {
			s := newSpy()
			s.store.err = failure
			fill := s.Custody.random
			s.Custody.random = func(b []byte) {
				fill(b)
				private = append(private, bytes.Clone(b))
				set := new(secrets)
				text := words(set, b)
				node, err := deriveKey(set, seed(set, text), walletPath...)
				if err != nil {
					t.Error(err)
				}
				private = append(private, text, node[:keyLength])
				show(s.secrets[0], set, *s.Custody, s.Custody)
			}
			result, err := tt.call(s.Custody)
			show(result, err, s.Custody)
		}
	}
	if len(private) != 3*12 || shown.Len() == 0 {
		t.Fatalf("%d private values, %d characters were shown", len(private), shown.Len())
	}
	for _, secret := range private {
		for _, form := range []string{string(secret), fmt.Sprintf("%x", secret), fmt.Sprintf("%X", secret),
			strings.Trim(fmt.Sprint(secret), "[]"), strings.Trim(fmt.Sprintf("%#v", secret), "[]byte{}"), fmt.Sprintf("%q", secret)} {
			if strings.Contains(shown.String(), form) {
				t.Errorf("%s is shown", form)
			}
		}
	}
}
