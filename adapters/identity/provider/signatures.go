package provider

import (
	"net/http"
	"time"

	"causeway/core/signedmessage"
)

// Secrets are what messages are signed with. During a rotation there are several.
type Secrets signedmessage.Secrets

// ParseSecrets parses secrets in the format of Standard Webhooks, such as whsec_MfKQ9r8GKYqrTwjU…,
// separated by commas or white space.
func ParseSecrets(text string) (Secrets, error) {
	secrets, err := signedmessage.Parse(text)
	return Secrets(secrets), err
}

// Message is a message with its headers. Its signature was checked.
type Message struct {
	ID   string
	At   time.Time
	Body []byte
}

// Verify returns the message with a body, if it was signed with one of the secrets at about the time.
func (s Secrets) Verify(h http.Header, body []byte, now time.Time) (Message, error) {
	values := make([]string, 0, 3)
	for _, name := range []string{signedmessage.IDHeader, signedmessage.TimestampHeader, signedmessage.SignatureHeader} {
		given := h.Values(name)
		if len(given) != 1 {
			return Message{}, signedmessage.ErrHeaders
		}
		values = append(values, given[0])
	}
	at, err := signedmessage.Secrets(s).Verify(signedmessage.Headers{ID: values[0], Timestamp: values[1], Signature: values[2]}, body, now)
	if err != nil {
		return Message{}, err
	}
	return Message{ID: values[0], At: at, Body: body}, nil
}
