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
		return view.Accounts(ctx, ports.LedgerFilter{Interval: interval}, func(t ports.AccountTurnover) error {
			if t.Opening == 0 && t.Debits.Count+t.Credits.Count == 0 {
				return nil
			}
			return generalLedgerAccount{w, t, mapping.Resolve(t.Account.Path, t.Account.Currency)}.write(ctx, view, interval)
		})
	})
	if err != nil {
		return err
	}
	w.Flush()
	return w.Error()
}

// generalLedgerAccount writes the lines of one account.
type generalLedgerAccount struct {
	csv *csv.Writer
	ports.AccountTurnover
	gl books.GLAccount
}

func (a generalLedgerAccount) write(ctx context.Context, view ports.LedgerView, interval period.Interval) error {
	if err := a.balance(openingLine, a.Opening); err != nil {
		return err
	}
	balance := money.TotalOf(a.Opening)
	err := view.EntriesByEffectiveTime(ctx, a.Account, interval, func(e ports.RecordedEntry) error {
		amount := money.TotalOf(e.Amount)
		debit, credit, counterpart := amount.Major(e.Currency), "", e.Credit
		if e.Debit == a.Account.Path {
			balance = balance.Add(amount)
		} else {
			balance, debit, credit, counterpart = balance.Sub(amount), "", debit, e.Debit
		}
		return a.line(entryLine, strconv.FormatInt(e.Position.Seq, 10), strconv.Itoa(e.Position.N), records.FormatTime(e.Effective),
			records.FormatTime(e.Recorded),
			string(e.Kind), counterpart, debit, credit, balance.Major(e.Currency), e.Posting.String(), e.Transaction.String(),
			csvcell.Escape(records.SingleLine(e.Memo)))
	})
	if err != nil {
		return err
	}
	if !balance.Equal(money.TotalOf(a.Closing)) {
		return fmt.Errorf("general ledger of %s: its entries lead to %s, not to its closing balance, %d", a.Account, balance, a.Closing)
	}
	return a.balance(closingLine, a.Closing)
}

func (a generalLedgerAccount) balance(line string, minor int64) error {
	return a.line(line, "", "", "", "", "", "", "", "", records.FormatMajor(minor, a.Account.Currency), "", "", "")
}

func (a generalLedgerAccount) line(line string, cells ...string) error {
	return a.csv.Write(append([]string{a.Account.Path, string(a.Class), string(a.Account.Currency), csvcell.Escape(a.gl.Code),
		csvcell.Escape(a.gl.Name), line}, cells...))
}
