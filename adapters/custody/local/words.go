package local

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"

	"github.com/tyler-smith/go-bip39/wordlists"
)

const (
	entropyLength = 32
	wordCount     = 24
	maxWordLength = 8
	bitsPerWord   = 11
	seedLength    = sha512.Size
	seedRounds    = 2048
)

// words returns the words of 32 bytes of entropy (BIP-39): 11 bits each, of the entropy and the first byte
// of its hash. They are bytes, not a string, so that they can be overwritten.
func words(s *secrets, entropy []byte) []byte {
	bits := s.add(make([]byte, 0, entropyLength+1))
	bits = append(bits, entropy...)
	hash := sha256.Sum256(entropy)
	bits = append(bits, hash[0])
	clear(hash[:])
	text := s.add(make([]byte, 0, wordCount*(maxWordLength+1)))
	for n := range wordCount {
		index := 0
		for bit := n * bitsPerWord; bit < (n+1)*bitsPerWord; bit++ {
			index = index<<1 | int(bits[bit/8]>>(7-bit%8)&1)
		}
		if n > 0 {
			text = append(text, ' ')
		}
		text = append(text, wordlists.English[index]...)
	}
	return text
}

// seed returns the seed of words without a passphrase: PBKDF2 with HMAC-SHA-512 (RFC 8018), of which it is
// the first block. The standard library takes the words as a string only.
func seed(s *secrets, words []byte) []byte {
	mac := hmac.New(sha512.New, words)
	mac.Write([]byte("mnemonic\x00\x00\x00\x01"))
	round := mac.Sum(s.add(make([]byte, 0, seedLength)))
	sum := append(s.add(make([]byte, 0, seedLength)), round...)
	for range seedRounds - 1 {
		mac.Reset()
		mac.Write(round)
		round = mac.Sum(round[:0])
		for i := range sum {
			sum[i] ^= round[i]
		}
	}
	return sum
}
