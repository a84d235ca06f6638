package portstest

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/core/ident"
	"causeway/core/transaction"
	"causeway/ports"
)

// JobsTx is a unit of work that changes jobs.
type JobsTx interface {
	AddJobs(ctx context.Context, jobs []ports.Job) error
	FinishJobs(ctx context.Context, jobs []ports.Job) error
}

// Jobs tests an adapter that has no jobs. Its units of work are JobsTx.
func Jobs(t *testing.T, store ports.UnitsOfWork, jobs ports.Jobs, platform ident.Platform, id func() uuid.UUID,
	now time.Time) {
	t.Helper()
	const step = transaction.StepDeliver
	add := func(due time.Time) ports.Job {
		t.Helper()
		job := ports.Job{ID: id(), Platform: platform, Step: step, Subjects: []uuid.UUID{id(), id()}, Due: due}
		if err := ports.Do(t.Context(), store, func(ctx context.Context, tx JobsTx) error {
			return tx.AddJobs(ctx, []ports.Job{job})
		}); err != nil {
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

	dueSteps := func(at time.Time) []transaction.Step {
		t.Helper()
		due, err := jobs.DueSteps(t.Context(), []transaction.Step{transaction.StepRefund, step}, at)
		if err != nil {
			t.Fatal(err)
		}
		return due
	}

	finish := func(finished []ports.Job, added ...ports.Job) error {
		t.Helper()
		return ports.Do(t.Context(), store, func(ctx context.Context, tx JobsTx) error {
			return errors.Join(tx.FinishJobs(ctx, finished), tx.AddJobs(ctx, added))
		})
	}

	// A due job is returned once; a job that is not due, or of another step, is not returned.
	// Nor is its step due once it is leased.
	due, later := add(now), add(now.Add(time.Hour))
	if steps := dueSteps(now); !slices.Equal(steps, []transaction.Step{step}) {
		t.Fatalf("due are %v, want %s", steps, step)
	}
	taken := take(now)
	if steps := dueSteps(now); len(steps) > 0 {
		t.Fatalf("due are %v, want none", steps)
	}
	if len(taken) != 1 || taken[0].ID != due.ID || taken[0].Attempts != 1 || taken[0].Lease == due.Lease || len(taken[0].Subjects) != 2 ||
		taken[0].Subjects[0] != due.Subjects[0] {
		t.Fatalf("taken %+v, want %+v", taken, due)
	}
	if more := take(now.Add(59 * time.Second)); len(more) != 0 {
		t.Fatalf("%+v was returned again before its lease ended", more)
	}
	if other, err := jobs.TakeJobs(t.Context(), transaction.StepRefund, now, time.Minute, 10); err != nil || len(other) != 0 {
		t.Fatalf("another step has %+v, %v", other, err)
	}

	// A job that is not finished is returned again when its lease ends, and a renewed lease ends
	// later.
	if err := jobs.RenewLeases(t.Context(), taken, now, 2*time.Minute); err != nil {
		t.Fatal(err)
	}
	if early := take(now.Add(2*time.Minute - time.Second)); len(early) != 0 {
		t.Fatalf("%+v was returned before its renewed lease ended", early)
	}
	again := take(now.Add(2 * time.Minute))
	if len(again) != 1 || again[0].ID != due.ID || again[0].Attempts != 2 || again[0].Lease == taken[0].Lease {
		t.Fatalf("after the lease: %+v", again)
	}

	// A process that lost the lease cannot renew it, fail the job, or finish it, and a unit of work that
	// tries changes nothing.
	lost := taken
	lost[0].Due = now
	if err := errors.Join(jobs.RenewLeases(t.Context(), lost, now, 0), jobs.FailJobs(t.Context(), lost, now)); err != nil {
		t.Fatal(err)
	}
	if early := take(now.Add(2 * time.Minute)); len(early) != 0 {
		t.Fatalf("a lost lease was used: %+v", early)
	}
	for _, batch := range [][]ports.Job{lost, {again[0], lost[0]}, {{ID: id(), Platform: platform}}} {
		if err := finish(batch, ports.Job{ID: id(), Platform: platform, Step: step, Due: now}); !errors.Is(err, ports.ErrLeaseLost) {
			t.Fatalf("finished with a lost lease: %v", err)
		}
	}

	// A failed job is due at its new time, with its error, and a dead one never.
	again[0].Due, again[0].LastError = now.Add(30*time.Minute), "no route to host"
	if err := jobs.FailJobs(t.Context(), again, now); err != nil {
		t.Fatal(err)
	}
	if err := jobs.RenewLeases(t.Context(), again, now, time.Minute); err != nil { // of the batch that it was in
		t.Fatal(err)
	}
	if early := take(now.Add(30*time.Minute - time.Second)); len(early) != 0 {
		t.Fatalf("a failed job was returned before it was due: %+v", early)
	}
	taken = take(now.Add(30 * time.Minute))
	if len(taken) != 1 || taken[0].ID != due.ID || taken[0].Attempts != 3 || taken[0].LastError != "no route to host" {
		t.Fatalf("after a failure: %+v", taken)
	}
	taken[0].Dead = true
	if err := jobs.FailJobs(t.Context(), taken, now); err != nil {
		t.Fatal(err)
	}
	taken = take(now.Add(1_000_000 * time.Hour))
	if len(taken) != 1 || taken[0].ID != later.ID {
		t.Fatalf("taken %+v, want %+v", taken, later)
	}
	if err := finish(taken); err != nil {
		t.Fatal(err)
	}

	// A failed attempt counts also if the process never took the job from the store.
	local := add(now.Add(time.Minute))
	local.Due, local.Attempts = now, 1
	if err := jobs.FailJobs(t.Context(), []ports.Job{local}, now); err != nil {
		t.Fatal(err)
	}
	if taken = take(now); len(taken) != 1 || taken[0].ID != local.ID || taken[0].Attempts != 2 {
		t.Fatalf("after a failure in the process that added the job: %+v", taken)
	}

	// An attempt that does not count is not one of the next time.
	uncounted := taken[0]
	uncounted.Due, uncounted.Attempts = now, 1
	if err := jobs.FailJobs(t.Context(), []ports.Job{uncounted}, now); err != nil {
		t.Fatal(err)
	}
	if again = take(now); len(again) != 1 || again[0].Attempts != 2 || again[0].Lease <= taken[0].Lease {
		t.Fatalf("after an attempt that does not count: %+v", again)
	}
	taken = again

	// A job that continues a failed one has its attempts, and may be dead at once.
	failed := ports.Job{ID: id(), Platform: platform, Step: step, Subjects: []uuid.UUID{id()}, Due: now, Attempts: 7, LastError: "refused"}
	dead := failed
	dead.ID, dead.Dead = id(), true
	if err := finish(taken, failed, dead); err != nil {
		t.Fatal(err)
	}
	if taken = take(now.Add(1_000_000 * time.Hour)); len(taken) != 1 || taken[0].ID != failed.ID || taken[0].Attempts != 8 ||
		taken[0].LastError != "refused" {
		t.Fatalf("a continued job: %+v", taken)
	}

	// One that keeps the id of the job that it continues has another lease, so that of the other cannot
	// finish it.
	continued := taken[0]
	continued.Lease, continued.Attempts, continued.Due, continued.LastError = taken[0].Lease+1, 0, now, ""
	if err := finish(taken, continued); err != nil {
		t.Fatal(err)
	}
	if err := finish(taken); !errors.Is(err, ports.ErrLeaseLost) {
		t.Fatalf("finished with the lease of the job that is continued: %v", err)
	}
	taken = take(now)
	if len(taken) != 1 || taken[0].ID != continued.ID || taken[0].Attempts != 1 || taken[0].Lease <= continued.Lease {
		t.Fatalf("a job that continues under its id: %+v", taken)
	}
	if err := finish(taken); err != nil {
		t.Fatal(err)
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
	if n != 40 {
		t.Errorf("%d of 40 jobs were returned", n)
	}
}
