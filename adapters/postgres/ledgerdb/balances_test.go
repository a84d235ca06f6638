package ledgerdb_test

import (
	"context"
	"testing"
	"time"

	"pgregory.net/rapid"

	"causeway/core/money"
	"causeway/ledger"
	"causeway/ports"
)

func TestBalanceAt_EffectiveAndRecordedTime(t *testing.T) {
	t.Parallel()
	// A payment of Monday that is recorded on Wednesday counts from Monday by effective time,
	// and from Wednesday by recorded time.
	h := newEnv(t)
	alice := newInternal()
	account := h.account(ledger.CustomerAccount(alice), money.USD)
	day := func(n int) time.Time { return noon.AddDate(0, 0, n) }
	post := func(recorded, effective time.Time, p ledger.Posting) {
		t.Helper()
		p.Effective = effective
		if err := h.post(recorded, p); err != nil {
			t.Fatal(err)
		}
	}
	post(day(2), day(2), h.deposit(alice, 100))
	post(day(4), day(1), h.deposit(alice, 7)) // late
	post(day(5), day(9), h.spend(alice, 20))  // early

	for _, c := range []struct {
		by   ports.TimeKind
		at   time.Time
		want int64
	}{
		{ports.ByRecorded, day(2).Add(-time.Microsecond), 0},
		{ports.ByRecorded, day(2), 100},
		{ports.ByRecorded, day(3), 100},
		{ports.ByRecorded, day(4), 107},
		{ports.ByRecorded, day(5), 87},
		{ports.ByEffective, day(1).Add(-time.Microsecond), 0},
		{ports.ByEffective, day(1), 7},
		{ports.ByEffective, day(2), 107},
		{ports.ByEffective, day(8), 107},
		{ports.ByEffective, day(9), 87},
	} {
		got, err := h.reader().BalanceAt(context.Background(), account, c.by, c.at)
		if err != nil || got != c.want {
			t.Errorf("by %d at %s: %d, %v; want %d", c.by, c.at, got, err, c.want)
		}
	}
	unused := h.account(ledger.CustomerAccount(newInternal()), money.USD)
	if got, err := h.reader().BalanceAt(context.Background(), unused, ports.ByEffective, noon); got != 0 || err != nil {
		t.Errorf("an account never used: %d, %v", got, err)
	}
}

func TestBalanceAt_SameWithSnapshots(t *testing.T) {
	t.Parallel()
	// Wherever snapshots are, every balance at every time, by effective and by recorded time,
	// equals the plain sum over the postings.
	h := newEnv(t)
	ctx := context.Background()
	alice := newInternal()
	accounts := []ledger.Account{
		h.account(ledger.CustomerAccount(alice), money.USD), h.account(ledger.Rail("ACH"), money.USD),
		h.account(ledger.FundingJIT, money.USD), h.account(ledger.CustomerAccount(newInternal()), money.USD),
	}
	var posted []ledger.Posting
	random := rapid.Custom(func(t *rapid.T) ledger.Posting {
		p := h.deposit(alice, rapid.Int64Range(1, 100).Draw(t, "amount"))
		switch rapid.IntRange(0, 40).Draw(t, "kind") {
		case 0:
			p = ledger.Deposit(h.newHeader(), ledger.IncomingFunds{Partner: ledger.Rail("ACH"), To: accounts[3].Path, Amount: usd(9)})
		case 1, 2, 3, 4, 5, 6, 7, 8:
			p = ledger.JITReceived(h.newHeader(), ledger.Rail("ACH"), usd(5))
		}
		p.Effective = noon.Add(time.Duration(len(posted)) * time.Second)
		if rapid.IntRange(0, 50).Draw(t, "dated") == 0 {
			p.Effective = noon.Add(time.Duration(rapid.IntRange(-100, 4000).Draw(t, "effective")) * time.Second)
		}
		return p
	})
	for i := range 3 {
		for n := range 1100 {
			posted = append(posted, random.Example(i*1100+n))
		}
		batch := posted[i*1100:]
		for n := range batch {
			if err := h.post(noon.Add(time.Duration(i*1100+n)*time.Second), batch[n]); err != nil {
				t.Fatal(err)
			}
		}
		// Each round creates all snapshots that are due, and then there is nothing more to do.
		advanced, err := h.store.AdvanceBalanceSnapshots(ctx, h.pool)
		if err != nil || !advanced {
			t.Fatalf("round %d: advanced %t, %v", i, advanced, err)
		}
		if advanced, err = h.store.AdvanceBalanceSnapshots(ctx, h.pool); err != nil || advanced {
			t.Fatalf("round %d: advanced again: %t, %v", i, advanced, err)
		}
	}
	if n := h.count("SELECT count(*) FROM ledger_balance_snapshots"); n < 9 || n > 12 {
		t.Errorf("%d snapshots: three busy accounts get one in each round, the quiet one at most one", n)
	}

	reader := h.reader()
	balances := ledger.Balances{}
	for i, p := range posted {
		if err := balances.Apply(p); err != nil {
			t.Fatal(err)
		}
		if i%97 != 0 {
			continue
		}
		at := noon.Add(time.Duration(i) * time.Second)
		effective := ledger.Balances{}
		for _, other := range posted {
			if !other.Effective.After(at) {
				if err := effective.Apply(other); err != nil {
					t.Fatal(err)
				}
			}
		}
		for _, a := range accounts {
			got, err := reader.BalanceAt(ctx, a, ports.ByRecorded, at)
			if err != nil || got != balances[a] {
				t.Errorf("%s recorded at posting %d: %d, %v; want %d", a, i, got, err, balances[a])
			}
			got, err = reader.BalanceAt(ctx, a, ports.ByEffective, at)
			if err != nil || got != effective[a] {
				t.Errorf("%s effective at posting %d: %d, %v; want %d", a, i, got, err, effective[a])
			}
		}
	}
	for _, a := range accounts {
		h.wantBalance(a, balances[a])
	}
}
