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

// form is how a format is written.
type form struct {
	extension, contentType string
	write                  func(context.Context, io.Writer, job) error
}

var forms = map[Format]form{
	CSV:       {"csv", "text/csv; charset=utf-8; header=present", writeSheet},
	HLedger:   {"journal", "text/plain; charset=utf-8", writeJournal(plaintext.HLedger)},
	Ledger:    {"ledger", "text/plain; charset=utf-8", writeJournal(plaintext.Ledger)},
	Beancount: {"beancount", "text/plain; charset=utf-8", writeJournal(plaintext.Beancount)},
	Camt053:   {"xml", "application/xml", writeCamt053},
}

// job is one document and what it is written from.
type job struct {
	view     ports.LedgerView
	of       ports.LedgerFilter
	platform ident.Platform
	progress func(done, total int64)
}

func (j job) head() records.Head {
	return records.Head{Platform: j.platform, Upto: j.view.LastPosting(), Span: j.of}
}

// entries streams the entries of the document, telling how far it is.
func (j job) entries(ctx context.Context, each func(ports.RecordedEntry) error) error {
	total, told := j.view.LastPosting().Seq, int64(0)
	err := j.view.Entries(ctx, j.of, func(e ports.RecordedEntry) error {
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

func writeSheet(ctx context.Context, out io.Writer, j job) error {
	lines, err := csv.New(out, j.head())
	if err != nil {
		return err
	}
	if err := j.entries(ctx, lines.Entry); err != nil {
		return err
	}
	return lines.End()
}

func writeJournal(dialect plaintext.Dialect) func(context.Context, io.Writer, job) error {
	return func(ctx context.Context, out io.Writer, j job) error {
		journal, err := plaintext.New(out, dialect, j.head())
		if err != nil {
			return err
		}
		// All accounts are declared, also those that only stand across from the one wanted.
		declared := ports.LedgerFilter{Period: j.of.Period, Currency: j.of.Currency}
		if err := j.view.Accounts(ctx, declared, journal.Declare); err != nil {
			return err
		}
		if err := journal.Declared(); err != nil {
			return err
		}
		if from := j.of.From; !from.IsZero() {
			if err := journal.Brought(from); err != nil {
				return err
			}
			err := j.view.Accounts(ctx, j.of, func(t ports.AccountTurnover) error { return journal.Open(from, t) })
			if err != nil {
				return err
			}
		}
		if err := j.entries(ctx, journal.Entry); err != nil {
			return err
		}
		return j.view.Accounts(ctx, j.of, func(t ports.AccountTurnover) error { return journal.Close(j.of.From, t) })
	}
}

func writeCamt053(ctx context.Context, out io.Writer, j job) error {
	var message *camt053.Message
	err := j.view.Accounts(ctx, j.of, func(t ports.AccountTurnover) (err error) {
		if !camt053.Holds(t.Account.Currency) {
			return nil
		}
		if message == nil {
			if message, err = camt053.New(out, j.head()); err != nil {
				return err
			}
		}
		if err := message.Statement(t); err != nil {
			return err
		}
		j.progress(0, -1) // how many accounts there are is not counted before
		of := ports.LedgerFilter{Period: j.of.Period, Path: t.Account.Path, Currency: t.Account.Currency}
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
