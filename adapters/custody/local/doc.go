// Package local implements ports.Custody in the process of the service.
//
// The key of a wallet is made from 32 bytes of the system's randomness: 24 words (BIP-39, English, without
// a passphrase), and the private key at m/8797555'/0'/0' (BIP-32 on secp256k1). Only the entropy is stored,
// encrypted; everything else is derived for each call, and no private value is kept between calls.
//
// Entropy, words, seed and private keys are overwritten before a call returns. Go cannot promise that
// nothing of them stays in memory: the hash functions, the elliptic curves and the ciphers of the libraries
// keep copies of their own until the garbage collector reuses the memory, and a stack that grows leaves
// its old place as it was. So a core dump or swapped memory of the process may show the keys of wallets
// that were in use, and the process needs the same protection as the master key, which it holds anyway.
//
// The arithmetic on secp256k1 does not take the same time for all keys. A wallet signs only when a session
// opens or its words are exported, which its owner must prove to be allowed to.
package local
