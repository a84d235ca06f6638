package platforms

import (
	"context"
	"time"

	"causeway/app/group"
	"causeway/ports"
)

// kept is how long the answer to a request can be had again.
const kept = 7 * 24 * time.Hour

// Memory knows what was answered to requests that carried an idempotency key. Those
// that ask at the same time share one look-up.
type Memory struct {
	answers ports.Answers
	clock   ports.Clock
	recall  *group.Collector[ports.ClaimKey, *ports.Stored]
}

// NewMemory makes a memory on stored answers.
func NewMemory(answers ports.Answers, clock ports.Clock) *Memory {
	return &Memory{answers, clock, group.New(group.Options{Most: 256, Lanes: 2}, func(ctx context.Context, keys []ports.ClaimKey) ([]group.Result[*ports.Stored], error) {
		found, err := answers.Recall(ctx, keys)
		if err != nil {
			return nil, err
		}
		results := make([]group.Result[*ports.Stored], len(keys))
		for i := range found {
			results[i].Value = found[i]
		}
		return results, nil
	})}
}

// Recall finds the answer that is kept under the claim's key, whatever request it
// belongs to.
func (m *Memory) Recall(ctx context.Context, claim ports.Claim) (ports.Stored, bool, error) {
	found, err := m.recall.Do(ctx, claim.ID())
	if err != nil || found == nil {
		return ports.Stored{}, false, err
	}
	return *found, true, nil
}

// Store keeps an answer that changed nothing, unless there is one already.
func (m *Memory) Store(ctx context.Context, claim ports.Claim, answer ports.Stored) error {
	return m.answers.StoreAnswer(ctx, claim, answer)
}

const forgottenAtOnce = 5000

// Forget deletes what is older than seven days, in small bites, and says how much
// that was. Any number of processes may do so at the same time.
func (m *Memory) Forget(ctx context.Context) (int, error) {
	before := m.clock.Now().Add(-kept)
	for total := 0; ; {
		n, err := m.answers.ForgetAnswers(ctx, before, forgottenAtOnce)
		total += n
		if err != nil || n < forgottenAtOnce {
			return total, err
		}
	}
}
