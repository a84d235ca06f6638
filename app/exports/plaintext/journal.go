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
	buf     []byte
	// declaredCurrencies are the currencies that were seen; account the one to be declared, which
	// comes once for each of its currencies.
	declaredCurrencies map[money.Currency]bool
	declaring          declaration
	// posting is the one whose entries are being written.
	posting int64
}

// New begins a journal.
func New(out io.Writer, dialect Dialect, head records.Header) (*Journal, error) {
	j := &Journal{out: out, dialect: dialect, declaredCurrencies: map[money.Currency]bool{}}
	j.line("; Books of %s", head.Platform)
	if head.LastPosting.Seq == 0 {
		j.line("; Nothing has been posted")
	} else {
		j.line("; As of %s, posting %d", records.FormatTime(head.LastPosting.Recorded), head.LastPosting.Seq)
	}
	if s := head.Filter; !s.From.IsZero() || !s.To.IsZero() {
		j.line("; Effective from %s, before %s", formatBound(s.From), formatBound(s.To))
	}
	if s := head.Filter; s.Path != "" || s.Currency != "" {
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

func formatBound(t time.Time) string {
	if t.IsZero() {
		return "(open)"
	}
	return records.FormatTime(t)
}

// Entry writes one entry as two lines of its posting's transaction. Entries of one
// posting follow each other.
func (j *Journal) Entry(e ports.RecordedEntry) error {
	debit, err := AccountName(e.Debit)
	if err != nil {
		return err
	}
	credit, err := AccountName(e.Credit)
	if err != nil {
		return err
	}
	if j.posting != e.Position.Seq {
		j.posting = e.Position.Seq
		j.postingHeading(e)
	}
	j.amountLine(debit, e.Amount, e.Currency)
	j.amountLine(credit, -e.Amount, e.Currency)
	return j.write()
}

// postingHeading begins the transaction of a posting. What comes from outside, the memo,
// stands where the program takes a text and nothing else.
func (j *Journal) postingHeading(e ports.RecordedEntry) {
	memo, date := sanitize(e.Memo), records.FormatDate(e.Effective)
	if j.dialect == Beancount {
		heading := fmt.Sprintf("\n%s * %q \"%s\"", date, string(e.Kind), memo)
		if !e.Transaction.IsZero() {
			heading += " ^" + strings.ReplaceAll(e.Transaction.String(), ":", "-")
		}
		j.line("%s", heading)
		j.line("  number: %d", e.Position.Seq)
		j.line("  posting: %q", e.Posting)
		j.line("  effective: %q", records.FormatTime(e.Effective))
		j.line("  recorded: %q", records.FormatTime(e.Recorded))
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
	j.line("    ; effective: %s", records.FormatTime(e.Effective))
	j.line("    ; recorded: %s", records.FormatTime(e.Recorded))
	if e.Reverses != uuid.Nil {
		j.line("    ; reverses: %s", e.Reverses)
	}
}

func (j *Journal) amountLine(account string, minor int64, currency money.Currency) {
	j.line("    %s  %s %s", account, records.FormatMajor(minor, currency), currency)
}

// sanitize is foreign text that no program reads anything into: signs that begin a
// comment, a date, a tag or the end of the text become harmless ones alike.
func sanitize(memo string) string {
	return sanitizer.Replace(records.SingleLine(memo))
}

var sanitizer = strings.NewReplacer(";", ",", "[", "(", "]", ")", "{", "(", "}", ")", `"`, "'", `\`, "/", "|", "/")

func (j *Journal) line(format string, args ...any) {
	j.buf = append(fmt.Appendf(j.buf, format, args...), '\n')
}

func (j *Journal) write() error {
	_, err := j.out.Write(j.buf)
	j.buf = j.buf[:0]
	return err
}
