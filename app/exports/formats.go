package exports

import (
	"context"
	"io"

	"causeway/app/exports/camt053"
	"causeway/app/exports/csv"
	"causeway/app/exports/plaintext"
	"causeway/app/exports/records"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/ports"
)

// Format is the language that an export is written in.
type Format string

// The formats.
const (
	CSV       Format = "csv"
	HLedger   Format = "hledger"
	Ledger    Format = "ledger"
	Beancount Format = "beancount"
	Camt053   Format = "camt053"
)

// Formats lists them.
func Formats() []string {
	return []string{string(CSV), string(HLedger), string(Ledger), string(Beancount), string(Camt053)}
}

// formatWriter is how a format is written.
type formatWriter struct {
	extension, contentType string
	write                  func(context.Context, io.Writer, exportJob) error
}

var formatWriters = map[Format]formatWriter{
	CSV:       {"csv", "text/csv; charset=utf-8; header=present", writeCSV},
	HLedger:   {"journal", "text/plain; charset=utf-8", writeJournal(plaintext.HLedger)},
	Ledger:    {"ledger", "text/plain; charset=utf-8", writeJournal(plaintext.Ledger)},
	Beancount: {"beancount", "text/plain; charset=utf-8", writeJournal(plaintext.Beancount)},
	Camt053:   {"xml", "application/xml", writeCamt053},
}

// exportJob is one document and what it is written from.
type exportJob struct {
	view     ports.LedgerView
	filter   ports.LedgerFilter
	platform ident.Platform
	progress func(done, total int64)
}

func (j exportJob) header() records.Header {
	return records.Header{Platform: j.platform, LastPosting: j.view.LastPosting(), Filter: j.filter}
}

// entries streams the entries of the document, telling how far it is.
func (j exportJob) entries(ctx context.Context, each func(ports.RecordedEntry) error) error {
	total, told := j.view.LastPosting().Seq, int64(0)
	err := j.view.Entries(ctx, j.filter, func(e ports.RecordedEntry) error {
		if e.Position.Seq >= told+1000 {
			told = e.Position.Seq
			j.progress(told, total)
		}
		return each(e)
	})
	if err == nil {
		j.progress(total, total)
	}
	return err
}

func writeCSV(ctx context.Context, out io.Writer, j exportJob) error {
	lines, err := csv.New(out, j.header())
	if err != nil {
		return err
	}
	if err := j.entries(ctx, lines.Entry); err != nil {
		return err
	}
	return lines.Flush()
}

func writeJournal(dialect plaintext.Dialect) func(context.Context, io.Writer, exportJob) error {
	return func(ctx context.Context, out io.Writer, j exportJob) error {
		journal, err := plaintext.New(out, dialect, j.header())
		if err != nil {
			return err
		}
		// All accounts are declared, also those that only stand across from the one wanted.
		declared := ports.LedgerFilter{Interval: j.filter.Interval, Currency: j.filter.Currency}
		if err := j.view.Accounts(ctx, declared, journal.DeclareAccount); err != nil {
			return err
		}
		if err := journal.EndDeclarations(); err != nil {
			return err
		}
		if from := j.filter.From; !from.IsZero() {
			if err := journal.DeclareOpeningAccount(from); err != nil {
				return err
			}
			err := j.view.Accounts(ctx, j.filter, func(t ports.AccountTurnover) error { return journal.OpeningBalance(from, t) })
			if err != nil {
				return err
			}
		}
		if err := j.entries(ctx, journal.Entry); err != nil {
			return err
		}
		return j.view.Accounts(ctx, j.filter, func(t ports.AccountTurnover) error { return journal.BalanceAssertion(j.filter.From, t) })
	}
}

func writeCamt053(ctx context.Context, out io.Writer, j exportJob) error {
	var message *camt053.Message
	err := j.view.Accounts(ctx, j.filter, func(t ports.AccountTurnover) (err error) {
		if !camt053.Supports(t.Account.Currency) {
			return nil
		}
		if message == nil {
			if message, err = camt053.New(out, j.header()); err != nil {
				return err
			}
		}
		if err := message.BeginStatement(t); err != nil {
			return err
		}
		j.progress(0, -1) // how many accounts there are is not counted before
		of := ports.LedgerFilter{Interval: j.filter.Interval, Path: t.Account.Path, Currency: t.Account.Currency}
		if err := j.view.Entries(ctx, of, message.Entry); err != nil {
			return err
		}
		return message.EndStatement()
	})
	if err != nil {
		return err
	}
	if message == nil {
		return fault.Invalid(fault.Field{Field: "format",
			Message: "camt053 holds accounts in currencies of ISO 4217, and the books had none at that moment; take another format"})
	}
	return message.End()
}
