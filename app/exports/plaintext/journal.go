// Package plaintext writes the books as journals that hledger, ledger and beancount
// read: every account and currency declared, every posting a transaction, and at the
// end the balance of every account as an assertion that the program checks.
//
// It reads nothing and adds nothing up: balances come from whoever reads the books.
// As in those programs, debits are above zero and credits below, so liabilities,
// income and positions have the opposite sign of that in the books.
package plaintext

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/google/uuid"

	"causeway/app/exports/records"
	"causeway/core/money"
	"causeway/ports"
)

// Dialect is the program that a journal is for.
type Dialect string

// The dialects.
const (
	HLedger   Dialect = "hledger"
	Ledger    Dialect = "ledger"
	Beancount Dialect = "beancount"
)

// Journal writes one journal: declarations, openings, entries, closings, in this order.
type Journal struct {
	out     io.Writer
	dialect Dialect
	text    []byte
	// declared are the currencies that were seen; account the one to be declared, which
	// comes once for each of its currencies.
	declared map[money.Currency]bool
	account  declaration
	// posting is the one whose entries are being written.
	posting int64
}

// New begins a journal.
func New(out io.Writer, dialect Dialect, head records.Head) (*Journal, error) {
	j := &Journal{out: out, dialect: dialect, declared: map[money.Currency]bool{}}
	j.line("; Books of %s", head.Platform)
	if head.Upto.Seq == 0 {
		j.line("; Nothing has been posted")
	} else {
		j.line("; As of %s, posting %d", records.Moment(head.Upto.Recorded), head.Upto.Seq)
	}
	if s := head.Span; !s.From.IsZero() || !s.To.IsZero() {
		j.line("; Effective from %s, before %s", orOpen(s.From), orOpen(s.To))
	}
	if s := head.Span; s.Path != "" || s.Currency != "" {
		j.line("; Only %s", strings.TrimSpace(s.Path+" "+string(s.Currency)))
	}
	switch dialect {
	case Beancount:
		j.line("option \"title\" \"Books of %s\"", head.Platform)
	case Ledger:
		for _, tag := range []string{"posting", "transaction", "effective", "recorded", "reverses"} {
			j.line("tag %s", tag)
		}
	case HLedger: // it takes any
	}
	j.line("")
	return j, j.write()
}

func orOpen(t time.Time) string {
	if t.IsZero() {
		return "(open)"
	}
	return records.Moment(t)
}

// Entry writes one entry as two lines of its posting's transaction. Entries of one
// posting follow each other.
func (j *Journal) Entry(e ports.RecordedEntry) error {
	debit, err := Name(e.Debit)
	if err != nil {
		return err
	}
	credit, err := Name(e.Credit)
	if err != nil {
		return err
	}
	if j.posting != e.Position.Seq {
		j.posting = e.Position.Seq
		j.heading(e)
	}
	j.move(debit, e.Amount, e.Currency)
	j.move(credit, -e.Amount, e.Currency)
	return j.write()
}

// heading begins the transaction of a posting. What comes from outside, the memo,
// stands where the program takes a text and nothing else.
func (j *Journal) heading(e ports.RecordedEntry) {
	memo, date := text(e.Memo), records.Date(e.Effective)
	if j.dialect == Beancount {
		heading := fmt.Sprintf("\n%s * %q \"%s\"", date, string(e.Kind), memo)
		if !e.Transaction.IsZero() {
			heading += " ^" + strings.ReplaceAll(e.Transaction.String(), ":", "-")
		}
		j.line("%s", heading)
		j.line("  number: %d", e.Position.Seq)
		j.line("  posting: %q", e.Posting)
		j.line("  effective: %q", records.Moment(e.Effective))
		j.line("  recorded: %q", records.Moment(e.Recorded))
		if e.Reverses != uuid.Nil {
			j.line("  reverses: %q", e.Reverses)
		}
		return
	}
	heading := fmt.Sprintf("\n%s * (%d) %s", date, e.Position.Seq, e.Kind)
	if memo != "" {
		heading += " | " + memo
	}
	j.line("%s", heading)
	j.line("    ; posting: %s", e.Posting)
	if !e.Transaction.IsZero() {
		j.line("    ; transaction: %s", e.Transaction)
	}
	j.line("    ; effective: %s", records.Moment(e.Effective))
	j.line("    ; recorded: %s", records.Moment(e.Recorded))
	if e.Reverses != uuid.Nil {
		j.line("    ; reverses: %s", e.Reverses)
	}
}

func (j *Journal) move(account string, minor int64, currency money.Currency) {
	j.line("    %s  %s %s", account, records.Major(minor, currency), currency)
}

// text is foreign text that no program reads anything into: signs that begin a
// comment, a date, a tag or the end of the text become harmless ones alike.
func text(memo string) string {
	return harmless.Replace(records.Line(memo))
}

var harmless = strings.NewReplacer(";", ",", "[", "(", "]", ")", "{", "(", "}", ")", `"`, "'", `\`, "/", "|", "/")

func (j *Journal) line(format string, args ...any) {
	j.text = append(fmt.Appendf(j.text, format, args...), '\n')
}

func (j *Journal) write() error {
	_, err := j.out.Write(j.text)
	j.text = j.text[:0]
	return err
}
