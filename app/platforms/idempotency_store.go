package platforms

import (
	"context"
	"time"

	"causeway/app/internal/batch"
	"causeway/ports"
)

// retention is how long the answer to a request can be had again.
const retention = 7 * 24 * time.Hour

// IdempotencyStore knows what was answered to requests that carried an idempotency key. Those
// that ask at the same time share one look-up.
type IdempotencyStore struct {
	store  ports.IdempotencyStore
	clock  ports.Clock
	lookup *batch.Batcher[ports.IdempotencyKey, *ports.StoredResponse]
}

// NewIdempotencyStore returns a memory on stored answers.
func NewIdempotencyStore(answers ports.IdempotencyStore, clock ports.Clock) *IdempotencyStore {
	return &IdempotencyStore{answers, clock, batch.New(batch.Options{MaxSize: 256, MaxConcurrency: 2}, func(ctx context.Context, keys []ports.IdempotencyKey) ([]batch.Result[*ports.StoredResponse], error) {
		found, err := answers.StoredResponses(ctx, keys)
		if err != nil {
			return nil, err
		}
		results := make([]batch.Result[*ports.StoredResponse], len(keys))
		for i := range found {
			results[i].Value = found[i]
		}
		return results, nil
	})}
}

// Get finds the answer that is kept under the claim's key, whatever request it
// belongs to.
func (m *IdempotencyStore) Get(ctx context.Context, claim ports.IdempotentRequest) (ports.StoredResponse, bool, error) {
	found, err := m.lookup.Do(ctx, claim.IdempotencyKey())
	if err != nil || found == nil {
		return ports.StoredResponse{}, false, err
	}
	return *found, true, nil
}

// Save keeps an answer that changed nothing, unless there is one already.
func (m *IdempotencyStore) Save(ctx context.Context, claim ports.IdempotentRequest, answer ports.StoredResponse) error {
	return m.store.SaveStoredResponse(ctx, claim, answer)
}

const deleteBatchSize = 5000

// DeleteExpired deletes what is older than seven days, in small bites, and says how much
// that was. Any number of processes may do so at the same time.
func (m *IdempotencyStore) DeleteExpired(ctx context.Context) (int, error) {
	before := m.clock.Now().Add(-retention)
	for total := 0; ; {
		n, err := m.store.DeleteStoredResponses(ctx, before, deleteBatchSize)
		total += n
		if err != nil || n < deleteBatchSize {
			return total, err
		}
	}
}
