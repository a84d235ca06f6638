package rail

import (
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/google/uuid"

	"causeway/core/corridor"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/ledger"
)

// Fee is what a partner or a chain charged for moving money; a negative amount was given back.
type Fee struct {
	Platform  ident.Platform
	Rail      corridor.Rail
	PartnerID string
	Amount    money.Amount
	At        time.Time
	Memo      string
	// Undated: the partner has named no time, or only a day, so that At may differ when it reports the fee again.
	Undated bool
}

// Posting returns the posting of the fee. Its id is derived from the platform, the rail and the partner's id, so
// that a fee that is reported again is posted once.
func (f Fee) Posting() ledger.Posting {
	memo := "fee " + f.PartnerID
	if f.Memo != "" {
		memo += " " + f.Memo
	}
	header := ledger.Header{ID: ledger.DerivedID(f.subject(), ledger.KindRailFee, 0), Platform: f.Platform, Effective: f.At,
		Memo: ledger.MemoOf(memo)}
	return ledger.RailFee(header, f.Rail.LedgerPath(), f.Amount)
}

// Compare returns how a fee that is posted contradicts what is reported of it now, or false if it is a repeat of it. The memo is
// no part of what was charged.
func (f Fee) Compare(posted ledger.Posting) (Contradiction, bool) {
	same := f.Posting()
	same.Memo = posted.Memo
	day, redated := ledger.RedatedFrom(posted.Memo)
	if f.Undated || redated && day.Equal(f.At.UTC().Truncate(24*time.Hour)) {
		same.Effective = posted.Effective
	}
	if same.Equal(posted) {
		return Contradiction{}, false
	}
	e := posted.Entries[0]
	before := money.Amount{Minor: e.Amount, Currency: e.Currency}
	if e.Credit == ledger.ExpenseRails {
		before.Minor = -before.Minor
	}
	return Contradiction{Platform: f.Platform, Name: f.PartnerID,
		Recorded: Said{State: "FEE", At: posted.Effective, Amount: before, PartnerID: f.PartnerID, Text: posted.Memo},
		Reported: Said{State: "FEE", At: f.At, Amount: f.Amount, PartnerID: f.PartnerID, Text: f.Memo},
		Problem: fmt.Sprintf("the fee %s on %s is posted with %s of %s, and the partner reports it now with %s of %s: ask whether it is "+
			"another fee, and post that as an adjustment",
			f.PartnerID, f.Rail, before, formatTime(posted.Effective), f.Amount, formatTime(f.At)),
		Content: formatTime(f.At)}, true
}

func formatTime(at time.Time) string { return at.UTC().Format(time.RFC3339Nano) }

func (f Fee) subject() (id uuid.UUID) {
	platform := f.Platform.UUID()
	hash := sha256.New()
	hash.Write([]byte("causeway rail fee\x00"))
	hash.Write(platform[:])
	hash.Write([]byte(string(f.Rail) + "\x00" + f.PartnerID))
	copy(id[:], hash.Sum(nil))
	return id
}
