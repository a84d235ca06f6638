// Package bitcoin reads and writes the addresses of Bitcoin and its test networks. Their encodings are those of btcutil.
package bitcoin

import (
	"crypto/sha256"
	"errors"
	"slices"
	"strings"

	"github.com/btcsuite/btcd/btcutil/base58"
	"github.com/btcsuite/btcd/btcutil/bech32"
	"golang.org/x/crypto/ripemd160" //nolint:staticcheck // deprecated for new designs; addresses are defined by it
)

// The first part of SegWit addresses, and the first byte of the older ones, on the main and the test networks.
var (
	segwitPrefixes = []string{"bc", "tb", "bcrt"}
	base58Versions = []byte{0x00, 0x05, 0x6f, 0xc4}
)

// What is wrong with a text that is not an address.
var (
	ErrForm      = errors.New("is not a Bitcoin address")
	ErrMixedCase = errors.New("mixes upper and lower case letters")
	ErrChecksum  = errors.New("has a wrong letter")
)

// hashLength is the length of the hash of a key or script, in bytes.
const hashLength = ripemd160.Size

// Hash160 returns the hash of a key or script that addresses have.
func Hash160(data []byte) []byte {
	sum := sha256.Sum256(data)
	h := ripemd160.New()
	h.Write(sum[:])
	return h.Sum(nil)
}

// Address is what an address says.
type Address struct {
	Prefix  string // of a SegWit address: bc, tb or bcrt; empty for an older one
	Version byte   // of the witness program, or the first byte of an older address
	Program []byte // the witness program, or the hash of a key or script
}

// ParseAddress reads a SegWit address (BIP 173 and 350), or an older one in base58.
func ParseAddress(text string) (Address, error) {
	prefix, _, found := strings.Cut(strings.ToLower(text), "1")
	if !found || !slices.Contains(segwitPrefixes, prefix) {
		return parseBase58(text)
	}
	return parseSegWit(prefix, text)
}

func parseBase58(text string) (Address, error) {
	const shortest, longest = 26, 35
	if len(text) < shortest || len(text) > longest {
		return Address{}, ErrForm
	}
	hash, version, err := base58.CheckDecode(text)
	switch {
	case errors.Is(err, base58.ErrChecksum):
		return Address{}, ErrChecksum
	case err != nil || len(hash) != hashLength || !slices.Contains(base58Versions, version):
		return Address{}, ErrForm
	}
	return Address{Version: version, Program: hash}, nil
}

func parseSegWit(prefix, text string) (Address, error) {
	const maxVersion, shortest, longest = 16, 2, 40
	found, groups, checksum, err := bech32.DecodeGeneric(text)
	var wrongChecksum bech32.ErrInvalidChecksum
	switch {
	case errors.Is(err, bech32.ErrMixedCase{}):
		return Address{}, ErrMixedCase
	case errors.As(err, &wrongChecksum):
		return Address{}, ErrChecksum
	case err != nil || found != prefix || len(groups) == 0 || groups[0] > maxVersion:
		return Address{}, ErrForm
	case (groups[0] == 0) != (checksum == bech32.Version0): // later versions have the checksum of BIP 350
		return Address{}, ErrChecksum
	}
	program, err := bech32.ConvertBits(groups[1:], 5, 8, false)
	length := len(program)
	if err != nil || length < shortest || length > longest || groups[0] == 0 && length != 20 && length != 32 {
		return Address{}, ErrForm
	}
	return Address{prefix, groups[0], program}, nil
}

// WitnessAddress returns the SegWit address of the hash of a public key: P2WPKH, with a prefix such as bc.
func WitnessAddress(prefix string, keyHash []byte) (string, error) {
	groups, err := bech32.ConvertBits(keyHash, 8, 5, true)
	if err != nil {
		return "", err
	}
	return bech32.Encode(prefix, append([]byte{0}, groups...))
}
