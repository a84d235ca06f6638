package exports

import (
	"context"
	"errors"
	"io"
	"slices"
	"time"

	"github.com/google/uuid"

	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/person"
)

// Running is an export that this process is writing for a person.
type Running struct {
	ID        uuid.UUID
	Platform  ident.Platform
	By        person.Person
	Name      string
	StartedAt time.Time
	// Done is the number of postings that are written, of Total, which is below zero if it is not known.
	Done, Total int64

	cancel context.CancelCauseFunc
}

// MayCancel reports whether a person may cancel the export: who has started it, and an administrator.
func (r Running) MayCancel(p person.Person) bool {
	return p.ID == r.By.ID || p.May(person.ManageService, r.Platform)
}

// For makes a document one that a person sees in Running while it is written, and can cancel. Write then returns CONFLICT.
func (e *Service) For(p ident.Platform, by person.Person, d Document) Document {
	write := d.Write
	d.Write = func(ctx context.Context, out io.Writer) error {
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		now := e.Clock.Now()
		running := &Running{ID: e.IDs.New(now), Platform: p, By: by, Name: d.Name, StartedAt: now, cancel: cancel}
		e.mu.Lock()
		e.written = append(e.written, running)
		e.mu.Unlock()
		defer func() {
			e.mu.Lock()
			defer e.mu.Unlock()
			e.written = slices.DeleteFunc(e.written, func(other *Running) bool { return other == running })
		}()
		err := write(context.WithValue(ctx, runningKey{}, running), cancellableWriter{ctx, out})
		if cause := context.Cause(ctx); err != nil && errors.Is(cause, errCancelled) {
			return errCancelled
		}
		return err
	}
	return d
}

// cancellableWriter writes nothing more once its context has ended.
type cancellableWriter struct {
	ctx context.Context
	out io.Writer
}

// Write implements io.Writer.
func (w cancellableWriter) Write(p []byte) (int, error) {
	if err := context.Cause(w.ctx); err != nil {
		return 0, err
	}
	return w.out.Write(p)
}

type runningKey struct{}

// errCancelled is the cause of an export that was cancelled.
var errCancelled = &fault.Error{Code: fault.Conflict, Reason: "Cancelled",
	Message: "The export was cancelled. Start it again if you need it."}

// progressOf returns what counts the postings that an export has written.
func (e *Service) progressOf(ctx context.Context) func(done, total int64) {
	running, _ := ctx.Value(runningKey{}).(*Running)
	return func(done, total int64) {
		e.Progress(done, total)
		if running == nil {
			return
		}
		e.mu.Lock()
		defer e.mu.Unlock()
		running.Done, running.Total = done, total
	}
}

// Running returns the exports of a platform that this process is writing, oldest first.
func (e *Service) Running(p ident.Platform) (running []Running) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, r := range e.written {
		if r.Platform == p {
			running = append(running, *r)
		}
	}
	return running
}

// Cancel ends an export; what was written of it is incomplete. Faults: NOT_FOUND for one that this process is not writing, FORBIDDEN.
func (e *Service) Cancel(p ident.Platform, id uuid.UUID, by person.Person) error {
	for _, r := range e.Running(p) {
		if r.ID != id {
			continue
		}
		if !r.MayCancel(by) {
			return fault.New(fault.Forbidden, "%s has started this export. Only that person or an administrator may cancel it.", r.By.Name)
		}
		r.cancel(errCancelled)
		return nil
	}
	return fault.New(fault.NotFound, "This export is no longer being written.")
}
