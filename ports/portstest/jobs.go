package portstest

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/core/ident"
	"causeway/core/transaction"
	"causeway/ports"
)

// Jobs tests an adapter that has no jobs.
func Jobs(t *testing.T, store ports.Store, jobs ports.Jobs, platform ident.Platform, id func() uuid.UUID, now time.Time) {
	t.Helper()
	const step = transaction.StepDeliver
	add := func(due time.Time) ports.Job {
		t.Helper()
		job := ports.Job{ID: id(), Platform: platform, Step: step, Subjects: []uuid.UUID{id(), id()}, Due: due}
		if err := store.Do(t.Context(), func(ctx context.Context, tx ports.Tx) error { return tx.AddJobs(ctx, []ports.Job{job}) }); err != nil {
			t.Fatal(err)
		}
		return job
	}
	take := func(at time.Time) []ports.Job {
		t.Helper()
		taken, err := jobs.TakeJobs(t.Context(), step, at, time.Minute, 10)
		if err != nil {
			t.Fatal(err)
		}
		return taken
	}

	// A due job is returned once; a job that is not due, or of another step, is not returned.
	due, later := add(now), add(now.Add(time.Hour))
	taken := take(now)
	if len(taken) != 1 || taken[0].ID != due.ID || taken[0].Attempts != 1 || len(taken[0].Subjects) != 2 || taken[0].Subjects[0] != due.Subjects[0] {
		t.Fatalf("taken %+v, want %+v", taken, due)
	}
	if more := take(now.Add(59 * time.Second)); len(more) != 0 {
		t.Fatalf("%+v was returned again before its lease ended", more)
	}
	if other, err := jobs.TakeJobs(t.Context(), transaction.StepRefund, now, time.Minute, 10); err != nil || len(other) != 0 {
		t.Fatalf("another step has %+v, %v", other, err)
	}

	// A job that is not finished is returned again when its lease ends.
	if again := take(now.Add(time.Minute)); len(again) != 1 || again[0].ID != due.ID || again[0].Attempts != 2 {
		t.Fatalf("after the lease: %+v", again)
	}

	// A postponed job is due at its new time; a finished one is deleted.
	if err := jobs.PostponeJobs(t.Context(), []ports.Job{due}, now.Add(2*time.Hour)); err != nil {
		t.Fatal(err)
	}
	if taken := take(now.Add(time.Hour)); len(taken) != 1 || taken[0].ID != later.ID {
		t.Fatalf("taken %+v, want %+v", taken, later)
	}
	if err := store.Do(t.Context(), func(ctx context.Context, tx ports.Tx) error { return tx.FinishJobs(ctx, []ports.Job{due, later}) }); err != nil {
		t.Fatal(err)
	}
	if left := take(now.Add(24 * time.Hour)); len(left) != 0 {
		t.Fatalf("%+v is left", left)
	}

	// Concurrent calls return each job once.
	for range 40 {
		add(now)
	}
	var all sync.WaitGroup
	var seen sync.Map
	for range 8 {
		all.Go(func() {
			for {
				taken, err := jobs.TakeJobs(t.Context(), step, now, time.Minute, 3)
				if err != nil {
					t.Error(err)
				}
				if len(taken) == 0 {
					return
				}
				for _, job := range taken {
					if _, twice := seen.LoadOrStore(job.ID, true); twice {
						t.Errorf("job %s was returned twice", job.ID)
					}
				}
			}
		})
	}
	all.Wait()
	n := 0
	seen.Range(func(any, any) bool { n++; return true })
	if n == 0 {
		t.Error("no job was returned")
	}
}
