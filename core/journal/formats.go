package journal

import (
	"fmt"
	"strings"

	"causeway/core/csvcell"
	"causeway/core/fault"
	"causeway/core/money"
)

// Format is the format of a file with journals.
type Format string

// The formats. All are CSV with a header line.
const (
	// CSV has all fields of a journal, amounts with all decimals, and any currency.
	CSV Format = "csv"
	// QuickBooks is the import of journal entries of QuickBooks Online (Intuit, "Import journal entries"). It
	// finds accounts by their names, so the names of the mapping must be those of QuickBooks.
	QuickBooks Format = "quickbooks"
	// Xero is the template of manual journals (Xero, "Enter multiple manual journals using an import
	// template"). It has no column for the currency: it takes that of the organisation.
	Xero Format = "xero"
	// NetSuite is the CSV import of journal entries (Oracle, "Journal Entry Line-Level Fields"). The external id
	// is the number of the journal, so that a journal that is imported again is recognised.
	NetSuite Format = "netsuite"
)

// Formats lists all formats.
func Formats() []Format { return []Format{CSV, QuickBooks, Xero, NetSuite} }

// Options are the fields of a file that the ledger does not know.
type Options struct {
	// TaxRate is the name of the tax rate of Xero's lines that stands for none.
	TaxRate string
	// Subsidiary is the subsidiary in NetSuite; empty for an account without subsidiaries.
	Subsidiary string
}

// layout is what the import of an accounting program takes.
type layout struct {
	program  string
	header   []string
	maxLines int // in a journal; zero for any number
	// decimals is the largest number of decimals of an amount, maxDigits that of digits before the point;
	// zero for any number.
	decimals, maxDigits int
	row                 func(Journal, Line, Options) []string
}

var layouts = map[Format]layout{
	CSV: {header: []string{"number", "span", "date", "currency", "revision", "gl_code", "gl_name", "debit", "credit"},
		row: func(j Journal, l Line, _ Options) []string {
			return []string{j.Number, j.Span.String(), j.date("2006-01-02"), string(j.Currency), fmt.Sprint(j.Revision), csvcell.Escape(l.Code),
				csvcell.Escape(l.Name),
				j.amount(l.Debit), j.amount(l.Credit)}
		}},
	QuickBooks: {program: "QuickBooks", header: []string{"Journal No.", "Journal Date", "Account Name", "Debits", "Credits", "Description",
		"Currency"}, maxLines: 1000, decimals: 2, maxDigits: 11,
		row: func(j Journal, l Line, _ Options) []string {
			return []string{j.Number, j.date("01/02/2006"), csvcell.Escape(l.Name), j.amount(l.Debit), j.amount(l.Credit),
				csvcell.Escape(j.describe(l)), string(j.Currency)}
		}},
	Xero: {program: "Xero", header: []string{"Narration", "Date", "Description", "AccountCode", "TaxRate", "Amount"}, maxLines: 300,
		decimals: 2, maxDigits: 12,
		row: func(j Journal, l Line, o Options) []string {
			return []string{j.Number + " " + string(j.Currency), j.date("02/01/2006"), csvcell.Escape(j.describe(l)), csvcell.Escape(l.Code),
				csvcell.Escape(o.TaxRate), l.signed().Major(j.Currency)}
		}},
	NetSuite: {program: "NetSuite", header: []string{"External ID", "Date", "Currency", "Subsidiary", "Account", "Debit", "Credit", "Memo"},
		maxLines: 10_000, decimals: 2, maxDigits: 10,
		row: func(j Journal, l Line, o Options) []string {
			return []string{j.Number, j.date("01/02/2006"), string(j.Currency), csvcell.Escape(o.Subsidiary), csvcell.Escape(l.Code),
				j.amount(l.Debit), j.amount(l.Credit), csvcell.Escape(j.describe(l))}
		}},
}

// Header returns the header line of files of a format.
func (f Format) Header() []string { return layouts[f].header }

// Rows returns the lines of a journal in a format. Lines whose amounts have more digits than the program takes
// become several. Fault: CONFLICT, with the reason, for a journal that the program cannot take.
func (j Journal) Rows(f Format, o Options) ([][]string, error) {
	to := layouts[f]
	if to.decimals > 0 && j.Currency.Decimals() > to.decimals {
		return nil, j.notFor(to, "amounts in %s have %d decimals and %s takes %d. Book it by hand, or in the functional currency", j.Currency,
			j.Currency.Decimals(), to.program, to.decimals)
	}
	var rows [][]string
	for _, l := range j.Lines {
		for _, part := range l.split(to.largest(j.Currency)) {
			rows = append(rows, to.row(j, part, o))
		}
	}
	if to.maxLines > 0 && len(rows) > to.maxLines {
		return nil, j.notFor(to, "it has %d lines and %s takes %d. Map the accounts to fewer codes, or make journals of days", len(rows),
			to.program, to.maxLines)
	}
	return rows, nil
}

func (j Journal) notFor(to layout, format string, args ...any) error {
	f := fault.New(fault.Conflict, "%s cannot import the journal %s: %s.", to.program, j.Number, fmt.Sprintf(format, args...))
	f.Reason = "Not importable"
	return f
}

// largest returns the largest amount of a line in minor units; zero for any.
func (to layout) largest(c money.Currency) int64 {
	if to.maxDigits == 0 {
		return 0
	}
	largest := int64(1)
	for range to.maxDigits + c.Decimals() {
		largest *= 10
	}
	return largest - 1
}

// split returns lines of at most largest that add up to the line; the line itself if largest is zero.
func (l Line) split(largest int64) []Line {
	if largest == 0 {
		return []Line{l}
	}
	limit := money.TotalOf(largest)
	rest := l
	var parts []Line
	for rest.Debit.Sub(limit).Sign() > 0 || rest.Credit.Sub(limit).Sign() > 0 {
		part := Line{GLAccount: l.GLAccount}
		if rest.Debit.Sign() > 0 {
			part.Debit, rest.Debit = limit, rest.Debit.Sub(limit)
		} else {
			part.Credit, rest.Credit = limit, rest.Credit.Sub(limit)
		}
		parts = append(parts, part)
	}
	return append(parts, rest)
}

// signed returns the amount with the sign of Xero: debits are positive.
func (l Line) signed() money.Total { return l.Debit.Sub(l.Credit) }

func (j Journal) date(format string) string { return j.Span.LastDay().Format(format) }

// amount returns an amount in major units; empty for zero.
func (j Journal) amount(t money.Total) string {
	if t.Sign() == 0 {
		return ""
	}
	return t.Major(j.Currency)
}

func (j Journal) describe(l Line) string {
	return strings.TrimSpace(fmt.Sprintf("%s %s, %s", l.Code, l.Name, j.Span))
}
