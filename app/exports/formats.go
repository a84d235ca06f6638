package exports

import (
	"context"
	"io"
	"time"

	"causeway/app/exports/camt053"
	"causeway/app/exports/csv"
	"causeway/app/exports/plaintext"
	"causeway/app/exports/records"
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
	asOf     time.Time // zero for now
	filter   ports.LedgerFilter
	platform ident.Platform
	progress progress
	store    Store
	// holders has the names of customers if the request asked for them.
	holders  *holders
	servicer camt053.Party
}

func (j exportJob) header() records.Header {
	return records.Header{Platform: j.platform, LastPosting: j.view.LastPosting(), Filter: j.filter, Names: j.holders.names}
}

// accounts streams accounts.
func (j exportJob) accounts(ctx context.Context, filter ports.LedgerFilter, each func(ports.AccountTurnover) error) error {
	stream := func(each func(ports.AccountTurnover) error) error { return j.view.Accounts(ctx, filter, each) }
	if !j.holders.names {
		return stream(each)
	}
	return withHolders(ctx, j.holders, stream, pathOf, each)
}

// entries streams the entries of the export and reports progress.
func (j exportJob) entries(ctx context.Context, each func(ports.RecordedEntry) error) error {
	total, reported := j.view.LastPosting().Seq, int64(0)
	stream := func(each func(ports.RecordedEntry) error) error { return j.view.Entries(ctx, j.filter, each) }
	report := func(e ports.RecordedEntry) error {
		if e.Position.Seq >= reported+1000 {
			reported = e.Position.Seq
			j.progress(reported, total)
		}
		return each(e)
	}
	var err error
	if j.holders.names {
		err = withHolders(ctx, j.holders, stream, pathsOf, report)
	} else {
		err = stream(report)
	}
	if err == nil {
		j.progress(total, total)
	}
	return err
}

func writeCSV(ctx context.Context, out io.Writer, j exportJob) error {
	mapping, err := j.store.GLMapping(ctx, j.platform, j.asOf)
	if err != nil {
		return err
	}
	lines, err := csv.New(out, j.header(), mapping, j.holders.of)
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
		journal, err := plaintext.New(out, dialect, j.header(), j.holders.of)
		if err != nil {
			return err
		}
		// All accounts are declared, also those that are only the other side of an entry.
		declared := ports.LedgerFilter{Interval: j.filter.Interval, Currency: j.filter.Currency}
		if err := j.accounts(ctx, declared, journal.DeclareAccount); err != nil {
			return err
		}
		if err := journal.EndDeclarations(); err != nil {
			return err
		}
		if from := j.filter.From; !from.IsZero() {
			if err := journal.DeclareOpeningAccount(from); err != nil {
				return err
			}
			err := j.accounts(ctx, j.filter, func(t ports.AccountTurnover) error { return journal.OpeningBalance(from, t) })
			if err != nil {
				return err
			}
		}
		if err := j.entries(ctx, journal.Entry); err != nil {
			return err
		}
		return j.accounts(ctx, j.filter, func(t ports.AccountTurnover) error { return journal.BalanceAssertion(j.filter.From, t) })
	}
}
