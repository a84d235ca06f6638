// Package books is what finance teams decide about the books of a platform: its accounting policies, accounts
// of their own, the codes of the general ledger, and opening balances from earlier books.
package books

import (
	"context"
	"slices"
	"time"

	"causeway/app/internal/foureyes"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/period"
	"causeway/core/platform"
	"causeway/core/proposal"
	"causeway/ports"
)

// Config is what the use cases need.
type Config struct {
	Store Store
	// Finance reads the balances and postings that opening balances depend on.
	Finance Finance
	Clock   ports.Clock
	IDs     ports.IDs
}

// Service holds the use cases.
type Service struct{ Config }

// New returns a Service.
func New(c Config) *Service { return &Service{c} }

// Executors carry out the approved proposals of this service.
func (s *Service) Executors() []foureyes.Executor {
	c := s.foureyes()
	return []foureyes.Executor{s.settings().Executor(c), s.addition().Executor(c), s.accountChange().Executor(c), s.glMapping().Executor(c),
		s.opening().Executor(c), s.openingReversal().Executor(c)}
}

// run carries out a request or makes a proposal of it, as the settings say. Requests of operators need no approval.
func run[Request, Result any](ctx context.Context, s *Service, o foureyes.Operation[Tx, Request, Result], p ident.Platform, c Change,
	key *ports.IdempotentRequest, r Request) (proposal.Outcome[Result], error) {
	if c.By.Token.IsZero() {
		return foureyes.RunAlone(ctx, s.foureyes(), o, p, c.By, key, r)
	}
	return foureyes.Run(ctx, s.foureyes(), o, p, c.By, key, r)
}

// checkNote returns the fault of the note of a change.
func checkNote(note string) error {
	if bad := (Change{Note: note}).problems(); len(bad) > 0 {
		return fault.Invalid(bad...)
	}
	return nil
}

// Change says who changes something, and why. An author without a token is an operator on the command line.
type Change struct {
	By   platform.Author
	Note string // may be empty
	// Base is the version of the settings that was changed; nil for the present one.
	Base *int
}

// problems returns what is wrong with the change.
func (c Change) problems() []fault.Field { return period.CheckNote(c.Note, true) }

// withProblems adds invalid fields to an error that is INVALID_INPUT, or nil.
func withProblems(err error, more []fault.Field) error {
	f, ok := fault.As(err)
	switch {
	case len(more) == 0, err != nil && !ok:
		return err
	case ok:
		more = append(slices.Clone(f.Fields), more...)
	}
	return fault.Invalid(more...)
}

func conflict(reason, format string, args ...any) error {
	f := fault.New(fault.Conflict, format, args...)
	f.Reason = reason
	return f
}

// now is the time of a change: with the precision that is stored.
func (s *Service) now() time.Time { return s.Clock.Now().UTC().Truncate(time.Microsecond) }
