// Package receivables holds the use cases on collections that the payer's bank has taken back: what their
// customers owe is recorded, collected from later money, or written off.
//
// Payments never wait for it.
package receivables

import (
	"context"
	"errors"
	"fmt"
	"time"

	"causeway/app/internal/foureyes"
	"causeway/app/internal/returns"
	"causeway/app/internal/uow"
	"causeway/core/books"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/period"
	"causeway/core/platform"
	"causeway/core/proposal"
	"causeway/core/receivable"
	"causeway/core/transaction"
	"causeway/ports"
)

// Config is what the use cases need.
type Config struct {
	Store Store
	Clock ports.Clock
	IDs   ports.IDs
}

// Service holds the use cases.
type Service struct{ Config }

// New returns a Service.
func New(c Config) *Service { return &Service{c} }

// Record records that the collection of a transaction was returned: the whole amount is posted against the partner,
// and what the customer has pays at once. A return that is recorded again changes nothing. If the money is unmatched, because it could not
// be refunded, it goes back to the partner, and the answer is CONFLICT: nobody owes it. Faults: INVALID_INPUT; TRANSACTION_NOT_FOUND;
// CONFLICT.
func (s *Service) Record(ctx context.Context, p ident.Platform, id ident.Transaction, returned receivable.Return,
	request *ports.IdempotentRequest) (recorded ports.ReceivableDetails, err error) {
	now := s.Clock.Now().Truncate(time.Microsecond)
	returned.ReturnedAt = returned.ReturnedAt.Truncate(time.Microsecond)
	if bad := returned.Check(now); len(bad) > 0 {
		return recorded, fault.Invalid(bad...)
	}
	var notOwed error
	err = uow.Repeat(func() error {
		return ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) error {
			work := uow.NewWork(now, s.IDs, 0)
			var of transaction.Transaction
			var isNew bool
			var err error
			recorded, isNew, err = s.recorder().Record(ctx, tx, work, ports.TransactionKey{Platform: p, ID: id},
				func(t transaction.Transaction) (receivable.Return, error) {
					of = t
					return returned, receivable.CheckEnded(t)
				})
			switch notOwed = nil; {
			case err != nil:
			case recorded.ID.IsZero():
				notOwed = receivable.ErrNotOwed(of)
			case !isNew:
				err = recorded.CheckRepeated(returned)
			}
			if err != nil {
				return err
			}
			if err := tx.SaveResponse(ctx, request, recorded, notOwed); err != nil {
				return err
			}
			return work.Write(ctx, tx)
		})
	})
	if err == nil {
		err = notOwed
	}
	return recorded, err
}

// recorder records returns as payments do that a partner reports.
func (s *Service) recorder() returns.Recorder { return returns.Recorder{Accounts: s.Store, IDs: s.IDs} }

// WriteOffCommand gives up what a receivable still owes. The note says why.
type WriteOffCommand struct {
	Receivable ident.Receivable `json:"receivableId"`
	Note       string           `json:"note"`
}

// WriteOff gives up what is still owed, or makes a proposal of that. Faults: INVALID_INPUT; NOT_FOUND; CONFLICT if
// nothing is owed; those of foureyes.Run.
func (s *Service) WriteOff(ctx context.Context, p ident.Platform, by platform.Author, c WriteOffCommand, request *ports.IdempotentRequest) (
	proposal.Outcome[ports.ReceivableDetails], error) {
	return foureyes.Run(ctx, s.foureyes(), s.writeOff(), p, by, request, c)
}

// WriteOffAlone is WriteOff by an operator on the command line, who needs no second person.
func (s *Service) WriteOffAlone(ctx context.Context, p ident.Platform, by platform.Author,
	c WriteOffCommand) (ports.ReceivableDetails, error) {
	done, err := foureyes.RunAlone(ctx, s.foureyes(), s.writeOff(), p, by, nil, c)
	return done.Done, err
}

// Executors carry out the approved proposals of this service.
func (s *Service) Executors() []foureyes.Executor {
	return []foureyes.Executor{s.writeOff().Executor(s.foureyes())}
}

func (s *Service) foureyes() foureyes.Config[Tx] {
	return foureyes.Config[Tx]{Store: s.Store, Clock: s.Clock, IDs: s.IDs}
}

func (s *Service) writeOff() foureyes.Operation[Tx, WriteOffCommand, ports.ReceivableDetails] {
	return foureyes.Operation[Tx, WriteOffCommand, ports.ReceivableDetails]{ID: "writeOffReceivable", Action: books.ActionWriteOff,
		Check: checkWriteOff, Execute: s.executeWriteOff}
}

func checkWriteOff(_ context.Context, _ ident.Platform, c WriteOffCommand) error {
	if bad := period.CheckNote(c.Note, false); len(bad) > 0 {
		return fault.Invalid(bad...)
	}
	return nil
}

func (s *Service) executeWriteOff(ctx context.Context, tx Tx, c foureyes.Change,
	command WriteOffCommand) (ports.ReceivableDetails, string, error) {
	details, found, err := tx.LockReceivable(ctx, c.Platform, command.Receivable)
	if err != nil {
		return details, "", err
	}
	if !found {
		return details, "", notFound(command.Receivable)
	}
	r, change, ok := details.WriteOff(c.By, command.Note, len(details.Changes), c.At)
	if !ok {
		return details, "", details.ErrNotOpen()
	}
	change.Approval = c.Approval
	if err := tx.UpdateReceivable(ctx, r); err != nil {
		return details, "", err
	}
	work := uow.NewWork(c.At, s.IDs, 0)
	if err := s.recorder().Add(ctx, tx, work, &details, r, change); err != nil {
		return details, "", err
	}
	return details, r.ID.String(), work.Write(ctx, tx)
}

// collectBatch is how many receivables CollectDue finds at once.
const collectBatch = 100

// CollectDue collects what is owed from the accounts that have money, on all platforms, the oldest return first. Every
// process calls it: a receivable is locked before its balance is read. One that fails does not keep others from being collected.
func (s *Service) CollectDue(ctx context.Context) error {
	var after ports.CollectableReceivable
	var failed []error
	for {
		due, err := s.Store.CollectableReceivables(ctx, after, collectBatch)
		if err != nil {
			return errors.Join(append(failed, err)...)
		}
		for _, d := range due {
			if err := s.collectOne(ctx, d.Platform, d.ID); err != nil && len(failed) < collectBatch {
				failed = append(failed, fmt.Errorf("collect %s: %w", d.ID, err))
			}
		}
		if len(due) < collectBatch || ctx.Err() != nil {
			return errors.Join(failed...)
		}
		after = due[len(due)-1]
	}
}

func (s *Service) collectOne(ctx context.Context, p ident.Platform, id ident.Receivable) error {
	return ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) error {
		details, found, err := tx.LockReceivable(ctx, p, id)
		if err != nil || !found {
			return err
		}
		work := uow.NewWork(s.Clock.Now().Truncate(time.Microsecond), s.IDs, 0)
		if err := s.recorder().Collect(ctx, tx, work, &details); err != nil {
			return err
		}
		return work.Write(ctx, tx)
	})
}

// Receivable returns a receivable with its changes. Fault: NOT_FOUND.
func (s *Service) Receivable(ctx context.Context, p ident.Platform, id ident.Receivable) (ports.ReceivableDetails, error) {
	details, found, err := s.Store.Receivable(ctx, p, id)
	if err == nil && !found {
		err = notFound(id)
	}
	return details, err
}

// Receivables returns a page of receivables.
func (s *Service) Receivables(ctx context.Context, p ident.Platform, f ports.ReceivableFilter) (ports.Page[receivable.Receivable], error) {
	return s.Store.Receivables(ctx, p, f)
}

// Aging returns what is owed now, by currency and age.
func (s *Service) Aging(ctx context.Context, p ident.Platform) (AgingReport, error) {
	report := AgingReport{At: s.Clock.Now().UTC()}
	sums := receivable.AgingOf{}
	err := s.Store.OpenReceivables(ctx, p, func(currency money.Currency, owed int64, returnedAt time.Time) error {
		sums.Add(currency, owed, returnedAt, report.At)
		return nil
	})
	report.Currencies = sums.Sorted()
	return report, err
}

func notFound(id ident.Receivable) error {
	return fault.New(fault.NotFound, "No receivable has the id %s. List them with GET /ledger/receivables.", id)
}
