package bankfile

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"iter"
	"os"
	"runtime/debug"
	"time"

	"causeway/adapters/rails/bankfile/transport"
	"causeway/core/bankorder"
	"causeway/core/formats/iso20022"
	"causeway/core/formats/textfile"
	"causeway/ports"
)

// reading is a file of the bank that is being read. What was done of it is kept between polls, so that a file that takes
// longer than one of them is not begun again.
type reading struct {
	listed transport.File
	path   string
	file   bankorder.Received // its number is 0 until it is begun

	copy   *os.File // what we have of it
	copied int64
	digest hash.Hash
	same   bool // it has not changed while it was copied
	begun  bool // it is recorded

	format     format
	checked    bool
	duplicates map[string]bool // messages of ours that the bank takes for duplicates

	statement bool   // it was passed on as a statement
	balances  []item // of its statements

	next  func() (item, error, bool)
	stop  func()
	given int   // items that were taken from next
	held  *item // one that was taken back
}

func (a *Adapter) newReading(f transport.File, file bankorder.Received) (*reading, error) {
	path, err := transport.Join(a.settings.incoming, f.Name)
	if err != nil {
		return nil, err
	}
	spool, err := newSpool()
	if err != nil {
		return nil, err
	}
	return &reading{listed: f, path: path, file: file, copy: spool, digest: sha256.New(), duplicates: map[string]bool{}}, nil
}

func (r *reading) close() {
	r.forget()
	if r.copy != nil {
		_ = r.copy.Close() // it has no name, and is not needed any more
	}
}

// prepare copies, begins and checks a file. It returns false if it needs more time, or has given the file up.
func (a *Adapter) prepare(ctx context.Context, lease ports.Lease, r *reading, until time.Time) (bool, error) {
	if r.checked {
		return true, nil
	}
	if !r.same {
		if complete, err := a.copyFile(ctx, r, until); err != nil || !complete {
			return false, err
		}
	}
	if !r.begun {
		if begun, err := a.begin(ctx, lease, r); err != nil || !begun {
			return false, err
		}
	}
	complete, err := r.check(until)
	if err != nil {
		r.forget() // what was checked: the next attempt begins anew
	}
	if problem := problemOf(err); problem != "" {
		return false, a.giveUp(r, problem)
	}
	return complete, err
}

// copyFile copies a file, or continues to. A file that changes meanwhile is still being written, and is left for later.
func (a *Adapter) copyFile(ctx context.Context, r *reading, until time.Time) (bool, error) {
	limited, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	before := r.copied
	if r.copied < r.listed.Size {
		err := a.transport.ReadFrom(limited, r.path, r.copied, &spoolWriter{r}, r.listed.Size-r.copied)
		switch {
		case err != nil && ctx.Err() == nil && limited.Err() != nil && r.copied > before:
			return false, nil // it continues in the next poll
		case errors.Is(err, transport.ErrTooLarge):
			return false, a.leave(r)
		case err != nil:
			return false, a.failedCopy(r, before, err)
		}
	}
	now, err := a.transport.Stat(ctx, r.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, a.leave(r)
	case err != nil:
		return false, a.failedCopy(r, before, err)
	case r.copied != r.listed.Size || now.Size != r.listed.Size || !now.ModifiedAt.Equal(r.listed.ModifiedAt):
		return false, a.leave(r)
	}
	r.same = true
	return true, nil
}

// leave lets a file be looked at anew.
func (a *Adapter) leave(r *reading) error {
	a.closeReading()
	delete(a.seen, r.listed.Name)
	return nil
}

// spoolWriter counts and digests what is written to the copy.
type spoolWriter struct{ *reading }

func (w *spoolWriter) Write(data []byte) (int, error) {
	n, err := w.copy.Write(data)
	w.copied += int64(n)
	w.digest.Write(data[:n])
	return n, err
}

// begin records a file that is complete. It returns false if there is nothing to read in it.
func (a *Adapter) begin(ctx context.Context, lease ports.Lease, r *reading) (bool, error) {
	sum := [sha256.Size]byte(r.digest.Sum(nil))
	if r.file.Number != 0 && r.file.SHA256 != sum {
		return false, a.giveUp(r, "its content has changed while it was read: ask the bank which is right, and for the file under another name")
	}
	r.file.SHA256, r.file.FoundAt = sum, a.clock.Now()
	begun, err := a.store.BeginFile(ctx, lease, r.file)
	if err != nil {
		return false, err
	}
	if r.file = begun; begun.State == bankorder.Reading {
		r.begun = true
		return true, nil
	}
	a.closeReading()
	if begun.State == bankorder.Unreadable {
		a.postpone(r.listed.Name)
		return false, nil
	}
	a.log.WithField("file", begun.Name).Info("a file of the bank has the content of one that was read before")
	a.putAway(ctx, r.listed, begun.Number)
	return false, nil
}

// check reads a whole file before anything in it is used, or continues to. It returns false if it needs more time.
func (r *reading) check(until time.Time) (bool, error) {
	if r.next == nil {
		var err error
		if r.format, err = formatOf(r.content()); err != nil {
			return false, err
		}
		r.rewind(r.format.all)
		r.balances = nil
	}
	for {
		it, err, some := r.next()
		switch {
		case err != nil:
			return false, err
		case !some:
			r.checked = true
			r.rewind(r.format.items)
			return true, nil
		}
		if err := it.check(); err != nil {
			return false, err
		}
		if it.status != nil && it.status.Level != iso20022.StatusOfTransfer && isDuplicate(it.status.Reasons) {
			r.duplicates[messageOf(*it.status)] = true
		}
		if it.balance != nil {
			r.balances = append(r.balances, it)
		}
		if r.given++; r.given%100 == 0 && time.Now().After(until) {
			return false, nil
		}
	}
}

func (r *reading) content() io.Reader { return io.NewSectionReader(r.copy, 0, r.copied) }

// rewind begins to read the items of a file.
func (r *reading) rewind(items func(io.Reader) iter.Seq2[item, error]) {
	r.forget()
	r.statement = false
	r.next, r.stop = iter.Pull2(items(r.content()))
}

// forget ends the reading of items.
func (r *reading) forget() {
	if r.stop != nil {
		r.stop()
	}
	r.next, r.stop, r.given, r.held = nil, nil, 0, nil
}

// take returns the next item.
func (r *reading) take() (item, bool, error) {
	if r.held != nil {
		it := *r.held
		r.held = nil
		r.given++
		return it, true, nil
	}
	it, err, some := r.next()
	if some && err == nil {
		r.given++
	}
	return it, some, err
}

// takeBack lets an item be the next one again.
func (r *reading) takeBack(it item) {
	r.held = &it
	r.given--
}

// problemOf returns what is wrong with a file; empty if an error is not about the file.
func problemOf(err error) string {
	var wrong *textfile.Error
	var panicked *panicError
	switch {
	case errors.As(err, &wrong):
		return wrong.Error()
	case errors.As(err, &panicked):
		return panicked.Error()
	}
	return ""
}

// panicError is a failure of a reader: one file must not end the reading of all.
type panicError struct {
	cause any
	stack []byte
}

func (e *panicError) Error() string {
	return fmt.Sprintf("reading it has failed, which is an error of this program: report it (%v)\n%s", e.cause, e.stack)
}

// guarded calls a reader, and returns a panic as an error.
func guarded(read func() error) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = &panicError{cause, debug.Stack()}
		}
	}()
	return read()
}
