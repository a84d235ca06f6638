package jobs

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/sirupsen/logrus"

	"causeway/ports"
)

// runBatch runs jobs together. If that fails it runs them in halves, and so on, so that a failing
// job does not fail the others for good. When the batch has taken too long, what is left is retried
// later.
func (w *Workers) runBatch(ctx context.Context, h Handler, batch []ports.Job) {
	if ctx.Err() != nil {
		return // stopping: other processes run the jobs when their leases end
	}
	defer w.renewLeases(ctx, batch)()
	w.runHalves(ctx, h, batch, time.Now().Add(2*h.Timeout))
}

func (w *Workers) runHalves(ctx context.Context, h Handler, batch []ports.Job, giveUp time.Time) {
	err := call(ctx, h, batch)
	switch {
	case err == nil:
	case len(batch) == 1 && errors.Is(err, ports.ErrLeaseLost):
		w.log(batch[0]).Info("job was taken or finished by another process meanwhile")
	case len(batch) > 1 && ctx.Err() == nil && time.Now().Before(giveUp):
		half := len(batch) / 2
		w.runHalves(ctx, h, batch[:half], giveUp)
		w.runHalves(ctx, h, batch[half:], giveUp)
	default:
		w.fail(ctx, batch, err)
	}
}

// recovered calls fn and reports whether it returned. A panic is logged and does not end the process.
func (w *Workers) recovered(name string, fn func()) (returned bool) {
	defer func() {
		if p := recover(); p != nil {
			w.Log.WithField("stack", string(debug.Stack())).Errorf("%s panicked: %v; it is continued", name, p)
		}
	}()
	fn()
	return true
}

// panicError is a panic of a handler.
type panicError struct {
	value any
	stack string
}

func (e *panicError) Error() string { return fmt.Sprintf("panic: %v", e.value) }

// call calls the handler with a deadline, for the platform of the batch, and returns a panic as an
// error.
func call(ctx context.Context, h Handler, batch []ports.Job) (err error) {
	ctx, cancel := context.WithTimeout(ports.ForPlatform(ctx, batch[0].Platform), h.Timeout)
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			err = &panicError{p, string(debug.Stack())}
		}
	}()
	return h.Do(ctx, batch)
}

// renewLeases renews the leases of jobs until the returned function is called. Some may be finished
// already: their leases are lost, which does not matter.
func (w *Workers) renewLeases(ctx context.Context, batch []ports.Job) (stop func()) {
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	left := slices.MinFunc(batch, func(a, b ports.Job) int { return a.Due.Compare(b.Due) }).Due.Sub(w.Clock.Now())
	timer := time.AfterFunc(min(left/2, renewInterval), func() {
		tick := time.NewTicker(renewInterval)
		defer tick.Stop()
		for running.Err() == nil {
			w.recovered("renewal of leases", func() { w.renewOnce(running, batch, w.Clock.Now()) })
			select {
			case <-running.Done():
			case <-tick.C:
			}
		}
	})
	return func() {
		timer.Stop()
		cancel()
	}
}

// renewOnce renews leases from now on and reports whether it could.
func (w *Workers) renewOnce(ctx context.Context, batch []ports.Job, now time.Time) bool {
	statement, cancel := context.WithTimeout(ctx, statementTimeout)
	defer cancel()
	err := w.Jobs.RenewLeases(statement, batch, now, leaseDuration)
	if err != nil && ctx.Err() == nil {
		w.log(batch[0]).WithError(err).Warn("cannot renew leases; will retry")
	}
	return err == nil
}

// fail ends the leases of jobs that failed together: they are retried later, or dead. It is called
// also when the process stops.
func (w *Workers) fail(ctx context.Context, batch []ports.Job, cause error) {
	now := w.Clock.Now()
	failed := make([]ports.Job, len(batch))
	for i, j := range batch {
		j.Attempts = max(j.Attempts, 1) // of a submitted job, this was the first
		if errors.Is(cause, ports.ErrStoreUnavailable) {
			j.Attempts--
			j.Due = w.Retry.afterOutage(now)
		} else {
			j.Due, j.Dead = w.Retry.Next(j.Attempts, now)
			var later *ports.TryLaterError
			if errors.As(cause, &later) && !j.Dead && now.Add(later.After).After(j.Due) {
				j.Due = now.Add(later.After)
			}
		}
		j.LastError = errorText(cause)
		failed[i] = j
		w.report(j, cause)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), statementTimeout)
	defer cancel()
	if err := w.Jobs.FailJobs(ctx, failed, now); err != nil {
		w.log(batch[0]).WithError(err).Warn("cannot postpone failed jobs; they are due again when their leases end")
	}
}

// ReportFailed logs and counts failures of committed jobs that continue failed ones.
func (w *Workers) ReportFailed(jobs []ports.Job) {
	for _, j := range jobs {
		w.report(j, errors.New(j.LastError))
	}
}

func (w *Workers) report(j ports.Job, cause error) {
	log := w.log(j).WithError(cause).WithField("attempts", j.Attempts)
	if id := j.Trace.ID(); id != "" {
		log = log.WithField("trace_id", id)
	}
	var p *panicError
	if errors.As(cause, &p) {
		log = log.WithField("stack", p.stack)
	}
	if j.Dead {
		log.Error("job is dead: see causeway jobs list")
	} else {
		log.Warn("job failed; will retry")
	}
	if w.Metrics != nil {
		w.Metrics.Failed(j.Step, j.Dead)
	}
}

var errNoOutcome = errors.New("no attempt ended: the processes that ran the job stopped or lost the database")

// buryUnfinished returns the jobs that may be run. One that was taken too often, and never failed
// or was finished, is dead: it may be what stops the processes.
func (w *Workers) buryUnfinished(ctx context.Context, taken []ports.Job) []ports.Job {
	var runnable []ports.Job
	for _, j := range taken {
		if j.Attempts <= w.Retry.maxAttempts() {
			runnable = append(runnable, j)
			continue
		}
		w.fail(ctx, []ports.Job{j}, errNoOutcome)
	}
	return runnable
}

// log returns a log entry about a job.
func (w *Workers) log(j ports.Job) *logrus.Entry {
	return w.Log.WithField("step", j.Step).WithField("job", j.ID.String()).WithField("platform", j.Platform.String())
}

// maxErrorText is the maximum length of a stored error, in bytes.
const maxErrorText = 1000

// errorText returns an error as a text that can be stored.
func errorText(err error) string {
	text := strings.ReplaceAll(err.Error(), "\x00", "")
	return strings.ToValidUTF8(text[:min(len(text), maxErrorText)], "")
}
