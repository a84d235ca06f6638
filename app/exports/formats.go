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

// Format is the file format of an export.
type Format string

// The formats.
const (
	CSV       Format = "csv"
	HLedger   Format = "hledger"
	Ledger    Format = "ledger"
	Beancount Format = "beancount"
	Camt053   Format = "camt053"
)

// Formats lists the formats.
func Formats() []string {
	return []string{string(CSV), string(HLedger), string(Ledger), string(Beancount), string(Camt053)}
}

// formatWriter writes exports in a format.
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

// exportJob is the data of one export.
type exportJob struct {
	view     ports.LedgerView
	filter   ports.LedgerFilter
	platform ident.Platform
	progress func(done, total int64)
}

func (j exportJob) header() records.Header {
	return records.Header{Platform: j.platform, LastPosting: j.view.LastPosting(), Filter: j.filter}
}

// entries streams the entries of the export and reports progress.
func (j exportJob) entries(ctx context.Context, each func(ports.RecordedEntry) error) error {
	total, reported := j.view.LastPosting().Seq, int64(0)
	err := j.view.Entries(ctx, j.filter, func(e ports.RecordedEntry) error {
		if e.Position.Seq >= reported+1000 {
			reported = e.Position.Seq
			j.progress(reported, total)
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
		// All accounts are declared, also those that are only the other side of an entry.
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
		j.progress(0, -1) // the number of accounts is unknown
		filter := ports.LedgerFilter{Interval: j.filter.Interval, Path: t.Account.Path, Currency: t.Account.Currency}
		if err := j.view.Entries(ctx, filter, message.Entry); err != nil {
			return err
		}
		return message.EndStatement()
	})
	if err != nil {
		return err
	}
	if message == nil {
		return fault.Invalid(fault.Field{Field: "format",
			Message: "camt053 only has accounts in ISO 4217 currencies, and the ledger had none at that time; use another format"})
	}
	return message.End()
}
