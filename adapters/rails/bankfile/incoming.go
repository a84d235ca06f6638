package bankfile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"causeway/adapters/rails/bankfile/transport"
	"causeway/core/bankorder"
	"causeway/ports"
)

const (
	// maxReadTime is how long one poll reads, so that its lease outlasts it. A file that takes longer is read by several.
	maxReadTime = 12 * time.Second
	// maxPiece is how many items of a file are passed on at once.
	maxPiece = 500
)

// readIncoming passes on the next piece of the files of the bank. A file ends only in the poll after its last piece: its
// caller has stored the piece then. So does one that is given up: its caller has kept it aside then.
func (a *Adapter) readIncoming(ctx context.Context, lease ports.Lease, from position,
	report *ports.RailReport) (next position, more bool, err error) {
	if from.Aside {
		if err := a.store.EndFile(ctx, lease, from.File, bankorder.Unreadable, a.problems[from.File], a.clock.Now()); err != nil {
			return from, true, err
		}
		delete(a.problems, from.File)
		from = position{}
	}
	next, more, err = a.readFiles(ctx, lease, from, report)
	var unreadable *unreadableFile
	if errors.As(err, &unreadable) {
		report.Raw = append(report.Raw, unreadable.raw)
		return position{File: unreadable.number, Aside: true}, true, nil
	}
	return next, more, err
}

// readFiles reads on at a position, until a piece can be passed on.
func (a *Adapter) readFiles(ctx context.Context, lease ports.Lease, from position,
	report *ports.RailReport) (next position, more bool, err error) {
	until := time.Now().Add(a.readTime)
	for at := from; ; {
		r, err := a.readingAt(ctx, at)
		switch {
		case err != nil:
			return at, true, err
		case r == nil:
			return position{}, false, nil
		case r.file.Number != at.File: // the one of the position has ended
			at = position{}
		}
		ready, err := a.prepare(ctx, lease, r, until)
		if err != nil {
			return at, true, err
		}
		switch {
		case ready:
			given, ended, err := a.give(ctx, lease, r, at, report, until)
			if err != nil {
				a.closeReading()
				return from, true, err
			}
			if !ended {
				return given, true, nil
			}
			if err := a.endReading(ctx, lease, r); err != nil {
				return at, true, err
			}
			at = position{}
		case a.reading == nil: // it was given up
			at = position{}
		}
		if time.Now().After(until) {
			return at, true, nil
		}
	}
}

// readingAt returns the file that is read at a position; nil if there is none to read.
func (a *Adapter) readingAt(ctx context.Context, at position) (*reading, error) {
	if at.File == 0 {
		if a.reading != nil {
			return a.reading, nil
		}
		return a.nextFile(ctx)
	}
	if a.reading != nil && a.reading.file.Number == at.File {
		return a.reading, nil
	}
	a.closeReading()
	file, found, err := a.store.FileBeingRead(ctx, a.connection.Name, at.File)
	if err != nil {
		return nil, err
	}
	if !found || file.State != bankorder.Reading {
		return a.nextFile(ctx)
	}
	r, err := a.findAgain(ctx, file)
	if err != nil || r != nil {
		a.reading = r
		return r, err
	}
	return nil, a.giveUp(&reading{file: file}, "it was removed or changed before all of it was read: ask the bank for it again")
}

// findAgain returns a file that another process, or an earlier one, has begun to read; nil if it is gone.
func (a *Adapter) findAgain(ctx context.Context, file bankorder.Received) (*reading, error) {
	listed, err := a.listIncoming(ctx)
	if err != nil {
		return nil, err
	}
	for _, f := range listed {
		if keyOf(a.receivedOf(f)) == keyOf(file) {
			return a.newReading(f, file)
		}
	}
	return nil, nil
}

// failedCopy leaves a file for later that cannot be copied, so that it does not block others. What was copied is kept if it
// is more than before: the connection has broken.
func (a *Adapter) failedCopy(r *reading, before int64, err error) error {
	if r.copied > before {
		return fmt.Errorf("read %s: %w", r.file.Name, err)
	}
	a.closeReading()
	a.postpone(r.listed.Name)
	if errors.Is(err, fs.ErrPermission) {
		a.aside = append(a.aside, a.unopened(r.listed, closedProblem(err)))
		return nil
	}
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, transport.ErrTooLarge) {
		a.log.WithField("file", r.file.Name).WithError(err).Error("cannot read a file of the bank; will retry")
		return nil
	}
	return fmt.Errorf("read %s: %w", r.file.Name, err)
}

// endReading records that a file has ended, and moves it away.
func (a *Adapter) endReading(ctx context.Context, lease ports.Lease, r *reading) error {
	if err := a.store.EndFile(ctx, lease, r.file.Number, bankorder.Read, "", a.clock.Now()); err != nil {
		return err
	}
	items := r.given // before it is closed
	a.closeReading()
	a.log.WithField("file", r.file.Name).WithField("items", items).Info("read a file of the bank")
	a.putAway(ctx, r.listed, r.file.Number)
	return nil
}

// keepNotice keeps what an operator has to look at, and logs it.
func (a *Adapter) keepNotice(ctx context.Context, lease ports.Lease, n bankorder.Notice, problem string) error {
	n.Connection, n.At = a.connection.Name, a.clock.Now()
	n.Place, n.Name, n.Code = clean(n.Place), clean(n.Name), clean(n.Code)
	if err := a.store.KeepNotice(ctx, lease, n); err != nil {
		return err
	}
	a.logNotice(n, problem)
	return nil
}

func (a *Adapter) logNotice(n bankorder.Notice, problem string) {
	entry := a.log.WithField("notice", string(n.Kind)).WithField("number", n.File).WithField("place", n.Place).WithField("name", n.Name)
	if n.Code != "" {
		entry = entry.WithField("code", n.Code)
	}
	if problem != "" {
		entry = entry.WithField("problem", problem)
	}
	entry.Error("a file of the bank has something to look at")
}

func (a *Adapter) closeReading() {
	if a.reading != nil {
		a.reading.close()
		a.reading = nil
	}
}
