package agent

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"strings"

	"causeway/core/fault"
)

const (
	// tokenPrefix begins every access token, so that tools that look for leaked secrets recognise them.
	tokenPrefix = "agt_"
	// formerTokenPrefix begins the tokens that the first version with agents issued.
	formerTokenPrefix = "cwa_"
)

// FormatToken returns the access token with 256 random bits.
func FormatToken(random [32]byte) string { return tokenPrefix + hex.EncodeToString(random[:]) }

// IsToken reports whether a text has the form of an access token.
func IsToken(text string) bool {
	digits, ok := strings.CutPrefix(text, tokenPrefix)
	if !ok {
		digits, ok = strings.CutPrefix(text, formerTokenPrefix)
	}
	return ok && len(digits) == 64 && strings.Trim(digits, "0123456789abcdef") == ""
}

// InvalidToken returns UNAUTHORIZED for a token that authenticates no agent.
func InvalidToken() error {
	return &fault.Error{
		Code:    fault.Unauthorized,
		Message: "The access token is wrong, or its agent was deleted. Pair the program with an agent again, by a device code.",
		Reason:  "Invalid access token",
	}
}

// TokenHash is the SHA-256 hash of an access token: the token is 256 random bits, so a slow hash would not
// protect it better.
type TokenHash [sha256.Size]byte

// HashToken returns the hash of an access token.
func HashToken(token string) TokenHash { return sha256.Sum256([]byte(token)) }

// Equal compares hashes in constant time.
func (h TokenHash) Equal(other TokenHash) bool {
	return subtle.ConstantTimeCompare(h[:], other[:]) == 1
}
