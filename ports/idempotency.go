package ports

import (
	"crypto/sha256"

	"causeway/core/ident"
)

// IdempotencyKey names a request that a caller may repeat: an idempotency key is private
// to one token of one platform.
type IdempotencyKey struct {
	Platform ident.Platform
	Token    ident.Token
	Key      string
}

// IdempotentRequest is a request that carries an idempotency key. A nil claim is a request
// without one. Whoever changes something hands it to Tx.Remember, so that change
// and answer are one commit.
type IdempotentRequest struct {
	Platform ident.Platform
	Token    ident.Token
	// Key is 1 to 255 printable characters.
	Key string
	// Fingerprint is the same for the same request: method, path, query and body.
	Fingerprint [sha256.Size]byte
	// Render renders what the caller will be sent for this outcome: exactly one of
	// result and err counts. It may be called again for another attempt; the last
	// call before the commit is what was sent.
	Render func(result any, err error) (status int, body []byte)
}

// IdempotencyKey returns the name under which the claim's answer is kept.
func (c *IdempotentRequest) IdempotencyKey() IdempotencyKey {
	return IdempotencyKey{Platform: c.Platform, Token: c.Token, Key: c.Key}
}

// StoredResponse is a remembered answer and the request it belongs to.
type StoredResponse struct {
	Fingerprint [sha256.Size]byte
	Status      int
	Body        []byte
}

// Replay is the error of a use case that finds, at its commit, that the same
// request was answered already: nothing was changed, and this is the answer.
type Replay struct {
	Status int
	Body   []byte
}

func (*Replay) Error() string { return "the request was answered before" }
