package portstest

import (
	"bytes"
	"context"
	"crypto/ecdh"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/hpke"
	"crypto/rand"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"sync"
	"testing"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	"github.com/decred/dcrd/dcrec/secp256k1/v4/ecdsa"
	"github.com/mr-tron/base58"
	"github.com/tyler-smith/go-bip39"

	"causeway/core/wallet"
	"causeway/ports"
)

// NewWallets returns three wallets that have no keys: one and other belong to one platform, and elsewhere
// belongs to another platform, with the account id of one.
type NewWallets func(t *testing.T) (one, other, elsewhere ports.WalletID)

// Custody tests a custody. It opens what the custody seals, and checks what it signs, with other libraries
// than an adapter needs.
func Custody(t *testing.T, custody ports.Custody, newWallets NewWallets) {
	t.Helper()
	t.Run("concurrent first calls return the same key", func(t *testing.T) {
		one, _, _ := newWallets(t)
		client := newCustodyClient(t)
		var running sync.WaitGroup
		var mu sync.Mutex
		keys := map[wallet.Key]int{}
		for i := range 24 {
			running.Go(func() {
				var key wallet.Key
				var err error
				switch i % 3 {
				case 0:
					key, err = custody.WalletKey(t.Context(), one)
				case 1:
					var certificate wallet.Certificate
					certificate, err = custody.Sign(t.Context(), one, "a statement")
					key = certificate.Key
				default:
					key, err = client.restore(custody.Export(t.Context(), one, client.public))
				}
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				keys[key]++
			})
		}
		running.Wait()
		if len(keys) != 1 {
			t.Fatalf("24 calls found %d keys: %x", len(keys), keys)
		}
	})
	t.Run("wallets have keys of their own", func(t *testing.T) {
		one, other, elsewhere := newWallets(t)
		keys := map[wallet.Key]bool{}
		for _, w := range []ports.WalletID{one, other, elsewhere} {
			key := custodyKey(t, custody, w)
			if key != custodyKey(t, custody, w) {
				t.Fatalf("the key of %v changes", w)
			}
			if _, err := secp256k1.ParsePubKey(key[:]); err != nil {
				t.Fatalf("the key of %v: %v", w, err)
			}
			keys[key] = true
		}
		if len(keys) != 3 {
			t.Fatalf("3 wallets have %d keys", len(keys))
		}
	})
	t.Run("a certificate verifies with the key of the wallet alone", func(t *testing.T) {
		one, other, _ := newWallets(t)
		const statement = `{"type":"SESSION","nickname":"Ana – ü"}`
		certificate, err := custody.Sign(t.Context(), one, statement)
		if err != nil {
			t.Fatal(err)
		}
		if certificate.Statement != statement || certificate.Key != custodyKey(t, custody, one) {
			t.Fatalf("the certificate is %+v", certificate)
		}
		for text, want := range map[string]bool{statement: true, statement + " ": false, "": false} {
			if got := custodySignatureValid(t, certificate.Key, text, certificate.Signature); got != want {
				t.Fatalf("the signature is valid for %q: %t", text, got)
			}
		}
		if custodySignatureValid(t, custodyKey(t, custody, other), statement, certificate.Signature) {
			t.Fatal("the signature is valid for another wallet")
		}
	})
	t.Run("the client opens a session key", func(t *testing.T) {
		// The key that it finds has the public key that is returned, and each call makes a new one. No other
		// client opens it.
		client, stranger := newCustodyClient(t), newCustodyClient(t)
		seen := map[wallet.SessionKey]bool{}
		for range 20 {
			sealed, err := custody.NewSessionKey(t.Context(), client.public)
			if err != nil {
				t.Fatal(err)
			}
			scalar, err := client.openSessionKey(sealed.Encrypted)
			if err != nil {
				t.Fatal(err)
			}
			private, err := ecdh.P256().NewPrivateKey(scalar)
			if err != nil {
				t.Fatal(err)
			}
			x, y := elliptic.Unmarshal(elliptic.P256(), private.PublicKey().Bytes()) //nolint:staticcheck // there is no other function for compressed points
			if public := elliptic.MarshalCompressed(elliptic.P256(), x, y); !bytes.Equal(public, sealed.Public[:]) {
				t.Fatalf("the client finds the key of %x, want %x", public, sealed.Public)
			}
			if _, err := stranger.openSessionKey(sealed.Encrypted); err == nil {
				t.Fatal("another client opened the session key")
			}
			seen[sealed.Public] = true
		}
		if len(seen) != 20 {
			t.Fatalf("20 sessions have %d keys", len(seen))
		}
	})
	t.Run("the client restores the wallet from an export", func(t *testing.T) {
		// Both before and after the wallet was used. No other client opens the export, and each is sealed
		// anew.
		one, _, _ := newWallets(t)
		client, stranger := newCustodyClient(t), newCustodyClient(t)
		first, err := custody.Export(t.Context(), one, client.public)
		if err != nil {
			t.Fatal(err)
		}
		want := custodyKey(t, custody, one)
		second, err := custody.Export(t.Context(), one, client.public)
		if err != nil || first == second {
			t.Fatalf("exported the same text again, %v", err)
		}
		for _, text := range []string{first, second} {
			if got, err := client.restore(text, nil); err != nil || got != want {
				t.Fatalf("restored %x, %v; want %x", got, err, want)
			}
			if _, err := stranger.restore(text, nil); err == nil {
				t.Fatal("another client opened the export")
			}
			checkCustodyEnvelope(t, text, one, want)
		}
	})
	t.Run("nothing is done for a caller who has gone", func(t *testing.T) {
		one, _, _ := newWallets(t)
		client := newCustodyClient(t)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		for name, call := range map[string]func() (any, error){
			"WalletKey":     func() (any, error) { return custody.WalletKey(ctx, one) },
			"Sign":          func() (any, error) { return custody.Sign(ctx, one, "a statement") },
			"NewSessionKey": func() (any, error) { return custody.NewSessionKey(ctx, client.public) },
			"Export":        func() (any, error) { return custody.Export(ctx, one, client.public) },
		} {
			if got, err := call(); err == nil {
				t.Errorf("%s returned %v", name, got)
			}
		}
	})
}

func custodyKey(t *testing.T, custody ports.Custody, w ports.WalletID) wallet.Key {
	t.Helper()
	key, err := custody.WalletKey(t.Context(), w)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func custodySignatureValid(t *testing.T, key wallet.Key, text string, signature []byte) bool {
	t.Helper()
	public, err := secp256k1.ParsePubKey(key[:])
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := ecdsa.ParseDERSignature(signature)
	if err != nil {
		t.Fatal(err)
	}
	hash := sha256.Sum256([]byte(text))
	return parsed.Verify(hash[:], public)
}

// custodyEnvelope is the export envelope.
type custodyEnvelope struct {
	Version             string `json:"version"`
	Data                string `json:"data"`
	DataSignature       string `json:"dataSignature"`
	EnclaveQuorumPublic string `json:"enclaveQuorumPublic"`
}

// checkCustodyEnvelope checks that an export is signed by the wallet, and says so.
func checkCustodyEnvelope(t *testing.T, text string, w ports.WalletID, key wallet.Key) {
	t.Helper()
	var e custodyEnvelope
	if err := json.Unmarshal([]byte(text), &e); err != nil || e.Version != "v1.0.0" {
		t.Fatalf("%s: %v", text, err)
	}
	data, errData := hex.DecodeString(e.Data)
	signature, errSignature := hex.DecodeString(e.DataSignature)
	public, errPublic := hex.DecodeString(e.EnclaveQuorumPublic)
	if err := errors.Join(errData, errSignature, errPublic); err != nil {
		t.Fatal(err)
	}
	if parsed, err := secp256k1.ParsePubKey(public); err != nil || len(public) != 65 || !bytes.Equal(parsed.SerializeCompressed(), key[:]) {
		t.Fatalf("enclaveQuorumPublic %x, %v; want the key %x uncompressed", public, err, key)
	}
	if !custodySignatureValid(t, key, string(data), signature) {
		t.Fatal("dataSignature is not valid")
	}
	if !strings.Contains(string(data), `"organizationId":"`+w.Platform.String()+`"`) {
		t.Fatalf("the data do not name the platform: %s", data)
	}
}

// custodyClient is the client of a customer.
type custodyClient struct {
	public wallet.ClientKey
	key    hpke.PrivateKey
}

func newCustodyClient(t *testing.T) custodyClient {
	t.Helper()
	private, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	key, err := hpke.NewDHKEMPrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	public, err := wallet.ParseClientKey(hex.EncodeToString(private.PublicKey().Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	return custodyClient{public, key}
}

// open opens a text that is sealed to the client.
func (c custodyClient) open(encapsulated, ciphertext []byte) ([]byte, error) {
	return hpke.Open(c.key, hpke.HKDFSHA256(), hpke.AES256GCM(), nil, append(encapsulated[:len(encapsulated):len(encapsulated)], ciphertext...))
}

// openSessionKey returns the private key of a session.
func (c custodyClient) openSessionKey(text string) ([]byte, error) {
	b, err := base58.Decode(text)
	if err != nil || len(b) != 33+32+16+4 {
		return nil, fmt.Errorf("%d bytes: %w", len(b), err)
	}
	b, checksum := b[:len(b)-4], b[len(b)-4:]
	once := sha256.Sum256(b)
	if twice := sha256.Sum256(once[:]); !bytes.Equal(twice[:4], checksum) {
		return nil, errors.New("wrong checksum")
	}
	x, y := elliptic.UnmarshalCompressed(elliptic.P256(), b[:33])
	if x == nil {
		return nil, errors.New("the encapsulated key is no point")
	}
	return c.open(elliptic.Marshal(elliptic.P256(), x, y), b[33:]) //nolint:staticcheck // there is no other function for compressed points
}

// restore returns the key of a wallet from the words in an export.
func (c custodyClient) restore(text string, err error) (wallet.Key, error) {
	if err != nil {
		return wallet.Key{}, err
	}
	var e custodyEnvelope
	var data struct {
		EncappedPublic string `json:"encappedPublic"`
		Ciphertext     string `json:"ciphertext"`
	}
	if err := json.Unmarshal([]byte(text), &e); err != nil {
		return wallet.Key{}, err
	}
	decoded, err := hex.DecodeString(e.Data)
	if err != nil {
		return wallet.Key{}, err
	}
	if err := json.Unmarshal(decoded, &data); err != nil {
		return wallet.Key{}, err
	}
	encapsulated, errKey := hex.DecodeString(data.EncappedPublic)
	ciphertext, errText := hex.DecodeString(data.Ciphertext)
	if err := errors.Join(errKey, errText); err != nil {
		return wallet.Key{}, err
	}
	words, err := c.open(encapsulated, ciphertext)
	if err != nil {
		return wallet.Key{}, err
	}
	return keyOfWords(string(words))
}

// keyOfWords returns the public key of a wallet with these words: that of m/8797555'/0'/0' (BIP-32) of
// their seed without a passphrase (BIP-39).
func keyOfWords(words string) (wallet.Key, error) {
	if n := len(strings.Split(words, " ")); n != 24 {
		return wallet.Key{}, fmt.Errorf("%d words", n)
	}
	seed, err := bip39.NewSeedWithErrorChecking(words, "")
	if err != nil {
		return wallet.Key{}, err
	}
	hash := func(key, data []byte) (left, right []byte) {
		mac := hmac.New(sha512.New, key)
		mac.Write(data)
		sum := mac.Sum(nil)
		return sum[:32], sum[32:]
	}
	private, chain := hash([]byte("Bitcoin seed"), seed)
	for _, index := range []uint32{8797555, 0, 0} {
		var tweak []byte
		tweak, chain = hash(chain, binary.BigEndian.AppendUint32(append([]byte{0}, private...), 1<<31|index))
		sum := new(big.Int).Add(new(big.Int).SetBytes(tweak), new(big.Int).SetBytes(private))
		private = sum.Mod(sum, secp256k1.S256().N).FillBytes(make([]byte, 32))
	}
	return wallet.Key(secp256k1.PrivKeyFromBytes(private).PubKey().SerializeCompressed()), nil
}
