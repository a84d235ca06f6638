// Package export has the states of the files that people ask for and that are written in the background.
package export

import (
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"

	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/period"
	"causeway/core/person"
)

// State is how far an export is.
type State string

// The states.
const (
	Waiting   State = "WAITING"
	Running   State = "RUNNING"
	Completed State = "COMPLETED"
	Failed    State = "FAILED"
	Cancelled State = "CANCELLED"
)

// transitions are those that exist. A run follows another one if the process of that has vanished.
var transitions = map[State][]State{
	Waiting: {Running, Cancelled},
	Running: {Running, Waiting, Completed, Failed, Cancelled},
}

const (
	// MaxUnfinished is how many exports of a platform wait and run.
	MaxUnfinished = 10
	// silence is after which the process that writes an export has vanished.
	silence = time.Minute
)

// Export is a file of the ledger that a person has asked for.
type Export struct {
	ID       uuid.UUID
	Platform ident.Platform
	By       ident.Person
	Actor    string // its name
	Format   string
	Interval period.Interval
	Account  string
	Currency money.Currency
	// FileName is the name of the file, and ContentType its media type.
	FileName, ContentType string
	State                 State
	// Run counts the processes that have begun to write it.
	Run int
	Progress
	// Problem says why it failed, or what was found in a ledger that was verified.
	Problem                       string
	CreatedAt, UpdatedAt, EndedAt time.Time
}

// Progress is how far a run is.
type Progress struct {
	// Done is the number of postings that are read, of Total, which is not above zero as long as it is not known.
	Done, Total int64
	Size        int64 // bytes that are stored
}

// Part is a stored file with some of the bytes of an export.
type Part struct {
	Platform ident.Platform
	Export   uuid.UUID
	Number   int       // from 1
	Blob     uuid.UUID // names the stored file
	Size     int64
	Key      []byte // opens it
}

// ErrNotRunning is the error of a run that is to stop: the export was cancelled, or another process writes it.
var ErrNotRunning = errors.New("the export is not written by this process any more")

// MayCancel reports whether a person may cancel the export: who has asked for it, and an administrator.
func (e Export) MayCancel(p person.Person) bool {
	return p.ID == e.By || p.May(person.ManageService, e.Platform)
}

// HasEnded reports whether the export waits and runs no more.
func (e Export) HasEnded() bool { return len(transitions[e.State]) == 0 }

// IsWritten reports whether a process writes the export now.
func (e Export) IsWritten(now time.Time) bool {
	return e.State == Running && now.Sub(e.UpdatedAt) < silence
}

// Begin begins a run, at the first byte. Fault: CONFLICT if the export has ended.
func (e Export) Begin(now time.Time) (Export, error) {
	e, err := e.to(Running, now)
	e.Run, e.Progress = e.Run+1, Progress{}
	return e, err
}

// Advance records how far a run is, or returns ErrNotRunning.
func (e Export) Advance(run int, p Progress, now time.Time) (Export, error) {
	if e.State != Running || e.Run != run {
		return e, ErrNotRunning
	}
	e.Progress, e.UpdatedAt = p, now
	return e, nil
}

// Postpone ends a run that could not begin to read, and does not count it. The export waits again. Error: ErrNotRunning.
func (e Export) Postpone(run int, now time.Time) (Export, error) {
	if e.State != Running || e.Run != run {
		return e, ErrNotRunning
	}
	e.Run--
	return e.to(Waiting, now)
}

// Complete ends an export whose parts are all stored. The problem, mostly none, is one of what the file is about.
func (e Export) Complete(problem string, now time.Time) (Export, error) {
	e.Problem = problem
	return e.to(Completed, now)
}

// Fail ends an export that cannot be written. The person reads the problem.
func (e Export) Fail(problem string, now time.Time) (Export, error) {
	e.Problem = problem
	return e.to(Failed, now)
}

// Cancel ends an export. Faults: FORBIDDEN, CONFLICT if it has ended.
func (e Export) Cancel(by person.Person, now time.Time) (Export, error) {
	if !e.MayCancel(by) {
		return e, fault.New(fault.Forbidden, "%s has asked for this export. Only that person or an administrator may cancel it.", e.Actor)
	}
	return e.to(Cancelled, now)
}

func (e Export) to(s State, now time.Time) (Export, error) {
	if !slices.Contains(transitions[e.State], s) {
		return e, fault.New(fault.Conflict, "The export has ended, as %s.", e.State)
	}
	e.State, e.UpdatedAt = s, now
	if e.HasEnded() {
		e.EndedAt = now
	}
	return e, nil
}
