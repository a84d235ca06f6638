package exports

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"time"

	"causeway/core/export"
	"causeway/core/fault"
	"causeway/ports"
)

const (
	// maxRuns is the number of runs after which an export has failed.
	maxRuns = 5
	// turnDelay is when an export looks again whether it is its turn, at first; after a while, maxTurnDelay.
	turnDelay    = 2 * time.Second
	maxTurnDelay = time.Minute
	// progressInterval is how often a run stores how far it is, and sees that it is to stop.
	progressInterval = time.Second
	// endTimeout is for the end of a run whose time is over.
	endTimeout = 5 * time.Second
)

// write writes the file of one job.
func (f *Files) write(ctx context.Context, batch []ports.Job) error {
	if f.Files == nil {
		return errors.New("no place for files is configured; set CAUSEWAY_BLOBS")
	}
	e, err := f.begin(ctx, batch)
	if err != nil || e.State != export.Running {
		return err
	}
	run := &fileRun{files: f, Export: e}
	err = run.write(ctx)
	if ctxErr := ctx.Err(); errors.Is(ctxErr, context.DeadlineExceeded) {
		err = f.tookTooLong(e)
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
		defer cancel()
	} else if ctxErr != nil {
		return ctxErr // the process stops, and another one writes it
	}
	return f.end(ctx, batch, run, err)
}

// begin begins a run of the export of a job. It returns the zero export if there is nothing to write, or another export of the platform is
// written. A pack, which may take hours, and another export are written beside each other.
func (f *Files) begin(ctx context.Context, batch []ports.Job) (begun export.Export, err error) {
	job := batch[0]
	err = ports.Do(ctx, f.Store, func(ctx context.Context, tx Tx) error {
		begun = export.Export{}
		now := f.Clock.Now()
		unfinished, err := tx.LockUnfinishedExports(ctx, job.Platform)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(unfinished, func(e export.Export) bool { return e.ID == job.Subjects[0] })
		if i < 0 { // cancelled
			return tx.FinishJobs(ctx, batch)
		}
		e := unfinished[i]
		if slices.ContainsFunc(unfinished, func(other export.Export) bool {
			return other.ID != e.ID && other.IsWritten(now) && isPack(other) == isPack(e)
		}) {
			if err := tx.FinishJobs(ctx, batch); err != nil {
				return err
			}
			return tx.AddJobs(ctx, []ports.Job{f.writing(e, now.Add(min(max(turnDelay, now.Sub(e.UpdatedAt)/8), maxTurnDelay)))})
		}
		if e.Run >= maxRuns { // its processes ended before it did
			if e, err = e.Fail(notWritten.Message, now); err != nil {
				return err
			}
			if err := f.endWithoutFile(ctx, tx, e); err != nil {
				return err
			}
			return tx.FinishJobs(ctx, batch)
		}
		if e, err = e.Begin(now); err != nil {
			return err
		}
		begun = e
		return f.endWithoutFile(ctx, tx, e)
	})
	return begun, err
}

var notWritten = fault.New(fault.Conflict, "It could not be written, though this was tried several times. The log of the service says why.")

// end ends an export, and its job, with its file or with the problem that there was.
func (f *Files) end(ctx context.Context, batch []ports.Job, run *fileRun, problem error) error {
	known, isFault := fault.As(problem)
	isFault = isFault && known.Code != fault.ServiceUnavailable // which ends
	switch {
	case problem == nil, errors.Is(problem, export.ErrNotRunning):
	case errors.Is(problem, ports.ErrStoreUnavailable) && run.progress() == export.Progress{}:
		return errors.Join(problem, f.postpone(ctx, run))
	case errors.Is(problem, ports.ErrStoreUnavailable), !isFault && run.Run < maxRuns:
		return problem // tried again
	case isFault:
	default:
		f.Log.WithError(problem).WithField("export", run.ID.String()).Error("an export failed")
		known = notWritten
	}
	return ports.Do(ctx, f.Store, func(ctx context.Context, tx Tx) error {
		now := f.Clock.Now()
		e, err := tx.LockExport(ctx, run.Platform, run.ID)
		if err != nil && !fault.Is(err, fault.NotFound) {
			return err
		}
		if err != nil || e.HasEnded() { // cancelled, or deleted
			return tx.FinishJobs(ctx, batch)
		}
		if e, err = e.Advance(run.Run, run.progress(), now); err != nil {
			return ports.ErrLeaseLost
		}
		if known != nil {
			if e, err = e.Fail(known.Message, now); err == nil {
				err = f.endWithoutFile(ctx, tx, e)
			}
		} else if e, err = e.Complete(run.Problem, now); err == nil {
			err = tx.UpdateExport(ctx, e)
		}
		if err != nil {
			return err
		}
		return tx.FinishJobs(ctx, batch)
	})
}

// postpone does not count a run that has read nothing.
func (f *Files) postpone(ctx context.Context, run *fileRun) error {
	return ports.Do(ctx, f.Store, func(ctx context.Context, tx Tx) error {
		e, err := tx.LockExport(ctx, run.Platform, run.ID)
		if err == nil {
			e, err = e.Postpone(run.Run, f.Clock.Now())
		}
		if err == nil {
			err = tx.UpdateExport(ctx, e)
		}
		return err
	})
}

// fileRun writes an export in parts.
type fileRun struct {
	files *Files
	export.Export
	part              []byte // what is not stored yet
	parts             int
	done, total, size atomic.Int64
}

func (r *fileRun) progress() export.Progress {
	return export.Progress{Done: r.done.Load(), Total: r.total.Load(), Size: r.size.Load()}
}

// write writes the file, until it is complete or ErrNotRunning.
func (r *fileRun) write(ctx context.Context) error {
	document, err := r.files.fileOf(r.Platform, Request{Format: Format(r.Format),
		LedgerFilter: ports.LedgerFilter{Interval: r.Interval, Path: r.Account, Currency: r.Currency}}, func(done, total int64) {
		r.done.Store(done)
		r.total.Store(total)
	})
	if err != nil {
		return err
	}
	running, stop := context.WithCancelCause(ctx)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		r.watch(running, stop)
	}()
	err = document.Write(running, partWriter{running, r})
	if found := findings(""); errors.As(err, &found) {
		r.Problem, err = string(found), nil
	}
	if err == nil {
		err = r.storePart(running)
	}
	if cause := context.Cause(running); cause != nil && ctx.Err() == nil {
		err = cause
	}
	stop(nil)
	<-watched
	return err
}

// watch stores how far the run is, again and again, and stops it when it is to stop.
func (r *fileRun) watch(ctx context.Context, stop context.CancelCauseFunc) {
	defer func() {
		if p := recover(); p != nil {
			stop(fmt.Errorf("panic: %v\n%s", p, debug.Stack()))
		}
	}()
	tick := time.NewTicker(progressInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		err := r.save(ctx, func(context.Context, Tx) error { return nil })
		if errors.Is(err, export.ErrNotRunning) {
			stop(err)
			return
		}
		// Another error is met when the next part is stored.
	}
}

// save stores how far the run is, with a change.
func (r *fileRun) save(ctx context.Context, change func(context.Context, Tx) error) error {
	return ports.Do(ctx, r.files.Store, func(ctx context.Context, tx Tx) error {
		e, err := tx.LockExport(ctx, r.Platform, r.ID)
		if fault.Is(err, fault.NotFound) {
			return export.ErrNotRunning
		}
		if err != nil {
			return err
		}
		if e, err = e.Advance(r.Run, r.progress(), r.files.Clock.Now()); err != nil {
			return err
		}
		if err := change(ctx, tx); err != nil {
			return err
		}
		return tx.UpdateExport(ctx, e)
	})
}

// storePart stores what was written since the last part.
func (r *fileRun) storePart(ctx context.Context) error {
	if len(r.part) == 0 {
		return nil
	}
	part, err := r.files.storePart(ctx, export.Part{Platform: r.Platform, Export: r.ID, Number: r.parts + 1}, r.part)
	if err != nil {
		return err
	}
	r.parts, r.part = r.parts+1, r.part[:0]
	r.size.Add(part.Size)
	return r.save(ctx, func(ctx context.Context, tx Tx) error { return tx.AddExportPart(ctx, part) })
}

// partWriter collects what is written in parts.
type partWriter struct {
	ctx context.Context
	run *fileRun
}

var _ io.Writer = partWriter{}

// Write implements io.Writer.
func (w partWriter) Write(p []byte) (written int, err error) {
	for len(p) > 0 {
		if err := context.Cause(w.ctx); err != nil {
			return written, err
		}
		r := w.run
		if r.part == nil {
			r.part = make([]byte, 0, r.files.PartSize)
		}
		n := min(len(p), r.files.PartSize-len(r.part))
		r.part = append(r.part, p[:n]...)
		p, written = p[n:], written+n
		if len(r.part) == r.files.PartSize {
			if err := r.storePart(w.ctx); err != nil {
				return written, err
			}
		}
	}
	return written, nil
}
