package account

import (
	"crypto/sha256"
	"math/big"
	"regexp"
	"strings"
)

var tronAddress = regexp.MustCompile(`^T[1-9A-HJ-NP-Za-km-z]{33}$`)

// checkTronAddress wants 21 bytes, the first of which says Tron, and four that check
// them: base58 of both together.
func checkTronAddress(address string) string {
	if !tronAddress.MatchString(address) {
		return "must be T and 33 base58 characters"
	}
	const tron, length = 0x41, 25
	bytes := decodeBase58(address)
	if len(bytes) != length || bytes[0] != tron {
		return wrongCheckDigits
	}
	once := sha256.Sum256(bytes[:length-4])
	twice := sha256.Sum256(once[:])
	if string(twice[:4]) != string(bytes[length-4:]) {
		return wrongCheckDigits
	}
	return ""
}

// decodeBase58 returns the number that the text writes, without leading noughts; nil when it
// has other letters.
func decodeBase58(text string) []byte {
	const letters = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
	number, base := new(big.Int), big.NewInt(int64(len(letters)))
	for _, c := range []byte(text) {
		digit := strings.IndexByte(letters, c)
		if digit < 0 {
			return nil
		}
		number.Mul(number, base).Add(number, big.NewInt(int64(digit)))
	}
	return number.Bytes()
}
