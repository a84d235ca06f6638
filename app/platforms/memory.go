package platforms

import (
	"context"
	"time"

	"causeway/app/internal/batch"
	"causeway/ports"
)

// kept is how long the answer to a request can be had again.
const kept = 7 * 24 * time.Hour

// Memory knows what was answered to requests that carried an idempotency key. Those
// that ask at the same time share one look-up.
type Memory struct {
	answers ports.IdempotencyStore
	clock   ports.Clock
	recall  *batch.Batcher[ports.IdempotencyKey, *ports.StoredResponse]
}

// NewMemory makes a memory on stored answers.
func NewMemory(answers ports.IdempotencyStore, clock ports.Clock) *Memory {
	return &Memory{answers, clock, batch.New(batch.Options{MaxSize: 256, MaxConcurrency: 2}, func(ctx context.Context, keys []ports.IdempotencyKey) ([]batch.Result[*ports.StoredResponse], error) {
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
func (m *Memory) Get(ctx context.Context, claim ports.IdempotentRequest) (ports.StoredResponse, bool, error) {
	found, err := m.recall.Do(ctx, claim.IdempotencyKey())
	if err != nil || found == nil {
		return ports.StoredResponse{}, false, err
	}
	return *found, true, nil
}

// Save keeps an answer that changed nothing, unless there is one already.
func (m *Memory) Save(ctx context.Context, claim ports.IdempotentRequest, answer ports.StoredResponse) error {
	return m.answers.SaveStoredResponse(ctx, claim, answer)
}

const forgottenAtOnce = 5000

// Forget deletes what is older than seven days, in small bites, and says how much
// that was. Any number of processes may do so at the same time.
func (m *Memory) Forget(ctx context.Context) (int, error) {
	before := m.clock.Now().Add(-kept)
	for total := 0; ; {
		n, err := m.answers.DeleteStoredResponses(ctx, before, forgottenAtOnce)
		total += n
		if err != nil || n < forgottenAtOnce {
			return total, err
		}
	}
}
