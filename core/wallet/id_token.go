package wallet

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// MaxIDTokenAge is how long after its issue an ID token is accepted: a customer has just signed in.
const MaxIDTokenAge = time.Minute

// maxClockSkew is how far the clock of a provider may be ahead.
const maxClockSkew = 5 * time.Second

// maxIDToken is the longest ID token that is parsed. Those of large providers have some 1,500 characters.
const maxIDToken = 16 << 10

// Google may write its issuer without a scheme.
const (
	googleIssuer         = "https://accounts.google.com"
	googleIssuerNoScheme = "accounts.google.com"
)

// maxClaim is the longest subject, in bytes (OpenID Connect Core 1.0, section 2). No other text that is used
// needs more.
const maxClaim = 255

// IDToken holds the claims of an ID token (OpenID Connect Core 1.0, section 2). A claim that is missing, or
// is not of the right type, is zero; so is a text that is too long, or not one that can be shown.
type IDToken struct {
	Issuer          string
	Subject         string
	Audiences       []string
	AuthorizedParty string // azp
	Email           string
	Nonce           string
	IssuedAt        time.Time
	ExpiresAt       time.Time
}

// ParseIDToken parses the claims of a signed JWT in compact form. It does not check the signature.
func ParseIDToken(token string) (IDToken, error) {
	if len(token) > maxIDToken {
		return IDToken{}, errors.New("must have at most " + strconv.Itoa(maxIDToken) + " characters")
	}
	errForm := errors.New("must be an ID token: a JWT of three parts in base64url, of which the first two are JSON objects")
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return IDToken{}, errForm
	}
	_, headerErr := decodeObject(parts[0])
	claims, claimsErr := decodeObject(parts[1])
	_, signatureErr := decodeBase64(base64.RawURLEncoding, parts[2])
	if headerErr != nil || claimsErr != nil || signatureErr != nil {
		return IDToken{}, errForm
	}
	return idToken(claims), nil
}

// ParseIDTokenClaims parses claims whose signature was checked.
func ParseIDTokenClaims(claims []byte) (IDToken, error) {
	members, err := parseObject(claims)
	return idToken(members), err
}

func decodeObject(text string) (map[string]any, error) {
	decoded, err := decodeBase64(base64.RawURLEncoding, text)
	if err != nil {
		return nil, err
	}
	return parseObject(decoded)
}

func parseObject(text []byte) (map[string]any, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var members map[string]any
	if !json.Valid(text) || decoder.Decode(&members) != nil || members == nil {
		return nil, errors.New("must be one JSON object")
	}
	return members, nil
}

func idToken(claims map[string]any) IDToken {
	text := func(name string) string { return claimText(claims[name]) }
	t := IDToken{Issuer: text("iss"), Subject: text("sub"), AuthorizedParty: text("azp"), Email: text("email"), Nonce: text("nonce"),
		IssuedAt: unixTime(claims["iat"]), ExpiresAt: unixTime(claims["exp"])}
	switch audience := claims["aud"].(type) {
	case string:
		t.Audiences = []string{claimText(audience)}
	case []any:
		for _, value := range audience {
			if name, ok := value.(string); ok {
				t.Audiences = append(t.Audiences, claimText(name))
			}
		}
	}
	if t.Issuer == googleIssuerNoScheme {
		t.Issuer = googleIssuer
	}
	return t
}

// claimText returns a text that is stored and shown in mails: it has no line breaks, and no other characters
// that are not printed.
func claimText(value any) string {
	text, _ := value.(string)
	if len(text) > maxClaim || strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return ""
	}
	return text
}

// unixTime returns the time of a NumericDate, without its fraction of a second.
func unixTime(value any) time.Time {
	number, _ := value.(json.Number)
	whole, _, _ := strings.Cut(number.String(), ".")
	seconds, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || seconds <= 0 || seconds > maxUnixTime {
		return time.Time{}
	}
	return time.Unix(seconds, 0).UTC()
}

// maxUnixTime is the year 9999.
const maxUnixTime = 253_402_300_799

// Identify returns the person whom a token names to one of the platform's apps, or UNAUTHORIZED if the token
// is for none of them, or not fresh.
func (t IDToken) Identify(clientIDs []string, now time.Time) (Identity, error) {
	audience, ok := t.audience(clientIDs)
	switch {
	case !ok:
		return Identity{}, InvalidIdentity("The ID token is for another app: its audience (aud, azp) is none of " +
			"embeddedWalletConfig.oauthClientIds.")
	case t.Subject == "":
		return Identity{}, InvalidIdentity("The ID token has no subject (sub).")
	case t.ExpiresAt.IsZero() || !now.Before(t.ExpiresAt):
		return Identity{}, InvalidIdentity("The ID token has expired (exp).")
	case t.IssuedAt.IsZero() || now.Sub(t.IssuedAt) >= MaxIDTokenAge:
		return Identity{}, InvalidIdentity("The ID token is not fresh: it must have been issued (iat) less than %d seconds ago.",
			int(MaxIDTokenAge.Seconds()))
	case t.IssuedAt.Sub(now) > maxClockSkew:
		return Identity{}, InvalidIdentity("The ID token was issued in the future (iat).")
	}
	return Identity{Issuer: t.Issuer, Audience: audience, Subject: t.Subject, Email: t.Email}, nil
}

// Client returns the client id that the token names: the only audience, or of several the
// authorised party. With one audience azp does not count: Google names the customer's phone app there.
func (t IDToken) Client() string {
	if len(t.Audiences) == 1 {
		return t.Audiences[0]
	}
	return t.AuthorizedParty
}

// audience returns the client id that the token was issued for, and whether it is one of those.
func (t IDToken) audience(clientIDs []string) (string, bool) {
	client := t.Client()
	return client, client != "" && slices.Contains(t.Audiences, client) && slices.Contains(clientIDs, client)
}

// CheckNonce returns UNAUTHORIZED if the token was not made for a client's key.
func (t IDToken) CheckNonce(client ClientKey) error {
	if t.Nonce != IDTokenNonce(client) {
		return InvalidIdentity("The nonce of the ID token is not that of clientPublicKey: request it with the nonce " +
			"hex(SHA-256(clientPublicKey in lower-case hexadecimal digits)).")
	}
	return nil
}

// IDTokenNonce returns the nonce of ID tokens for a client's key: the SHA-256 of its 130 hexadecimal digits,
// in lower case, itself in hexadecimal digits.
func IDTokenNonce(client ClientKey) string {
	sum := sha256.Sum256([]byte(client.text()))
	return hex.EncodeToString(sum[:])
}

// Same reports whether two tokens name the same person to the same app.
func (i Identity) Same(other Identity) bool {
	return i.Issuer == other.Issuer && i.Audience == other.Audience && i.Subject == other.Subject
}
