// Package signedmessage signs and verifies messages between two programs that share a secret, as Standard Webhooks
// describes it (https://www.standardwebhooks.com), with HMAC-SHA256.
package signedmessage

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// The headers of a message.
const (
	IDHeader        = "webhook-id"
	TimestampHeader = "webhook-timestamp"
	SignatureHeader = "webhook-signature"
)

const (
	// Window is how far the timestamp of a message may be from now.
	Window = 5 * time.Minute

	maxID         = 256
	maxSignatures = 16
	maxSecrets    = 8
	minKey        = 24
	maxKey        = 64
)

// The reasons for which a message is refused.
var (
	ErrHeaders   = errors.New("the headers webhook-id, webhook-timestamp and webhook-signature are required, each once")
	ErrTimestamp = errors.New("webhook-timestamp is more than 5 minutes from now")
	ErrSignature = errors.New("no signature in webhook-signature is valid")
)

// Secrets are what messages are signed with. During a rotation there are several.
type Secrets [][]byte

// Parse parses secrets in the format of Standard Webhooks, such as whsec_MfKQ9r8GKYqrTwjU…, separated by commas or
// white space. Its errors have nothing of the text.
func Parse(text string) (Secrets, error) {
	var secrets Secrets
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune(", \t\r\n", r) }) {
		encoded, ok := strings.CutPrefix(word, "whsec_")
		key, err := base64.StdEncoding.DecodeString(encoded)
		if !ok || err != nil || len(key) < minKey || len(key) > maxKey {
			return nil, errors.New("each secret must be whsec_ and the base64 text of 24 to 64 random bytes")
		}
		secrets = append(secrets, key)
	}
	if len(secrets) == 0 || len(secrets) > maxSecrets {
		return nil, fmt.Errorf("there must be from 1 to %d secrets", maxSecrets)
	}
	return secrets, nil
}

// Headers are the headers of a message.
type Headers struct{ ID, Timestamp, Signature string }

// Sign returns the headers of a message, with a signature by each of the secrets.
func (s Secrets) Sign(id string, at time.Time, body []byte) Headers {
	h := Headers{ID: id, Timestamp: strconv.FormatInt(at.Unix(), 10)}
	signatures := make([]string, len(s))
	for i, secret := range s {
		signatures[i] = signature(secret, h, body)
	}
	h.Signature = strings.Join(signatures, " ")
	return h
}

// Verify returns when a message was signed, and ErrHeaders, ErrSignature or ErrTimestamp unless one of the secrets
// signed it at about the time.
func (s Secrets) Verify(h Headers, body []byte, now time.Time) (time.Time, error) {
	seconds, err := strconv.ParseInt(h.Timestamp, 10, 64)
	if h.ID == "" || h.Signature == "" || err != nil || len(h.ID) > maxID ||
		strings.ContainsFunc(h.ID, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return time.Time{}, ErrHeaders
	}
	if !s.signed(h, body) {
		return time.Time{}, ErrSignature
	}
	at := time.Unix(seconds, 0)
	if age := now.Sub(at); age > Window || age < -Window {
		return time.Time{}, ErrTimestamp
	}
	return at, nil
}

// signed reports whether one of the signatures is by one of the secrets. It compares in constant time.
func (s Secrets) signed(h Headers, body []byte) bool {
	given := strings.Fields(h.Signature)
	given = given[:min(len(given), maxSignatures)]
	valid := false
	for _, secret := range s {
		want := []byte(signature(secret, h, body))
		for _, g := range given {
			valid = hmac.Equal(want, []byte(g)) || valid
		}
	}
	return valid
}

func signature(secret []byte, h Headers, body []byte) string {
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(h.ID + "." + h.Timestamp + "."))
	mac.Write(body)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}
