package local

import (
	"crypto/ecdh"
	"crypto/hpke"
	"crypto/sha256"

	"github.com/mr-tron/base58"

	"causeway/core/wallet"
)

// pointLength is the length of an uncompressed point on P-256.
const pointLength = 65

// sealTo encrypts a text to the key of a client by HPKE (RFC 9180) in base mode, without info and
// associated data, and returns the encapsulated key (uncompressed) and the ciphertext.
func sealTo(client wallet.ClientKey, plain []byte) (encapsulated, ciphertext []byte, err error) {
	point, err := ecdh.P256().NewPublicKey(client.Bytes())
	if err != nil {
		return nil, nil, err
	}
	key, err := hpke.NewDHKEMPublicKey(point)
	if err != nil {
		return nil, nil, err
	}
	sealed, err := hpke.Seal(key, hpke.HKDFSHA256(), hpke.AES256GCM(), nil, plain)
	if err != nil {
		return nil, nil, err
	}
	return sealed[:pointLength], sealed[pointLength:], nil
}

// compress returns the compressed form of a point of 65 bytes (SEC 1).
func compress(point []byte) (compressed [33]byte) {
	compressed[0] = 2 | point[pointLength-1]&1
	copy(compressed[1:], point[1:])
	return compressed
}

// base58check returns bytes and the first four bytes of their double SHA-256, in base 58.
func base58check(b []byte) string {
	once := sha256.Sum256(b)
	twice := sha256.Sum256(once[:])
	return base58.Encode(append(b[:len(b):len(b)], twice[:4]...))
}
