package payments_test

import (
	"context"
	"errors"
	"maps"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/postgres"
	"causeway/app/internal/apptest"
	"causeway/app/payments"
	"causeway/core/account"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/rail"
	"causeway/core/transaction"
	"causeway/ledger"
	"causeway/ports"
)

// feedRail is an adapter whose feed has the pieces of a test; the cursor is the number of the next piece.
type feedRail struct {
	ports.ConnectedRail
	mu     sync.Mutex
	pieces []ports.RailReport
	polls  int
	before func() // called before a piece is returned
	// balance is the answer to the next question about balances; nil for an error.
	balance *ports.RailBalance
	asked   int
}

func (f *feedRail) Balances(context.Context) ([]ports.RailBalance, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked++
	if f.balance == nil {
		return nil, errors.New("the partner does not answer")
	}
	return []ports.RailBalance{*f.balance}, nil
}

func (f *feedRail) Poll(_ context.Context, cursor string) (ports.RailReport, error) {
	if f.before != nil {
		f.before()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.polls++
	n, _ := strconv.Atoi(cursor)
	if n >= len(f.pieces) {
		return ports.RailReport{Cursor: cursor}, nil
	}
	report := f.pieces[n]
	report.Cursor, report.More = strconv.Itoa(n+1), report.Problem == nil
	return report, nil
}

func (f *feedRail) add(report ports.RailReport) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pieces = append(f.pieces, report)
}

// brokenStore fails the nth step that a feed stores.
type brokenStore struct {
	payments.RailFeedStore
	advance, keep error
}

func (b *brokenStore) AdvanceRailFeed(ctx context.Context, lease ports.RailFeedLease, cursor string, now time.Time) error {
	if b.advance != nil {
		return b.advance
	}
	return b.RailFeedStore.AdvanceRailFeed(ctx, lease, cursor, now)
}

func (b *brokenStore) KeepRailFeedItems(ctx context.Context, items []ports.RailFeedItem) ([]ports.RailFeedItem, error) {
	if b.keep != nil {
		return nil, b.keep
	}
	return b.RailFeedStore.KeepRailFeedItems(ctx, items)
}

type feedEnv struct {
	*env
	t       *testing.T
	adapter *feedRail
	live    ports.LiveConnection
	store   *brokenStore
	feeds   *payments.Feeds
	called  []ports.RailSubject
}

func newFeedEnv(t *testing.T) *feedEnv {
	t.Helper()
	e := &feedEnv{env: newReceivingEnv(t), t: t, adapter: &feedRail{}}
	e.store = &brokenStore{RailFeedStore: e.Store}
	e.live = ports.LiveConnection{Connection: rail.Connection{Name: "bank-usd", Platforms: []ident.Platform{e.Platform.ID}},
		Adapter: e.adapter}
	e.feeds = e.newFeeds()
	return e
}

func (e *feedEnv) newFeeds() *payments.Feeds {
	return e.NewFeeds(payments.FeedConfig{Feeds: e.store, Receipts: e.Store, Balances: e.Store, Statements: e.Store, Received: e.Store,
		Ledger: e.Store.Finance(),
		CallAgain: func(_ context.Context, subjects []ports.RailSubject) error {
			e.called = append(e.called, subjects...)
			return nil
		}})
}

func (e *feedEnv) read() {
	e.t.Helper()
	if err := e.feeds.Read(e.t.Context(), e.live); err != nil {
		e.t.Fatal(err)
	}
}

func (e *feedEnv) receipt(partnerID, reference string, minor int64) ports.RailReceipt {
	return ports.RailReceipt{Receipt: transaction.Receipt{Rail: "ACH", PartnerID: partnerID, Reference: reference,
		Amount: money.Amount{Minor: minor, Currency: "USD"}, At: apptest.Noon}}
}

func (e *feedEnv) reversal(receipt string) ports.ReceiptReversal {
	return ports.ReceiptReversal{Rail: "ACH", Receipt: receipt, PartnerID: "REV-" + receipt, Code: "AC04", Text: "Account closed",
		At: apptest.Noon}
}

func (e *feedEnv) account() string { return e.dollars.LedgerPath() + " USD" }

func (e *feedEnv) items() []ports.RailFeedItem {
	e.t.Helper()
	items, err := e.Store.RailFeedItems(ports.ForAllPlatforms(e.t.Context()), "", 100)
	if err != nil {
		e.t.Fatal(err)
	}
	return items
}

func TestFeeds_EverythingIsPassedOn(t *testing.T) {
	t.Parallel()
	// Money for accounts is credited, other money is unmatched, fees are posted, balances and statements are stored, and
	// calls about news are made, also if pieces are read again from the beginning.
	e := newFeedEnv(t)
	subject := ports.RailSubject{Platform: e.Platform.ID, Subject: e.IDs.New(apptest.Noon)}
	e.adapter.add(ports.RailReport{Receipts: []ports.RailReceipt{e.receipt("1", e.dollars.Reference, 10_00), e.receipt("2", "RENT", 3_00),
		e.receipt("1", e.dollars.Reference, 10_00)}})
	e.adapter.add(ports.RailReport{
		Fees: []ports.RailFee{{Rail: "ACH", PartnerID: "F1", Amount: money.Amount{Minor: 25, Currency: "USD"}, At: apptest.Noon},
			{Rail: "ETHEREUM", PartnerID: "0xab", Amount: money.Amount{Minor: 130_000, Currency: "ETH"}, At: apptest.Noon, Memo: "gas"}},
		Balances:   []ports.RailBalance{{Amount: money.Amount{Minor: 12_75, Currency: "USD"}, At: apptest.Noon}},
		Statements: []ports.RailStatement{{Name: "s.xml", Format: "CAMT053", Data: []byte("<Document/>")}},
		Changed:    []ports.RailSubject{subject},
	})

	for range 2 {
		e.read()
		if err := e.Exec(`UPDATE rail_feeds SET cursor = ''`); err != nil {
			t.Fatal(err)
		}
	}

	e.WantBalances(map[string]int64{e.account(): -10_00, "funding/unmatched USD": -3_00, "rails/ACH USD": 12_75,
		"expense/rails USD": 25, "expense/rails ETH": 130_000, "chains/ETHEREUM ETH": -130_000})
	if balances, err := e.Store.RailBalancesAt(t.Context(), "bank-usd", e.Clock.Now()); err != nil || len(balances) != 1 ||
		balances[0].Amount.Minor != 12_75 {
		t.Errorf("balances %+v, %v", balances, err)
	}
	ctx := ports.ForAllPlatforms(t.Context())
	if s, found, err := e.Store.TakeRailStatement(ctx, time.Hour); err != nil || !found ||
		s.Name != "s.xml" || s.Platform != e.Platform.ID {
		t.Errorf("statement %+v, %v, %v", s, found, err)
	}
	if _, found, err := e.Store.TakeRailStatement(ctx, time.Hour); err != nil || found {
		t.Errorf("a second statement, %v", err)
	}
	if len(e.called) != 2 || e.called[0] != subject {
		t.Errorf("called about %v", e.called)
	}
	if items := e.items(); len(items) != 0 {
		t.Errorf("kept aside %+v", items)
	}
}

func TestFeeds_BalancesAreAskedFor(t *testing.T) {
	t.Parallel()
	// A partner is asked about its balances once in a minute. One that does not answer keeps the last balance, and its
	// reports are taken.
	e := newFeedEnv(t)
	want := ports.RailBalance{Amount: money.Amount{Minor: 70_000_00, Currency: "USD"}, At: apptest.Noon}
	e.adapter.balance = &want
	e.read()
	e.read()
	if e.adapter.asked != 1 {
		t.Errorf("asked %d times in one minute", e.adapter.asked)
	}
	e.Clock.Advance(time.Minute)
	e.adapter.balance = nil
	e.adapter.add(ports.RailReport{Receipts: []ports.RailReceipt{e.receipt("p1", e.dollars.Reference, 50_00)}})

	e.read()

	got, err := e.Store.RailBalancesAt(ports.ForAllPlatforms(t.Context()), e.live.Name, e.Clock.Now())
	if err != nil || len(got) != 1 || got[0].Amount != want.Amount || !got[0].At.Equal(want.At) || e.adapter.asked != 2 {
		t.Errorf("%+v, asked %d times, %v", got, e.adapter.asked, err)
	}
	e.WantBalances(map[string]int64{"rails/ACH USD": 50_00, e.account(): -50_00})
}

func TestFeeds_CrashBeforeTheCursor(t *testing.T) {
	t.Parallel()
	// A process that stops after it has passed on a piece and before it stores the cursor, or before it stores what it
	// keeps aside, loses nothing and credits nothing twice.
	e := newFeedEnv(t)
	stops := errors.New("process stopped")
	e.adapter.add(ports.RailReport{Receipts: []ports.RailReceipt{e.receipt("1", e.dollars.Reference, 10_00), e.receipt("2", "RENT", 0)}})

	for _, broken := range []*error{&e.store.keep, &e.store.advance} {
		*broken = stops
		if err := e.feeds.Read(t.Context(), e.live); !errors.Is(err, stops) {
			t.Fatalf("reading ended with %v", err)
		}
		*broken = nil
		e.Clock.Advance(time.Hour) // after the lease and the delay
	}
	e.feeds = e.newFeeds() // of another process
	e.read()

	e.WantBalances(map[string]int64{e.account(): -10_00, "rails/ACH USD": 10_00})
	if items := e.items(); len(items) != 1 || items[0].Kind != ports.RailFeedReceipt || items[0].Key != "ACH/2" {
		t.Errorf("kept aside %+v", items)
	}
	states, err := e.Store.RailFeedStates(ports.ForAllPlatforms(t.Context()))
	if err != nil || len(states) != 1 || states[0].Failures != 0 || states[0].Waiting != 1 {
		t.Errorf("states %+v, %v", states, err)
	}
}

func TestFeeds_TwoProcesses(t *testing.T) {
	t.Parallel()
	// Of two processes one reads. When the other takes over after the lease of the first has ended, the first, which
	// still has a piece, credits nothing twice and does not move the cursor.
	e := newFeedEnv(t)
	second := e.newFeeds()
	e.adapter.add(ports.RailReport{Receipts: []ports.RailReceipt{e.receipt("1", e.dollars.Reference, 10_00)}})
	e.adapter.before = func() {
		e.adapter.before = nil
		if err := second.Read(t.Context(), e.live); err != nil || e.adapter.polls != 0 {
			t.Errorf("while the first holds the lease: %d polls, %v", e.adapter.polls, err)
		}
		e.Clock.Advance(time.Hour)
		if err := second.Read(t.Context(), e.live); err != nil {
			t.Error(err)
		}
	}

	e.read()

	e.WantBalances(map[string]int64{e.account(): -10_00, "rails/ACH USD": 10_00})
	if got := e.QueryStrings(`SELECT cursor || ' ' || fence FROM rail_feeds`); len(got) != 1 || got[0] != "1 2" {
		t.Errorf("the feed is at %v, want cursor 1 of the second lease", got)
	}
}

func TestFeeds_ItemsKeptAside(t *testing.T) {
	t.Parallel()
	// What cannot be taken does not block what follows: it is kept aside, and taken when its problem is solved.
	e := newFeedEnv(t)
	other := e.NewPlatform()
	e.live.Platforms = append(e.live.Platforms, other.ID)
	elsewhere := e.NewInternalAccountOn(other.ID, ident.Customer{}, "USD", 0)
	unknownRail := e.receipt("4", e.dollars.Reference, 1_00)
	unknownRail.Rail = "PIGEON"
	gas := e.receipt("5", e.dollars.Reference, 1_00)
	gas.Amount.Currency = "ETH"
	e.adapter.add(ports.RailReport{
		Receipts: []ports.RailReceipt{e.receipt("1", e.dollars.Reference, -5), e.receipt("2", e.dollars.Reference, money.MaxMinor+1),
			e.receipt("3", "NOBODY", 2_00), unknownRail, gas,
			e.receipt("6", e.dollars.Reference, 7_00), e.receipt("7", elsewhere.Reference, 8_00)},
		Fees:       []ports.RailFee{{Rail: "ACH", PartnerID: "F1", Amount: money.Amount{Minor: 25, Currency: "USD"}, At: apptest.Noon}},
		Statements: []ports.RailStatement{{Name: "s.xml", Format: "CAMT053", Data: []byte("<Document/>")}},
	})

	e.read()

	if items := e.items(); len(items) != 7 {
		t.Fatalf("%d items are kept aside: %+v", len(items), items)
	}
	e.Clock.Advance(time.Minute)
	e.live.Unmatched = e.Platform.ID
	e.read()

	left := map[string]bool{}
	for _, item := range e.items() {
		left[item.Key] = true
		if item.Attempts != 2 || item.Problem == "" {
			t.Errorf("%+v", item)
		}
	}
	if len(left) != 4 || !left["ACH/1"] || !left["ACH/2"] || !left["PIGEON/4"] || !left["ACH/5"] {
		t.Errorf("left are %v", left)
	}
	e.WantBalances(map[string]int64{e.account(): -7_00, "funding/unmatched USD": -2_00, "rails/ACH USD": 8_75, "expense/rails USD": 25})
	credited, err := e.Store.LedgerReader().Balances(t.Context(), []ledger.Account{elsewhere.LedgerAccount()})
	if err != nil || credited[elsewhere.LedgerAccount()] != 8_00 {
		t.Errorf("the account of the other platform has %v, %v", credited, err)
	}
}

func TestFeeds_PlatformThatTheConnectionDoesNotServe(t *testing.T) {
	t.Parallel()
	// A partner names another platform than those of its connection: nothing of it is taken, until an operator lets the
	// connection serve that platform.
	e := newFeedEnv(t)
	other := e.NewPlatform()
	elsewhere := e.NewInternalAccountOn(other.ID, ident.Customer{}, "USD", 0)
	foreign, unknown := e.receipt("1", elsewhere.Reference, 8_00), e.receipt("2", e.dollars.Reference, 1_00)
	foreign.Platform, unknown.Platform = other.ID, ident.NewPlatform(func(time.Time) uuid.UUID { return uuid.New() }, apptest.Noon)
	reversal := e.reversal("9")
	reversal.Platform = other.ID
	e.adapter.add(ports.RailReport{Receipts: []ports.RailReceipt{foreign, unknown, e.receipt("3", e.dollars.Reference, 7_00)},
		Reversals: []ports.ReceiptReversal{reversal},
		Fees: []ports.RailFee{{Platform: other.ID, Rail: "ACH", PartnerID: "F1", Amount: money.Amount{Minor: 25, Currency: "USD"},
			At: apptest.Noon}}})

	e.read()

	for _, item := range e.items() {
		if !strings.Contains(item.Problem, "which the connection does not serve") {
			t.Errorf("%+v", item)
		}
	}
	if n := len(e.items()); n != 4 {
		t.Errorf("%d items are kept aside, want 4", n)
	}
	e.WantBalances(map[string]int64{e.account(): -7_00, "rails/ACH USD": 7_00})

	e.live.Platforms = append(e.live.Platforms, other.ID)
	e.Clock.Advance(time.Minute)
	e.read()
	credited, err := e.Store.LedgerReader().Balances(t.Context(), []ledger.Account{elsewhere.LedgerAccount()})
	if err != nil || credited[elsewhere.LedgerAccount()] != 8_00 {
		t.Errorf("the account of the other platform has %v, %v", credited, err)
	}
}

func TestFeeds_ReversalOfEveryReceipt(t *testing.T) {
	t.Parallel()
	// What is taken back leaves the partner: unmatched money goes back, and what an account or a quote was funded with
	// is owed by the customer. It changes nothing when it is reported again, also before the receipt.
	e := newFeedEnv(t)
	e.adapter.add(ports.RailReport{
		Receipts:  []ports.RailReceipt{e.receipt("1", e.dollars.Reference, 10_00), e.receipt("2", "RENT", 3_00), e.receipt("3", "KEPT", 4_00)},
		Reversals: []ports.ReceiptReversal{e.reversal("1"), e.reversal("2"), e.reversal("2"), e.reversal("later")},
	})
	e.read()
	if items := e.items(); len(items) != 1 || items[0].Kind != ports.RailFeedReversal {
		t.Fatalf("kept aside %+v", items)
	}
	e.adapter.add(ports.RailReport{Receipts: []ports.RailReceipt{e.receipt("later", e.dollars.Reference, 20_00)}})
	e.adapter.add(ports.RailReport{Reversals: []ports.ReceiptReversal{e.reversal("1"), e.reversal("2"), e.reversal("later")}})

	e.read()

	if items := e.items(); len(items) != 0 {
		t.Errorf("kept aside %+v", items)
	}
	e.WantBalances(map[string]int64{e.account(): -30_00, "customer-receivables/" + e.dollars.ID.String() + " USD": 30_00,
		"funding/unmatched USD": -4_00, "rails/ACH USD": 4_00})
	page, err := e.Store.Unmatched(t.Context(), e.Platform.ID, ports.UnmatchedFilter{Assigned: new(false), Limit: 10})
	if err != nil || len(page.Items) != 1 || page.Items[0].Receipt.PartnerID != "3" {
		t.Errorf("unmatched are %+v, %v", page.Items, err)
	}
	owed, err := e.Store.Receivables(t.Context(), e.Platform.ID, ports.ReceivableFilter{Paging: ports.Paging{Limit: 10}})
	if err != nil || len(owed.Items) != 2 || owed.Items[0].ReasonCode != "AC04" || owed.Items[0].Note != "Account closed" {
		t.Errorf("owed are %+v, %v", owed.Items, err)
	}
}

func TestFeeds_ReversalAfterSendBack(t *testing.T) {
	t.Parallel()
	// Unmatched money that was sent back to its payer, and is then taken back by the partner too, is a loss.
	e := newFeedEnv(t)
	e.adapter.add(ports.RailReport{Receipts: []ports.RailReceipt{e.receipt("1", "RENT", 3_00)}})
	e.read()
	page, err := e.Store.Unmatched(t.Context(), e.Platform.ID, ports.UnmatchedFilter{Limit: 10})
	if err != nil || len(page.Items) != 1 {
		t.Fatalf("%+v, %v", page, err)
	}
	u := page.Items[0]
	posting, err := u.SendBack(transaction.BeforeSendBack{}, "Unknown payer", e.Clock.Now())
	if err != nil {
		t.Fatal(err)
	}
	e.Do(func(ctx context.Context, tx *postgres.Unit) error {
		return tx.AssignUnmatched(ctx, u, transaction.Assignment{Note: "Unknown payer", By: transaction.ReversedBy, At: e.Clock.Now()})
	})
	e.Post(posting, u.Receipt.SentBack("rails/ACH", e.Clock.Now()))

	for range 2 {
		e.adapter.add(ports.RailReport{Reversals: []ports.ReceiptReversal{e.reversal("1")}})
		e.read()
	}

	e.WantBalances(map[string]int64{"rails/ACH USD": -3_00, "expense/chargebacks USD": 3_00})
}

func TestFeeds_ManyDeposits(t *testing.T) {
	t.Parallel()
	// A thousand payments of one block are credited in batches: with far fewer commits than payments.
	e := newFeedEnv(t)
	const n = 1000
	var receipts []ports.RailReceipt
	for i := range n {
		receipts = append(receipts, e.receipt("block/"+strconv.Itoa(i), e.dollars.Reference, 1_00))
	}
	e.adapter.add(ports.RailReport{Receipts: receipts})
	started := time.Now()

	e.read()

	e.WantBalances(map[string]int64{e.account(): -n * 1_00, "rails/ACH USD": n * 1_00})
	recorded := e.QueryStrings(`SELECT DISTINCT xmin::text FROM ledger_postings`)
	t.Logf("%d deposits in %s and %d commits", n, time.Since(started), len(recorded))
	if len(recorded) > 100 {
		t.Errorf("%d commits for %d deposits", len(recorded), n)
	}
}

func TestFeeds_PayersAreGivenToRefunds(t *testing.T) {
	t.Parallel()
	// The account that a partner names as the payer is given to the refund of a quote, of a second payment for it, and of
	// unmatched money that is sent back. It is kept with the customer for whom the money was, and once.
	env, partner := newPartnerEnv(t)
	adapter := &feedRail{}
	live := ports.LiveConnection{Connection: rail.Connection{Name: "bank-usd", Platforms: []ident.Platform{env.Platform.ID}}, Adapter: adapter}
	feeds := env.NewFeeds(payments.FeedConfig{Feeds: env.Store, Receipts: env.Store, Balances: env.Store, Statements: env.Store,
		Received: env.Store, Ledger: env.Store.Finance()})
	to := env.NewWallet("spark1good")
	refunded, paid := env.quote(t, "USD", 100_00, to), env.quote(t, "USD", 50_00, to)
	var receipts []ports.RailReceipt
	for partnerID, r := range map[string]struct {
		reference string
		minor     int64
	}{
		"other-amount": {refunded.Reference, 90_00}, "first": {paid.Reference, 50_00}, "unknown": {"RENT", 3_00},
		"deposit": {env.dollars.Reference, 7_00},
	} {
		payer := account.External{Type: account.USAccount, Currency: "USD", Fields: map[string]string{"accountNumber": "of " + partnerID}}
		receipts = append(receipts, ports.RailReceipt{Payer: &payer, Receipt: transaction.Receipt{Rail: "ACH", PartnerID: partnerID,
			Reference: r.reference,
			Amount:    money.Amount{Minor: r.minor, Currency: "USD"}, At: apptest.Noon}})
	}
	second := receipts[0]
	second.PartnerID, second.Reference, second.Payer = "second", paid.Reference, &account.External{Type: account.USAccount, Currency: "USD",
		Fields: map[string]string{"accountNumber": "of second"}}
	nameless := second
	nameless.PartnerID, nameless.Payer = "nameless", nil
	adapter.add(ports.RailReport{Receipts: receipts})
	adapter.add(ports.RailReport{Receipts: append(receipts, second, nameless)})
	if err := feeds.Read(t.Context(), live); err != nil {
		t.Fatal(err)
	}
	page, err := env.Store.Unmatched(t.Context(), env.Platform.ID, ports.UnmatchedFilter{Limit: 10})
	if err != nil || len(page.Items) != 1 {
		t.Fatalf("%+v, %v", page, err)
	}
	u := page.Items[0]
	posting, err := u.SendBack(transaction.BeforeSendBack{}, "Unknown payer", env.Clock.Now())
	if err != nil {
		t.Fatal(err)
	}
	env.Post(posting)
	env.Do(func(ctx context.Context, tx *postgres.Unit) error {
		if err := tx.AssignUnmatched(ctx, u, transaction.Assignment{Note: "Unknown payer", By: transaction.ReversedBy,
			At: env.Clock.Now()}); err != nil {
			return err
		}
		return tx.AddJobs(ctx, []ports.Job{{ID: env.IDs.New(env.Clock.Now()), Platform: env.Platform.ID, Step: transaction.StepSendBack,
			Subjects: []uuid.UUID{u.Receipt.ID.UUID()}, Due: env.Clock.Now()}})
	})
	partner.set(ports.Outcome{Verdict: ports.Done})

	env.runDue(t)

	got := map[string]string{}
	for _, r := range partner.refunds {
		got[r.Original.PartnerID] = "unknown payer"
		if r.Original.Payer != nil {
			got[r.Original.PartnerID] = r.Original.Payer.Fields["accountNumber"]
		}
	}
	want := map[string]string{"other-amount": "of other-amount", "second": "of second", "unknown": "of unknown", "nameless": "unknown payer"}
	if !maps.Equal(got, want) {
		t.Errorf("refunds to %v, want %v", got, want)
	}
	owned := env.QueryStrings(`SELECT count(*) || ' ' || count(*) FILTER (WHERE customer_id IS NULL) FROM receipt_payers`)
	if owned[0] != "5 1" {
		t.Errorf("payers and those of nobody are %s, want 5 and 1", owned[0])
	}
}

func TestFeeds_ReceiptInACurrencyThatIsNotCarried(t *testing.T) {
	t.Parallel()
	// Money in a currency that the connection does not carry is kept aside, and taken when the connection carries it.
	env := newFeedEnv(t)
	env.live.Currencies = []money.Currency{"USD"}
	r := env.NewReceipt("ACH", "", money.Amount{Minor: 5_00, Currency: "EUR"})
	env.adapter.add(ports.RailReport{Receipts: []ports.RailReceipt{{Receipt: r}}})
	env.read()

	items, err := env.Store.RailFeedItems(ports.ForAllPlatforms(t.Context()), "", 10)
	if err != nil || len(items) != 1 || items[0].Kind != ports.RailFeedReceipt || !strings.Contains(items[0].Problem, "does not carry EUR") {
		t.Fatalf("%+v, %v", items, err)
	}
	env.live.Currencies = append(env.live.Currencies, "EUR")
	env.Clock.Advance(time.Hour)
	env.read()
	if items, err := env.Store.RailFeedItems(ports.ForAllPlatforms(t.Context()), "", 10); err != nil || len(items) != 0 {
		t.Errorf("%+v, %v", items, err)
	}
}
