package portstest

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha512"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/big"
	"strings"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	"github.com/tyler-smith/go-bip39"
)

// WalletSecrets returns the private values of the wallet with 24 words, by name: the words, their entropy and
// seed (BIP-39), and the keys and chain codes of each step of m/8797555'/0'/0' (BIP-32), the last of which is
// the "private key".
func WalletSecrets(words string) (map[string][]byte, error) {
	if n := len(strings.Split(words, " ")); n != 24 {
		return nil, fmt.Errorf("%d words", n)
	}
	entropy, err := bip39.EntropyFromMnemonic(words)
	if err != nil {
		return nil, err
	}
	seed := bip39.NewSeed(words, "")
	hash := func(key, data []byte) (left, right []byte) {
		mac := hmac.New(sha512.New, key)
		mac.Write(data)
		sum := mac.Sum(nil)
		return sum[:32], sum[32:]
	}
	private, chain := hash([]byte("Bitcoin seed"), seed)
	secrets := map[string][]byte{"words": []byte(words), "first words": []byte(strings.Join(strings.Fields(words)[:5], " ")),
		"entropy": entropy, "half of the entropy": entropy[:16], "seed": seed, "master key": private, "master chain code": chain}
	for depth, index := range []uint32{8797555, 0, 0} {
		var tweak []byte
		tweak, chain = hash(chain, binary.BigEndian.AppendUint32(append([]byte{0}, private...), 1<<31|index))
		sum := new(big.Int).Add(new(big.Int).SetBytes(tweak), new(big.Int).SetBytes(private))
		private = sum.Mod(sum, secp256k1.S256().N).FillBytes(make([]byte, 32))
		name := []string{"purpose key", "account key", "private key"}[depth]
		secrets[name], secrets["chain code of the "+name] = private, chain
	}
	return secrets, nil
}

// ShowsSecret reports whether a text contains a secret: as it is, in hexadecimal digits, or in base64,
// wherever in a longer text the secret begins.
func ShowsSecret(text, secret []byte) bool {
	forms := [][]byte{secret, []byte(hex.EncodeToString(secret)), bytes.ToUpper([]byte(hex.EncodeToString(secret)))}
	for before := range 3 {
		for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			encoded := encoding.EncodeToString(append(make([]byte, before), secret...))
			forms = append(forms, []byte(encoded[4*((before+2)/3):len(encoded)-3])) // without what depends on the bytes around it
		}
	}
	for _, form := range forms {
		if bytes.Contains(text, form) {
			return true
		}
	}
	return false
}
