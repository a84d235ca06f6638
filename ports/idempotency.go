package ports

import (
	"context"
	"crypto/sha256"
	"slices"

	"causeway/core/ident"
)

// IdempotencyKey identifies a request that a caller may repeat. A key belongs to a platform,
// whichever of its tokens sends it, so that a retry after a token was replaced runs once. Each
// agent has its own keys.
type IdempotencyKey struct {
	Platform ident.Platform
	Key      string // of an agent: its id, a control character that no key contains, and its key
}

// IdempotentRequest is a request with an idempotency key; nil is a request without one. A
// use case that changes something passes it to Tx.SaveResponse, so that the change and the
// response are one commit.
type IdempotentRequest struct {
	Platform ident.Platform
	Token    ident.Token // that sent the request first; zero for an agent
	Agent    ident.Agent // zero for a token
	// Key has 1 to 255 printable characters.
	Key string
	// Fingerprint is a hash of method, path, query and body: it is equal for equal
	// requests.
	Fingerprint [sha256.Size]byte
	// Render returns the response for an outcome, which is either result or err. It may be
	// called again when the unit of work is retried; the last call before the commit
	// returned the response that is sent.
	Render func(result any, err error) (status int, body []byte)
}

// IdempotencyKey returns the key under which the response to the request is stored.
func (r *IdempotentRequest) IdempotencyKey() IdempotencyKey {
	if !r.Agent.IsZero() {
		return IdempotencyKey{Platform: r.Platform, Key: r.Agent.String() + "\x1f" + r.Key}
	}
	return IdempotencyKey{Platform: r.Platform, Key: r.Key}
}

// Hash returns a hash of the key and the content of the request: it is equal for a request that is sent again.
func (r *IdempotentRequest) Hash() []byte {
	key := r.IdempotencyKey()
	id := key.Platform.UUID()
	sum := sha256.Sum256(slices.Concat(id[:], r.Fingerprint[:], []byte(key.Key)))
	return sum[:]
}

// StoredResponse is the stored response to a request, and the fingerprint of the request.
type StoredResponse struct {
	Fingerprint [sha256.Size]byte
	Status      int
	Body        []byte
}

// Replay is the error of a use case whose request already has a stored response: nothing
// was changed, and this is the response.
type Replay struct {
	Status int
	Body   []byte
}

func (*Replay) Error() string { return "the request already has a response" }

// IdempotencyStore stores responses outside a unit of work: those to requests that changed
// nothing.
type IdempotencyStore interface {
	// StoredResponses returns the stored responses, one per key; nil if there is none.
	StoredResponses(ctx context.Context, keys []IdempotencyKey) ([]*StoredResponse, error)
	// SaveStoredResponse stores a response with a status from 200 to 499. It does nothing
	// if the key has a response.
	SaveStoredResponse(ctx context.Context, request IdempotentRequest, response StoredResponse) error
}
