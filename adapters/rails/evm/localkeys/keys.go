// Package localkeys implements ports.ChainKeys in the process of the service, with a seed that ports.Secrets reads.
//
// The seed is read for each call and overwritten before it returns; no private value is kept between calls. Go cannot
// promise that nothing of it stays in memory, so the process needs the same protection as the seed.
package localkeys

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha512"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	"github.com/decred/dcrd/dcrec/secp256k1/v4/ecdsa"
	"github.com/tyler-smith/go-bip39"

	"causeway/ports"
)

// Keys are the keys of one seed.
type Keys struct {
	secrets   ports.Secrets
	reference string
}

var _ ports.ChainKeys = (*Keys)(nil)

// New returns the keys of the seed with a reference: BIP-39 words in English without a passphrase, or 16 to 64 bytes in
// hexadecimal digits.
func New(secrets ports.Secrets, reference string) *Keys { return &Keys{secrets, reference} }

// AccountKey implements ports.ChainKeys.
func (k *Keys) AccountKey(ctx context.Context, path []uint32) (key ports.ChainAccountKey, err error) {
	n, err := k.derive(ctx, path)
	if err != nil {
		return key, err
	}
	defer n.wipe()
	private := secp256k1.NewPrivateKey(&n.key)
	defer private.Zero()
	copy(key.PublicKey[:], private.PubKey().SerializeCompressed())
	key.ChainCode = n.chainCode
	return key, nil
}

// SignDigest implements ports.ChainKeys.
func (k *Keys) SignDigest(ctx context.Context, path []uint32, digest [32]byte) (s ports.ChainSignature, err error) {
	n, err := k.derive(ctx, path)
	if err != nil {
		return s, err
	}
	defer n.wipe()
	private := secp256k1.NewPrivateKey(&n.key)
	defer private.Zero()
	compact := ecdsa.SignCompact(private, digest[:], false)
	const magic = 27 // offset of the recovery code in the compact format
	s.Recovery = compact[0] - magic
	copy(s.R[:], compact[1:33])
	copy(s.S[:], compact[33:])
	return s, nil
}

func (k *Keys) derive(ctx context.Context, path []uint32) (node, error) {
	seed, err := k.seed(ctx)
	if err != nil {
		return node{}, err
	}
	defer clear(seed)
	n, err := master(seed)
	if err != nil {
		return node{}, err
	}
	for _, index := range path {
		if err := n.child(index); err != nil {
			n.wipe()
			return node{}, err
		}
	}
	return n, nil
}

const minSeed, maxSeed = 16, 64

// seed reads the seed. Its errors name the reference and never the secret.
func (k *Keys) seed(ctx context.Context) ([]byte, error) {
	secret, err := k.secrets.Secret(ctx, k.reference)
	if err != nil {
		return nil, err
	}
	defer clear(secret)
	text := bytes.TrimSpace(secret)
	if bytes.ContainsRune(text, ' ') {
		seed, err := bip39.NewSeedWithErrorChecking(strings.Join(strings.Fields(string(text)), " "), "")
		if err != nil {
			return nil, fmt.Errorf("%s must be the words of BIP-39 with their checksum; check each word and their order", k.reference)
		}
		return seed, nil
	}
	seed := make([]byte, hex.DecodedLen(len(text)))
	if _, err := hex.Decode(seed, text); err != nil || len(seed) < minSeed || len(seed) > maxSeed {
		clear(seed)
		return nil, fmt.Errorf("%s must be words of BIP-39, or 16 to 64 bytes in hexadecimal digits", k.reference)
	}
	return seed, nil
}

// node is a private key with its chain code (BIP-32).
type node struct {
	key       secp256k1.ModNScalar
	chainCode [32]byte
}

func (n *node) wipe() {
	n.key.Zero()
	clear(n.chainCode[:])
}

// errNoKey is the error for a value from which BIP-32 derives no key: one of 2^127.
var errNoKey = errors.New("no private key can be derived at this path")

func master(seed []byte) (n node, err error) {
	mac := hmac.New(sha512.New, []byte("Bitcoin seed"))
	mac.Write(seed)
	sum := mac.Sum(nil)
	defer clear(sum)
	if overflow := n.key.SetByteSlice(sum[:32]); overflow || n.key.IsZero() {
		return node{}, errNoKey
	}
	copy(n.chainCode[:], sum[32:])
	return n, nil
}

// child replaces a node by that at an index below it.
func (n *node) child(index uint32) error {
	var data []byte
	if index&ports.ChainHardened != 0 {
		key := n.key.Bytes()
		data = append([]byte{0}, key[:]...)
		clear(key[:])
	} else {
		private := secp256k1.NewPrivateKey(&n.key)
		data = private.PubKey().SerializeCompressed()
		private.Zero()
	}
	data = binary.BigEndian.AppendUint32(data, index)
	defer clear(data)
	mac := hmac.New(sha512.New, n.chainCode[:])
	mac.Write(data)
	sum := mac.Sum(nil)
	defer clear(sum)
	var step secp256k1.ModNScalar
	defer step.Zero()
	if overflow := step.SetByteSlice(sum[:32]); overflow {
		return errNoKey
	}
	if n.key.Add(&step).IsZero() {
		return errNoKey
	}
	copy(n.chainCode[:], sum[32:])
	return nil
}
