// Package foureyes runs the operations that change the books, at once or as a proposal that a second person
// approves, as the settings of the platform say.
//
// Use cases describe their operations; this package decides nothing about what they do.
package foureyes

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"causeway/app/internal/uow"
	"causeway/core/books"
	"causeway/core/event"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/proposal"
	"causeway/ports"
)

// Operation is an operation that may need four eyes. Request is stored as JSON: its fields have the names of
// the body of the operation, and those of its path.
type Operation[T Tx, Request, Result any] struct {
	// ID is the id of the operation in the API.
	ID     string
	Action books.Action
	// TwoPersons reports whether a request needs four eyes on a production platform whatever the settings say, also if an
	// operator makes it. nil: none does.
	TwoPersons func(r Request) bool
	// Check returns the fault of a request that cannot be carried out, as far as that can be known outside of
	// a unit of work. It may be nil.
	Check func(ctx context.Context, p ident.Platform, r Request) error
	// Prepare reads what Execute needs outside of the unit of work, however long that takes, and returns the
	// request with it, in fields that are not stored. It may be nil. A proposal is prepared again when it is
	// approved, and whenever Execute returns uow.ErrChanged.
	Prepare func(ctx context.Context, p ident.Platform, r Request) (Request, error)
	// Execute carries out a request in a unit of work. It returns what the caller gets, and the id of what was
	// made, which the proposal keeps. An empty id says that there was nothing to change: no proposal is made.
	Execute func(ctx context.Context, tx T, c Change, r Request) (result Result, made string, err error)
	// Figures returns what a change comes to, as a struct or map that JSON can express, such as computed amounts.
	// They are stored with the proposal, and an approval that comes to others is refused. It may be nil.
	Figures func(Result) (any, error)
}

// Change says for whom a request is carried out.
type Change struct {
	Platform ident.Platform
	// ID is the id of the change, from which the ids of its postings are derived: that of the proposal, or a
	// new one. So a proposal is carried out once.
	ID uuid.UUID
	// By is who made the request, and Approval the proposal and who approved it; zero without four eyes.
	By       platform.Author
	Approval platform.Approval
	// At is the time of the change, in whole microseconds.
	At time.Time
}

// Config is what running an operation needs.
type Config[T Tx] struct {
	Store Store
	Clock ports.Clock
	IDs   ports.IDs
}

// Run carries out a request, or makes a proposal if the settings of the platform say that its action needs four
// eyes. It is always tried, so a request that could not be carried out at present makes no proposal but returns
// its fault. If there is nothing to change, that is the outcome.
func Run[T Tx, Request, Result any](ctx context.Context, c Config[T], o Operation[T, Request, Result], p ident.Platform, by platform.Author,
	key *ports.IdempotentRequest, r Request) (done proposal.Outcome[Result], err error) {
	always, err := o.needsTwoPersons(ctx, c, p, r)
	if err != nil {
		return done, err
	}
	var figures []byte
	err = o.run(ctx, c, p, by, r, func(ctx context.Context, tx T, execute func() (Result, string, error)) error {
		fourEyes, err := o.needsFourEyes(ctx, tx, p)
		if err != nil {
			return err
		}
		result, made, err := execute()
		if err != nil {
			return err
		}
		if !fourEyes && !always || made == "" {
			done = proposal.Outcome[Result]{Done: result}
			return tx.SaveResponse(ctx, key, done, nil)
		}
		if figures, err = o.figures(result); err != nil {
			return err
		}
		return errTried
	})
	if errors.Is(err, errTried) {
		return propose(ctx, c, o, p, by, key, r, figures)
	}
	return done, err
}

// errTried ends the unit of work of a request that needs four eyes.
var errTried = errors.New("tried")

// needsFourEyes reads the settings, which do not change until the unit of work ends: no request is carried out
// alone after four eyes are switched on.
func (o Operation[T, Request, Result]) needsFourEyes(ctx context.Context, tx Tx, p ident.Platform) (bool, error) {
	lock := tx.LockBooksSettingsShared
	if o.Action == books.ActionSettings {
		lock = tx.LockBooksSettings // two changes that share the lock would both wait to change
	}
	settings, err := lock(ctx, p)
	return settings.NeedsFourEyes(o.Action), err
}

// needsTwoPersons reports whether a request needs four eyes whatever the settings. The environment of a platform never
// changes.
func (o Operation[T, Request, Result]) needsTwoPersons(ctx context.Context, c Config[T], p ident.Platform, r Request) (bool, error) {
	if o.TwoPersons == nil || !o.TwoPersons(r) {
		return false, nil
	}
	found, err := c.Store.Platform(ctx, p)
	return found.Environment == platform.Production, err
}

// RunAlone carries out a request whatever the settings: that of an operator on the command line, for one of OperatorOperations.
// One that always needs two persons makes a proposal.
func RunAlone[T Tx, Request, Result any](ctx context.Context, c Config[T], o Operation[T, Request, Result], p ident.Platform,
	by platform.Author,
	key *ports.IdempotentRequest, r Request) (done proposal.Outcome[Result], err error) {
	if err := checkAlone(o.ID); err != nil {
		return done, err
	}
	if always, err := o.needsTwoPersons(ctx, c, p, r); err != nil {
		return done, err
	} else if always {
		return Run(ctx, c, o, p, by, key, r)
	}
	err = o.run(ctx, c, p, by, r, func(ctx context.Context, tx T, execute func() (Result, string, error)) error {
		result, _, err := execute()
		if err != nil {
			return err
		}
		done = proposal.Outcome[Result]{Done: result}
		return tx.SaveResponse(ctx, key, done, nil)
	})
	return done, err
}

// run prepares a request and calls work in a unit of work, which it passes what carries the request out.
func (o Operation[T, Request, Result]) run(ctx context.Context, c Config[T], p ident.Platform, by platform.Author, r Request,
	work func(ctx context.Context, tx T, execute func() (Result, string, error)) error) error {
	return uow.Repeat(func() error {
		prepared, err := o.prepare(ctx, p, r)
		if err != nil {
			return err
		}
		now := Now(c.Clock)
		change := Change{Platform: p, ID: c.IDs.New(now), By: by, At: now}
		return ports.Do(ctx, c.Store, func(ctx context.Context, tx T) error {
			return work(ctx, tx, func() (Result, string, error) { return o.Execute(ctx, tx, change, prepared) })
		})
	})
}

// prepare checks a request and prepares it.
func (o Operation[T, Request, Result]) prepare(ctx context.Context, p ident.Platform, r Request) (Request, error) {
	if o.Check != nil {
		if err := o.Check(ctx, p, r); err != nil {
			return r, err
		}
	}
	if o.Prepare == nil {
		return r, nil
	}
	return o.Prepare(ctx, p, r)
}

// figures returns the figures of a result as JSON; nil if the operation has none.
func (o Operation[T, Request, Result]) figures(result Result) ([]byte, error) {
	if o.Figures == nil {
		return nil, nil
	}
	figures, err := o.Figures(result)
	if err != nil {
		return nil, err
	}
	return json.Marshal(figures)
}

// propose makes a proposal of a request that was tried and came to these figures.
func propose[T Tx, Request, Result any](ctx context.Context, c Config[T], o Operation[T, Request, Result], p ident.Platform,
	by platform.Author,
	key *ports.IdempotentRequest, r Request, figures []byte) (made proposal.Outcome[Result], err error) {
	request, err := FormatRequest(o.ID, r)
	if err != nil {
		return made, err
	}
	err = ports.Do(ctx, c.Store, func(ctx context.Context, tx T) error {
		people, err := tx.LockPeopleOf(ctx, p)
		if err != nil {
			return err
		}
		now := Now(c.Clock)
		created := proposal.New(ident.NewProposal(c.IDs.New, now), p, o.Action, o.ID, request, by, people, now)
		created.Figures = figures
		if err := Create(ctx, tx, created, func(pending int) error { return created.CheckCreate(people, pending) }); err != nil {
			return err
		}
		if err := Emit(ctx, tx, c.IDs, created, now); err != nil {
			return err
		}
		made = proposal.Outcome[Result]{Proposal: &created}
		return tx.SaveResponse(ctx, key, made, nil)
	})
	return made, err
}

// Emit sends the event of the present status of a proposal.
func Emit(ctx context.Context, tx Tx, ids ports.IDs, p proposal.Proposal, now time.Time) error {
	return tx.Emit(ctx, []event.Event{{ID: ident.NewWebhook(ids.New, now), Platform: p.Platform, Type: event.LedgerProposal,
		Name: string(event.LedgerProposal) + "." + string(p.State), Subject: p.ID.UUID(), OccurredAt: now, Resource: p}})
}

// Executor carries out approved proposals of one operation.
type Executor interface {
	// Operation is the id of the operation.
	Operation() string
	// PrepareRequest prepares a stored request outside of a unit of work.
	PrepareRequest(ctx context.Context, p ident.Platform, request []byte) (Prepared[Tx, Change, Made], error)
}

// Made is what carrying out a stored request has made: its id, and the figures of the change.
type Made struct {
	ID      string
	Figures []byte
}

// Executor returns what carries out the approved proposals of the operation.
func (o Operation[T, Request, Result]) Executor(c Config[T]) Executor {
	return executor[T, Request, Result]{c, o}
}

type executor[T Tx, Request, Result any] struct {
	Config[T]
	operation Operation[T, Request, Result]
}

// Operation implements Executor.
func (e executor[T, Request, Result]) Operation() string { return e.operation.ID }

// PrepareRequest implements Executor.
func (e executor[T, Request, Result]) PrepareRequest(ctx context.Context, p ident.Platform, request []byte) (Prepared[Tx, Change,
	Made], error) {
	parsed, err := ParseRequest[Request](request)
	if err != nil {
		return nil, err
	}
	prepared, err := e.operation.prepare(ctx, p, parsed)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, work func(context.Context, Tx, func(Change) (Made, error)) error) error {
		return ports.Do(ctx, e.Store, func(ctx context.Context, tx T) error {
			return work(ctx, tx, func(c Change) (Made, error) {
				result, made, err := e.operation.Execute(ctx, tx, c, prepared)
				if err != nil {
					return Made{}, err
				}
				figures, err := e.operation.figures(result)
				return Made{made, figures}, err
			})
		})
	}, nil
}

// FormatRequest returns the request of an operation as it is stored. Fault: CONFLICT if it is too large.
func FormatRequest(operation string, r any) ([]byte, error) {
	request, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("store the request of %s: %w", operation, err)
	}
	return request, proposal.CheckRequest(request)
}

// ParseRequest parses a stored request. A version that no longer knows a field refuses it, so that nothing else is
// carried out than what was approved.
func ParseRequest[Request any](request []byte) (r Request, err error) {
	decoder := json.NewDecoder(bytes.NewReader(request))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&r); err != nil {
		return r, &fault.Error{Code: fault.Conflict, Reason: "Request not supported",
			Message: "This version of the service cannot carry out the stored request. Reject the proposal and make it again."}
	}
	return r, nil
}
