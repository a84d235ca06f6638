package period

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/ledger"
)

// Adjustment is a correction that finance posts by hand.
type Adjustment struct {
	Platform ident.Platform
	Entries  []ledger.Entry
	Note     string
	// Effective is the effective time; zero for now.
	Effective time.Time
	// OwnedAccounts allows entries on the accounts of customers, the platform and wallets.
	OwnedAccounts bool
	// Corrects is the posting that the adjustment corrects; zero for none.
	Corrects ident.Posting
}

// MovesHeldMoney reports whether the adjustment changes what is held at a partner or on a chain, or whose funding it is. No
// statement confirms it, so on production platforms it needs two persons.
func (a Adjustment) MovesHeldMoney() bool {
	return slices.ContainsFunc(a.Entries, func(e ledger.Entry) bool {
		return slices.ContainsFunc([]string{"rails/", "chains/", "funding/"}, func(group string) bool {
			return strings.HasPrefix(e.Debit, group) || strings.HasPrefix(e.Credit, group)
		})
	})
}

// Check returns everything that is wrong with the adjustment, by request field.
func (a Adjustment) Check(now time.Time) []fault.Field {
	bad := CheckNote(a.Note, false)
	if a.Effective.After(now) {
		bad = append(bad, fault.Field{Field: "effectiveAt", Message: "must not be in the future"})
	}
	if !a.Effective.IsZero() && MonthOf(a.Effective).Before(Earliest) {
		bad = append(bad, fault.Field{Field: "effectiveAt", Message: "must not be before the year 2000"})
	}
	if len(a.Entries) == 0 || len(a.Entries) > ledger.MaxEntries {
		bad = append(bad, fault.Field{Field: "entries", Message: fmt.Sprintf("must have 1 to %d entries", ledger.MaxEntries)})
	}
	for i, e := range a.Entries {
		bad = append(bad, a.checkEntry(fmt.Sprintf("entries[%d].", i), e)...)
	}
	return bad
}

func (a Adjustment) checkEntry(field string, e ledger.Entry) (bad []fault.Field) {
	for _, side := range []struct{ name, path string }{{"debit", e.Debit}, {"credit", e.Credit}} {
		line, err := ledger.FindChartLine(side.path)
		switch {
		case err != nil:
			bad = append(bad, fault.Field{Field: field + side.name, Message: "must be an account of the chart of accounts, such as income/fees or " +
				"rails/RTP"})
		case side.path == ledger.FXValuation:
			bad = append(bad, fault.Field{Field: field + side.name, Message: "is posted by the revaluation of a month only; adjust fx/position, " +
				"and revalue the month again"})
		case side.path == ledger.AllowanceReceivables:
			bad = append(bad, fault.Field{Field: field + side.name, Message: "is posted by the allowance of a month only"})
		case ledger.IsCustomerReceivable(side.path):
			bad = append(bad, fault.Field{Field: field + side.name, Message: "changes only with a receivable: record, or write off, one at " +
				"/ledger/receivables"})
		case line.NoOverdraft && !a.OwnedAccounts:
			bad = append(bad, fault.Field{Field: field + side.name,
				Message: "is an account of a customer, the platform or a wallet; set ownedAccounts to true to adjust it"})
		}
	}
	if e.Debit == e.Credit && len(bad) == 0 {
		bad = append(bad, fault.Field{Field: field + "credit", Message: "must differ from debit"})
	}
	if !e.Currency.Known() {
		bad = append(bad, fault.Field{Field: field + "currency", Message: "is not a supported currency"})
	}
	if e.Amount < 1 || e.Amount > ledger.MaxAmount {
		bad = append(bad, fault.Field{Field: field + "amount", Message: fmt.Sprintf("must be 1 to %d", ledger.MaxAmount)})
	}
	return bad
}

// Posting returns the adjustment as a posting, with its authorisation. The memo is the
// beginning of the note and names the corrected posting.
func (a Adjustment) Posting(id uuid.UUID, by platform.Author, now time.Time) (ledger.Posting, Authorisation) {
	effective := a.Effective
	if effective.IsZero() {
		effective = now
	}
	return ledger.Adjustment(ledger.Header{ID: id, Platform: a.Platform, Effective: effective, Memo: a.memo()}, a.Entries),
		Authorisation{Platform: a.Platform, Posting: id, By: by, Note: a.Note, At: now}
}

// redatedSuffixLen is the length of the suffix that ledger.Posting.Redate appends to a memo,
// cutting what is before it. The memo leaves room for it, so that the id of the corrected
// posting is never cut.
const redatedSuffixLen = len(" (for 2026-10-30)")

func (a Adjustment) memo() string {
	suffix, maxNote := "", ledger.MaxMemo
	if !a.Corrects.IsZero() {
		suffix = " (corrects " + a.Corrects.String() + ")"
		maxNote -= len(suffix) + redatedSuffixLen
	}
	return strings.TrimRight(strings.ToValidUTF8(a.Note[:min(len(a.Note), maxNote)], ""), " ") + suffix
}

// Authorises reports whether the authorisation is that of an adjustment with this memo, which is made of its
// note, of the posting that was corrected, and of the day if the adjustment was redated.
func (a Authorisation) Authorises(memo string) bool {
	possible := Adjustment{Note: a.Note}
	memos := []string{possible.memo()}
	if found := correctsInMemo.FindStringSubmatch(memo); found != nil {
		if corrected, err := ident.ParsePosting(found[1]); err == nil {
			possible.Corrects = corrected
			memos = append(memos, possible.memo())
		}
	}
	if day, redated := ledger.RedatedFrom(memo); redated {
		for _, m := range memos {
			memos = append(memos, ledger.Posting{Memo: m, Effective: day}.Redate(day).Memo)
		}
	}
	return slices.Contains(memos, memo)
}

// correctsInMemo finds the corrected posting at the end of a memo, which may be redated.
var correctsInMemo = regexp.MustCompile(` \(corrects (\S+)\)(?: \(for \S+\))?$`)
