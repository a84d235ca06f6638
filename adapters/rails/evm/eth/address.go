package eth

import "causeway/core/ethereum"

// Address is an address on an Ethereum-like chain, and Hash the hash of a block or transaction.
type (
	Address = ethereum.Address
	Hash    = ethereum.Hash
)

// The sizes of addresses and hashes, in bytes.
const (
	AddressLength = ethereum.AddressLength
	HashLength    = ethereum.HashLength
)

// Keccak256 returns the hash of Ethereum.
func Keccak256(data ...[]byte) Hash { return ethereum.Keccak256(data...) }

// AddressOf returns the address of a public key of 33 bytes.
func AddressOf(publicKey [33]byte) (Address, error) { return ethereum.AddressOf(publicKey) }

// FormatAddress returns an address with its checksum in the case of the letters (EIP-55).
func FormatAddress(a Address) string { return ethereum.FormatAddress(a) }

// ParseAddress parses an address, whose checksum must be right if it has one.
func ParseAddress(text string) (Address, error) { return ethereum.ParseAddress(text) }

// FormatHash returns a hash in hexadecimal digits after 0x.
func FormatHash(h Hash) string { return ethereum.FormatHash(h) }
