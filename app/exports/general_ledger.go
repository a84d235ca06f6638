package exports

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"time"

	"causeway/app/exports/records"
	"causeway/core/books"
	"causeway/core/csvcell"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/period"
	"causeway/ledger"
	"causeway/ports"
)

// generalLedgerColumns is the header of a general ledger. Balances are debits minus credits.
var generalLedgerColumns = []string{
	"account", "class", "currency", "gl_code", "gl_name", "line", "posting_number", "entry_number", "effective_at", "recorded_at",
	"kind", "counterpart",
	"debit", "credit", "balance", "posting_id", "transaction_id", "memo",
}

// The lines of an account in a general ledger.
const (
	openingLine = "opening"
	entryLine   = "entry"
	closingLine = "closing"
)

// WriteGeneralLedger writes the general ledger of an interval as CSV: for each account its opening balance, its
// entries by effective time with the balance after each, and its closing balance. Accounts without a balance and
// entries are left out. Fault: MONTH_ARCHIVED.
func (e *Service) WriteGeneralLedger(ctx context.Context, out io.Writer, p ident.Platform, interval period.Interval) error {
	mapping, err := e.Store.GLMapping(ctx, p, time.Time{})
	if err != nil {
		return err
	}
	w := csv.NewWriter(out)
	w.UseCRLF = true
	if err := w.Write(generalLedgerColumns); err != nil {
		return err
	}
	err = e.Views.View(ctx, p, time.Time{}, func(ctx context.Context, view ports.LedgerView) error {
		g := generalLedger{csv: w, mapping: mapping.Mapping, view: view, interval: interval}
		err := view.Accounts(ctx, ports.LedgerFilter{Interval: interval}, func(t ports.AccountTurnover) error { return g.add(ctx, t) })
		if err != nil {
			return err
		}
		return g.writePending(ctx)
	})
	if err != nil {
		return err
	}
	w.Flush()
	return w.Error()
}

// Entries of at most this many accounts, with about this many entries, are read at once: a query for each account would take
// longer than to write its lines.
const (
	generalLedgerAccounts = 200
	generalLedgerEntries  = 50_000
)

// generalLedger writes the lines of accounts.
type generalLedger struct {
	csv      *csv.Writer
	mapping  books.Mapping
	view     ports.LedgerView
	interval period.Interval
	// pending are accounts that are not written yet, with this many entries.
	pending []ports.AccountTurnover
	entries int64
}

// add adds an account, unless it has neither a balance nor entries.
func (g *generalLedger) add(ctx context.Context, t ports.AccountTurnover) error {
	entries := t.Debits.Count + t.Credits.Count
	if t.Opening == 0 && entries == 0 {
		return nil
	}
	g.pending, g.entries = append(g.pending, t), g.entries+entries
	if len(g.pending) < generalLedgerAccounts && g.entries < generalLedgerEntries {
		return nil
	}
	return g.writePending(ctx)
}

func (g *generalLedger) writePending(ctx context.Context) error {
	if len(g.pending) == 0 {
		return nil
	}
	accounts := make([]ledger.Account, len(g.pending))
	for i, t := range g.pending {
		accounts[i] = t.Account
	}
	place := -1 // of the account that is being written
	var current *generalLedgerAccount
	next := func() error {
		if place++; place > 0 {
			if err := current.end(); err != nil {
				return err
			}
		}
		if place == len(accounts) {
			return nil
		}
		t := g.pending[place]
		current = &generalLedgerAccount{g.csv, t, g.mapping.Resolve(t.Account.Path, t.Account.Currency), money.TotalOf(t.Opening)}
		return current.writeBalance(openingLine, t.Opening)
	}
	err := g.view.EntriesByEffectiveTime(ctx, accounts, g.interval, func(a ledger.Account, e ports.RecordedEntry) error {
		for place < 0 || accounts[place] != a {
			if err := next(); err != nil {
				return err
			}
		}
		return current.writeEntry(e)
	})
	for err == nil && place < len(accounts) {
		err = next()
	}
	g.pending, g.entries = g.pending[:0], 0
	return err
}

// generalLedgerAccount writes the lines of one account.
type generalLedgerAccount struct {
	csv *csv.Writer
	ports.AccountTurnover
	gl      books.GLAccount
	balance money.Total // after the lines that were written
}

func (a *generalLedgerAccount) writeEntry(e ports.RecordedEntry) error {
	amount := money.TotalOf(e.Amount)
	debit, credit, counterpart := amount.Major(e.Currency), "", e.Credit
	if e.Debit == a.Account.Path {
		a.balance = a.balance.Add(amount)
	} else {
		a.balance, debit, credit, counterpart = a.balance.Sub(amount), "", debit, e.Debit
	}
	return a.line(entryLine, strconv.FormatInt(e.Position.Seq, 10), strconv.Itoa(e.Position.N), records.FormatTime(e.Effective),
		records.FormatTime(e.Recorded),
		string(e.Kind), counterpart, debit, credit, a.balance.Major(e.Currency), e.Posting.String(), e.Transaction.String(),
		csvcell.Escape(records.SingleLine(e.Memo)))
}

// end writes the closing balance.
func (a *generalLedgerAccount) end() error {
	if !a.balance.Equal(money.TotalOf(a.Closing)) {
		return fmt.Errorf("general ledger of %s: its entries lead to %s, not to its closing balance, %d", a.Account, a.balance, a.Closing)
	}
	return a.writeBalance(closingLine, a.Closing)
}

func (a *generalLedgerAccount) writeBalance(line string, minor int64) error {
	return a.line(line, "", "", "", "", "", "", "", "", records.FormatMajor(minor, a.Account.Currency), "", "", "")
}

func (a *generalLedgerAccount) line(line string, cells ...string) error {
	return a.csv.Write(append([]string{a.Account.Path, string(a.Class), string(a.Account.Currency), csvcell.Escape(a.gl.Code),
		csvcell.Escape(a.gl.Name), line}, cells...))
}
