package ports

import (
	"context"
	"time"
)

// Answers keeps the answers of requests with an idempotency key outside of any
// unit of work: those that changed nothing.
type Answers interface {
	// Recall finds the remembered answers of requests; the result is as long as keys,
	// with nil where there is none.
	Recall(ctx context.Context, keys []ClaimKey) ([]*Stored, error)
	// StoreAnswer keeps an answer with a status from 200 to 499, unless there is one
	// under the claim's key already.
	StoreAnswer(ctx context.Context, claim Claim, answer Stored) error
	// ForgetAnswers deletes up to limit answers that were stored before a moment, and
	// says how many it found.
	ForgetAnswers(ctx context.Context, before time.Time, limit int) (int, error)
}
