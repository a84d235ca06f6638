package platforms

import (
	"context"

	"causeway/app/internal/batch"
	"causeway/ports"
)

// IdempotencyStore reads and saves the responses to requests with an idempotency key.
// Concurrent reads share one query.
type IdempotencyStore struct {
	store  ports.IdempotencyStore
	lookup *batch.Batcher[ports.IdempotencyKey, *ports.StoredResponse]
}

// NewIdempotencyStore returns an IdempotencyStore on a store of responses.
func NewIdempotencyStore(store ports.IdempotencyStore) *IdempotencyStore {
	return &IdempotencyStore{store, batch.New(batch.Options{MaxSize: 256, MaxConcurrency: 2},
		func(ctx context.Context, keys []ports.IdempotencyKey) ([]batch.Result[*ports.StoredResponse], error) {
			found, err := store.StoredResponses(ctx, keys)
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

// Get returns the response stored under the request's key, which may be the response to a
// different request, or false.
func (s *IdempotencyStore) Get(ctx context.Context, request ports.IdempotentRequest) (ports.StoredResponse, bool, error) {
	found, err := s.lookup.Do(ctx, request.Platform, request.IdempotencyKey())
	if err != nil || found == nil {
		return ports.StoredResponse{}, false, err
	}
	return *found, true, nil
}

// Save stores the response to a request that changed nothing, unless the key has one.
func (s *IdempotencyStore) Save(ctx context.Context, request ports.IdempotentRequest, response ports.StoredResponse) error {
	return s.store.SaveStoredResponse(ctx, request, response)
}
