package period_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"causeway/core/money"
	"causeway/core/period"
	"causeway/core/platform"
	"causeway/ledger"
)

func fee() ledger.Entry {
	return ledger.Entry{Debit: ledger.ExpenseRails, Credit: ledger.Rail("RTP"), Currency: money.USD, Amount: 7}
}

func TestAdjustment_Check(t *testing.T) {
	t.Parallel()
	// An invalid adjustment is refused with every invalid field.
	owned := fee()
	owned.Debit = "customers/InternalAccount:0199e3a4-7c5e-7d21-9f0b-3c1d2e4f5a6b"
	const receivable = "customer-receivables/InternalAccount:0199e3a4-7c5e-7d21-9f0b-3c1d2e4f5a6b"
	for name, c := range map[string]struct {
		change func(*period.Adjustment)
		want   []string
	}{
		"valid":                     {func(*period.Adjustment) {}, nil},
		"now":                       {func(a *period.Adjustment) { a.Effective = now }, nil},
		"no note":                   {func(a *period.Adjustment) { a.Note = " \n" }, []string{"note"}},
		"a long note":               {func(a *period.Adjustment) { a.Note = strings.Repeat("é", 501) }, []string{"note"}},
		"invalid UTF-8":             {func(a *period.Adjustment) { a.Note = "\xff" }, []string{"note"}},
		"in the future":             {func(a *period.Adjustment) { a.Effective = now.Add(1) }, []string{"effectiveAt"}},
		"long ago":                  {func(a *period.Adjustment) { a.Effective = period.Earliest.Start().Add(-1) }, []string{"effectiveAt"}},
		"no entries":                {func(a *period.Adjustment) { a.Entries = nil }, []string{"entries"}},
		"too many":                  {func(a *period.Adjustment) { a.Entries = slices.Repeat([]ledger.Entry{fee()}, 257) }, []string{"entries"}},
		"an owned account":          {func(a *period.Adjustment) { a.Entries[0] = owned }, []string{"entries[0].debit"}},
		"an owned account, allowed": {func(a *period.Adjustment) { a.Entries[0], a.OwnedAccounts = owned, true }, nil},
		"the exchange result":       {func(a *period.Adjustment) { a.Entries[0].Debit = ledger.FXValuation }, []string{"entries[0].debit"}},
		"a receivable": {func(a *period.Adjustment) { a.Entries[0].Credit, a.OwnedAccounts = receivable, true },
			[]string{"entries[0].credit"}},
		"debit equals credit": {func(a *period.Adjustment) { a.Entries[0].Debit = a.Entries[0].Credit }, []string{"entries[0].credit"}},
		"everything": {func(a *period.Adjustment) {
			a.Note, a.Entries = "", []ledger.Entry{fee(), {Debit: "no/where", Credit: "", Currency: "XXX", Amount: -1}}
		}, []string{"note", "entries[1].debit", "entries[1].credit", "entries[1].currency", "entries[1].amount"}},
	} {
		a := period.Adjustment{Entries: []ledger.Entry{fee()}, Note: "charged twice"}
		c.change(&a)
		var got []string
		for _, f := range a.Check(now) {
			got = append(got, f.Field)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestAdjustment_Posting(t *testing.T) {
	t.Parallel()
	// The memo has as much of the note as fits, the authorisation all of it.
	a := period.Adjustment{Entries: []ledger.Entry{fee()}, Note: strings.Repeat("é", 150)}
	a.Platform.SetUUID(uuid.UUID{2})
	by := platform.Author{Actor: "Ana"}
	by.Token.SetUUID(uuid.UUID{3})

	p, authorised := a.Posting(uuid.UUID{1}, by, now)

	if err := p.Validate(); err != nil || p.Kind != ledger.KindAdjustment || !p.Effective.Equal(now) {
		t.Errorf("%v: %v", p, err)
	}
	if !utf8.ValidString(p.Memo) || len(p.Memo) != 200 || !strings.HasPrefix(a.Note, p.Memo) {
		t.Errorf("memo %q", p.Memo)
	}
	if authorised != (period.Authorisation{Platform: a.Platform, Posting: p.ID, By: by, Note: a.Note, At: now}) {
		t.Errorf("%v", authorised)
	}
}

func TestAuthorisation_AuthorisesItsAdjustment(t *testing.T) {
	t.Parallel()
	// An authorisation authorises the memo of its adjustment, whatever its note and also redated; not one of
	// another note.
	rapid.Check(t, func(t *rapid.T) {
		note := rapid.OneOf(rapid.StringN(1, 300, 600), rapid.SampledFrom([]string{"fee (for 2026-01-03)", "fee (corrects " +
			"Posting:0199e3a4-7c5e-7d21-9f0b-3c1d2e4f5a6b)"})).
			Filter(func(s string) bool { return len(period.CheckNote(s, false)) == 0 }).Draw(t, "note")
		a := period.Adjustment{Entries: []ledger.Entry{fee()}, Note: note}
		if rapid.Bool().Draw(t, "corrects") {
			a.Corrects.SetUUID(uuid.UUID{6: 0x70, 8: 0x80, 15: rapid.Byte().Draw(t, "id")})
		}
		posting, authorisation := a.Posting(uuid.UUID{1}, platform.Author{}, now)
		if rapid.Bool().Draw(t, "redated") {
			posting = posting.Redate(now.AddDate(0, 1, 0))
		}

		if !authorisation.Authorises(posting.Memo) {
			t.Errorf("%q does not authorise %q", note, posting.Memo)
		}
		authorisation.Note = "x" + note
		if authorisation.Authorises(posting.Memo) {
			t.Errorf("%q authorises %q", authorisation.Note, posting.Memo)
		}
	})
}

func TestLine_ExpectedClosing(t *testing.T) {
	t.Parallel()
	// Debits increase debit-normal balances and decrease the others.
	for class, want := range map[ledger.Class]int64{ledger.Asset: 107, ledger.Expense: 107, ledger.Liability: 93, ledger.Income: 93,
		ledger.Trading: 93} {
		line := period.Line{Class: class, Opening: money.TotalOf(100), Debits: money.TotalOf(10), Credits: money.TotalOf(3)}
		if got := line.ExpectedClosing(); !got.Equal(money.TotalOf(want)) {
			t.Errorf("%s: %s, want %d", class, got, want)
		}
	}
}
