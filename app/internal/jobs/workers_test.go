package jobs_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/sirupsen/logrus"
	logtest "github.com/sirupsen/logrus/hooks/test"

	"causeway/app/internal/jobs"
	"causeway/ports"
)

// recorder records the batches that a handler runs.
type recorder struct {
	mu      sync.Mutex
	batches [][]uuid.UUID
}

func (r *recorder) all() [][]uuid.UUID {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.batches
}

func (r *recorder) add(batch []ports.Job) {
	ids := make([]uuid.UUID, len(batch))
	for i, j := range batch {
		ids[i] = j.ID
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.batches = append(r.batches, ids)
}

func TestWorkers_RunSubmittedAndDueJobs(t *testing.T) {
	t.Parallel()
	// A submitted job is run at once, and so is one that is due in the database. Both are finished.
	var ran recorder
	run(t, jobs.Handler{Do: func(_ context.Context, batch []ports.Job) error { ran.add(batch); return nil }},
		[]ports.Job{job(1)}, func(w *workers) {
			w.submit(job(2))
			synctest.Wait()
			if len(ran.all()) != 1 || ran.all()[0][0] != job(2).ID {
				t.Errorf("ran %v at once", ran.all())
			}
			w.sleep(time.Second)
			if len(ran.all()) != 2 || ran.all()[1][0] != job(1).ID || w.failures.get().failed != 0 {
				t.Errorf("ran %v", ran.all())
			}
			if w.queue.get(job(1).ID).Step == step || w.queue.get(job(2).ID).Step == step {
				t.Error("a job was not finished")
			}
		})
}

func TestWorkers_FailingJobDoesNotFailOthers(t *testing.T) {
	t.Parallel()
	// A batch that fails is run in halves, so that only the failing job fails. It is retried later and
	// later, alone after some attempts, until it is dead; it is then left alone.
	var ran recorder
	bad := job(7)
	due := make([]ports.Job, 16)
	for i := range due {
		due[i] = job(byte(i))
	}
	run(t, jobs.Handler{Do: func(_ context.Context, batch []ports.Job) error {
		ran.add(batch)
		if slices.ContainsFunc(batch, func(j ports.Job) bool { return j.ID == bad.ID }) {
			return errors.New("no such account\x00\xff")
		}
		return nil
	}}, due, func(w *workers) {
		w.sleep(300 * time.Millisecond)
		// 16, 8 of them bad, 4 of them, 2, 1, and each time the good half.
		if len(ran.all()) != 9 || w.failures.get().failed != 1 {
			t.Errorf("%d calls, %d failures", len(ran.all()), w.failures.get().failed)
		}
		for i := range due {
			if finished := w.queue.get(job(byte(i)).ID).Step != step; finished == (i == 7) {
				t.Errorf("job %d finished: %t", i, finished)
			}
		}
		if failed := w.queue.get(bad.ID); failed.Attempts != 1 || failed.LastError != "no such account" || time.Until(failed.Due) > time.Second {
			t.Errorf("after the first failure: %+v", failed)
		}

		w.sleep(time.Hour)
		if dead := w.queue.get(bad.ID); !dead.Dead || dead.Attempts != 6 || w.failures.get() != (counts{6, 1}) || len(ran.all()) != 9+5 {
			t.Errorf("after the last: %+v, %+v, %d calls", dead, w.failures.get(), len(ran.all()))
		}
	})
}

func TestWorkers_WaitAsLongAsAsked(t *testing.T) {
	t.Parallel()
	// A job of which the other side says when to try again is not run before that.
	var attempts []time.Time
	do := func(context.Context, []ports.Job) error {
		if attempts = append(attempts, time.Now()); len(attempts) == 1 {
			return fmt.Errorf("send: %w", &ports.TryLaterError{After: 10 * time.Minute, Err: errors.New("busy")})
		}
		return nil
	}
	run(t, jobs.Handler{Do: do}, []ports.Job{job(1)}, func(w *workers) {
		time.Sleep(20 * time.Minute)
		w.stop()
		if len(attempts) != 2 || attempts[1].Sub(attempts[0]) < 10*time.Minute {
			t.Errorf("attempts at %v", attempts)
		}
	})
}

func TestWorkers_OutageIsNoAttempt(t *testing.T) {
	t.Parallel()
	// While the store refuses all work, for however long, a job does not use up its attempts, and it is
	// run within seconds after the outage.
	var outage atomic.Bool
	outage.Store(true)
	run(t, jobs.Handler{Do: func(context.Context, []ports.Job) error {
		if outage.Load() {
			return fmt.Errorf("add a posting: %w", ports.ErrStoreUnavailable)
		}
		return nil
	}}, []ports.Job{job(1)}, func(w *workers) {
		w.submit(job(2))
		w.sleep(20 * time.Minute)
		for _, id := range []uuid.UUID{job(1).ID, job(2).ID} {
			if stored := w.queue.get(id); stored.Dead || stored.Attempts > 1 || stored.LastError == "" {
				t.Errorf("during the outage: %+v", stored)
			}
		}
		outage.Store(false)
		w.sleep(6 * time.Second)
		if w.queue.get(job(1).ID).Step == step || w.queue.get(job(2).ID).Step == step {
			t.Error("the jobs were not run after the outage")
		}
	})
}

func TestWorkers_PanicIsAnAttempt(t *testing.T) {
	t.Parallel()
	// A handler that panics does not stop the process. Its job fails, and others are run.
	run(t, jobs.Handler{Do: func(_ context.Context, batch []ports.Job) error {
		if batch[0].ID == job(1).ID {
			panic("no such map")
		}
		return nil
	}}, []ports.Job{job(1), jobOf(2, 2)}, func(w *workers) {
		w.sleep(300 * time.Millisecond)
		if failed := w.queue.get(job(1).ID); !strings.HasPrefix(failed.LastError, "panic: no such map") || w.failures.get().failed != 1 {
			t.Errorf("%+v", failed)
		}
		if w.queue.get(jobOf(2, 2).ID).Step == step {
			t.Error("the other job was not finished")
		}
	})
}

func TestWorkers_PanicOutsideHandlerStopsNothing(t *testing.T) {
	t.Parallel()
	// A panic while jobs are taken, their leases renewed or their failures stored does not end the
	// process, and the jobs are run again.
	var calls atomic.Int32
	run(t, jobs.Handler{Do: func(context.Context, []ports.Job) error {
		time.Sleep(20 * time.Second)
		if calls.Add(1) == 1 {
			return errors.New("no such map")
		}
		return nil
	}}, []ports.Job{job(1)}, func(w *workers) {
		w.queue.mu.Lock()
		w.queue.panics.take, w.queue.panics.renew, w.queue.panics.fail = 2, 1, 1
		w.queue.mu.Unlock()
		w.sleep(2 * time.Minute)
		if w.queue.get(job(1).ID).Step == step || calls.Load() != 2 || w.queue.renewals() == 0 {
			t.Errorf("%d calls, %d renewals: %+v", calls.Load(), w.queue.renewals(), w.queue.get(job(1).ID))
		}
	})
}

func TestWorkers_JobHasDeadline(t *testing.T) {
	t.Parallel()
	// A job that does not end is cancelled at its timeout and fails. Jobs of other platforms run
	// meanwhile, in any number; those of its platform wait.
	run(t, jobs.Handler{Timeout: time.Minute, Do: func(ctx context.Context, batch []ports.Job) error {
		if batch[0].ID == job(1).ID {
			<-ctx.Done()
			return ctx.Err()
		}
		return nil
	}}, []ports.Job{job(1)}, func(w *workers) {
		w.sleep(time.Second)
		w.submit(jobOf(1, 2), jobOf(2, 3), jobOf(3, 4))
		synctest.Wait()
		if w.queue.get(jobOf(1, 2).ID).Step != step || w.queue.get(jobOf(2, 3).ID).Step == step || w.queue.get(jobOf(3, 4).ID).Step == step {
			t.Error("the wrong jobs were finished")
		}

		w.sleep(59_700 * time.Millisecond) // it is retried later
		if failed := w.queue.get(job(1).ID); failed.LastError != context.DeadlineExceeded.Error() || failed.Attempts != 1 {
			t.Errorf("%+v", failed)
		}
		if w.queue.get(jobOf(1, 2).ID).Step == step {
			t.Error("the waiting job was not run")
		}
		if w.queue.renewals() == 0 {
			t.Error("the lease was not renewed while the job ran")
		}
	})
}

func TestWorkers_RunningJobIsTakenByNoOther(t *testing.T) {
	t.Parallel()
	// The lease of a job that runs long is renewed, also one of a submitted job, so that it runs once.
	var calls atomic.Int32
	run(t, jobs.Handler{Timeout: 10 * time.Minute, MaxPerPlatform: 8, Do: func(context.Context, []ports.Job) error {
		calls.Add(1)
		time.Sleep(5 * time.Minute)
		return nil
	}}, []ports.Job{job(1)}, func(w *workers) {
		w.submit(job(2))
		w.sleep(10 * time.Minute)
		if calls.Load() != 2 || w.failures.get().failed != 0 {
			t.Errorf("%d calls, %d failures", calls.Load(), w.failures.get().failed)
		}
	})
}

func TestWorkers_WaitingJobIsTakenByNoOther(t *testing.T) {
	t.Parallel()
	// The leases of jobs that wait for earlier ones of their platform are renewed, so that no wait counts
	// as an attempt, also if a renewal fails once. So are those of submitted jobs that run next; others
	// are left to any process.
	taken, next, later := job(2), jobOf(2, 2), job(3)
	var mu sync.Mutex
	leases := map[uuid.UUID][]int{}
	run(t, jobs.Handler{MaxBatch: 1, Timeout: 2 * time.Minute, Do: func(_ context.Context, batch []ports.Job) error {
		mu.Lock()
		leases[batch[0].ID] = append(leases[batch[0].ID], batch[0].Lease)
		mu.Unlock()
		time.Sleep(90 * time.Second)
		return nil
	}}, []ports.Job{job(1), taken, jobOf(2, 1)}, func(w *workers) {
		w.sleep(time.Second)
		w.submit(next, later)
		w.queue.mu.Lock()
		w.queue.panics.renew = 1
		w.queue.mu.Unlock()
		w.sleep(10 * time.Minute)

		mu.Lock()
		defer mu.Unlock()
		for id, want := range map[uuid.UUID]int{taken.ID: 1, next.ID: 0, later.ID: 1} {
			if got := leases[id]; !slices.Equal(got, []int{want}) {
				t.Errorf("job %s was run with the leases %v, want %d", id, got, want)
			}
		}
	})
}

func TestWorkers_WaitingJobWhoseLeaseWasLostIsNotRun(t *testing.T) {
	t.Parallel()
	// A renewal that is stalled until the lease has ended keeps no waiting job: another process has taken
	// it by then.
	waiting := job(2)
	var ran atomic.Bool
	run(t, jobs.Handler{MaxBatch: 1, Timeout: 2 * time.Minute, Do: func(_ context.Context, batch []ports.Job) error {
		if batch[0].ID == waiting.ID {
			ran.Store(true)
			return nil
		}
		time.Sleep(40 * time.Second)
		return nil
	}}, []ports.Job{job(1), waiting}, func(w *workers) {
		w.sleep(19 * time.Second) // until shortly before the renewal
		w.queue.mu.Lock()
		w.queue.stall = 12 * time.Second
		w.queue.mu.Unlock()
		w.sleep(11*time.Second + 500*time.Millisecond)
		taken, err := w.queue.TakeJobs(t.Context(), step, time.Now(), time.Hour, 1)
		if err != nil || len(taken) != 1 || taken[0].ID != waiting.ID {
			t.Fatalf("the other process took %v, %v", taken, err)
		}
		w.sleep(time.Minute)

		if ran.Load() {
			t.Error("the job was run here too")
		}
	})
}

func TestWorkers_LostLeaseIsNoFailure(t *testing.T) {
	t.Parallel()
	// A job that another process took meanwhile is left to it, and the others of the batch are
	// finished.
	var w atomic.Pointer[workers]
	run(t, jobs.Handler{Do: func(_ context.Context, batch []ports.Job) error {
		if batch[0].ID == job(1).ID {
			w.Load().queue.each(batch[:1], func(stored *ports.Job, _ ports.Job) { stored.Lease++; stored.Due = time.Now().Add(time.Hour) })
		}
		return nil
	}}, []ports.Job{job(1), job(2), job(3)}, func(running *workers) {
		w.Store(running)
		running.sleep(time.Second)
		if taken := running.queue.get(job(1).ID); taken.Step != step || taken.LastError != "" || running.failures.get().failed != 0 {
			t.Errorf("%+v, %d failures", taken, running.failures.get().failed)
		}
		if running.queue.get(job(2).ID).Step == step || running.queue.get(job(3).ID).Step == step {
			t.Error("the others were not finished")
		}
	})
}

func TestWorkers_JobThatStopsProcessesIsDead(t *testing.T) {
	t.Parallel()
	// A job that was taken again and again without any outcome is not run once more: it may be what
	// stops the processes.
	killer := job(1)
	killer.Attempts = 6
	var ran atomic.Bool
	run(t, jobs.Handler{Do: func(context.Context, []ports.Job) error { ran.Store(true); return nil }}, []ports.Job{killer}, func(w *workers) {
		w.sleep(time.Second)
		if dead := w.queue.get(killer.ID); ran.Load() || !dead.Dead || !strings.HasPrefix(dead.LastError, "no attempt ended") {
			t.Errorf("%+v, run: %t", dead, ran.Load())
		}
	})
}

func TestWorkers_BacklogDelaysNoOtherPlatform(t *testing.T) {
	t.Parallel()
	// While a platform has twenty thousand due jobs, a job of another that becomes due is run within
	// a second, and so is one that is submitted.
	due := make([]ports.Job, 0, 20_001)
	for i := range 20_000 {
		j := job(0)
		j.ID = uuid.UUID{1: 1, 14: byte(i >> 8), 15: byte(i)}
		due = append(due, j)
	}
	late := jobOf(2, 1)
	var finished atomic.Pointer[time.Time]
	run(t, jobs.Handler{Do: func(_ context.Context, batch []ports.Job) error {
		time.Sleep(100 * time.Millisecond)
		if batch[0].ID == late.ID {
			now := time.Now()
			finished.Store(&now)
		}
		return nil
	}}, append(due, late), func(w *workers) {
		began := time.Now()
		w.sleep(2 * time.Second)
		if at := finished.Load(); at == nil || at.Sub(began) > time.Second {
			t.Errorf("the job of the other platform was run at %v of %v", at, began)
		}
		submitted := jobOf(3, 1)
		w.submit(submitted)
		w.sleep(200 * time.Millisecond)
		if w.queue.get(submitted.ID).Step == step {
			t.Error("a submitted job waits for the backlog")
		}
	})
}

func TestWorkers_SubmittedJobsDoNotStarveDueOnes(t *testing.T) {
	t.Parallel()
	// A due job is run also while a platform submits jobs without a pause.
	run(t, jobs.Handler{MaxConcurrency: 1, Do: func(context.Context, []ports.Job) error { time.Sleep(50 * time.Millisecond); return nil }},
		nil, func(w *workers) {
			late := jobOf(2, 1)
			late.Due = time.Now()
			w.queue.mu.Lock()
			w.queue.jobs = append(w.queue.jobs, late)
			w.queue.mu.Unlock()
			for i := range 100 {
				w.submit(jobOf(1, byte(i)), jobOf(3, byte(i)), jobOf(4, byte(i)))
				w.sleep(10 * time.Millisecond)
			}
			if w.queue.get(late.ID).Step == step {
				t.Error("the due job was not run")
			}
		})
}

func TestWorkers_ConcurrencyIsBounded(t *testing.T) {
	t.Parallel()
	// At most MaxConcurrency calls run at the same time, of which MaxPerPlatform are of one platform.
	// No more jobs are taken from the database than can soon be run.
	var started [3]atomic.Int32 // by platform
	due := []ports.Job{job(1), job(2), job(3), job(4), jobOf(2, 5), jobOf(2, 6), jobOf(2, 7)}
	run(t, jobs.Handler{MaxBatch: 1, MaxConcurrency: 3, MaxPerPlatform: 2, Do: func(_ context.Context, batch []ports.Job) error {
		started[batch[0].ID[14]].Add(1)
		time.Sleep(3 * time.Second)
		return nil
	}}, due, func(w *workers) {
		w.sleep(time.Second)
		if started[1].Load() != 2 || started[2].Load() != 1 {
			t.Errorf("running: %d and %d", started[1].Load(), started[2].Load())
		}
		for _, limit := range w.queue.allLimits() {
			if limit > 3 {
				t.Errorf("took up to %d jobs, want at most 3", limit)
			}
		}
		w.sleep(time.Minute)
		if started[1].Load() != 4 || started[2].Load() != 3 {
			t.Errorf("run: %d and %d", started[1].Load(), started[2].Load())
		}
	})
}

func TestWorkers_RunFinishesStartedJobs(t *testing.T) {
	t.Parallel()
	// Run returns when the jobs that it started are finished, and their context is not cancelled.
	// Jobs are reserved for this process only while it runs.
	var alive atomic.Bool
	run(t, jobs.Handler{Do: func(ctx context.Context, _ []ports.Job) error {
		time.Sleep(3 * time.Second)
		alive.Store(ctx.Err() == nil)
		return nil
	}}, nil, func(w *workers) {
		if w.LocalLease() <= 0 {
			t.Error("no local lease while the workers run")
		}
		w.submit(job(1))
		synctest.Wait()

		w.stop()

		if !alive.Load() || w.queue.get(job(1).ID).Step == step || w.LocalLease() != 0 {
			t.Errorf("the job was cancelled or not finished, or there is still a local lease: %s", w.LocalLease())
		}
	})
}

func TestWorkers_RunStopsInTime(t *testing.T) {
	t.Parallel()
	// A job that does not end is cancelled when the process stops, and is retried by others.
	run(t, jobs.Handler{Timeout: time.Hour, Do: func(ctx context.Context, _ []ports.Job) error { <-ctx.Done(); return ctx.Err() }},
		nil, func(w *workers) {
			w.submit(job(1))
			synctest.Wait()
			began := time.Now()

			w.stop()

			if stopped := time.Since(began); stopped > 6*time.Second || w.queue.get(job(1).ID).LastError != context.Canceled.Error() {
				t.Errorf("stopped after %s: %+v", stopped, w.queue.get(job(1).ID))
			}
		})
}

func TestRetryPolicy_Next(t *testing.T) {
	t.Parallel()
	// The delay doubles with each attempt up to a quarter of an hour, is shortened at random by up to
	// half, and ends with the last attempt.
	now := time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	for attempts, want := range map[int]time.Duration{
		0: time.Second, 1: time.Second, 2: 2 * time.Second, 5: 16 * time.Second, 10: 512 * time.Second, 11: 15 * time.Minute,
		99: 15 * time.Minute,
	} {
		for random, want := range map[float64]time.Duration{0: want, 0.5: want * 3 / 4, 1: want / 2} {
			policy := jobs.RetryPolicy{MaxAttempts: 100, Random: func() float64 { return random }}
			if due, dead := policy.Next(attempts, now); dead || due.Sub(now) != want {
				t.Errorf("after %d attempts: %s, %t, want %s", attempts, due.Sub(now), dead, want)
			}
		}
	}
	if _, dead := (jobs.RetryPolicy{}).Next(jobs.DefaultMaxAttempts-1, now); dead {
		t.Error("dead before the last attempt")
	}
	if _, dead := (jobs.RetryPolicy{}).Next(jobs.DefaultMaxAttempts, now); !dead {
		t.Error("not dead after the last attempt")
	}
}

func TestWorkers_FailureNamesTheTrace(t *testing.T) {
	t.Parallel()
	// A failed attempt is logged with the trace of the payment, and without one if the payment is not traced.
	log, hook := logtest.NewNullLogger()
	w := jobs.New(jobs.Config{Jobs: &fakeJobs{}, Clock: systemClock{}, Log: logrus.NewEntry(log)})
	traced := job(1)
	traced.Trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

	w.ReportFailed([]ports.Job{traced, job(2)})

	logged := hook.AllEntries()
	if len(logged) != 2 || logged[0].Data["trace_id"] != "4bf92f3577b34da6a3ce929d0e0e4736" || logged[1].Data["trace_id"] != nil {
		t.Errorf("logged %+v", logged)
	}
}
