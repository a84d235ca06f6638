package monthend

import (
	"context"
	"time"

	"causeway/core/books"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/monthend"
	"causeway/core/receivable"
	"causeway/ledger"
	"causeway/ports"
)

// Receivables reads what customers owed.
type Receivables interface {
	// ReceivablesAt calls each with what each receivable of a platform owed before a time, by its changes whose postings have numbers up to
	// upto. What owed nothing is left out.
	ReceivablesAt(ctx context.Context, p ident.Platform, before time.Time, upto int64,
		each func(currency money.Currency, owed int64, returnedAt time.Time) error) error
}

// Balances reads balances of the past.
type Balances interface {
	// AccountsAtCutoff returns the accounts at a path with their balances at a cutoff.
	AccountsAtCutoff(ctx context.Context, p ident.Platform, path string, currency money.Currency, cut ports.Cutoff) ([]ports.LedgerAccount,
		error)
}

// Owed computes what was owed at the end of the month of a run by age, by postings with numbers up to its LastSeq.
func (r *Reader) Owed(ctx context.Context, run monthend.Run) ([]receivable.Aging, error) {
	sums := receivable.AgingOf{}
	err := r.Receivables.ReceivablesAt(ctx, run.Platform, run.Month.End(), run.LastSeq,
		func(currency money.Currency, owed int64, returnedAt time.Time) error {
			sums.Add(currency, owed, returnedAt, monthend.Last(run.Month))
			return nil
		})
	return sums.Sorted(), err
}

// Allowances computes the allowances of a run; former are the postings of the month that it replaces. It returns the number of
// the last posting
// that it may have read.
func (r *Reader) Allowances(ctx context.Context, run monthend.Run, rates books.AllowanceRates, former []ledger.Posting) (
	found []monthend.Allowance, lastSeq int64, err error) {
	err = r.Views.MonthEndView(ctx, run.Platform, run.LastSeq, func(_ context.Context, view ports.MonthEndView) error {
		lastSeq = view.LastPosting().Seq
		return nil
	})
	if err != nil {
		return nil, 0, err
	}
	run.LastSeq = lastSeq
	owed, err := r.Owed(ctx, run)
	if err != nil {
		return nil, 0, err
	}
	before, err := r.allowanceAt(ctx, run)
	if err != nil {
		return nil, 0, err
	}
	for _, p := range former {
		for _, e := range p.Entries {
			amount := e.Amount
			if e.Debit == ledger.AllowanceReceivables {
				amount = -amount
			}
			if before[e.Currency], err = money.SubMinor(before[e.Currency], amount); err != nil {
				return nil, 0, err
			}
		}
	}
	found, err = monthend.Allowances(owed, rates, before)
	return found, lastSeq, err
}

// allowanceAt returns the allowances in each currency at the end of the month of a run.
func (r *Reader) allowanceAt(ctx context.Context, run monthend.Run) (map[money.Currency]int64, error) {
	accounts, err := r.Balances.AccountsAtCutoff(ctx, run.Platform, ledger.AllowanceReceivables, "",
		ports.Cutoff{By: ports.ByEffective, Moment: monthend.Last(run.Month)})
	if err != nil {
		return nil, err
	}
	allowances := map[money.Currency]int64{}
	for _, a := range accounts {
		minor, fits := a.Balance.Neg().Minor()
		if !fits {
			return nil, money.ErrOverflow
		}
		allowances[a.Account.Currency] = minor
	}
	return allowances, nil
}
