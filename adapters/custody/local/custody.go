package local

import (
	"context"
	"crypto/ecdh"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	"github.com/decred/dcrd/dcrec/secp256k1/v4/ecdsa"

	"causeway/core/wallet"
	"causeway/ports"
)

// Custody implements ports.Custody. It is safe for concurrent use.
type Custody struct {
	store      ports.WalletKeyStore
	random     func([]byte) // fills a buffer
	newSecrets func() *secrets
}

var _ ports.Custody = (*Custody)(nil)

// New returns a custody of the keys in a store.
func New(store ports.WalletKeyStore) *Custody {
	return &Custody{
		store:      store,
		random:     func(b []byte) { _, _ = rand.Read(b) }, // never fails
		newSecrets: func() *secrets { return new(secrets) },
	}
}

// WalletKey implements ports.Custody.
func (c *Custody) WalletKey(ctx context.Context, w ports.WalletID) (wallet.Key, error) {
	key, err := c.store.WalletKey(ctx, w)
	if err != nil || key != (wallet.Key{}) {
		return key, err
	}
	s := c.newSecrets()
	defer s.wipe()
	return c.create(ctx, s, w)
}

// create makes and stores the key of a wallet, unless another caller has, and returns the one stored.
func (c *Custody) create(ctx context.Context, s *secrets, w ports.WalletID) (wallet.Key, error) {
	entropy := s.add(make([]byte, entropyLength))
	c.random(entropy)
	private, err := privateKey(s, words(s, entropy), walletPath)
	if err != nil {
		return wallet.Key{}, err
	}
	return c.store.AddWalletKey(ctx, w, publicKey(private), entropy)
}

// entropy returns the entropy and the public key of a wallet, made at the first call.
func (c *Custody) entropy(ctx context.Context, s *secrets, w ports.WalletID) ([]byte, wallet.Key, error) {
	entropy, key, err := c.store.WalletEntropy(ctx, w)
	if err == nil && entropy == nil {
		if _, err = c.create(ctx, s, w); err == nil {
			entropy, key, err = c.store.WalletEntropy(ctx, w)
		}
	}
	s.add(entropy)
	if err == nil && len(entropy) != entropyLength {
		err = fmt.Errorf("the entropy of the wallet %s has %d bytes, not %d", w.Account, len(entropy), entropyLength)
	}
	return entropy, key, err
}

// open returns the private key and the words of a wallet, made at the first call.
func (c *Custody) open(ctx context.Context, s *secrets, w ports.WalletID) (*secp256k1.PrivateKey, []byte, error) {
	entropy, key, err := c.entropy(ctx, s, w)
	if err != nil {
		return nil, nil, err
	}
	return openEntropy(s, w, entropy, key)
}

func openEntropy(s *secrets, w ports.WalletID, entropy []byte, key wallet.Key) (*secp256k1.PrivateKey, []byte, error) {
	text := words(s, entropy)
	private, err := privateKey(s, text, walletPath)
	if err != nil {
		return nil, nil, err
	}
	if publicKey(private) != key {
		return nil, nil, fmt.Errorf("the public key of the wallet %s was not made from its entropy", w.Account)
	}
	return private, text, nil
}

func publicKey(private *secp256k1.PrivateKey) wallet.Key {
	return wallet.Key(private.PubKey().SerializeCompressed())
}

// sign signs with ECDSA, SHA-256 and the nonce of RFC 6979, and returns the signature in DER.
func sign(private *secp256k1.PrivateKey, message []byte) []byte {
	hash := sha256.Sum256(message)
	return ecdsa.Sign(private, hash[:]).Serialize()
}

// Sign implements ports.Custody.
func (c *Custody) Sign(ctx context.Context, w ports.WalletID, statement string) (wallet.Certificate, error) {
	s := c.newSecrets()
	defer s.wipe()
	private, _, err := c.open(ctx, s, w)
	if err != nil {
		return wallet.Certificate{}, err
	}
	return wallet.Certificate{Statement: statement, Key: publicKey(private), Signature: sign(private, []byte(statement))}, nil
}

// NewSessionKey implements ports.Custody.
func (c *Custody) NewSessionKey(ctx context.Context, client wallet.ClientKey) (ports.SealedSessionKey, error) {
	s := c.newSecrets()
	defer s.wipe()
	scalar := s.add(make([]byte, keyLength))
	var private *ecdh.PrivateKey
	for private == nil {
		if err := ctx.Err(); err != nil {
			return ports.SealedSessionKey{}, err
		}
		c.random(scalar)
		private, _ = ecdh.P256().NewPrivateKey(scalar) // fails if the number is zero or too large: one of 2^32
	}
	encapsulated, ciphertext, err := sealTo(client, scalar)
	if err != nil {
		return ports.SealedSessionKey{}, err
	}
	compressed := compress(encapsulated)
	return ports.SealedSessionKey{
		Public:    wallet.SessionKey(compress(private.PublicKey().Bytes())),
		Encrypted: base58check(append(compressed[:], ciphertext...)),
	}, nil
}

// envelopeVersion is the version of envelopes.
const envelopeVersion = "v1.0.0"

// envelope is what the key of a wallet signs for clients; all texts but the version are hexadecimal.
type envelope struct {
	Version string `json:"version"`
	// Data is the JSON of exported or otpTarget.
	Data string `json:"data"`
	// DataSignature is the signature of the wallet's key over the bytes of Data: ECDSA with SHA-256, in DER.
	DataSignature string `json:"dataSignature"`
	// QuorumPublic is the public key of the wallet, uncompressed.
	QuorumPublic string `json:"enclaveQuorumPublic"`
}

func newEnvelope(private *secp256k1.PrivateKey, content any) (string, error) {
	data, err := json.Marshal(content)
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(envelope{envelopeVersion, hex.EncodeToString(data), hex.EncodeToString(sign(private, data)),
		hex.EncodeToString(private.PubKey().SerializeUncompressed())})
	return string(text), err
}

type exported struct {
	// EncappedPublic is the encapsulated key, uncompressed.
	EncappedPublic string `json:"encappedPublic"`
	Ciphertext     string `json:"ciphertext"`
	// OrganizationID is the id of the platform.
	OrganizationID string `json:"organizationId"`
}

// Export implements ports.Custody.
func (c *Custody) Export(ctx context.Context, w ports.WalletID, client wallet.ClientKey) (string, error) {
	s := c.newSecrets()
	defer s.wipe()
	private, text, err := c.open(ctx, s, w)
	if err != nil {
		return "", err
	}
	encapsulated, ciphertext, err := sealTo(client, text)
	if err != nil {
		return "", err
	}
	return newEnvelope(private, exported{hex.EncodeToString(encapsulated), hex.EncodeToString(ciphertext), w.Platform.String()})
}
