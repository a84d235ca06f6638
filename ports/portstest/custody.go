package portstest

import (
	"bytes"
	"context"
	"crypto/ecdh"
	"crypto/elliptic"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	"github.com/decred/dcrd/dcrec/secp256k1/v4/ecdsa"

	"causeway/core/fault"
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
	custodyTransfers(t, custody, newWallets)
	t.Run("concurrent first calls return the same key", func(t *testing.T) {
		one, _, _ := newWallets(t)
		client := NewWalletClient(t)
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
					var text string
					if text, err = custody.Export(t.Context(), one, client.Public); err == nil {
						key, err = client.restore(text)
					}
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
		client, stranger := NewWalletClient(t), NewWalletClient(t)
		seen := map[wallet.SessionKey]bool{}
		for range 20 {
			sealed, err := custody.NewSessionKey(t.Context(), client.Public)
			if err != nil {
				t.Fatal(err)
			}
			scalar, err := client.OpenSessionKey(sealed.Encrypted)
			if err != nil {
				t.Fatal(err)
			}
			private, err := ecdh.P256().NewPrivateKey(scalar)
			if err != nil {
				t.Fatal(err)
			}
			x, y := elliptic.Unmarshal(elliptic.P256(), //nolint:staticcheck // there is no other function for compressed points
				private.PublicKey().Bytes())
			if public := elliptic.MarshalCompressed(elliptic.P256(), x, y); !bytes.Equal(public, sealed.Public[:]) {
				t.Fatalf("the client finds the key of %x, want %x", public, sealed.Public)
			}
			if _, err := stranger.OpenSessionKey(sealed.Encrypted); err == nil {
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
		client, stranger := NewWalletClient(t), NewWalletClient(t)
		first, err := custody.Export(t.Context(), one, client.Public)
		if err != nil {
			t.Fatal(err)
		}
		want := custodyKey(t, custody, one)
		second, err := custody.Export(t.Context(), one, client.Public)
		if err != nil || first == second {
			t.Fatalf("exported the same text again, %v", err)
		}
		for _, text := range []string{first, second} {
			if got, err := client.restore(text); err != nil || got != want {
				t.Fatalf("restored %x, %v; want %x", got, err, want)
			}
			if _, err := stranger.restore(text); err == nil {
				t.Fatal("another client opened the export")
			}
			checkCustodyEnvelope(t, text, one, want)
		}
	})
	t.Run("a client encrypts a one-time code", func(t *testing.T) {
		// The wallet has one target, which it signs. What a client encrypts to it, only this wallet reads.
		one, other, elsewhere := newWallets(t)
		target, err := custody.OTPTarget(t.Context(), one)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := custody.OTPTarget(t.Context(), one); err != nil || again != target {
			t.Fatalf("%s, %v; want %s", again, err, target)
		}
		checkCustodyEnvelope(t, target, one, custodyKey(t, custody, one))
		client := NewWalletClient(t)
		key := hex.EncodeToString(client.Public.Bytes())
		text, err := SealOTP(target, "483920", key)
		if err != nil {
			t.Fatal(err)
		}
		sealed, err := wallet.ParseSealedOTP(text)
		if err != nil {
			t.Fatal(err)
		}
		got, err := custody.OpenOTP(t.Context(), one, sealed)
		if err != nil || got != (wallet.OTPAttempt{Code: "483920", Key: client.Public}) {
			t.Fatalf("%+v, %v", got, err)
		}
		for _, w := range []ports.WalletID{other, elsewhere} {
			if _, err := custody.OpenOTP(t.Context(), w, sealed); !fault.Is(err, fault.InvalidInput) {
				t.Errorf("by %v: %v", w, err)
			}
		}
		sealed.Ciphertext[0] ^= 1
		if _, err := custody.OpenOTP(t.Context(), one, sealed); !fault.Is(err, fault.InvalidInput) {
			t.Errorf("with another text: %v", err)
		}
	})
	t.Run("nothing is done for a caller who has gone", func(t *testing.T) {
		one, _, _ := newWallets(t)
		client := NewWalletClient(t)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		for name, call := range map[string]func() (any, error){
			"WalletKey":     func() (any, error) { return custody.WalletKey(ctx, one) },
			"Sign":          func() (any, error) { return custody.Sign(ctx, one, "a statement") },
			"NewSessionKey": func() (any, error) { return custody.NewSessionKey(ctx, client.Public) },
			"Export":        func() (any, error) { return custody.Export(ctx, one, client.Public) },
			"OTPTarget":     func() (any, error) { return custody.OTPTarget(ctx, one) },
			"OpenOTP":       func() (any, error) { return custody.OpenOTP(ctx, one, wallet.SealedOTP{}) },
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

// checkCustodyEnvelope checks that an export is signed by the wallet, and says so.
func checkCustodyEnvelope(t *testing.T, text string, w ports.WalletID, key wallet.Key) {
	t.Helper()
	var e exportEnvelope
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
