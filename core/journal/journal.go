package journal

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"causeway/core/books"
	"causeway/core/fault"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/ledger"
)

// Journal is an entry for the general ledger: the debits and credits of one span in one currency. It never
// changes: what is posted into the span later is in a journal of its own, the next revision.
type Journal struct {
	Number   string
	Span     Span
	Currency money.Currency
	// Revision is 1 for the first journal of the span in the currency. A later one has only what was posted
	// after the former ones.
	Revision int
	Lines    []Line
	// MappingVersion is the version of the mapping that the codes are of, the same for all revisions.
	MappingVersion int
	MadeAt         time.Time
	By             platform.Author
}

// Line is the sum of the debits or of the credits of one account of the general ledger. One of Debit and
// Credit is above zero, the other is zero.
type Line struct {
	books.GLAccount
	Debit, Credit money.Total
}

// ErrOutdated is the error for turnovers that are less than their journals: they were read before the newest
// journal was made.
var ErrOutdated = errors.New("journals have more than was posted")

// Turnover is what was posted to one account of the ledger in the span, by effective time.
type Turnover struct {
	Path            string
	Currency        money.Currency
	Debits, Credits money.Total
}

// Next returns the journals that bring the general ledger up to date with turnovers: one for each currency in
// which they exceed the journals that were made before. made are all journals of the span. Turnovers of one
// account may be repeated, also with amounts below zero: all are added up. Error: ErrOutdated.
func Next(span Span, turnovers []Turnover, made []Journal, mapping books.MappingVersion) ([]Journal, error) {
	sums := map[money.Currency]map[books.GLAccount]columns{}
	add := func(currency money.Currency, account books.GLAccount, debits, credits money.Total) {
		if sums[currency] == nil {
			sums[currency] = map[books.GLAccount]columns{}
		}
		sums[currency][account] = sums[currency][account].add(debits, credits)
	}
	for _, t := range turnovers {
		add(t.Currency, mapping.Resolve(t.Path, t.Currency), t.Debits, t.Credits)
	}
	revisions := map[money.Currency]int{}
	for _, j := range made {
		revisions[j.Currency] = max(revisions[j.Currency], j.Revision)
		for _, l := range j.Lines {
			add(j.Currency, l.GLAccount, l.Debit.Neg(), l.Credit.Neg())
		}
	}
	var next []Journal
	for currency, accounts := range sums {
		lines, err := newLines(accounts)
		if err != nil {
			return nil, fmt.Errorf("%s in %s: %w", span, currency, err)
		}
		if len(lines) > 0 {
			next = append(next, newJournal(span, currency, revisions[currency]+1, lines, mapping.Version))
		}
	}
	slices.SortFunc(next, func(a, b Journal) int { return strings.Compare(a.Number, b.Number) })
	return next, nil
}

func newJournal(span Span, currency money.Currency, revision int, lines []Line, mappingVersion int) Journal {
	number := span.prefix() + string(currency)
	if revision > 1 {
		number += fmt.Sprintf("-R%d", revision)
	}
	return Journal{Number: number, Span: span, Currency: currency, Revision: revision, Lines: lines, MappingVersion: mappingVersion}
}

type columns struct{ debits, credits money.Total }

func (c columns) add(debits, credits money.Total) columns {
	return columns{c.debits.Add(debits), c.credits.Add(credits)}
}

// newLines returns the lines of accounts by code, debits first.
func newLines(accounts map[books.GLAccount]columns) ([]Line, error) {
	var lines []Line
	for account, sum := range accounts {
		if sum.debits.Sign() < 0 || sum.credits.Sign() < 0 {
			return nil, fmt.Errorf("%w: account %s", ErrOutdated, account.Code)
		}
		if sum.debits.Sign() > 0 {
			lines = append(lines, Line{GLAccount: account, Debit: sum.debits})
		}
		if sum.credits.Sign() > 0 {
			lines = append(lines, Line{GLAccount: account, Credit: sum.credits})
		}
	}
	slices.SortFunc(lines, func(a, b Line) int {
		return cmp.Or(strings.Compare(a.Code, b.Code), strings.Compare(a.Name, b.Name), b.Debit.Sign()-a.Debit.Sign())
	})
	return lines, nil
}

// Control are the control totals of a journal, by which an import is checked. Debits equal credits.
type Control struct {
	Lines           int
	Debits, Credits money.Total
	// SHA256 is the hash of the lines as rows "code,name,debit,credit" in minor units, in hexadecimal.
	SHA256 string
}

// Control returns the control totals.
func (j Journal) Control() Control {
	c := Control{Lines: len(j.Lines)}
	hash := sha256.New()
	for _, l := range j.Lines {
		c.Debits, c.Credits = c.Debits.Add(l.Debit), c.Credits.Add(l.Credit)
		fmt.Fprintf(hash, "%q,%q,%s,%s\n", l.Code, l.Name, l.Debit, l.Credit)
	}
	c.SHA256 = hex.EncodeToString(hash.Sum(nil))
	return c
}

// ControlHeader is the header of ControlRow.
func ControlHeader() []string {
	return []string{"number", "span", "date", "currency", "revision", "mapping_version", "lines", "debits", "credits", "sha256"}
}

// ControlRow returns the control totals as a line of a file, amounts in major units.
func (j Journal) ControlRow() []string {
	c := j.Control()
	return []string{j.Number, j.Span.String(), j.date(time.DateOnly), string(j.Currency), strconv.Itoa(j.Revision),
		strconv.Itoa(j.MappingVersion),
		strconv.Itoa(c.Lines), c.Debits.Major(j.Currency), c.Credits.Major(j.Currency), c.SHA256}
}

// Without returns turnovers that take a posting out of others.
func Without(p ledger.Posting) []Turnover {
	turnovers := make([]Turnover, 0, 2*len(p.Entries))
	for _, e := range p.Entries {
		amount := money.TotalOf(e.Amount).Neg()
		turnovers = append(turnovers, Turnover{Path: e.Debit, Currency: e.Currency, Debits: amount},
			Turnover{Path: e.Credit, Currency: e.Currency, Credits: amount})
	}
	return turnovers
}

// CheckSpans returns CONFLICT if journals exist for another span that shares days with it: a general ledger
// takes the journals of a month or of its days, not both.
func CheckSpans(span Span, made []Span) error {
	for _, other := range made {
		if other != span && other.Overlaps(span) {
			f := fault.New(fault.Conflict, "Journals of %s exist, which has the same days. Import a month or its days, not both: the general "+
				"ledger would have them twice.", other)
			f.Reason = "Overlapping journals"
			return f
		}
	}
	return nil
}
