// Package reconciliation imports partners' statements, compares them with the ledger, and
// resolves breaks.
//
// An import is one unit of work: a statement is stored with all its lines, matches and breaks, or
// not at all. It never changes a posting; resolving a break may post one correction.
package reconciliation

import (
	"context"
	"sync"
	"time"

	"causeway/core/ident"
	"causeway/core/reconcile"
	"causeway/ledger"
	"causeway/ports"
)

// Config is what a Service needs.
type Config struct {
	Store    Store
	Runs     ReconciliationReader
	Ledger   LedgerReader
	Accounts Finance
	Clock    ports.Clock
	IDs      ports.IDs
}

// The maximum numbers in a process of files that are read at the same time and of statements that are
// compared, which takes most of the memory. A client that sends slowly does not hold up comparisons, nor all clients of a platform
// the files of others.
const (
	maxConcurrentReads   = 8
	maxReadsOfPlatform   = 6
	maxConcurrentImports = 2
)

// Service holds the use cases on reconciliations.
type Service struct {
	Config
	reads, slots    chan struct{}
	readsOfPlatform sync.Map // ident.Platform to chan struct{}
}

// New returns a Service.
func New(c Config) *Service {
	return &Service{Config: c, reads: make(chan struct{}, maxConcurrentReads), slots: make(chan struct{}, maxConcurrentImports)}
}

// RunDetails is a run with its current counts.
type RunDetails struct {
	reconcile.Run
	ports.ReconciliationCounts
	// LedgerBalance is the ledger's balance of the account at the end of the last day, by
	// effective time, in minor units.
	LedgerBalance int64
	// Balance compares the closing balance with the ledger now; nil if the statement has none.
	Balance *reconcile.BalanceComparison
}

// Get returns one run. Fault: RECONCILIATION_NOT_FOUND.
func (r *Service) Get(ctx context.Context, p ident.Platform, id ident.Reconciliation) (RunDetails, error) {
	run, counts, err := r.Runs.Reconciliation(ctx, p, id)
	if err != nil {
		return RunDetails{}, err
	}
	details := RunDetails{Run: run, ReconciliationCounts: counts}
	if details.Balance, err = r.compareBalance(ctx, r.Runs, run); err != nil {
		return RunDetails{}, err
	}
	if details.Balance != nil {
		details.LedgerBalance = details.Balance.Ledger
		return details, nil
	}
	details.LedgerBalance, err = r.ledgerBalance(ctx, run)
	return details, err
}

func (r *Service) ledgerBalance(ctx context.Context, run reconcile.Run) (int64, error) {
	account := ledger.Account{Platform: run.Account.Platform, Path: run.Account.Path, Currency: run.Account.Currency}
	return r.Ledger.BalanceAt(ctx, account, ports.ByEffective, (run.To + 1).Start().Add(-time.Microsecond))
}

// balanceExplainer is a Reader or a Tx.
type balanceExplainer interface {
	// ExplainBalance returns what explains the difference between a partner's balance and the ledger's at the end of the last
	// day of a run, whose lines are stored: a comparison without the balances.
	ExplainBalance(ctx context.Context, run reconcile.Run) (reconcile.BalanceComparison, error)
}

// compareBalance compares the closing balance of a statement with the ledger; nil if it has none.
func (r *Service) compareBalance(ctx context.Context, explainer balanceExplainer,
	run reconcile.Run) (*reconcile.BalanceComparison, error) {
	if run.Closing == nil {
		return nil, nil
	}
	compared, err := explainer.ExplainBalance(ctx, run)
	if err != nil {
		return nil, err
	}
	compared.Partner = *run.Closing
	compared.Ledger, err = r.ledgerBalance(ctx, run)
	return &compared, err
}

// List lists the runs of a platform.
func (r *Service) List(ctx context.Context, p ident.Platform, f ports.ReconciliationFilter) (ports.Page[reconcile.Run], error) {
	return r.Runs.Reconciliations(ctx, p, f)
}

// Lines lists the new lines of a run with their matches and breaks.
func (r *Service) Lines(ctx context.Context, p ident.Platform, id ident.Reconciliation,
	f ports.StatementLineFilter) (ports.Page[reconcile.LineDetails], error) {
	return r.Runs.StatementLines(ctx, p, id, f)
}

// Breaks lists the breaks that a run found, or those of all runs if id is zero, with suggestions for the
// open ones.
func (r *Service) Breaks(ctx context.Context, p ident.Platform, id ident.Reconciliation,
	f ports.BreakFilter) (ports.Page[reconcile.BreakDetails], error) {
	page, err := r.Runs.Breaks(ctx, p, id, f)
	if err != nil {
		return page, err
	}
	return page, r.suggest(ctx, page.Items)
}

// Break returns one break, with suggestions if it is open. Fault: BREAK_NOT_FOUND.
func (r *Service) Break(ctx context.Context, p ident.Platform, id ident.Break) (reconcile.BreakDetails, error) {
	found, err := r.Runs.Break(ctx, p, id)
	if err != nil {
		return found, err
	}
	items := []reconcile.BreakDetails{found}
	err = r.suggest(ctx, items)
	return items[0], err
}

// suggest adds suggestions to open breaks, from the latest open breaks of their accounts.
func (r *Service) suggest(ctx context.Context, breaks []reconcile.BreakDetails) error {
	suggesters := map[reconcile.Account]*reconcile.Suggester{}
	for i, b := range breaks {
		if b.Resolution != nil {
			continue
		}
		suggester, found := suggesters[b.Account]
		if !found {
			open, err := r.Runs.Breaks(ctx, b.Account.Platform, ident.Reconciliation{},
				ports.BreakFilter{Paging: ports.Paging{Limit: reconcile.MaxSuggestedFrom},
					Path: b.Account.Path, Currency: string(b.Account.Currency), Status: "OPEN"})
			if err != nil {
				return err
			}
			suggester = reconcile.NewSuggester(open.Items)
			suggesters[b.Account] = suggester
		}
		breaks[i].Suggestions = suggester.For(b)
	}
	return nil
}
