package platforms_test

import (
	"testing"

	"causeway/app/internal/apptest"
	"causeway/app/platforms"
	"causeway/ports"
)

func TestIdempotencyStore_KeepsResponses(t *testing.T) {
	t.Parallel()
	// A response is found under its key, by any process, once it is stored.
	env := newEnv(t)
	store := platforms.NewIdempotencyStore(env.Store)
	request := *apptest.IdempotentRequest(env.admin, "key", nil)
	if _, found, err := store.Get(t.Context(), request); found || err != nil {
		t.Errorf("before: %v, %v", found, err)
	}
	if err := store.Save(t.Context(), request, ports.StoredResponse{Fingerprint: request.Fingerprint, Status: 404,
		Body: []byte("none")}); err != nil {
		t.Fatal(err)
	}

	stored, found, err := store.Get(t.Context(), request)
	if !found || err != nil || stored.Status != 404 || string(stored.Body) != "none" || stored.Fingerprint != request.Fingerprint {
		t.Errorf("stored %+v, %v, %v", stored, found, err)
	}
	if again, found, err := platforms.NewIdempotencyStore(env.Store).Get(t.Context(), request); !found || err != nil || again.Status != 404 {
		t.Errorf("in another process %+v, %v, %v", again, found, err)
	}
}
