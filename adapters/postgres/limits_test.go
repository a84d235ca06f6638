package postgres_test

import (
	"context"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"causeway/adapters/postgres"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/limit"
	"causeway/core/transaction"
	"causeway/ports"
)

// newLimited returns a payment of 12.50 USD that limits count.
func newLimited(p ident.Platform, scopes ...limit.Scope) transaction.Transaction {
	t := newIncoming(p, ident.Customer{}, ident.NewInternalAccount(generator.New, noon), "$bo@bank.example")
	t.PlatformCustomerID, t.Source.Customer, t.Destination.Customer = "", ident.Customer{}, ident.Customer{}
	t.State.Status, t.LimitUsage = transaction.Processing, &transaction.LimitUsage{Day: today, Scopes: scopes}
	return t
}

func dollars(scopes ...limit.Scope) (counters []limit.Counter) {
	for _, s := range scopes {
		counters = append(counters, limit.Counter{Scope: s, Currency: "USD"})
	}
	return counters
}

func TestLimits_AreSavedAndCleared(t *testing.T) {
	t.Parallel()
	// Rules are read as they were saved, of all platforms and of one. A cleared one stays for two days.
	c := newEnv(t)
	save := func(rules ...limit.Rule) {
		t.Helper()
		c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
			if _, err := tx.LockLimitRules(ctx, c.platform.ID); err != nil {
				return err
			}
			for _, r := range rules {
				if err := tx.SaveLimitRule(ctx, r); err != nil {
					return err
				}
			}
			return nil
		})
	}
	rule := func(p ident.Platform, customer, region string, daily int64, at time.Time) limit.Rule {
		return limit.Rule{Key: limit.Key{Platform: p, Currency: "USD", Customer: customer, Region: region}, Daily: daily, ChangedAt: at}
	}
	one, each, other := rule(c.platform.ID, "", "", 5, noon), rule(c.platform.ID, "each", "DE", 6, noon),
		rule(c.otherPlatform.ID, "", "", 7, noon)
	save(one, each, other)
	each.Daily, each.PerPayment = 0, 9
	cleared := rule(c.platform.ID, "", "FR", 0, noon.AddDate(-1, 0, 0))
	save(each, cleared)

	if read, err := c.LimitRulesOf(t.Context(), c.platform.ID); err != nil || !reflect.DeepEqual(read, limit.Rules{one, cleared, each}) {
		t.Errorf("%v, %+v", err, read)
	}
	save(each) // deletes what was cleared long ago
	want := []limit.Rule{one, each, other}
	if c.platform.ID.Compare(c.otherPlatform.ID) > 0 {
		want = []limit.Rule{other, one, each}
	}
	if read, err := c.LimitRules(t.Context()); err != nil || !reflect.DeepEqual(read, want) {
		t.Errorf("%v, %+v, want %+v", err, read, want)
	}
}

func TestLimitCounts_NeverMoreThanLimitOfParallelCommits(t *testing.T) {
	t.Parallel()
	// Of many payments that are committed at once over several connections, as many start as the limit allows, whatever the isolation of
	// the database; each is counted in all its scopes.
	c := newEnv(t)
	exec(t, connect(t, c.url), `DO $$ BEGIN
		EXECUTE format('ALTER DATABASE %I SET default_transaction_isolation = %L', current_database(), 'repeatable read');
	END $$`)
	one, two := openDB(t, c.url), openDB(t, c.url)
	rules := limit.Rules{{Key: limit.Key{Platform: c.platform.ID, Currency: "USD"}, Daily: 10 * 12_50, ChangedAt: noon}}
	counters := dollars("region:DE", limit.WholePlatform)
	var refused, started int
	var mu sync.Mutex
	var running sync.WaitGroup
	for i := range 60 {
		db := []*postgres.DB{one, two}[i%2]
		running.Go(func() {
			payment := newLimited(c.platform.ID, limit.WholePlatform, "region:DE")
			err := db.Do(t.Context(), func(ctx context.Context, tx *postgres.Unit) error {
				sent, err := tx.LockLimitCounts(ctx, c.platform.ID, today, counters)
				if err != nil {
					return err
				}
				if err := rules.Check(limit.Payment{Sent: payment.Pricing.Sent}, sent); err != nil {
					return err
				}
				if err := tx.AddLimitUsage(ctx, []transaction.Transaction{payment}); err != nil {
					return err
				}
				return tx.CreateTransactions(ctx, []transaction.Transaction{payment})
			})
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				started++
			case fault.Is(err, fault.DailyVolumeLimitExceeded):
				refused++
			default:
				t.Error(err)
			}
		})
	}
	running.Wait()

	want := limit.Count{Transactions: 10, Sent: 10 * 12_50}
	counts, err := c.LimitCounts(t.Context(), c.platform.ID, today, counters)
	if err != nil || started != 10 || refused != 50 || counts[counters[0]] != want || counts[counters[1]] != want {
		t.Errorf("%d started, %d refused, counted %+v, %v", started, refused, counts, err)
	}
	c.wantUsage(t, ports.UsageLine{})
}

// wantUsage checks that the counters are those of the transactions, but for the lines that are given.
func (c *env) wantUsage(t *testing.T, want ...ports.UsageLine) {
	t.Helper()
	if err := c.EachLimitUsage(t.Context(), ident.Platform{}, func(l ports.UsageLine) error {
		wanted := slices.ContainsFunc(want, func(w ports.UsageLine) bool { return w.Scope == l.Scope && w.Misflagged == l.Misflagged })
		if isRight := l.Counted.Transactions == l.Transactions && l.Counted.Spent == l.Spent && l.Misflagged.IsZero(); !isRight && !wanted {
			t.Errorf("%+v", l)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
}

func TestLimitUsage_IsGivenBackOnce(t *testing.T) {
	t.Parallel()
	// A payment that fails is taken out of each of its counters once, however often that is repeated, and keeps the day alone. A damaged
	// counter keeps none from failing. The audit sees counters and marks that differ.
	c := newEnv(t)
	ana := ident.NewCustomer(generator.New, noon)
	scope := limit.Scope(ana.String())
	one, two, open := newLimited(c.platform.ID, scope, limit.WholePlatform), newLimited(c.platform.ID, limit.WholePlatform),
		newLimited(c.platform.ID, scope)
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
		all := []transaction.Transaction{one, two, open}
		if err := tx.CreateTransactions(ctx, all); err != nil {
			return err
		}
		return tx.AddLimitUsage(ctx, all)
	})
	if read, err := c.Transaction(t.Context(), c.platform.ID, one.ID); err != nil || !reflect.DeepEqual(read.LimitUsage, one.LimitUsage) {
		t.Errorf("read %+v, %v", read.LimitUsage, err)
	}
	most, err := c.LargestLimitCounts(t.Context(), c.platform.ID, today)
	if err != nil || len(most) != 1 || most[limit.Counter{Currency: "USD"}] != (limit.Count{Transactions: 2, Sent: 25_00}) {
		t.Errorf("most %+v, %v", most, err)
	}

	fail := func(payments ...transaction.Transaction) {
		t.Helper()
		for i := range payments {
			payments[i].State.Status, payments[i].LimitUsage = transaction.Failed, &transaction.LimitUsage{Day: today}
		}
		c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
			if err := tx.GiveBackUsage(ctx, payments); err != nil {
				return err
			}
			return tx.UpdateTransactions(ctx, payments)
		})
	}
	fail(one)
	fail(one)
	counts, err := c.LimitCounts(t.Context(), c.platform.ID, today, dollars(scope, limit.WholePlatform, "region:DE"))
	if want := (limit.Count{Transactions: 1, Sent: 12_50}); err != nil || len(counts) != 2 || counts[dollars(scope)[0]] != want ||
		counts[dollars(limit.WholePlatform)[0]] != want {
		t.Errorf("%+v, %v", counts, err)
	}
	if read, err := c.Transaction(t.Context(), c.platform.ID,
		one.ID); err != nil || !read.LimitUsage.GivenBack() || read.LimitUsage.Day != today {
		t.Errorf("read %+v, %v", read.LimitUsage, err)
	}
	c.wantUsage(t)

	owner := connect(t, c.url)
	exec(t, owner, "UPDATE limit_usage SET spent = 1 WHERE scope = 'platform'")
	fail(two)
	c.wantUsage(t)
	exec(t, owner, "UPDATE transactions SET status = 'COMPLETED' WHERE id = '"+two.ID.UUID().String()+"'")
	exec(t, owner, "UPDATE limit_usage SET spent = 1 WHERE scope <> 'platform'")
	c.wantUsage(t, ports.UsageLine{Scope: scope}, ports.UsageLine{Misflagged: two.ID})
}
