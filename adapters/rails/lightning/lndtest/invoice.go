// Package lndtest is a node of the Lightning network for tests: the REST interface of LND as its documentation describes it, with channels
// whose other ends always answer, payees, and everything that goes wrong.
package lndtest

import (
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/btcsuite/btcd/btcutil/bech32"
	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	"github.com/decred/dcrd/dcrec/secp256k1/v4/ecdsa"

	"causeway/core/lightning"
)

// Terms are what an invoice asks for.
type Terms struct {
	Network       lightning.Network
	MilliSatoshis int64 // zero for any amount
	Hash          [32]byte
	// DescriptionHash is written if it is not zero, otherwise Description.
	DescriptionHash [32]byte
	Description     string
	At              time.Time
	Expiry          time.Duration
}

const letters = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"

// Write returns the text of an invoice that a key signs.
func Write(key *secp256k1.PrivateKey, t Terms) string {
	prefix := "ln" + string(t.Network)
	if t.MilliSatoshis > 0 {
		prefix += fmt.Sprintf("%dp", t.MilliSatoshis*10)
	}
	groups := number(t.At.Unix(), 7)
	field := func(letter byte, content []byte) {
		for n, l := range []byte(letters) {
			if l == letter {
				groups = append(groups, byte(n), byte(len(content)>>5), byte(len(content)&31))
			}
		}
		groups = append(groups, content...)
	}
	var secret [32]byte
	_, _ = rand.Read(secret[:])
	field('p', fives(t.Hash[:]))
	field('s', fives(secret[:]))
	if t.DescriptionHash != [32]byte{} {
		field('h', fives(t.DescriptionHash[:]))
	} else {
		field('d', fives([]byte(t.Description)))
	}
	field('x', number(int64(t.Expiry/time.Second), 6))
	field('9', []byte{16, 8, 0}) // payloads of any length, a payment secret
	signed, err := bech32.ConvertBits(groups, 5, 8, true)
	if err != nil {
		panic(err)
	}
	hash := sha256.Sum256(append([]byte(prefix), signed...))
	signature := ecdsa.SignCompact(key, hash[:], true)
	const compressed = 27 + 4
	text, err := bech32.Encode(prefix, append(groups, fives(append(signature[1:], signature[0]-compressed))...))
	if err != nil {
		panic(err)
	}
	return text
}

func number(n int64, groups int) []byte {
	out := make([]byte, groups)
	for i := groups - 1; i >= 0; i, n = i-1, n>>5 {
		out[i] = byte(n & 31)
	}
	return out
}

func fives(bytes []byte) []byte {
	groups, err := bech32.ConvertBits(bytes, 8, 5, true)
	if err != nil {
		panic(err)
	}
	return groups
}

// Payee gives invoices that are paid to somebody else on the network.
type Payee struct {
	Key     *secp256k1.PrivateKey
	Network lightning.Network
}

// NewPayee returns a payee with a new key.
func NewPayee(n lightning.Network) *Payee {
	key, err := secp256k1.GeneratePrivateKey()
	if err != nil {
		panic(err)
	}
	return &Payee{key, n}
}

// Invoice returns an invoice whose hash is that of a text.
func (p *Payee) Invoice(text string, satoshis int64, at time.Time, expiry time.Duration) string {
	return Write(p.Key, Terms{Network: p.Network, MilliSatoshis: satoshis * 1000, Hash: sha256.Sum256([]byte(text)), Description: "a coffee",
		At: at, Expiry: expiry})
}
