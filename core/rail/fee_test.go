package rail_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"causeway/core/corridor"
	"causeway/core/money"
	"causeway/core/rail"
	"causeway/ledger"
)

func TestFee_Posting(t *testing.T) {
	t.Parallel()
	// Every fee is a valid posting that moves its amount between the expense and the partner. The same platform, rail
	// and partner's id have the same id of the posting, and others another. The memo has words of the partner.
	draw := func(t *rapid.T, name string) rail.Fee {
		f := rail.Fee{Rail: rapid.SampledFrom(corridor.Rails()).Draw(t, name+" rail"),
			PartnerID: rapid.SampledFrom([]string{"1", "2", "0xab:gas"}).Draw(t, name+" id"),
			At:        time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC), Memo: rapid.String().Draw(t, name+" memo")}
		f.Platform.SetUUID(uuid.UUID{15: rapid.ByteRange(1, 2).Draw(t, name+" platform")})
		minor := rapid.Int64Range(1, money.MaxMinor).Draw(t, name+" amount")
		if rapid.Bool().Draw(t, name+" given back") {
			minor = -minor
		}
		f.Amount = money.Amount{Minor: minor, Currency: rapid.SampledFrom(money.Currencies()).Draw(t, name+" currency")}
		return f
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := draw(t, "a"), draw(t, "b")
		posting := a.Posting()

		if err := posting.Validate(); err != nil || !posting.Kind.HasForeignMemo() {
			t.Fatalf("%s: %v", posting.Kind, err)
		}
		balances := ledger.Balances{}
		if err := balances.Apply(posting); err != nil {
			t.Fatal(err)
		}
		expense := ledger.Account{Platform: a.Platform, Path: ledger.ExpenseRails, Currency: a.Amount.Currency}
		partner := ledger.Account{Platform: a.Platform, Path: a.Rail.LedgerPath(), Currency: a.Amount.Currency}
		if balances[expense] != a.Amount.Minor || balances[partner] != -a.Amount.Minor {
			t.Fatalf("the expense is %d and the partner has %d after a fee of %s", balances[expense], balances[partner], a.Amount)
		}
		same := a.Platform == b.Platform && a.Rail == b.Rail && a.PartnerID == b.PartnerID
		if (posting.ID == b.Posting().ID) != same {
			t.Fatalf("%+v and %+v have the postings %s and %s", a, b, posting.ID, b.Posting().ID)
		}
	})
}

func TestFee_Compare(t *testing.T) {
	t.Parallel()
	// A fee that is reported again is a repeat if its amount and time are those that are posted, whatever its memo says. Its time does not
	// count if the partner has named none, and is that of its day if it was posted into a later month.
	fee := rail.Fee{Rail: corridor.ACH, PartnerID: "F1", Amount: money.Amount{Minor: 25, Currency: "USD"},
		At: time.Date(2026, 2, 14, 12, 0, 0, 0, time.UTC), Memo: "gas"}
	fee.Platform.SetUUID(uuid.UUID{15: 1})
	posted := fee.Posting()
	for name, c := range map[string]struct {
		posted  ledger.Posting
		change  func(*rail.Fee)
		differs bool
	}{
		"equal":             {posted, func(*rail.Fee) {}, false},
		"memo":              {posted, func(f *rail.Fee) { f.Memo = "other" }, false},
		"time":              {posted, func(f *rail.Fee) { f.At = f.At.Add(time.Second) }, true},
		"time, undated":     {posted, func(f *rail.Fee) { f.At, f.Undated = f.At.Add(time.Second), true }, false},
		"amount":            {posted, func(f *rail.Fee) { f.Amount.Minor++ }, true},
		"amount, undated":   {posted, func(f *rail.Fee) { f.Amount.Minor++; f.Undated = true }, true},
		"currency":          {posted, func(f *rail.Fee) { f.Amount.Currency = "EUR" }, true},
		"given back":        {posted, func(f *rail.Fee) { f.Amount.Minor = -f.Amount.Minor }, true},
		"redated":           {posted.Redate(fee.At.AddDate(0, 1, 0)), func(*rail.Fee) {}, false},
		"redated, next day": {posted.Redate(fee.At.AddDate(0, 1, 0)), func(f *rail.Fee) { f.At = f.At.AddDate(0, 0, 1) }, true},
	} {
		again := fee
		c.change(&again)
		got, differs := again.Compare(c.posted)
		if differs != c.differs || differs && (got.Recorded.Amount != fee.Amount || got.Reported.Amount != again.Amount || got.Name != "F1") {
			t.Errorf("%s: %t, %+v", name, differs, got)
		}
	}
}
