// Package monthend posts at the end of a month: the exchange result of the position, the deferral of fees of
// payments that are not delivered, and the allowance for receivables. It also explains what changed the value of the position.
//
// A run reads the ledger outside of a unit of work, however long that takes, and then posts in one that refuses if
// a posting was added meanwhile. Payments are never blocked.
package monthend

import (
	"context"
	"errors"

	"causeway/app/internal/foureyes"
	runs "causeway/app/internal/monthend"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/monthend"
	"causeway/core/period"
	"causeway/ledger"
	"causeway/ports"
)

// Config is what the use cases need.
type Config struct {
	Store     Store
	Results   runs.MonthEndResults
	Postings  LedgerReader
	Views     ports.MonthEndViews
	KeptRates runs.KeptRates
	// Receivables and Balances are what allowances are computed from.
	Receivables runs.Receivables
	Balances    runs.Balances
	Clock       ports.Clock
	IDs         ports.IDs
}

// Service holds the use cases.
type Service struct{ Config }

// New returns a Service.
func New(c Config) *Service { return &Service{c} }

// Executors carry out the approved proposals of runs.
func (s *Service) Executors() []foureyes.Executor {
	return []foureyes.Executor{s.revaluation().of(s).Executor(s.foureyes()), s.feeDeferral().of(s).Executor(s.foureyes()),
		s.allowance().of(s).Executor(s.foureyes())}
}

func (s *Service) foureyes() foureyes.Config[Tx] {
	return foureyes.Config[Tx]{Store: s.Store, Clock: s.Clock, IDs: s.IDs}
}

// reader computes what is posted.
func (s *Service) reader() *runs.Reader {
	return &runs.Reader{Results: s.Results, Views: s.Views, KeptRates: s.KeptRates, Receivables: s.Receivables, Balances: s.Balances}
}

// run returns the last run of a kind for a month. Fault: NOT_FOUND.
func (s *Service) run(ctx context.Context, p ident.Platform, kind ledger.Kind, m period.Month) (monthend.Run, error) {
	run, err := s.Store.MonthEndRun(ctx, p, kind, m)
	if err == nil && !run.Exists() {
		err = fault.New(fault.NotFound, "There is no such result of %s. Post it with `%s`.", m, monthend.Command(kind, m))
	}
	return run, err
}

// amountFault turns an overflow into a fault.
func amountFault(err error) error {
	if errors.Is(err, money.ErrOverflow) {
		return fault.New(fault.Conflict, "The position or its value exceeds the largest amount: %v.", err)
	}
	return err
}
