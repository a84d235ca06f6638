package platforms_test

import (
	"testing"
	"time"

	"causeway/app/internal/apptest"
	"causeway/app/platforms"
	"causeway/ports"
	"causeway/ports/portstest"
)

func TestIdempotencyStore_KeepsResponsesSevenDays(t *testing.T) {
	t.Parallel()
	// A response is found under its key until seven days have passed.
	env := newEnv(t)
	store := platforms.NewIdempotencyStore(env.Store, env.Clock)
	request := *apptest.IdempotentRequest(env.admin, "key", nil)
	if _, found, err := store.Get(t.Context(), request); found || err != nil {
		t.Errorf("before: %v, %v", found, err)
	}
	if err := store.Save(t.Context(), request, ports.StoredResponse{Fingerprint: request.Fingerprint, Status: 404, Body: []byte("none")}); err != nil {
		t.Fatal(err)
	}

	stored, found, err := store.Get(t.Context(), request)
	if !found || err != nil || stored.Status != 404 || string(stored.Body) != "none" || stored.Fingerprint != request.Fingerprint {
		t.Errorf("stored %+v, %v, %v", stored, found, err)
	}

	for _, step := range []struct {
		later   time.Duration
		deleted int
	}{{7 * 24 * time.Hour, 0}, {7*24*time.Hour + time.Second, 1}, {8 * 24 * time.Hour, 0}} {
		n, err := platforms.NewIdempotencyStore(env.Store, portstest.NewFakeClock(apptest.Noon.Add(step.later))).DeleteExpired(t.Context())
		if err != nil || n != step.deleted {
			t.Errorf("after %s: %d deleted, %v; want %d", step.later, n, err, step.deleted)
		}
	}
	if _, found, err := store.Get(t.Context(), request); found || err != nil {
		t.Errorf("afterwards: %v, %v", found, err)
	}
}
