package ledgerdb_test

import (
	"context"
	"errors"
	"math"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/ledgerdb"
	"causeway/core/money"
	"causeway/ledger"
	"causeway/ports"
)

func TestPost_RampEntries(t *testing.T) {
	t.Parallel()
	// The postings of an on-ramp are stored as they were posted, entry by entry, numbered and
	// recorded in order.
	h := newEnv(t)
	transaction := newTransaction()
	header := func() ledger.Header {
		header := h.newHeader()
		header.Transaction, header.Memo = transaction, "ramp"
		return header
	}
	steps := []ledger.Posting{
		ledger.JITReceived(header(), ledger.Rail("RTP"), usd(10050)),
		ledger.Converted(header(), ledger.Conversion{
			From: ledger.FundingJIT, To: ledger.TransitPayouts, Sent: usd(10050), Fees: 50, Received: btc(100_000)}),
		ledger.Delivered(header(), ledger.Chain("LAYER2"), btc(100_000)),
	}

	h.mustPost(steps...)

	for a, want := range map[ledger.Account]int64{
		h.account(ledger.Rail("RTP"), money.USD):     10050,
		h.account(ledger.FundingJIT, money.USD):      0,
		h.account(ledger.IncomeFees, money.USD):      50,
		h.account(ledger.FXPosition, money.USD):      10000,
		h.account(ledger.FXPosition, money.BTC):      -100_000,
		h.account(ledger.TransitPayouts, money.BTC):  0,
		h.account(ledger.Chain("LAYER2"), money.BTC): -100_000,
	} {
		h.wantBalance(a, want)
	}
	page, err := h.reader().Entries(context.Background(), ports.EntryFilter{Platform: h.platform, Transaction: transaction})
	if err != nil || page.More {
		t.Fatal(page.More, err)
	}
	var got []ledger.Posting
	for _, e := range page.Entries {
		if e.Position.N == 1 {
			got = append(got, ledger.Posting{ID: e.Posting, Platform: h.platform, Kind: e.Kind, Transaction: e.Transaction,
				Effective: e.Effective, Memo: e.Memo})
		}
		last := &got[len(got)-1]
		last.Entries = append(last.Entries, e.Entry)
		if e.Position.Seq != int64(len(got)) || e.Position.N != len(last.Entries) {
			t.Errorf("%+v is entry %d of posting %d", e, len(last.Entries), len(got))
		}
		if want := noon.Add(time.Duration(len(got)-1) * time.Microsecond); !e.Recorded.Equal(want) {
			t.Errorf("posting %d was recorded at %s, want %s", len(got), e.Recorded, want)
		}
	}
	if len(got) != len(steps) {
		t.Fatalf("%d postings, want %d", len(got), len(steps))
	}
	for i := range steps {
		if !got[i].Equal(steps[i]) {
			t.Errorf("posted %+v\nfound %+v", steps[i], got[i])
		}
	}
}

func TestPost_RepeatChangesNothing(t *testing.T) {
	t.Parallel()
	// The same postings again, alone, with new ones or twice in a batch, change nothing. The
	// same id with other content is refused, and nothing of its batch is written.
	h := newEnv(t)
	alice := newInternal()
	account := h.account(ledger.CustomerAccount(alice), money.USD)
	first, second, third := h.deposit(alice, 100), h.deposit(alice, 20), h.deposit(alice, 3)
	h.mustPost(first)

	h.mustPost(first)
	h.wantBalance(account, 100)

	h.mustPost(second, first, second)
	h.wantBalance(account, 120)

	other := first
	other.Memo = "another story"
	if err := h.post(noon, third, other); !errors.Is(err, ledger.ErrConflict) {
		t.Errorf("got %v, want ErrConflict", err)
	}
	again := third
	again.Memo = "another story"
	if err := h.post(noon, third, again); !errors.Is(err, ledger.ErrConflict) {
		t.Errorf("within a batch: got %v, want ErrConflict", err)
	}
	h.wantBalance(account, 120)
	if n := h.count("SELECT seq FROM ledger_clocks"); n != 2 {
		t.Errorf("%d postings are numbered, want 2", n)
	}
}

func TestPost_ShortageRefusesBatch(t *testing.T) {
	t.Parallel()
	// The error names each account that would be overdrawn and the first posting that does it.
	// Nothing of the batch is written, even if the transaction continues.
	h := newEnv(t)
	alice, bob := newInternal(), newInternal()
	h.mustPost(h.deposit(alice, 100), h.deposit(bob, 10))
	fine, tooMuch, bobs := h.spend(alice, 60), h.spend(alice, 41), h.spend(bob, 11)

	ctx := context.Background()
	err := pgx.BeginFunc(ctx, h.pool, func(tx pgx.Tx) error {
		err := h.store.Post(ctx, tx, noon, []ledger.Posting{fine, tooMuch, bobs})
		var short *ledger.InsufficientBalanceError
		if !errors.As(err, &short) {
			t.Fatalf("got %v, want an InsufficientBalanceError", err)
		}
		want := map[ledger.Shortfall]bool{
			{Account: h.account(ledger.CustomerAccount(alice), money.USD), Posting: tooMuch.ID, Balance: 40, After: -1}: true,
			{Account: h.account(ledger.CustomerAccount(bob), money.USD), Posting: bobs.ID, Balance: 10, After: -1}:      true,
		}
		for _, s := range short.Shortfalls {
			if !want[s] {
				t.Errorf("unexpected %+v", s)
			}
			delete(want, s)
		}
		for s := range want {
			t.Errorf("missing %+v", s)
		}
		return h.store.Post(ctx, tx, noon, []ledger.Posting{fine})
	})

	if err != nil {
		t.Fatal(err)
	}
	h.wantBalance(h.account(ledger.CustomerAccount(alice), money.USD), 40)
	h.wantBalance(h.account(ledger.CustomerAccount(bob), money.USD), 10)
	if n := h.count("SELECT seq FROM ledger_clocks"); n != 3 {
		t.Errorf("%d postings are numbered, want 3", n)
	}
}

func TestPost_ChecksBalanceAtEveryPosting(t *testing.T) {
	t.Parallel()
	// A credit later in the batch does not cover a debit before it.
	h := newEnv(t)
	alice := newInternal()
	in, out := h.deposit(alice, 5), h.spend(alice, 5)

	var short *ledger.InsufficientBalanceError
	if err := h.post(noon, out, in); !errors.As(err, &short) {
		t.Errorf("out, then in: got %v, want an InsufficientBalanceError", err)
	}
	if err := h.post(noon, in, out); err != nil {
		t.Errorf("in, then out: %v", err)
	}
	h.wantBalance(h.account(ledger.CustomerAccount(alice), money.USD), 0)
}

func TestPost_OverflowRefused(t *testing.T) {
	t.Parallel()
	// A stored balance that would overflow is refused, and nothing is written.
	h := newEnv(t)
	alice := newInternal()
	account := h.account(ledger.CustomerAccount(alice), money.USD)
	h.mustPost(h.deposit(alice, 1))
	if _, err := h.ownerConn().Exec(context.Background(), "UPDATE ledger_balances SET balance = $1", int64(math.MaxInt64-5)); err != nil {
		t.Fatal(err)
	}

	if err := h.post(noon, h.deposit(alice, 6)); !errors.Is(err, ledger.ErrOverflow) {
		t.Errorf("got %v, want ErrOverflow", err)
	}
	if err := h.post(noon, h.deposit(alice, 5)); err != nil {
		t.Errorf("a full account was refused: %v", err)
	}
	h.wantBalance(account, math.MaxInt64)
}

func TestBalances_OverflowIsError(t *testing.T) {
	t.Parallel()
	// Accounts that may be overdrawn have no stored balance to check. Reading a sum above the
	// largest number is an error, never a wrong number.
	h := newEnv(t)
	batch := make([]ledger.Posting, math.MaxInt64/ledger.MaxAmount+1)
	for i := range batch {
		batch[i] = ledger.JITReceived(h.newHeader(), ledger.Rail("RTP"), usd(ledger.MaxAmount))
	}
	h.mustPost(batch...)

	_, err := h.reader().Balances(context.Background(), []ledger.Account{h.account(ledger.FundingJIT, money.USD)})

	if !errors.Is(err, ledger.ErrOverflow) {
		t.Errorf("got %v, want ErrOverflow", err)
	}
}

func TestPost_ReversedOnce(t *testing.T) {
	t.Parallel()
	// A posting is reversed once, by its mirror, after it or in the same batch.
	h := newEnv(t)
	alice := newInternal()
	deposit, later := h.deposit(alice, 100), h.deposit(alice, 7)
	reverse := func(p ledger.Posting) ledger.Posting { return ledger.Reverse(p, newID(), noon, "wrong") }
	h.mustPost(deposit)

	crooked := reverse(deposit)
	crooked.Entries[0].Amount--
	for name, batch := range map[string][]ledger.Posting{
		"of nothing":            {reverse(h.deposit(alice, 1))},
		"that is no mirror":     {crooked},
		"before what it undoes": {reverse(later), later},
	} {
		if err := h.post(noon, batch...); !errors.Is(err, ledger.ErrNotReversible) {
			t.Errorf("reversal %s: got %v, want ErrNotReversible", name, err)
		}
	}
	undo := reverse(deposit)
	h.mustPost(undo, later, reverse(later), h.deposit(alice, 500))
	h.mustPost(undo)
	if err := h.post(noon, reverse(deposit)); !errors.Is(err, ledger.ErrNotReversible) {
		t.Errorf("a second reversal: got %v, want ErrNotReversible", err)
	}
	h.mustPost(reverse(undo))

	h.wantBalance(h.account(ledger.CustomerAccount(alice), money.USD), 600)
}

func TestPost_ManyPlatforms(t *testing.T) {
	t.Parallel()
	// A batch may have postings of several platforms. Each platform has its own numbers and ids.
	h, other := newEnv(t), newPlatform()
	here := ledger.JITReceived(h.newHeader(), ledger.Rail("RTP"), usd(5))
	there := here
	there.Platform = other

	h.mustPost(here, there, ledger.JITReceived(newHeaderFor(other), ledger.Rail("RTP"), usd(1)))

	h.wantBalance(h.account(ledger.FundingJIT, money.USD), 5)
	h.wantBalance(ledger.Account{Platform: other, Path: ledger.FundingJIT, Currency: money.USD}, 6)
	if n := h.count("SELECT seq FROM ledger_clocks WHERE platform_id = $1", other.UUID()); n != 2 {
		t.Errorf("the other platform numbered %d, want 2", n)
	}
}

func TestPost_RecordedTimeIsMonotonic(t *testing.T) {
	t.Parallel()
	// If the clock stops or goes back, recorded time still advances by a microsecond.
	h := newEnv(t)
	post := func(now time.Time) {
		t.Helper()
		if err := h.post(now, ledger.JITReceived(h.newHeader(), ledger.Rail("RTP"), usd(1))); err != nil {
			t.Fatal(err)
		}
	}
	for _, now := range []time.Time{noon, noon, noon.Add(-time.Hour), noon.Add(time.Second), noon.Add(1_500 * time.Nanosecond)} {
		post(now)
	}

	page, err := h.reader().Entries(context.Background(), ports.EntryFilter{Platform: h.platform})
	if err != nil {
		t.Fatal(err)
	}
	for i, after := range []time.Duration{0, 1000, 2000, time.Second, time.Second + 1000} {
		if got := page.Entries[i].Recorded; !got.Equal(noon.Add(after)) {
			t.Errorf("posting %d was recorded at %s, want noon and %s", i+1, got, after)
		}
	}
}

func TestPost_RolledBackAccountsNotCached(t *testing.T) {
	t.Parallel()
	// An account created in a transaction that was rolled back is created again by the next.
	h := newEnv(t)
	ctx := context.Background()
	posting := ledger.JITReceived(h.newHeader(), ledger.Rail("RTP"), usd(5))
	gaveUp := errors.New("gave up")
	err := pgx.BeginFunc(ctx, h.pool, func(tx pgx.Tx) error {
		for range 2 { // the second finds what the first has made
			if err := h.store.Post(ctx, tx, noon, []ledger.Posting{posting}); err != nil {
				return err
			}
		}
		return gaveUp
	})
	if !errors.Is(err, gaveUp) {
		t.Fatal(err)
	}

	h.mustPost(posting)

	h.wantBalance(h.account(ledger.FundingJIT, money.USD), 5)
}

func TestPost_ConcurrentFirstPostingsCreateAccountsOnce(t *testing.T) {
	t.Parallel()
	// Concurrent postings to new accounts create each account once.
	h := newEnv(t)
	alice := newInternal()
	var group sync.WaitGroup
	for range 20 {
		group.Go(func() {
			fresh := ledgerdb.New() // a process of its own: it knows no accounts
			ctx := context.Background()
			err := pgx.BeginFunc(ctx, h.pool, func(tx pgx.Tx) error {
				return fresh.Post(ctx, tx, noon, []ledger.Posting{h.deposit(alice, 1), ledger.JITReceived(h.newHeader(), ledger.Rail("RTP"), usd(1))})
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()

	h.wantBalance(h.account(ledger.CustomerAccount(alice), money.USD), 20)
	if n := h.count("SELECT count(*) FROM ledger_accounts"); n != 4 {
		t.Errorf("%d accounts, want 4", n)
	}
}

func TestPost_ConcurrentSpendsNeverOverdraw(t *testing.T) {
	t.Parallel()
	// Two hundred concurrent postings of one unit each from an account with one hundred:
	// exactly one hundred succeed, the others are refused, and the balance is zero.
	h := newEnv(t)
	alice := newInternal()
	account := h.account(ledger.CustomerAccount(alice), money.USD)
	h.mustPost(h.deposit(alice, 100))
	var group sync.WaitGroup
	results := make(chan error, 200)
	for range 200 {
		group.Go(func() { results <- h.post(noon, h.spend(alice, 1)) })
	}
	group.Wait()
	close(results)

	paid := 0
	for err := range results {
		var short *ledger.InsufficientBalanceError
		switch {
		case err == nil:
			paid++
		case !errors.As(err, &short):
			t.Errorf("got %v, want an InsufficientBalanceError", err)
		}
	}
	if paid != 100 {
		t.Errorf("%d succeeded, want 100", paid)
	}
	h.wantBalance(account, 0)
}

func TestPost_ConcurrentSameIDWritesOnce(t *testing.T) {
	t.Parallel()
	// Concurrent calls with the same posting write it once, and all succeed.
	h := newEnv(t)
	alice := newInternal()
	posting := h.deposit(alice, 100)
	var group sync.WaitGroup
	for range 50 {
		group.Go(func() {
			if err := h.post(noon, posting); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()

	h.wantBalance(h.account(ledger.CustomerAccount(alice), money.USD), 100)
	if n := h.count("SELECT count(*) FROM ledger_postings"); n != 1 {
		t.Errorf("%d postings, want 1", n)
	}
}

func TestBalances_LockedBalancesSuffice(t *testing.T) {
	t.Parallel()
	// A caller that locks balances and then spends exactly these is never refused, however many
	// do so at the same time.
	h := newEnv(t)
	alice, bob := newInternal(), newInternal()
	accounts := []ledger.Account{
		h.account(ledger.CustomerAccount(bob), money.USD), h.account(ledger.CustomerAccount(alice), money.USD),
		h.account(ledger.CustomerAccount(newInternal()), money.USD), // never used: zero
	}
	h.mustPost(h.deposit(alice, 1000), h.deposit(bob, 1000))
	ctx := context.Background()
	var group sync.WaitGroup
	for i := range 40 {
		group.Go(func() {
			err := pgx.BeginFunc(ctx, h.pool, func(tx pgx.Tx) error {
				balances, err := h.store.Balances(ctx, tx, accounts, ledgerdb.Lock)
				if err != nil {
					return err
				}
				if len(balances) != 3 || balances[accounts[2]] != 0 {
					t.Errorf("balances %v", balances)
				}
				half := []ledger.Posting{
					h.spend(alice, balances[accounts[1]]/2+1), h.deposit(alice, 1), h.deposit(bob, 1), h.spend(bob, balances[accounts[0]]/2+1),
				}
				return h.store.Post(ctx, tx, noon.Add(time.Duration(i)), half)
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()

	if _, err := h.store.Balances(ctx, h.ownerConn(), []ledger.Account{h.account(ledger.FundingJIT, money.USD)}, ledgerdb.Lock); err == nil {
		t.Error("an account without a balance of its own was locked")
	}
}
