// Package ethereum has what the rules need of Ethereum: addresses, authorisations and permits of transfers of tokens, and transactions.
package ethereum

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	"golang.org/x/crypto/sha3"
)

// Address is an address on an Ethereum-like chain, and Hash the hash of a block or transaction.
type (
	Address [20]byte
	Hash    [32]byte
)

// The sizes of addresses and hashes, in bytes.
const (
	AddressLength = len(Address{})
	HashLength    = len(Hash{})
)

// Keccak256 returns the hash of Ethereum, which is older than SHA-3 and differs from it in the padding.
func Keccak256(data ...[]byte) (hash Hash) {
	h := sha3.NewLegacyKeccak256()
	for _, d := range data {
		h.Write(d)
	}
	h.Sum(hash[:0])
	return hash
}

// AddressOf returns the address of a public key of 33 bytes.
func AddressOf(publicKey [33]byte) (Address, error) {
	key, err := secp256k1.ParsePubKey(publicKey[:])
	if err != nil {
		return Address{}, err
	}
	hash := Keccak256(key.SerializeUncompressed()[1:])
	return Address(hash[HashLength-AddressLength:]), nil
}

// FormatAddress returns an address with its checksum in the case of the letters (EIP-55).
func FormatAddress(a Address) string {
	text := []byte(hex.EncodeToString(a[:]))
	hash := Keccak256(text)
	for i, c := range text {
		nibble := hash[i/2] >> (4 * (1 - i%2)) & 0xf
		if c >= 'a' && nibble >= 8 {
			text[i] = c - 'a' + 'A'
		}
	}
	return "0x" + string(text)
}

// errAddress is the error for a text that is no address.
var errAddress = errors.New("must be 0x and 40 hexadecimal digits")

// ParseAddress parses an address. One with capital and small letters has a checksum, which must be right; one without
// has none.
func ParseAddress(text string) (a Address, err error) {
	digits, ok := strings.CutPrefix(text, "0x")
	if !ok || len(digits) != hex.EncodedLen(AddressLength) {
		return a, errAddress
	}
	if _, err := hex.Decode(a[:], []byte(digits)); err != nil {
		return Address{}, errAddress
	}
	if digits == strings.ToLower(digits) || digits == strings.ToUpper(digits) || text == FormatAddress(a) {
		return a, nil
	}
	return Address{}, fmt.Errorf("the checksum (EIP-55) of %s is wrong; copy the address again", text)
}

// FormatHash returns a hash in hexadecimal digits after 0x.
func FormatHash(h Hash) string { return "0x" + hex.EncodeToString(h[:]) }
