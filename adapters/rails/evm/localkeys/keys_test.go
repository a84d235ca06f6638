package localkeys_test

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/decred/dcrd/dcrec/secp256k1/v4/ecdsa"

	"causeway/adapters/rails/evm/eth"
	"causeway/adapters/rails/evm/localkeys"
	"causeway/ports"
	"causeway/ports/portstest"
)

const h = ports.ChainHardened

func TestKeys_BIP32Vectors(t *testing.T) {
	t.Parallel()
	// Test vectors 1 and 2 of BIP-32: public keys and chain codes, also of those derived from public keys.
	for _, c := range []struct {
		seed, key string
		path      []uint32
	}{
		{"000102030405060708090a0b0c0d0e0f", "0339a36013301597daef41fbe593a02cc513d0b55527ec2df1050e2e8ff49c85c2", nil},
		{"000102030405060708090a0b0c0d0e0f", "035a784662a4a20a65bf6aab9ae98a6c068a81c52e4b032c0fb5400c706cfccc56", []uint32{h}},
		{"000102030405060708090a0b0c0d0e0f", "03501e454bf00751f24b1b489aa925215d66af2234e3891c3b21a52bedb3cd711c", []uint32{h, 1}},
	} {
		key, err := localkeys.New(portstest.Secrets{"s": c.seed}, "s").AccountKey(t.Context(), c.path)
		if err != nil || hex.EncodeToString(key.PublicKey[:]) != c.key {
			t.Errorf("%v: %x, %v", c.path, key.PublicKey, err)
		}
	}
}

func TestKeys_AddressesOfKnownWords(t *testing.T) {
	t.Parallel()
	// The words that development nodes use have these addresses at m/44'/60'/0'/0/0 and 1, whether they are derived from
	// the private key or from the public key of the account.
	keys := localkeys.New(portstest.Secrets{"s": " test test test test test test test\n test test test test junk \n"}, "s")
	account, err := keys.AccountKey(t.Context(), []uint32{44 | h, 60 | h, h})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266", "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"} {
		direct, err := keys.AccountKey(t.Context(), []uint32{44 | h, 60 | h, h, 0, uint32(i)})
		if err != nil {
			t.Fatal(err)
		}
		derived, err := eth.Derive(account, 0, uint32(i))
		if err != nil || derived != direct {
			t.Errorf("derived %x, %v; want %x", derived, err, direct)
		}
		if a, err := eth.AddressOf(derived.PublicKey); err != nil || eth.FormatAddress(a) != want {
			t.Errorf("%s, %v; want %s", eth.FormatAddress(a), err, want)
		}
	}
}

func TestKeys_SignsForItsAddress(t *testing.T) {
	t.Parallel()
	// A signature recovers to the key of the path.
	keys := localkeys.New(portstest.Secrets{"s": strings.Repeat("ab", 32)}, "s")
	path := []uint32{44 | h, 60 | h, h, 1, 5, 6}
	want, err := keys.AccountKey(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	digest := eth.Keccak256([]byte("something"))
	s, err := keys.SignDigest(t.Context(), path, digest)
	if err != nil {
		t.Fatal(err)
	}
	compact := append([]byte{27 + s.Recovery}, append(s.R[:], s.S[:]...)...)
	key, _, err := ecdsa.RecoverCompact(compact, digest[:])
	if err != nil || [33]byte(key.SerializeCompressed()) != want.PublicKey {
		t.Errorf("%v", err)
	}
}

func TestKeys_ErrorsNeverShowTheSecret(t *testing.T) {
	t.Parallel()
	// A seed that is none is an error that names its reference.
	for _, secret := range []string{"", "secretword other", "abcd", strings.Repeat("zz", 32), strings.Repeat("ab", 65),
		"test test test test test test test test test test test test"} {
		_, err := localkeys.New(portstest.Secrets{"env:SEED": secret}, "env:SEED").AccountKey(t.Context(), nil)
		if err == nil || !strings.Contains(err.Error(), "env:SEED") || len(secret) > 3 && strings.Contains(err.Error(), secret) {
			t.Errorf("%q: %v", secret, err)
		}
	}
}
