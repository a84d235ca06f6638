package local

import (
	"crypto/hmac"
	"crypto/sha512"
	"encoding/binary"
	"errors"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
)

const (
	hardened  = 1 << 31
	keyLength = 32
)

var (
	// walletPath is m/8797555'/0'/0'. The purpose is the last three bytes of SHA-256("spark"): that of identity keys on the layer 2
	// network.
	walletPath = []uint32{8797555 | hardened, 0 | hardened, 0 | hardened}
	// addressPath is m/44'/60'/0'/0/0, where other wallets have their first address on chains like Ethereum (BIP-44).
	addressPath = []uint32{44 | hardened, 60 | hardened, 0 | hardened, 0, 0}
)

// errNoKey is the error for a value from which BIP-32 derives no key: one of 2^127.
var errNoKey = errors.New("no private key can be derived from this entropy")

// deriveKey returns the private key and the chain code at a path (BIP-32): of 32 bytes each, in one buffer. The key is always written
// with its leading zeros.
func deriveKey(s *secrets, seed []byte, path ...uint32) ([]byte, error) {
	mac := hmac.New(sha512.New, []byte("Bitcoin seed"))
	mac.Write(seed)
	node := mac.Sum(s.add(make([]byte, 0, sha512.Size)))
	var parent, child secp256k1.ModNScalar
	defer parent.Zero()
	defer child.Zero()
	if overflow := parent.SetByteSlice(node[:keyLength]); overflow || parent.IsZero() {
		return nil, errNoKey
	}
	for _, index := range path {
		data := s.add(make([]byte, 1, 1+keyLength+4))
		if index&hardened != 0 {
			data = append(data, node[:keyLength]...)
		} else {
			data = append(data[:0], s.addKey(secp256k1.PrivKeyFromBytes(node[:keyLength])).PubKey().SerializeCompressed()...)
		}
		data = binary.BigEndian.AppendUint32(data, index)
		mac := hmac.New(sha512.New, node[keyLength:])
		mac.Write(data)
		node = mac.Sum(node[:0])
		if overflow := child.SetByteSlice(node[:keyLength]); overflow {
			return nil, errNoKey
		}
		if parent.Add(&child).IsZero() {
			return nil, errNoKey
		}
		parent.PutBytesUnchecked(node[:keyLength])
	}
	return node, nil
}

// privateKey returns the private key of a wallet at a path.
func privateKey(s *secrets, words []byte, path []uint32) (*secp256k1.PrivateKey, error) {
	node, err := deriveKey(s, seed(s, words), path...)
	if err != nil {
		return nil, err
	}
	return s.addKey(secp256k1.PrivKeyFromBytes(node[:keyLength])), nil
}
