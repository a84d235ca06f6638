package audit_test

import (
	"testing"
	"time"

	"causeway/app/audit"
	"causeway/core/fault"
	"causeway/ports"
)

func TestCheckpoints_KeyAndPublication(t *testing.T) {
	t.Parallel()
	// Each checkpoint has the key that signed it, and the time and place of the first publication that covers it, which publishing again
	// does not change; one that is not published yet has none. A size without a checkpoint has no page.
	env := newLogEnv(t)
	worker := env.newLogService()
	worker.Place = "https://evidence.example/log"
	seal := func() {
		t.Helper()
		env.mustPostDeposits(2)
		if err := worker.SealDue(t.Context()); err != nil {
			t.Fatal(err)
		}
		env.Clock.Advance(time.Minute)
	}
	publish := func() time.Time {
		t.Helper()
		at := env.Clock.Now()
		if err := worker.PublishDue(t.Context()); err != nil {
			t.Fatal(err)
		}
		return at
	}
	seal()
	seal()
	first := publish()
	seal()
	second := publish()
	again := ports.Publication{Size: 4, At: second.Add(time.Hour), Place: "elsewhere"}
	if err := env.Store.LedgerLog().MarkPublished(t.Context(), env.platform, again); err != nil {
		t.Fatal(err)
	}
	seal()
	keys, err := worker.Keys(t.Context())
	if err != nil {
		t.Fatal(err)
	}

	for size, want := range map[int64]time.Time{2: first, 4: first, 6: second, 8: {}} {
		got, err := worker.Checkpoint(t.Context(), env.platform, size)
		if err != nil || got.Size != size || !got.Published.At.Equal(want) || (got.Published.Place == worker.Place) == want.IsZero() {
			t.Errorf("%d: %+v, %v", size, got.Published, err)
		}
		if key, ok := audit.SignedBy(got, keys); !ok || key.ID != keys[0].ID {
			t.Errorf("%d is signed by %v, %v", size, key, ok)
		}
		got.Root[0]++
		if _, ok := audit.SignedBy(got, keys); ok {
			t.Errorf("%d with another root is signed", size)
		}
	}
	page, err := worker.Checkpoints(t.Context(), env.platform, ports.CheckpointFilter{Limit: 3})
	if err != nil || len(page.Checkpoints) != 3 || !page.Checkpoints[0].Published.At.IsZero() || page.Checkpoints[1].Published.Size != 6 ||
		page.Checkpoints[2].Published.Size != 4 {
		t.Errorf("listed %+v, %v", page, err)
	}
	for _, size := range []int64{-1, 0, 5, 9} {
		if _, err := worker.Checkpoint(t.Context(), env.platform, size); !fault.Is(err, fault.NotFound) {
			t.Errorf("%d: %v", size, err)
		}
	}
}
