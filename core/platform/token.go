package platform

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"causeway/core/diff"
	"causeway/core/fault"
	"causeway/core/ident"
)

// Token is an API token of a platform. Only the SHA-256 hash of its secret is stored: the
// secret is 256 random bits, so a slow hash would not protect it better.
type Token struct {
	ID          ident.Token
	Platform    ident.Platform
	Name        string
	Permissions []Permission
	// Person is whom the token belongs to; zero for that of a service.
	Person ident.Person
	// Creator is the person who has made the token of a service, or answers for it in place of who has; zero if nobody does.
	Creator    ident.Person
	ClientID   string
	SecretHash [sha256.Size]byte
	CreatedAt  time.Time
	UpdatedAt  time.Time
}

// TokenKept is how long a process may use a token without reading it again. Who takes a token away, or closes its platform, or
// disables its person, is answered only when so much time has passed since the commit: then no process accepts the token.
const TokenKept = 250 * time.Millisecond

// ChangedToken returns what two versions of a token say differently; one that is zero does not exist.
func ChangedToken(before, after Token) []diff.Field {
	return diff.Between(before.values(), after.values())
}

func (t Token) values() diff.Values {
	permissions := make([]string, len(t.Permissions))
	for i, p := range t.Permissions {
		permissions[i] = string(p)
	}
	return diff.Values{"name": t.Name, "permissions": strings.Join(permissions, ", "), "person": t.Person.String(),
		"responsible": t.Creator.String()}
}

// NewToken returns a token, made of 16 random bytes for its client id and 32 for its secret,
// and the secret in hexadecimal.
func NewToken(id ident.Token, p ident.Platform, name string, permissions []Permission, clientID [16]byte, secret [32]byte,
	now time.Time) (Token, string, error) {
	var bad []fault.Field
	name = strings.TrimSpace(name)
	if name == "" || len(name) > 200 {
		bad = append(bad, fault.Field{Field: "name", Message: "must have 1 to 200 characters"})
	}
	if len(permissions) == 0 {
		bad = append(bad, fault.Field{Field: "permissions", Message: "must list at least one of VIEW, TRANSACT, MANAGE"})
	}
	for i, permission := range permissions {
		if !slices.Contains(Permissions, permission) {
			bad = append(bad, fault.Field{Field: fmt.Sprintf("permissions[%d]", i), Message: "must be VIEW, TRANSACT or MANAGE"})
		}
	}
	if len(bad) > 0 {
		return Token{}, "", fault.Invalid(bad...)
	}
	sorted := slices.Clone(permissions)
	slices.Sort(sorted)
	text := hex.EncodeToString(secret[:])
	return Token{
		ID: id, Platform: p, Name: name, Permissions: slices.Compact(sorted),
		ClientID: hex.EncodeToString(clientID[:]), SecretHash: sha256.Sum256([]byte(text)),
		CreatedAt: now, UpdatedAt: now,
	}, text, nil
}

// TokenName says what a token is called, and the e-mail address of the person whom it belongs to; empty for that of a service.
type TokenName struct{ Name, Person string }

// tokenInText is a token as texts name an author: see Author.String.
var tokenInText = regexp.MustCompile("Token:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")

// TokensIn returns the tokens that a text names.
func TokensIn(text string) (found []ident.Token) {
	for _, name := range tokenInText.FindAllString(text, -1) {
		if id, err := ident.ParseToken(name); err == nil {
			found = append(found, id)
		}
	}
	return found
}

// NameTokens returns a text that names tokens, such as the author of a change, with what each is called and whom it belongs to before its
// id. Of one without a name nothing is known but the id. A text that names them already stays as it is.
func NameTokens(text string, names map[ident.Token]TokenName) string {
	return tokenInText.ReplaceAllStringFunc(text, func(id string) string {
		token, err := ident.ParseToken(id)
		named, known := names[token]
		switch {
		case err != nil || !known:
			return id
		case named.Person == "":
			named.Name = "service " + named.Name
		case named.Name == named.Person || named.Name == "":
			named.Name = named.Person // the console has made it for the person
		default:
			named.Name += " of " + named.Person
		}
		if strings.Contains(text, named.Name) {
			return id
		}
		return named.Name + ", " + id
	})
}

// Behind returns the person whom the token belongs to, or who has made it; zero if none is known.
func (t Token) Behind() ident.Person {
	if t.Person.IsZero() {
		return t.Creator
	}
	return t.Person
}

// WithResponsible returns the token of a service with the person who answers for it. Fault: CONFLICT for the token of a person.
func (t Token) WithResponsible(p ident.Person, now time.Time) (Token, error) {
	if !t.Person.IsZero() {
		return t, &fault.Error{Code: fault.Conflict, Reason: "Token of a person", Message: "This token belongs to a person, who answers for it."}
	}
	t.Creator, t.UpdatedAt = p, now
	return t, nil
}

// MatchesSecret reports, in constant time, whether secret is the token's.
func (t Token) MatchesSecret(secret string) bool {
	hash := sha256.Sum256([]byte(secret))
	return subtle.ConstantTimeCompare(hash[:], t.SecretHash[:]) == 1
}

// CheckRevocable returns nil if a token may be deleted; tokens are all tokens of its platform.
// The last token with MANAGE may not: CONFLICT. A token that is none of them is
// TOKEN_NOT_FOUND.
func CheckRevocable(tokens []Token, id ident.Token) error {
	i := slices.IndexFunc(tokens, func(t Token) bool { return t.ID == id })
	if i < 0 {
		return TokenNotFound(id)
	}
	manages := func(t Token) bool { return slices.Contains(t.Permissions, Manage) }
	if !manages(tokens[i]) || slices.ContainsFunc(tokens, func(t Token) bool { return t.ID != id && manages(t) }) {
		return nil
	}
	return &fault.Error{
		Code:    fault.Conflict,
		Message: "This is the last token with the permission MANAGE; without it no token could be created. Create another one with MANAGE first.",
		Reason:  "Last token with MANAGE",
	}
}

// MaxTokens is the largest number of tokens of services of a platform, and of tokens of people. A token that nobody uses any more is to
// be deleted, and all of them are read to decide about one.
const MaxTokens = 200

// CheckTokenRoom returns CONFLICT if a platform that has so many tokens of services, or of people, can have no more.
func CheckTokenRoom(current int, ofPeople bool) error {
	if current < MaxTokens {
		return nil
	}
	owners := "services"
	if ofPeople {
		owners = "people"
	}
	return &fault.Error{Code: fault.Conflict, Reason: "Too many tokens",
		Message: fmt.Sprintf("The platform has %d tokens of %s, and may have %d. Delete one that is not used any more, then create this one.",
			current, owners, MaxTokens)}
}

// TokenNotFound returns TOKEN_NOT_FOUND.
func TokenNotFound(id ident.Token) error {
	return fault.New(fault.TokenNotFound, "There is no token %s.", id)
}
