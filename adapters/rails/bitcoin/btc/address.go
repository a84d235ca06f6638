package btc

import (
	"crypto/sha256"
	"fmt"
	"strings"

	"causeway/core/bitcoin"
)

// Network is one of the chains, with the prefixes of its addresses and keys.
type Network struct {
	// Name is that of getblockchaininfo.
	Name                            string
	prefix                          string // of SegWit addresses
	keyHash, scriptHash, privateKey byte
	extendedPublic, extendedPrivate [4]byte
}

var testPublic, testPrivate = [4]byte{0x04, 0x35, 0x87, 0xcf}, [4]byte{0x04, 0x35, 0x83, 0x94}

var networks = []Network{
	{"main", "bc", 0x00, 0x05, 0x80, [4]byte{0x04, 0x88, 0xb2, 0x1e}, [4]byte{0x04, 0x88, 0xad, 0xe4}},
	{"test", "tb", 0x6f, 0xc4, 0xef, testPublic, testPrivate},
	{"testnet4", "tb", 0x6f, 0xc4, 0xef, testPublic, testPrivate},
	{"signet", "tb", 0x6f, 0xc4, 0xef, testPublic, testPrivate},
	{"regtest", "bcrt", 0x6f, 0xc4, 0xef, testPublic, testPrivate},
}

// NetworkNamed returns a network by its name.
func NetworkNamed(name string) (Network, error) {
	var names []string
	for _, n := range networks {
		if n.Name == name {
			return n, nil
		}
		names = append(names, n.Name)
	}
	return Network{}, fmt.Errorf("%.20q is not one of %s", name, strings.Join(names, ", "))
}

// Script returns the output script of an address of the network, or what is wrong with the address.
func (n Network) Script(address string) ([]byte, error) {
	a, err := bitcoin.ParseAddress(address)
	switch {
	case err != nil:
		return nil, fmt.Errorf("is not an address of the network %s, or has a wrong letter", n.Name)
	case a.Prefix == n.prefix:
		opcode := a.Version
		if opcode > 0 {
			opcode += 0x50
		}
		return append([]byte{opcode, byte(len(a.Program))}, a.Program...), nil
	case a.Prefix == "" && a.Version == n.keyHash: // OP_DUP OP_HASH160 <hash> OP_EQUALVERIFY OP_CHECKSIG
		return append(append([]byte{0x76, 0xa9, 20}, a.Program...), 0x88, 0xac), nil
	case a.Prefix == "" && a.Version == n.scriptHash: // OP_HASH160 <hash> OP_EQUAL
		return append(append([]byte{0xa9, 20}, a.Program...), 0x87), nil
	}
	return nil, fmt.Errorf("is an address of another network than %s", n.Name)
}

// WitnessAddress returns the P2WPKH address of a compressed public key.
func (n Network) WitnessAddress(publicKey []byte) string {
	address, _ := bitcoin.WitnessAddress(n.prefix, bitcoin.Hash160(publicKey)) // a hash can always be encoded
	return address
}

func doubleHash(data []byte) [32]byte {
	once := sha256.Sum256(data)
	return sha256.Sum256(once[:])
}
