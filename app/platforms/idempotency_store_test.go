package platforms_test

import (
	"testing"
	"time"

	"causeway/app/platforms"
	"causeway/ports"
	"causeway/ports/portstest"
)

func TestIdempotencyStore_KeepsResponsesSevenDays(t *testing.T) {
	t.Parallel()
	// An answer can be had again under its key until seven days have passed.
	h := newEnv(t)
	memory := platforms.NewIdempotencyStore(h.store, portstest.NewFakeClock(noon))
	claim := *h.idempotentRequest("key", nil)
	if _, found, err := memory.Get(t.Context(), claim); found || err != nil {
		t.Errorf("before: %v, %v", found, err)
	}
	if err := memory.Save(t.Context(), claim, ports.StoredResponse{Fingerprint: claim.Fingerprint, Status: 404, Body: []byte("none")}); err != nil {
		t.Fatal(err)
	}

	stored, found, err := memory.Get(t.Context(), claim)
	if !found || err != nil || stored.Status != 404 || string(stored.Body) != "none" || stored.Fingerprint != claim.Fingerprint {
		t.Errorf("recalled %+v, %v, %v", stored, found, err)
	}

	for _, step := range []struct {
		later     time.Duration
		forgotten int
	}{{7 * 24 * time.Hour, 0}, {7*24*time.Hour + time.Second, 1}, {8 * 24 * time.Hour, 0}} {
		n, err := platforms.NewIdempotencyStore(h.store, portstest.NewFakeClock(noon.Add(step.later))).DeleteExpired(t.Context())
		if err != nil || n != step.forgotten {
			t.Errorf("after %s: %d forgotten, %v; want %d", step.later, n, err, step.forgotten)
		}
	}
	if _, found, err := memory.Get(t.Context(), claim); found || err != nil {
		t.Errorf("afterwards: %v, %v", found, err)
	}
}
