package accounting_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"causeway/core/account"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/period"
	"causeway/core/platform"
	"causeway/ledger"
	"causeway/ports"
)

type testContext = context.Context

func newAdjustment(at time.Time, entries ...ledger.Entry) period.Adjustment {
	if entries == nil {
		entries = []ledger.Entry{{Debit: ledger.ExpenseRails, Credit: ledger.Rail("WIRE"), Currency: money.USD, Amount: 5}}
	}
	return period.Adjustment{Entries: entries, Note: "charged twice", Effective: at}
}

func TestAdjust(t *testing.T) {
	t.Parallel()
	// An adjustment is effective when requested, also in a soft-closed month; for a closed month
	// it is effective in the next one, and its memo says so. Its authorisation is stored.
	h := newPeriodEnv(t)
	h.changeState(period.SoftClose, "2026-01")
	h.changeState(period.Close, "2026-01")
	h.changeState(period.SoftClose, "2026-02")

	for name, c := range map[string]struct {
		at, want time.Time
		memo     string
	}{
		"now":                    {time.Time{}, midMarch, "charged twice"},
		"in an open month":       {day(time.March, 3), day(time.March, 3), "charged twice"},
		"in a soft-closed month": {day(time.February, 3), day(time.February, 3), "charged twice"},
		"in a closed month":      {day(time.January, 3), mustMonth("2026-02").Start(), "charged twice (for 2026-01-03)"},
	} {
		done, err := h.Adjust(t.Context(), h.admin.Platform, h.admin.Token, nil, newAdjustment(c.at))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got := h.readPosting(done.Posting.ID)
		if !got.Equal(done.Posting) || !got.Effective.Equal(c.want) || got.Memo != c.memo || got.Kind != ledger.KindAdjustment {
			t.Errorf("%s: %s, %q; want %s, %q", name, got.Effective, got.Memo, c.want, c.memo)
		}
		a, found, err := h.store.Authorisation(t.Context(), h.admin.Platform, done.Posting.ID)
		if err != nil || !found || a.By != h.admin.Token || a.Note != "charged twice" || !a.At.Equal(midMarch) {
			t.Errorf("%s: authorised %t %v, %v", name, found, a, err)
		}
	}
	h.changeState(period.Close, "2026-02")
	wantLines(t, h.getMonth("2026-02"), "expense/rails 0 10 0 10", "rails/WIRE 0 0 10 -10")
	for _, f := range h.checkLedger().Findings {
		t.Error(f)
	}
}

func TestAdjust_MemoNamesCorrectedPosting(t *testing.T) {
	t.Parallel()
	// A correction of a posting in a closed month is effective in the next one, and its memo
	// names the posting and the day however long the note; an unknown posting is NOT_FOUND.
	h := newPeriodEnv(t)
	wrong, err := h.Adjust(t.Context(), h.admin.Platform, h.admin.Token, nil, newAdjustment(day(time.January, 3)))
	if err != nil {
		t.Fatal(err)
	}
	h.changeState(period.SoftClose, "2026-01")
	h.changeState(period.Close, "2026-01")
	var named ident.Posting
	ident.SetUUID(&named, wrong.Posting.ID)

	for note, begins := range map[string]string{"booked twice": "booked twice", strings.Repeat("é", 250): strings.Repeat("é", 63)} {
		correction := newAdjustment(day(time.January, 3))
		correction.Note, correction.Corrects = note, named
		done, err := h.Adjust(t.Context(), h.admin.Platform, h.admin.Token, nil, correction)
		if err != nil {
			t.Fatal(err)
		}
		got, want := h.readPosting(done.Posting.ID), begins+" (corrects "+named.String()+") (for 2026-01-03)"
		if got.Memo != want || done.Corrects != named || !got.Effective.Equal(mustMonth("2026-02").Start()) {
			t.Errorf("%s, %q\nwant %q", got.Effective, got.Memo, want)
		}
	}

	ident.SetUUID(&named, h.ids.New(midMarch))
	unknown := newAdjustment(time.Time{})
	unknown.Corrects = named
	if _, err := h.Adjust(t.Context(), h.admin.Platform, h.admin.Token, nil, unknown); !fault.Is(err, fault.NotFound) {
		t.Errorf("of an unknown posting: %v", err)
	}
	others := newAdjustment(time.Time{})
	ident.SetUUID(&others.Corrects, wrong.Posting.ID)
	if _, err := h.Adjust(t.Context(), h.createPlatform("Other").Platform, h.admin.Token, nil, others); !fault.Is(err, fault.NotFound) {
		t.Errorf("of another platform's posting: %v", err)
	}
}

func TestAdjust_CustomerAccounts(t *testing.T) {
	t.Parallel()
	// The account of a customer or the platform is adjusted only if ownedAccounts is set, the
	// account exists, and its balance does not become negative; a refusal posts nothing.
	h := newPeriodEnv(t)
	own, err := account.NewInternal(ident.NewInternalAccount(h.ids.New, midMarch), h.admin.Platform, ident.Customer{}, money.USD, midMarch)
	if err != nil {
		t.Fatal(err)
	}
	if err := h.store.Do(t.Context(), func(ctx testContext, tx ports.Tx) error { return tx.OpenInternalAccounts(ctx, []account.Internal{own}) }); err != nil {
		t.Fatal(err)
	}
	path := ledger.PlatformAccount(own.ID)
	credit := func(amount int64) ledger.Entry {
		return ledger.Entry{Debit: ledger.Rail("WIRE"), Credit: path, Currency: money.USD, Amount: amount}
	}
	debit := func(amount int64) ledger.Entry {
		return ledger.Entry{Debit: path, Credit: ledger.IncomeFees, Currency: money.USD, Amount: amount}
	}
	adjust := func(who platform.Principal, owned bool, entries ...ledger.Entry) error {
		a := newAdjustment(time.Time{}, entries...)
		a.OwnedAccounts = owned
		_, err := h.Adjust(t.Context(), who.Platform, who.Token, nil, a)
		return err
	}
	if err := adjust(h.admin, true, credit(10)); err != nil {
		t.Fatal(err)
	}
	unknown := credit(1)
	unknown.Credit = ledger.PlatformAccount(ident.NewInternalAccount(h.ids.New, midMarch))
	elsewhere := credit(1)
	elsewhere.Credit = ledger.CustomerAccount(own.ID)
	euros := credit(1)
	euros.Currency = money.EUR

	for name, c := range map[string]struct {
		err  error
		want fault.Code
	}{
		"more than the balance":   {adjust(h.admin, true, debit(11)), fault.InsufficientBalance},
		"without ownedAccounts":   {adjust(h.admin, false, debit(1)), fault.InvalidInput},
		"an unknown account":      {adjust(h.admin, true, unknown), fault.InternalAccountNotFound},
		"under another path":      {adjust(h.admin, true, elsewhere), fault.InvalidInput},
		"in another currency":     {adjust(h.admin, true, euros), fault.InvalidInput},
		"of another platform":     {adjust(h.createPlatform("Other"), true, credit(1)), fault.InternalAccountNotFound},
		"one good and one is not": {adjust(h.admin, true, credit(1), unknown), fault.InternalAccountNotFound},
	} {
		if !fault.Is(c.err, c.want) {
			t.Errorf("%s: %v, want %s", name, c.err, c.want)
		}
	}
	if err := adjust(h.admin, true, debit(12), credit(2)); err != nil {
		t.Errorf("entries of one posting do not count together: %v", err)
	}
	balances, err := h.store.LedgerReader().Balances(t.Context(), []ledger.Account{{Platform: h.admin.Platform, Path: path, Currency: money.USD}})
	for a, balance := range balances {
		if balance != 0 {
			t.Errorf("%s has %d, want 0", a, balance)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestAdjust_FutureEffectiveTime(t *testing.T) {
	t.Parallel()
	// The effective time must not be in the future.
	h := newPeriodEnv(t)
	if _, err := h.Adjust(t.Context(), h.admin.Platform, h.admin.Token, nil, newAdjustment(midMarch.Add(time.Second))); !fault.Is(err, fault.InvalidInput) || !strings.Contains(err.Error(), "effectiveAt") {
		t.Errorf("got %v", err)
	}
}
