package audit_test

import (
	"fmt"
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
	seal := func() { env.mustSealDeposits(worker) }
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

// mustSealDeposits posts two deposits and makes a checkpoint of them.
func (e *logEnv) mustSealDeposits(worker *audit.Log) {
	e.t.Helper()
	e.mustPostDeposits(2)
	if err := worker.SealDue(e.t.Context()); err != nil {
		e.t.Fatal(err)
	}
	e.Clock.Advance(time.Minute)
}

func TestCheckpoints_PublishedByThePreviousVersion(t *testing.T) {
	t.Parallel()
	// What the previous version has published, before the upgrade or beside a process of this one, is published at a time that is not known:
	// the next publication does not cover it.
	env := newLogEnv(t)
	worker := env.newLogService()
	worker.Place = "https://evidence.example"
	seal := func() { env.mustSealDeposits(worker) }
	publishBefore := func(size int) {
		env.execAsSuperuser(fmt.Sprintf(`UPDATE ledger_log_state SET published_size = %d`, size))
	}
	publish := func() {
		t.Helper()
		if err := worker.PublishDue(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	seal()
	seal()
	publishBefore(4)
	seal()
	publish()
	seal()
	publishBefore(8)
	// This version was publishing the same, and is later.
	if err := env.Store.LedgerLog().MarkPublished(t.Context(), env.platform, ports.Publication{Size: 8, At: env.Clock.Now()}); err != nil {
		t.Fatal(err)
	}
	seal()
	publish()

	for size, covered := range map[int64]int64{2: 0, 4: 0, 6: 6, 8: 0, 10: 10} {
		if got, err := worker.Checkpoint(t.Context(), env.platform, size); err != nil || got.Published.Size != covered ||
			got.Published.At.IsZero() != (covered == 0) {
			t.Errorf("%d: %+v, %v", size, got.Published, err)
		}
	}
	if status, err := worker.Status(t.Context(), env.platform); err != nil || status.PublishedSize != 10 {
		t.Errorf("%+v, %v", status, err)
	}
}
