package provider

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// The headers of a message, as in Standard Webhooks.
const (
	idHeader        = "webhook-id"
	timestampHeader = "webhook-timestamp"
	signatureHeader = "webhook-signature"
)

const (
	// messageWindow is how far the timestamp of a message may be from now.
	messageWindow = 5 * time.Minute

	maxMessageID  = 256
	maxSignatures = 16
	maxSecrets    = 8
)

// Secrets are what messages are signed with. During a rotation there are several.
type Secrets [][]byte

// ParseSecrets parses secrets in the format of Standard Webhooks, such as whsec_MfKQ9r8GKYqrTwjU…,
// separated by commas or white space.
func ParseSecrets(text string) (Secrets, error) {
	var secrets Secrets
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune(", \t\r\n", r) }) {
		encoded, ok := strings.CutPrefix(word, "whsec_")
		key, err := base64.StdEncoding.DecodeString(encoded)
		if !ok || err != nil || len(key) < 24 || len(key) > 64 {
			return nil, errors.New("each secret must be whsec_ and the base64 text of 24 to 64 random bytes")
		}
		secrets = append(secrets, key)
	}
	if len(secrets) == 0 || len(secrets) > maxSecrets {
		return nil, fmt.Errorf("there must be from 1 to %d secrets", maxSecrets)
	}
	return secrets, nil
}

// Message is a message with its headers. Its signature was checked.
type Message struct {
	ID   string
	At   time.Time
	Body []byte
}

var (
	errHeaders   = errors.New("the headers webhook-id, webhook-timestamp and webhook-signature are required, each once")
	errTimestamp = errors.New("webhook-timestamp is more than 5 minutes from now")
	errSignature = errors.New("no signature in webhook-signature is valid")
)

// Verify returns the message with a body, if it was signed with one of the secrets at about the time.
func (s Secrets) Verify(h http.Header, body []byte, now time.Time) (Message, error) {
	values := make(map[string]string)
	for _, name := range []string{idHeader, timestampHeader, signatureHeader} {
		if given := h.Values(name); len(given) == 1 && given[0] != "" {
			values[name] = given[0]
		}
	}
	id, timestamp := values[idHeader], values[timestampHeader]
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if len(values) < 3 || err != nil || len(id) > maxMessageID || strings.ContainsFunc(id, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return Message{}, errHeaders
	}
	if !s.signed(values[signatureHeader], id+"."+timestamp+".", body) {
		return Message{}, errSignature
	}
	at := time.Unix(seconds, 0)
	if age := now.Sub(at); age > messageWindow || age < -messageWindow {
		return Message{}, errTimestamp
	}
	return Message{ID: id, At: at, Body: body}, nil
}

// signed reports whether one of the signatures is by one of the secrets. It compares in constant time.
func (s Secrets) signed(signatures, prefix string, body []byte) bool {
	given := strings.Fields(signatures)
	valid := false
	for _, secret := range s {
		mac := hmac.New(sha256.New, secret)
		mac.Write([]byte(prefix))
		mac.Write(body)
		want := []byte("v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)))
		for _, signature := range given[:min(len(given), maxSignatures)] {
			valid = hmac.Equal(want, []byte(signature)) || valid
		}
	}
	return valid
}
