package ports

import "context"

// ChainKeys holds the seed of a wallet on chains, and never returns it. Paths are those of BIP-32: an index with
// ChainHardened is derived from the private key.
type ChainKeys interface {
	// AccountKey returns the public key at a path, from which the public keys below it are derived without a call.
	AccountKey(ctx context.Context, path []uint32) (ChainAccountKey, error)
	// SignDigest signs 32 bytes with the key at a path (ECDSA on secp256k1, RFC 6979, low s).
	SignDigest(ctx context.Context, path []uint32, digest [32]byte) (ChainSignature, error)
}

// ChainHardened marks an index of a path as hardened.
const ChainHardened uint32 = 1 << 31

// ChainAccountKey is a public key of 33 bytes with its chain code.
type ChainAccountKey struct {
	PublicKey [33]byte
	ChainCode [32]byte
}

// ChainSignature is a signature; Recovery is which of two public keys has made it.
type ChainSignature struct {
	R, S     [32]byte
	Recovery byte
}
