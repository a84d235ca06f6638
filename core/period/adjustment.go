package period

import (
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/ledger"
)

// Adjustment is what finance puts right by hand.
type Adjustment struct {
	Platform ident.Platform
	Entries  []ledger.Entry
	Note     string
	// Effective is when it counts; zero for now.
	Effective time.Time
	// OwnedAccounts allows entries on accounts that belong to somebody: customers, the platform,
	// and wallets.
	OwnedAccounts bool
	// Corrects is the posting that it puts right; zero for none.
	Corrects ident.Posting
}

// Check finds everything that is wrong with it at a moment, in the names of a request.
func (a Adjustment) Check(now time.Time) []fault.Field {
	bad := CheckNote(a.Note, false)
	if a.Effective.After(now) {
		bad = append(bad, fault.Field{Field: "effectiveAt", Message: "must not lie in the future"})
	}
	if !a.Effective.IsZero() && MonthOf(a.Effective).Before(Earliest) {
		bad = append(bad, fault.Field{Field: "effectiveAt", Message: "must not lie before the year 2000"})
	}
	if len(a.Entries) == 0 || len(a.Entries) > ledger.MaxEntries {
		bad = append(bad, fault.Field{Field: "entries", Message: fmt.Sprintf("give 1 to %d entries", ledger.MaxEntries)})
	}
	for i, e := range a.Entries {
		bad = append(bad, a.checkEntry(fmt.Sprintf("entries[%d].", i), e)...)
	}
	return bad
}

func (a Adjustment) checkEntry(at string, e ledger.Entry) (bad []fault.Field) {
	for _, side := range []struct{ name, path string }{{"debit", e.Debit}, {"credit", e.Credit}} {
		line, err := ledger.FindChartLine(side.path)
		switch {
		case err != nil:
			bad = append(bad, fault.Field{Field: at + side.name, Message: "must be an account of the chart, such as income/fees or rails/RTP"})
		case line.NoOverdraft && !a.OwnedAccounts:
			bad = append(bad, fault.Field{Field: at + side.name,
				Message: "belongs to somebody; set ownedAccounts to true to adjust the balance of a customer, the platform or a wallet"})
		}
	}
	if e.Debit == e.Credit && len(bad) == 0 {
		bad = append(bad, fault.Field{Field: at + "credit", Message: "must be another account than debit"})
	}
	if !e.Currency.Known() {
		bad = append(bad, fault.Field{Field: at + "currency", Message: "is no currency of the service"})
	}
	if e.Amount < 1 || e.Amount > ledger.MaxAmount {
		bad = append(bad, fault.Field{Field: at + "amount", Message: fmt.Sprintf("must be 1 to %d", ledger.MaxAmount)})
	}
	return bad
}

// Posting is the adjustment as it is posted, if the books take it there; and who stands
// behind it. The memo is the beginning of the note, and names what is corrected.
func (a Adjustment) Posting(id uuid.UUID, by ident.Token, now time.Time) (ledger.Posting, Authorisation) {
	effective := a.Effective
	if effective.IsZero() {
		effective = now
	}
	return ledger.Adjustment(ledger.Header{ID: id, Platform: a.Platform, Effective: effective, Memo: a.memo()}, a.Entries),
		Authorisation{Platform: a.Platform, Posting: id, By: by, Note: a.Note, At: now}
}

// redatedSuffixLen is how much of a memo says for which day a posting was that is moved on. It
// pushes out what stands before it, which the name of a posting must not lose.
const redatedSuffixLen = len(" (for 2026-10-30)")

func (a Adjustment) memo() string {
	names, most := "", ledger.MaxMemo
	if !a.Corrects.IsZero() {
		names = " (corrects " + a.Corrects.String() + ")"
		most -= len(names) + redatedSuffixLen
	}
	return strings.TrimRight(strings.ToValidUTF8(a.Note[:min(len(a.Note), most)], ""), " ") + names
}
