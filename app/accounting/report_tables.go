package accounting

import (
	"context"
	"strconv"
	"time"

	"causeway/core/csvcell"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/period"
	"causeway/core/transaction"
	"causeway/ports"
)

// trialBalanceHeader is that of a trial balance, in which opening and closing are debits minus credits.
var trialBalanceHeader = []string{"currency", "path", "class", "opening", "debits", "credits", "closing", "gl_code", "gl_name"}

// Table returns the lines of the trial balance.
func (b TrialBalance) Table() Table {
	t := Table{Header: trialBalanceHeader}
	for _, l := range b.Lines {
		t.Rows = append(t.Rows, trialBalanceRow(l))
	}
	return t
}

func trialBalanceRow(l TrialBalanceLine) []string {
	c := l.Currency
	return []string{string(c), l.Path, string(l.Class), l.Opening.Major(c), l.Debits.Major(c), l.Credits.Major(c), l.Closing.Major(c),
		csvcell.Escape(l.GL.Code), csvcell.Escape(l.GL.Name)}
}

// ClosingTable returns the trial balance that was recorded when a month was closed, with the columns of
// TrialBalance.Table. Faults: NOT_FOUND; CONFLICT for a month that is not closed.
func (s *Periods) ClosingTable(ctx context.Context, p ident.Platform, m period.Month) (Table, error) {
	month, err := s.Get(ctx, p, m, ports.LineFilter{Limit: 1})
	if err != nil {
		return Table{}, err
	}
	if month.Closing == nil {
		return Table{}, fault.New(fault.Conflict, "%s is not closed, so it has no closing trial balance. Use the trial balance by effective "+
			"time from %s to %s.",
			m, tableTime(m.Start()), tableTime(m.Next().Start()))
	}
	mapping, err := s.Store.GLMapping(ctx, p, time.Time{})
	if err != nil {
		return Table{}, err
	}
	return Table{Header: trialBalanceHeader, Pages: pagesOf(ports.LineFilter{Limit: tablePageSize},
		func(ctx context.Context, f *ports.LineFilter) ([]period.Line, bool, error) {
			page, err := s.Store.ClosingLines(ctx, p, m, *f)
			f.After = page.Last
			return page.Lines, page.More, err
		}, func(l period.Line) []string {
			if !l.Class.IsDebitNormal() {
				l.Opening, l.Closing = l.Opening.Neg(), l.Closing.Neg()
			}
			return trialBalanceRow(TrialBalanceLine{l.Account.Path, l.Account.Currency, l.Class, TrialBalanceColumns{l.Opening, l.Debits,
				l.Credits, l.Closing},
				mapping.Resolve(l.Account.Path, l.Account.Currency)})
		})}, nil
}

// Table returns the income of each period.
func (r Income) Table() Table {
	t := Table{Header: []string{"from", "to", "currency", "path", "earned"}}
	for _, p := range r.Periods {
		for _, l := range p.Lines {
			t.Rows = append(t.Rows, []string{tableTime(p.From), tableTime(p.To), string(l.Currency), l.Path, l.Amount.Major(l.Currency)})
		}
	}
	return t
}

// Table returns the position in each currency. Rates are in major units; rate and value are empty for a
// position without a value.
func (p FXPosition) Table() Table {
	t := Table{Header: []string{"currency", "position", "rate", "value", "reporting_currency", "rate_at", "rate_source", "at", "valued_at"}}
	for _, l := range p.Lines {
		var rate, value string
		if major, err := money.RateToMajor(l.Rate, l.Currency, p.ValuationCurrency); err == nil && !l.Rate.IsZero() {
			rate = major.String()
		}
		if l.Valued {
			value = l.Value.Major(p.ValuationCurrency)
		}
		t.Rows = append(t.Rows, []string{string(l.Currency), l.Position.Major(l.Currency), rate, value, string(p.ValuationCurrency),
			tableTime(l.RateAt), l.RateSource, tableTime(p.AsOf), tableTime(p.RatesKeptAt)})
	}
	return t
}

var accountsHeader = []string{"path", "currency", "class", "balance", "gl_code", "gl_name"}

func accountRow(a LedgerAccount) []string {
	return []string{a.Account.Path, string(a.Account.Currency), string(a.Class), a.Balance.Major(a.Account.Currency),
		csvcell.Escape(a.GL.Code), csvcell.Escape(a.GL.Name)}
}

// AccountsTable returns accounts with their balances.
func AccountsTable(accounts []LedgerAccount) Table {
	t := Table{Header: accountsHeader}
	for _, a := range accounts {
		t.Rows = append(t.Rows, accountRow(a))
	}
	return t
}

// AccountsTable returns the accounts that Accounts lists. Each balance is the present one when its page is
// read.
func (s *Service) AccountsTable(p ident.Platform, filter ports.LedgerAccountFilter) Table {
	filter.Limit = tablePageSize
	return Table{Header: accountsHeader, Pages: pagesOf(filter,
		func(ctx context.Context, f *ports.LedgerAccountFilter) ([]LedgerAccount, bool, error) {
			page, err := s.Accounts(ctx, p, *f)
			if n := len(page.Accounts); n > 0 {
				f.AfterPath, f.AfterCurrency = page.Accounts[n-1].Account.Path, page.Accounts[n-1].Account.Currency
			}
			return page.Accounts, page.More, err
		}, accountRow)}
}

// EntriesTable returns the entries that Entries lists.
func (s *Service) EntriesTable(filter ports.AccountEntryFilter) Table {
	filter.Limit = tablePageSize
	path, c := filter.Account.Path, filter.Account.Currency
	header := []string{"posting_number", "entry_number", "effective_at", "recorded_at", "kind", "counterpart", "debit", "credit",
		"balance", "currency",
		"posting_id", "transaction_id", "memo"}
	return Table{Header: header, Pages: pagesOf(filter,
		func(ctx context.Context, f *ports.AccountEntryFilter) ([]ports.AccountEntry, bool, error) {
			page, err := s.Entries(ctx, *f)
			if n := len(page.Entries); n > 0 {
				f.After = page.Entries[n-1].Position
			}
			return page.Entries, page.More, err
		}, func(e ports.AccountEntry) []string {
			debit, credit, counterpart := money.TotalOf(e.Amount).Major(c), "", e.Credit
			if e.Debit != path {
				debit, credit, counterpart = "", debit, e.Debit
			}
			return []string{strconv.FormatInt(e.Position.Seq, 10), strconv.Itoa(e.Position.N), tableTime(e.Effective), tableTime(e.Recorded),
				string(e.Kind), counterpart,
				debit, credit, e.Balance.Major(c), string(c), postingID(e.Posting).String(), e.Transaction.String(), csvcell.Escape(e.Memo)}
		})}
}

// UnmatchedTable returns the unmatched funds that Unmatched lists.
func (s *Service) UnmatchedTable(p ident.Platform, filter ports.UnmatchedFilter) Table {
	filter.Limit = tablePageSize
	header := []string{"receipt_id", "received_at", "amount", "currency", "rail", "reference", "partner_id", "refund_of", "posting_id",
		"assigned_at", "assigned_transaction_id", "assigned_account_id", "assignment_note", "assigned_by", "token_id"}
	return Table{Header: header, Pages: pagesOf(filter,
		func(ctx context.Context, f *ports.UnmatchedFilter) ([]transaction.Unmatched, bool, error) {
			page, err := s.Unmatched(ctx, p, *f)
			if n := len(page.Items); n > 0 {
				f.After = page.Items[n-1].Posting
			}
			return page.Items, page.More, err
		}, func(u transaction.Unmatched) []string {
			var a transaction.Assignment
			if u.Assignment != nil {
				a = *u.Assignment
			}
			r := u.Receipt
			return []string{r.ID.String(), tableTime(r.At), money.TotalOf(r.Amount.Minor).Major(r.Amount.Currency), string(r.Amount.Currency),
				u.SourceAccount,
				csvcell.Escape(r.Reference), csvcell.Escape(r.PartnerID), u.RefundOf.String(), postingID(u.Posting).String(),
				tableTime(a.At), a.Transaction.String(), a.Account.String(), csvcell.Escape(a.Note), csvcell.Escape(a.By.Actor), a.By.Token.String()}
		})}
}
