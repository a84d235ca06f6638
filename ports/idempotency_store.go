package ports

import (
	"context"
	"time"
)

// IdempotencyStore keeps the answers of requests with an idempotency key outside of any
// unit of work: those that changed nothing.
type IdempotencyStore interface {
	// StoredResponses finds the remembered answers of requests; the result is as long as keys,
	// with nil where there is none.
	StoredResponses(ctx context.Context, keys []IdempotencyKey) ([]*StoredResponse, error)
	// SaveStoredResponse keeps an answer with a status from 200 to 499, unless there is one
	// under the claim's key already.
	SaveStoredResponse(ctx context.Context, claim IdempotentRequest, answer StoredResponse) error
	// DeleteStoredResponses deletes up to limit answers that were stored before a moment, and
	// says how many it found.
	DeleteStoredResponses(ctx context.Context, before time.Time, limit int) (int, error)
}
