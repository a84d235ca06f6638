// Package reconciling imports partners' statements, compares them with the books, and
// resolves what does not fit.
//
// An import is one unit of work: a statement is in with all its lines and what became of
// them, or not at all. It never changes what was posted; resolving a break may post one
// correction, like any other posting.
package reconciliation

import (
	"context"
	"time"

	"causeway/core/ident"
	"causeway/core/reconcile"
	"causeway/ledger"
	"causeway/ports"
)

// Config is what the use cases work with.
type Config struct {
	Store      ports.Store
	Runs       ports.ReconciliationReader
	Ledger     ports.LedgerReader
	Statements ports.Statements
	Clock      ports.Clock
	IDs        ports.IDs
}

// maxConcurrentImports is how many imports run at the same time in one process: each holds a whole
// statement.
const maxConcurrentImports = 2

// Service are the use cases.
type Service struct {
	Config
	slots chan struct{}
}

// New makes the use cases.
func New(c Config) *Service {
	return &Service{Config: c, slots: make(chan struct{}, maxConcurrentImports)}
}

// RunDetails is a run, and how things stand now.
type RunDetails struct {
	reconcile.Run
	ports.ReconciliationCounts
	// LedgerBalance is what our books have on the account at the end of the last day, by
	// effective time, in minor units.
	LedgerBalance int64
}

// Get answers RECONCILIATION_NOT_FOUND when there is none.
func (r *Service) Get(ctx context.Context, p ident.Platform, id ident.Reconciliation) (RunDetails, error) {
	run, standing, err := r.Runs.Reconciliation(ctx, p, id)
	if err != nil {
		return RunDetails{}, err
	}
	account := ledger.Account{Platform: p, Path: run.Account.Path, Currency: run.Account.Currency}
	balance, err := r.Ledger.BalanceAt(ctx, account, ports.ByEffective, (run.To + 1).Start().Add(-time.Microsecond))
	return RunDetails{run, standing, balance}, err
}

// List lists the runs of a platform.
func (r *Service) List(ctx context.Context, p ident.Platform, f ports.ReconciliationFilter) (ports.Page[reconcile.Run], error) {
	return r.Runs.Reconciliations(ctx, p, f)
}

// Lines lists the lines that a run saw first, with what has become of them.
func (r *Service) Lines(ctx context.Context, p ident.Platform, id ident.Reconciliation, f ports.StatementLineFilter) (ports.Page[reconcile.LineDetails], error) {
	return r.Runs.StatementLines(ctx, p, id, f)
}

// Breaks lists the breaks that a run found.
func (r *Service) Breaks(ctx context.Context, p ident.Platform, id ident.Reconciliation, f ports.BreakFilter) (ports.Page[reconcile.BreakDetails], error) {
	return r.Runs.Breaks(ctx, p, id, f)
}
