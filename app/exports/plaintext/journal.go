// Package plaintext writes the ledger as journals for hledger, ledger and beancount: declarations
// of accounts and currencies, a transaction for each posting, and balance assertions for all
// accounts, which the program checks.
//
// As in those programs, debits are positive and credits negative, so liabilities, income and
// positions have the opposite sign of that in the ledger.
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

// Journal writes one journal: declarations, opening balances, entries and balance assertions, in
// this order.
type Journal struct {
	out     io.Writer
	dialect Dialect
	buf     []byte
	// declaredCurrencies are the currencies declared so far. declaring is the current account, which
	// is passed once for each of its currencies.
	declaredCurrencies map[money.Currency]bool
	declaring          declaration
	// posting is the number of the current posting.
	posting int64
	holder  func(path string) ports.AccountHolder
}

// New returns a Journal and writes its header. holder returns the customer who holds an account, for a
// header with Names.
func New(out io.Writer, dialect Dialect, header records.Header, holder func(path string) ports.AccountHolder) (*Journal, error) {
	j := &Journal{out: out, dialect: dialect, declaredCurrencies: map[money.Currency]bool{}, holder: holder}
	if !header.Names {
		j.holder = func(string) ports.AccountHolder { return ports.AccountHolder{} }
	}
	j.line("; Ledger of %s", header.Platform)
	if header.LastPosting.Seq == 0 {
		j.line("; No postings")
	} else {
		j.line("; As of %s, posting %d", records.FormatTime(header.LastPosting.Recorded), header.LastPosting.Seq)
	}
	if s := header.Filter; !s.From.IsZero() || !s.To.IsZero() {
		j.line("; Effective from %s, before %s", formatBound(s.From), formatBound(s.To))
	}
	if s := header.Filter; s.Path != "" || s.Currency != "" {
		j.line("; Only %s", strings.TrimSpace(s.Path+" "+string(s.Currency)))
	}
	if header.Names {
		j.line("; With the present names of customers, which can change; all else is the same in every export as of this time")
	}
	switch dialect {
	case Beancount:
		j.line("option \"title\" \"Ledger of %s\"", header.Platform)
	case Ledger:
		for _, tag := range []string{"posting", "transaction", "effective", "recorded", "reverses"} {
			j.line("tag %s", tag)
		}
	case HLedger: // needs no declaration of tags
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

// Entry writes one entry as two lines of its posting's transaction. The entries of a posting must
// be consecutive.
func (j *Journal) Entry(e ports.RecordedEntry) error {
	debit, err := j.accountName(e.Debit)
	if err != nil {
		return err
	}
	credit, err := j.accountName(e.Credit)
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

func (j *Journal) accountName(path string) (string, error) { return NamedAccount(path, j.holder(path)) }

// postingHeading writes the first lines of the transaction of a posting. The memo, which is
// user-provided, is where the program reads text only.
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

// sanitize replaces characters of user-provided text that start a comment, a date or a tag or end
// the text in one of the programs.
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
