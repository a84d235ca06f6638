package platform

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"causeway/core/fault"
	"causeway/core/ident"
)

// Token is one credential of a platform. Of its secret only a SHA-256 is kept: the
// secret is 256 random bits, so a slow hash would protect nothing more.
type Token struct {
	ID          ident.Token
	Platform    ident.Platform
	Name        string
	Permissions []Permission
	ClientID    string
	SecretHash  [sha256.Size]byte
	CreatedAt   time.Time
	UpdatedAt   time.Time
}

// NewToken returns a token from 16 random bytes for its client id and 32 for its
// secret, and returns the secret once, in hexadecimal.
func NewToken(id ident.Token, p ident.Platform, name string, permissions []Permission, clientID [16]byte, secret [32]byte, now time.Time) (Token, string, error) {
	var bad []fault.Field
	name = strings.TrimSpace(name)
	if name == "" || len(name) > 200 {
		bad = append(bad, fault.Field{Field: "name", Message: "give a name of 1 to 200 characters"})
	}
	if len(permissions) == 0 {
		bad = append(bad, fault.Field{Field: "permissions", Message: "list at least one of VIEW, TRANSACT, MANAGE"})
	}
	for i, permission := range permissions {
		if !slices.Contains(Permissions, permission) {
			bad = append(bad, fault.Field{Field: fmt.Sprintf("permissions[%d]", i), Message: "must be VIEW, TRANSACT or MANAGE"})
		}
	}
	if len(bad) > 0 {
		return Token{}, "", fault.Invalid(bad...)
	}
	given := slices.Clone(permissions)
	slices.Sort(given)
	text := hex.EncodeToString(secret[:])
	return Token{
		ID: id, Platform: p, Name: name, Permissions: slices.Compact(given),
		ClientID: hex.EncodeToString(clientID[:]), SecretHash: sha256.Sum256([]byte(text)),
		CreatedAt: now, UpdatedAt: now,
	}, text, nil
}

// MatchesSecret returns in constant time whether secret belongs to the token.
func (t Token) MatchesSecret(secret string) bool {
	hash := sha256.Sum256([]byte(secret))
	return subtle.ConstantTimeCompare(hash[:], t.SecretHash[:]) == 1
}
