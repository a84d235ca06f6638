package rail

import (
	"crypto/sha256"
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
}

// Posting returns the posting of the fee. Its id is derived from the platform, the rail and the partner's id, so
// that a fee that is reported again is posted once.
func (f Fee) Posting() ledger.Posting {
	memo := "fee " + f.PartnerID
	if f.Memo != "" {
		memo += " " + f.Memo
	}
	header := ledger.Header{ID: ledger.DerivedID(f.subject(), ledger.KindRailFee, 0), Platform: f.Platform, Effective: f.At, Memo: ledger.MemoOf(memo)}
	return ledger.RailFee(header, f.Rail.LedgerPath(), f.Amount)
}

func (f Fee) subject() (id uuid.UUID) {
	platform := f.Platform.UUID()
	hash := sha256.New()
	hash.Write([]byte("causeway rail fee\x00"))
	hash.Write(platform[:])
	hash.Write([]byte(string(f.Rail) + "\x00" + f.PartnerID))
	copy(id[:], hash.Sum(nil))
	return id
}
