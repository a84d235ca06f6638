package portstest

import (
	"bytes"
	"crypto/ecdh"
	"crypto/elliptic"
	"crypto/hpke"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	"github.com/mr-tron/base58"

	"causeway/core/wallet"
)

// WalletClient is the client of the owner of a wallet: it opens what a custody seals to its key.
type WalletClient struct {
	Public wallet.ClientKey
	key    hpke.PrivateKey
}

// NewWalletClient returns a client with a new key.
func NewWalletClient(t testing.TB) WalletClient {
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
	return WalletClient{public, key}
}

// open opens a text that is sealed to the client.
func (c WalletClient) open(encapsulated, ciphertext []byte) ([]byte, error) {
	return hpke.Open(c.key, hpke.HKDFSHA256(), hpke.AES256GCM(), nil,
		append(encapsulated[:len(encapsulated):len(encapsulated)], ciphertext...))
}

// OpenSessionKey returns the private key of a session, 32 bytes, from encryptedSessionSigningKey.
func (c WalletClient) OpenSessionKey(text string) ([]byte, error) {
	b, err := base58.Decode(text)
	if err != nil {
		return nil, err
	}
	if len(b) != 33+32+16+4 {
		return nil, fmt.Errorf("%d bytes", len(b))
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

// exportEnvelope is the text of an export.
type exportEnvelope struct {
	Version             string `json:"version"`
	Data                string `json:"data"`
	DataSignature       string `json:"dataSignature"`
	EnclaveQuorumPublic string `json:"enclaveQuorumPublic"`
}

// OpenExport returns the words of a wallet from encryptedWalletCredentials.
func (c WalletClient) OpenExport(text string) (words string, err error) {
	var e exportEnvelope
	var data struct {
		EncappedPublic string `json:"encappedPublic"`
		Ciphertext     string `json:"ciphertext"`
	}
	if err := json.Unmarshal([]byte(text), &e); err != nil {
		return "", err
	}
	decoded, err := hex.DecodeString(e.Data)
	if err != nil {
		return "", err
	}
	if err := json.Unmarshal(decoded, &data); err != nil {
		return "", err
	}
	encapsulated, errKey := hex.DecodeString(data.EncappedPublic)
	ciphertext, errText := hex.DecodeString(data.Ciphertext)
	if err := errors.Join(errKey, errText); err != nil {
		return "", err
	}
	plain, err := c.open(encapsulated, ciphertext)
	return string(plain), err
}

// SealOTP returns encryptedOtpBundle for otpEncryptionTargetBundle: a code, and the client's own key in the form that is given.
func SealOTP(target, code, publicKey string) (string, error) {
	var e exportEnvelope
	var data struct{ TargetPublic string }
	if err := json.Unmarshal([]byte(target), &e); err != nil {
		return "", err
	}
	decoded, err := hex.DecodeString(e.Data)
	if err != nil {
		return "", err
	}
	if err := json.Unmarshal(decoded, &data); err != nil {
		return "", err
	}
	point, err := hex.DecodeString(data.TargetPublic)
	if err != nil {
		return "", err
	}
	to, err := hpke.DHKEM(ecdh.P256()).NewPublicKey(point)
	if err != nil {
		return "", err
	}
	plain, _ := json.Marshal(map[string]string{"otp_code": code, "public_key": publicKey})
	sealed, err := hpke.Seal(to, hpke.HKDFSHA256(), hpke.AES256GCM(), nil, plain)
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(map[string]string{"encappedPublic": hex.EncodeToString(sealed[:65]),
		"ciphertext": hex.EncodeToString(sealed[65:])})
	return string(text), err
}

// restore returns the key of a wallet from the words in an export.
func (c WalletClient) restore(text string) (wallet.Key, error) {
	words, err := c.OpenExport(text)
	if err != nil {
		return wallet.Key{}, err
	}
	private, err := WalletSecrets(words)
	if err != nil {
		return wallet.Key{}, err
	}
	return wallet.Key(secp256k1.PrivKeyFromBytes(private["private key"]).PubKey().SerializeCompressed()), nil
}
