package accounting_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"causeway/adapters/pgembed/pgtest"
	"causeway/adapters/postgres"
	"causeway/app/audit"
	"causeway/app/internal/apptest"
	"causeway/core/account"
	"causeway/core/books"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/period"
	"causeway/core/platform"
	"causeway/ledger"
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
	env := newPeriodEnv(t)
	env.changeState(period.SoftClose, "2026-01")
	env.changeState(period.Close, "2026-01")
	env.changeState(period.SoftClose, "2026-02")

	for name, c := range map[string]struct {
		at, want time.Time
		memo     string
	}{
		"now":                    {time.Time{}, apptest.Noon, "charged twice"},
		"in an open month":       {day(time.March, 3), day(time.March, 3), "charged twice"},
		"in a soft-closed month": {day(time.February, 3), day(time.February, 3), "charged twice"},
		"in a closed month":      {day(time.January, 3), mustMonth("2026-02").Start(), "charged twice (for 2026-01-03)"},
	} {
		outcome, err := env.periods.Adjust(t.Context(), env.Admin.Platform, ana(env.Admin), nil, newAdjustment(c.at))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		done := outcome.Done
		got := env.readPosting(done.Posting.ID)
		if !got.Equal(done.Posting) || !got.Effective.Equal(c.want) || got.Memo != c.memo || got.Kind != ledger.KindAdjustment {
			t.Errorf("%s: %s, %q; want %s, %q", name, got.Effective, got.Memo, c.want, c.memo)
		}
		a, found, err := env.Store.Authorisation(t.Context(), env.Admin.Platform, done.Posting.ID)
		if err != nil || !found || a.By != ana(env.Admin) || a.Note != "charged twice" || !a.At.Equal(apptest.Noon) {
			t.Errorf("%s: authorised %t %v, %v", name, found, a, err)
		}
	}
	env.changeState(period.Close, "2026-02")
	wantLines(t, env.getMonth("2026-02"), "expense/rails 0 10 0 10", "rails/WIRE 0 0 10 -10")
	for _, f := range env.checkLedger().Findings {
		t.Error(f)
	}
}

func TestAdjust_MemoNamesCorrectedPosting(t *testing.T) {
	t.Parallel()
	// A correction of a posting in a closed month is effective in the next one, and its memo
	// names the posting and the day however long the note; an unknown posting is NOT_FOUND.
	env := newPeriodEnv(t)
	outcome, err := env.periods.Adjust(t.Context(), env.Admin.Platform, env.Admin.Author(), nil, newAdjustment(day(time.January, 3)))
	if err != nil {
		t.Fatal(err)
	}
	posted := outcome.Done
	env.changeState(period.SoftClose, "2026-01")
	env.changeState(period.Close, "2026-01")
	var named ident.Posting
	named.SetUUID(posted.Posting.ID)

	for note, begins := range map[string]string{"booked twice": "booked twice", strings.Repeat("é", 250): strings.Repeat("é", 63)} {
		correction := newAdjustment(day(time.January, 3))
		correction.Note, correction.Corrects = note, named
		outcome, err := env.periods.Adjust(t.Context(), env.Admin.Platform, env.Admin.Author(), nil, correction)
		if err != nil {
			t.Fatal(err)
		}
		done := outcome.Done
		got, want := env.readPosting(done.Posting.ID), begins+" (corrects "+named.String()+") (for 2026-01-03)"
		if got.Memo != want || done.Corrects != named || !got.Effective.Equal(mustMonth("2026-02").Start()) {
			t.Errorf("%s, %q\nwant %q", got.Effective, got.Memo, want)
		}
	}

	named.SetUUID(env.IDs.New(apptest.Noon))
	unknown := newAdjustment(time.Time{})
	unknown.Corrects = named
	if _, err := env.periods.Adjust(t.Context(), env.Admin.Platform, env.Admin.Author(), nil, unknown); !fault.Is(err, fault.NotFound) {
		t.Errorf("of an unknown posting: %v", err)
	}
	others := newAdjustment(time.Time{})
	others.Corrects.SetUUID(posted.Posting.ID)
	if _, err := env.periods.Adjust(t.Context(), env.NewPrincipal(env.NewPlatform()).Platform, env.Admin.Author(), nil, others); !fault.Is(err,
		fault.NotFound) {
		t.Errorf("of another platform's posting: %v", err)
	}
}

func TestAdjust_CustomerAccounts(t *testing.T) {
	t.Parallel()
	// The account of a customer or the platform is adjusted only if ownedAccounts is set, the
	// account exists, and its balance does not become negative; a refusal posts nothing.
	env := newPeriodEnv(t)
	own, err := account.NewInternal(ident.NewInternalAccount(env.IDs.New, apptest.Noon), env.Admin.Platform, ident.Customer{},
		money.USD, apptest.Noon)
	if err != nil {
		t.Fatal(err)
	}
	if err := env.Store.Do(t.Context(), func(ctx testContext, tx *postgres.Unit) error {
		return tx.OpenInternalAccounts(ctx,
			[]account.Internal{own})
	}); err != nil {
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
		_, err := env.periods.Adjust(t.Context(), who.Platform, who.Author(), nil, a)
		return err
	}
	if err := adjust(env.Admin, true, credit(10)); err != nil {
		t.Fatal(err)
	}
	unknown := credit(1)
	unknown.Credit = ledger.PlatformAccount(ident.NewInternalAccount(env.IDs.New, apptest.Noon))
	elsewhere := credit(1)
	elsewhere.Credit = ledger.CustomerAccount(own.ID)
	euros := credit(1)
	euros.Currency = money.EUR

	for name, c := range map[string]struct {
		err  error
		want fault.Code
	}{
		"more than the balance":   {adjust(env.Admin, true, debit(11)), fault.InsufficientBalance},
		"without ownedAccounts":   {adjust(env.Admin, false, debit(1)), fault.InvalidInput},
		"an unknown account":      {adjust(env.Admin, true, unknown), fault.InternalAccountNotFound},
		"under another path":      {adjust(env.Admin, true, elsewhere), fault.InvalidInput},
		"in another currency":     {adjust(env.Admin, true, euros), fault.InvalidInput},
		"of another platform":     {adjust(env.NewPrincipal(env.NewPlatform()), true, credit(1)), fault.InternalAccountNotFound},
		"one good and one is not": {adjust(env.Admin, true, credit(1), unknown), fault.InternalAccountNotFound},
	} {
		if !fault.Is(c.err, c.want) {
			t.Errorf("%s: %v, want %s", name, c.err, c.want)
		}
	}
	if err := adjust(env.Admin, true, debit(12), credit(2)); err != nil {
		t.Errorf("entries of one posting do not count together: %v", err)
	}
	balances, err := env.Store.LedgerReader().Balances(t.Context(),
		[]ledger.Account{{Platform: env.Admin.Platform, Path: path, Currency: money.USD}})
	for a, balance := range balances {
		if balance != 0 {
			t.Errorf("%s has %d, want 0", a, balance)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestAdjust_InternalTransitIsAlwaysZero(t *testing.T) {
	t.Parallel()
	// The account of payments between customers is zero after every commit, so an adjustment that leaves a balance there is
	// refused. One that passes through it is not, nor one that takes back a balance that an earlier release has accepted.
	env := newPeriodEnv(t)
	entry := func(debit, credit string, amount int64) ledger.Entry {
		return ledger.Entry{Debit: debit, Credit: credit, Currency: money.USD, Amount: amount}
	}
	adjust := func(entries ...ledger.Entry) error {
		_, err := env.periods.Adjust(t.Context(), env.Admin.Platform, env.Admin.Author(), nil, newAdjustment(time.Time{}, entries...))
		return err
	}
	wire, internal := ledger.Rail("WIRE"), ledger.TransitInternal

	for name, err := range map[string]error{
		"left":      adjust(entry(wire, internal, 5)),
		"overdrawn": adjust(entry(internal, wire, 5)),
		"less back": adjust(entry(wire, internal, 5), entry(internal, ledger.ExpenseRails, 4)),
	} {
		apptest.WantFault(t, name, err, fault.Conflict)
	}
	if err := adjust(entry(wire, internal, 5), entry(internal, ledger.ExpenseRails, 5)); err != nil {
		t.Errorf("through the account: %v", err)
	}
	if found := env.checkLedger().Findings; len(found) > 0 {
		t.Errorf("findings %v", found)
	}
	earlier := ledger.Adjustment(ledger.Header{ID: env.IDs.New(apptest.Noon), Platform: env.Admin.Platform, Effective: apptest.Noon,
		Memo: "earlier"}, []ledger.Entry{entry(wire, internal, 5)})
	env.Do(func(ctx context.Context, tx *postgres.Unit) error {
		if err := tx.Authorise(ctx, []period.Authorisation{{Platform: env.Admin.Platform, Posting: earlier.ID, By: env.Admin.Author(),
			Note: "earlier", At: apptest.Noon}}); err != nil {
			return err
		}
		return tx.Post(ctx, []ledger.Posting{earlier})
	})
	if err := adjust(entry(internal, wire, 4)); !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "0.01 USD") {
		t.Errorf("a part is taken back: %v", err)
	}
	if err := adjust(entry(internal, wire, 5)); err != nil {
		t.Errorf("taken back: %v", err)
	}
	if found := env.checkLedger().Findings; len(found) > 0 {
		t.Errorf("findings %v", found)
	}
}

func TestAdjust_FutureEffectiveTime(t *testing.T) {
	t.Parallel()
	// The effective time must not be in the future.
	env := newPeriodEnv(t)
	if _, err := env.periods.Adjust(t.Context(), env.Admin.Platform, env.Admin.Author(), nil,
		newAdjustment(apptest.Noon.Add(time.Second))); !fault.Is(err, fault.InvalidInput) || !strings.Contains(err.Error(), "effectiveAt") {
		t.Errorf("got %v", err)
	}
}

func TestAdjust_AddedAccounts(t *testing.T) {
	t.Parallel()
	// An adjustment may use an account below expense/ that finance has added and not retired. The check of the
	// ledger finds a posting on one that was not added.
	env := newPeriodEnv(t)
	adjust := func() error {
		a := newAdjustment(time.Time{})
		a.Entries[0].Debit = "expense/rent"
		_, err := env.periods.Adjust(t.Context(), env.Admin.Platform, env.Admin.Author(), nil, a)
		return err
	}
	save := func(a books.AddedAccount) {
		env.Do(func(ctx context.Context, tx *postgres.Unit) error {
			return tx.SaveAddedAccount(ctx, env.Admin.Platform, a)
		})
	}
	account := books.AddedAccount{Path: "expense/rent", Name: "Rent", Version: 1, At: apptest.Noon, By: env.Admin.Author()}

	apptest.WantFault(t, "not added", adjust(), fault.InvalidInput, "entries[0].debit")
	save(account)
	if err := adjust(); err != nil {
		t.Errorf("added: %v", err)
	}
	account.Version, account.Retired = 2, true
	save(account)
	apptest.WantFault(t, "retired", adjust(), fault.InvalidInput, "entries[0].debit")

	if found := env.checkLedger().Findings; len(found) > 0 {
		t.Errorf("findings %v", found)
	}
	pgtest.ExecAsSuperuser(t, env.URL, "ALTER TABLE ledger_added_accounts DISABLE TRIGGER append_only; DELETE FROM ledger_added_accounts")
	if found := env.checkLedger().Findings; len(found) != 1 || found[0].Rule != audit.RuleChart ||
		!strings.Contains(found[0].Message, "expense/rent") {
		t.Errorf("findings %v", found)
	}
}

func TestCheck_FindsAdjustmentWithoutAuthorisation(t *testing.T) {
	t.Parallel()
	// An adjustment is found that was posted without an authorisation, or whose authorisation was deleted or
	// got another note.
	for name, c := range map[string]struct{ damage, want string }{
		"none":    {"", ""},
		"deleted": {"DELETE FROM ledger_authorisations", "is an adjustment that nobody has authorised"},
		"its note": {"UPDATE ledger_authorisations SET note = 'agreed'",
			`has the memo "charged twice", which does not begin its authorisation "agreed"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := newPeriodEnv(t)
			if _, err := env.periods.Adjust(t.Context(), env.Admin.Platform, env.Admin.Author(), nil, newAdjustment(time.Time{})); err != nil {
				t.Fatal(err)
			}
			pgtest.ExecAsSuperuser(t, env.URL, c.damage)

			found := env.checkLedger().Findings

			if c.want == "" && len(found) > 0 || c.want != "" && (len(found) != 1 || found[0].Rule != audit.RuleAdjustments ||
				!strings.Contains(found[0].Message, c.want)) {
				t.Errorf("findings %v, want %q", found, c.want)
			}
		})
	}
}

func TestCheck_FindsAdjustmentThatNobodyAuthorised(t *testing.T) {
	t.Parallel()
	// A posting of an adjustment beside the service, in an open month, is found.
	env := newPeriodEnv(t)
	posting := ledger.Adjustment(ledger.Header{ID: env.IDs.New(apptest.Noon), Platform: env.Admin.Platform, Effective: apptest.Noon,
		Memo: "gift"}, newAdjustment(time.Time{}).Entries)
	if err := env.tryPost(posting); err != nil {
		t.Fatal(err)
	}

	found := env.checkLedger().Findings

	if len(found) != 1 || found[0].Rule != audit.RuleAdjustments {
		t.Errorf("findings %v", found)
	}
}
