package postgres_test

import (
	"context"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/postgres"
	"causeway/core/account"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/ledger"
	"causeway/ports"
)

func newInternal(t *testing.T, p ident.Platform, owner ident.Customer, currency money.Currency) account.Internal {
	t.Helper()
	a, err := account.NewInternal(ident.NewInternalAccount(generator.New, noon), p, owner, currency, noon)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func ledgerAccountOf(a account.Internal) ledger.Account {
	return ledger.Account{Platform: a.Platform, Path: a.LedgerPath(), Currency: a.Currency}
}

func TestLockBalances_IncludesAccountsOfSameUnit(t *testing.T) {
	t.Parallel()
	// An account opened in the same unit of work is locked with a zero balance. Its postings are
	// its balance in the next unit. A ledger account without an internal account has no owner,
	// whatever its balance.
	c := newEnv(t)
	ana := newCustomer(c.platform, "ana")
	c.createCustomers(t, ana)
	opened, closed := newInternal(t, c.platform.ID, ana.ID, "USD"), newInternal(t, c.platform.ID, ana.ID, "EUR")
	deposit := func(to account.Internal, n byte, minor int64) ledger.Posting {
		return ledger.Deposit(ledger.Header{ID: uuid.UUID{15: n}, Platform: c.platform.ID, Effective: noon},
			ledger.IncomingFunds{Partner: ledger.Rail("ACH"), To: to.LedgerPath(), Amount: money.Amount{Minor: minor, Currency: to.Currency}})
	}
	look := func(ctx context.Context, tx *postgres.Unit, when string, dollars, euros int64) error {
		locked, err := tx.LockBalances(ctx, []ledger.Account{ledgerAccountOf(opened), ledgerAccountOf(closed)})
		if account := locked[ledgerAccountOf(opened)]; account.ID != opened.ID || account.Balance != dollars {
			t.Errorf("%s: the open account is %+v; want balance %d", when, account, dollars)
		}
		if account := locked[ledgerAccountOf(closed)]; !account.ID.IsZero() || account.Balance != euros {
			t.Errorf("%s: the other is %+v; want balance %d and no owner", when, account, euros)
		}
		return err
	}

	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
		if err := tx.OpenInternalAccounts(ctx, []account.Internal{opened}); err != nil {
			return err
		}
		if err := look(ctx, tx, "when it is opened", 0, 0); err != nil {
			return err
		}
		return tx.Post(ctx, []ledger.Posting{deposit(opened, 1, 700), deposit(closed, 2, 50)})
	})

	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
		return look(ctx, tx, "after the deposits", 700, 50)
	})
}

func TestOpenInternalAccounts_Idempotent(t *testing.T) {
	t.Parallel()
	// Each owner has one account in a currency: opening it again, in the same unit of work or
	// later, changes nothing.
	c := newEnv(t)
	ana := newCustomer(c.platform, "ana")
	c.createCustomers(t, ana)
	nobody := ident.Customer{}
	dollars, coins, own := newInternal(t, c.platform.ID, ana.ID, "USD"), newInternal(t, c.platform.ID, ana.ID, "BTC"),
		newInternal(t, c.platform.ID, nobody, "USD")
	theirs := newInternal(t, c.otherPlatform.ID, nobody, "USD")
	open := func(accounts ...account.Internal) {
		t.Helper()
		c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error { return tx.OpenInternalAccounts(ctx, accounts) })
	}
	open(dollars, coins, own, theirs, newInternal(t, c.platform.ID, ana.ID, "USD"))
	open(newInternal(t, c.platform.ID, ana.ID, "USD"), newInternal(t, c.platform.ID, nobody, "USD"))
	open()

	for name, test := range map[string]struct {
		platform ident.Platform
		owner    ident.Customer
		currency money.Currency
		kind     account.InternalType
		want     account.Internal
	}{
		"a customer's":           {c.platform.ID, ana.ID, "USD", account.InternalFiat, dollars},
		"in another currency":    {c.platform.ID, ana.ID, "BTC", account.InternalCrypto, coins},
		"of another type":        {c.platform.ID, ana.ID, "BTC", account.EmbeddedWallet, account.Internal{}},
		"the platform's own":     {c.platform.ID, nobody, "USD", account.InternalFiat, own},
		"another platform's":     {c.otherPlatform.ID, nobody, "USD", account.InternalFiat, theirs},
		"one that is not open":   {c.platform.ID, ana.ID, "EUR", account.InternalFiat, account.Internal{}},
		"of a foreign customer":  {c.otherPlatform.ID, ana.ID, "USD", account.InternalFiat, account.Internal{}},
		"own, not open there":    {c.otherPlatform.ID, nobody, "BTC", account.InternalCrypto, account.Internal{}},
		"own, in another's coin": {c.platform.ID, nobody, "BTC", account.InternalCrypto, account.Internal{}},
	} {
		c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
			found, ok, err := tx.InternalAccount(ctx, ports.InternalAccountKey{Platform: test.platform, Owner: test.owner, Currency: test.currency,
				Type: test.kind})
			if ok != !test.want.ID.IsZero() || (ok && !reflect.DeepEqual(found, test.want)) {
				t.Errorf("%s: %+v, %v\nwant %+v", name, found, ok, test.want)
			}
			return err
		})
	}
}

func TestInternalAccount_VisibleBeforeCommit(t *testing.T) {
	t.Parallel()
	// An account opened in a unit of work is found in it, before the commit.
	c := newEnv(t)
	own := newInternal(t, c.platform.ID, ident.Customer{}, "EUR")
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
		if err := tx.OpenInternalAccounts(ctx, []account.Internal{own}); err != nil {
			return err
		}
		found, ok, err := tx.InternalAccount(ctx, ports.InternalAccountKey{Platform: c.platform.ID, Currency: "EUR", Type: account.InternalFiat})
		if !ok || !reflect.DeepEqual(found, own) {
			t.Errorf("found %+v, %v", found, ok)
		}
		return err
	})
}

func TestInternalAccounts_RoundTrip(t *testing.T) {
	t.Parallel()
	// By id or by reference, one or many, inside a unit of work or outside, the same account is
	// read, for its platform only. By reference it is read without instructions.
	c := newEnv(t)
	ana := newCustomer(c.platform, "ana")
	c.createCustomers(t, ana)
	dollars, wallet, foreign := newInternal(t, c.platform.ID, ana.ID, "USD"), newInternal(t, c.platform.ID, ana.ID, "USDB"),
		newInternal(t, c.otherPlatform.ID, ident.Customer{}, "USD")
	dollars.Instructions = []account.Instruction{{Notes: "Pay 'here'", PlatformAccount: true,
		Info: map[string]any{"reference": dollars.Reference}}}
	wallet.Instructions = []account.Instruction{}
	all := []account.Internal{dollars, wallet, foreign}
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error { return tx.OpenInternalAccounts(ctx, all) })

	var inLedger []ledger.Account
	var references []ports.ReferenceKey
	for _, a := range all {
		inLedger = append(inLedger, ledgerAccountOf(a), ledgerAccountOf(newInternal(t, a.Platform, ana.ID, "BTC")))
		references = append(references, ports.ReferenceKey{Platform: a.Platform, Reference: a.Reference},
			ports.ReferenceKey{Platform: a.Platform})
		read, err := c.InternalAccount(t.Context(), a.Platform, a.ID)
		if err != nil || !reflect.DeepEqual(read, a) {
			t.Errorf("read %+v, %v\nwant %+v", read, err, a)
		}
	}
	var locked map[ledger.Account]account.WithBalance
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) (err error) {
		locked, err = tx.LockBalances(ctx, inLedger)
		return err
	})
	byReference, err := c.InternalAccountsByReference(t.Context(),
		append(references, ports.ReferenceKey{Platform: c.otherPlatform.ID, Reference: dollars.Reference}))
	if err != nil || len(locked) != len(inLedger) || len(byReference) != len(all) {
		t.Fatalf("%d locked, %d by reference, %v; want %d and %d", len(locked), len(byReference), err, len(inLedger), len(all))
	}
	for _, a := range all {
		if read := locked[ledgerAccountOf(a)]; !reflect.DeepEqual(read, account.WithBalance{Internal: a}) {
			t.Errorf("locked %+v\nwant %+v", read, a)
		}
		plain := a
		plain.Instructions = nil
		if read := byReference[ports.ReferenceKey{Platform: a.Platform, Reference: a.Reference}]; !reflect.DeepEqual(read, plain) {
			t.Errorf("read by reference %+v\nwant %+v", read, plain)
		}
	}
	if _, err := c.InternalAccount(t.Context(), c.otherPlatform.ID, dollars.ID); !fault.Is(err, fault.InternalAccountNotFound) {
		t.Errorf("another platform's account: %v", err)
	}
}

func TestInternalAccounts_List(t *testing.T) {
	t.Parallel()
	// A list is of all customers, of one, or of the platform, filtered by currency and type, in
	// pages, newest first.
	c := newEnv(t)
	ana, bea := newCustomer(c.platform, "ana"), newCustomer(c.platform, "bea")
	c.createCustomers(t, ana, bea)
	nobody := ident.Customer{}
	anaUSD, anaUSDB := newInternal(t, c.platform.ID, ana.ID, "USD"), newInternal(t, c.platform.ID, ana.ID, "USDB")
	beaUSD, own := newInternal(t, c.platform.ID, bea.ID, "USD"), newInternal(t, c.platform.ID, nobody, "USD")
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
		return tx.OpenInternalAccounts(ctx, []account.Internal{anaUSD, anaUSDB, beaUSD, own, newInternal(t, c.otherPlatform.ID, nobody, "USD")})
	})

	for name, test := range map[string]struct {
		filter ports.InternalAccountFilter
		want   []account.Internal
	}{
		"all customers'": {ports.InternalAccountFilter{}, []account.Internal{beaUSD, anaUSDB, anaUSD}},
		"one customer's": {ports.InternalAccountFilter{Customer: ana.ID}, []account.Internal{anaUSDB, anaUSD}},
		"in a currency":  {ports.InternalAccountFilter{Currency: "USD"}, []account.Internal{beaUSD, anaUSD}},
		"of a type":      {ports.InternalAccountFilter{Type: account.EmbeddedWallet}, []account.Internal{anaUSDB}},
		"the platform's": {ports.InternalAccountFilter{PlatformOwned: true}, []account.Internal{own}},
		"none":           {ports.InternalAccountFilter{PlatformOwned: true, Currency: "EUR"}, nil},
	} {
		var got []account.Internal
		test.filter.Limit = 1
		for more := true; more; {
			page, err := c.InternalAccounts(t.Context(), c.platform.ID, test.filter)
			if err != nil || page.Total != int64(len(test.want)) {
				t.Fatalf("%s: total %d, %v; want %d", name, page.Total, err, len(test.want))
			}
			got, more = append(got, page.Items...), page.More
			if more {
				test.filter.After = got[len(got)-1].ID.UUID()
			}
		}
		if !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: %+v\nwant %+v", name, got, test.want)
		}
	}
}

func TestAddFundingInstructions_OnlyOnce(t *testing.T) {
	t.Parallel()
	// An account opened without instructions gets them later, and keeps them. Which accounts were changed is returned.
	c := newEnv(t)
	own := newInternal(t, c.platform.ID, ident.Customer{}, "USD")
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
		return tx.OpenInternalAccounts(ctx, []account.Internal{own})
	})
	type method = func(*postgres.Unit, context.Context, []account.Internal) ([]ident.InternalAccount, error)
	instruct := func(notes string, store method) (changed []ident.InternalAccount) {
		with := own
		with.Instructions, with.UpdatedAt = []account.Instruction{{Notes: notes}}, noon.Add(time.Hour)
		c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) (err error) {
			changed, err = store(tx, ctx, []account.Internal{with})
			return err
		})
		return changed
	}
	add, replace := (*postgres.Unit).AddFundingInstructions, (*postgres.Unit).ReplaceFundingInstructions

	tooEarly, first, second := instruct("none to replace", replace), instruct("first", add), instruct("second", add)
	if len(tooEarly)+len(second) != 0 || !slices.Equal(first, []ident.InternalAccount{own.ID}) {
		t.Errorf("changed %v, %v and %v", tooEarly, first, second)
	}

	read, err := c.InternalAccount(t.Context(), c.platform.ID, own.ID)
	if err != nil || len(read.Instructions) != 1 || read.Instructions[0].Notes != "first" || !read.UpdatedAt.Equal(noon.Add(time.Hour)) {
		t.Errorf("%+v, %v", read, err)
	}
}
