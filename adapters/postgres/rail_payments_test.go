package postgres_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/postgres"
	"causeway/core/corridor"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/rail"
	"causeway/core/transaction"
	"causeway/ports"
)

// railPayment returns a payment of a connection that was recorded some minutes after noon.
func railPayment(c *env, kind rail.Kind, minutes int, minor int64, state rail.State, wait rail.Wait) rail.Payment {
	p := rail.Payment{ID: generator.New(noon), Kind: kind, Connection: "bank", Amount: money.Amount{Minor: minor, Currency: "EUR"},
		State: state, Wait: wait,
		Route:      rail.Route{Platform: c.platform.ID, Rail: corridor.SEPA, Currency: "EUR", Back: kind.IsReturn()},
		RecordedAt: noon.Add(time.Duration(minutes) * time.Minute)}
	if state == rail.Sent {
		p.SentAt = p.RecordedAt
	}
	return p
}

func (c *env) createRailPayments(t *testing.T, payments ...rail.Payment) {
	t.Helper()
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error { return tx.CreateRailPayments(ctx, payments) })
}

func (c *env) lockRailAccount(t *testing.T, now time.Time) (a rail.Account) {
	t.Helper()
	key := rail.AccountKey{Connection: "bank", Currency: "EUR"}
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
		accounts, err := tx.LockRailAccounts(ctx, []rail.AccountKey{key, key}, now)
		if err == nil {
			a = *accounts[key]
		}
		return err
	})
	return a
}

func TestRailPayments_RecordedTwice(t *testing.T) {
	t.Parallel()
	// The second unit of work that records a payment learns that there is one, and reads it.
	c := newEnv(t)
	p := railPayment(c, rail.Payout, 0, 100, rail.Sent, "")
	c.createRailPayments(t, p)
	err := ports.Do(t.Context(), c.DB, func(ctx context.Context, tx *postgres.Unit) error {
		return tx.CreateRailPayments(ctx, []rail.Payment{p})
	})
	if !errors.Is(err, ports.ErrRailPaymentRecorded) {
		t.Errorf("%v", err)
	}
}

func TestRailAccounts_CountFromTheLastBalance(t *testing.T) {
	t.Parallel()
	// Between balances the counters are kept. A new balance, reported or set by an operator, starts them anew from what was
	// settled and returned since.
	c := newEnv(t)
	at := func(minutes int) time.Time { return noon.Add(time.Duration(minutes) * time.Minute) }
	settled := func(kind rail.Kind, minutes int, minor int64, returned int) rail.Payment {
		p := railPayment(c, kind, 0, minor, rail.Sent, "")
		p.State, p.SettledAt = rail.Done, at(minutes)
		if returned > 0 {
			p.State, p.ReturnedAt = rail.Returned, at(returned)
		}
		return p
	}
	payments := []rail.Payment{settled(rail.Payout, 5, 1, 0), settled(rail.Payout, 15, 20, 0), settled(rail.Collection, 15, 300, 0),
		settled(rail.Payout, 5, 4000, 15), settled(rail.Collection, 5, 50_000, 15), settled(rail.Payout, 15, 600_000, 16)}
	c.createRailPayments(t, payments...)
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error { return tx.UpdateRailPayments(ctx, payments) })
	if a := c.lockRailAccount(t, noon); !a.BalanceAt.IsZero() || a.Moved != 0 {
		t.Errorf("without a balance: %+v", a)
	}
	if err := c.SaveRailBalances(t.Context(), "bank",
		[]ports.RailBalance{{Amount: money.Amount{Minor: 7, Currency: "EUR"}, At: at(10)}}); err != nil {
		t.Fatal(err)
	}
	if a := c.lockRailAccount(t, noon); !a.BalanceAt.Equal(at(10)) || a.Balance != 7 || a.Moved != -20+300+4000-50_000 {
		t.Errorf("with a reported balance: %+v", a)
	}

	if err := ports.Do(t.Context(), c.Connections(), func(ctx context.Context, tx *postgres.ConnectionsTx) error {
		return tx.SaveOpeningBalance(ctx, ports.OpeningBalance{Connection: "bank", Amount: money.Amount{Minor: 9, Currency: "EUR"}, At: at(20),
			Actor: "ana", Note: "statement"})
	}); err != nil {
		t.Fatal(err)
	}

	if a := c.lockRailAccount(t, noon); !a.BalanceAt.Equal(at(20)) || a.Balance != 9 || a.Moved != 0 {
		t.Errorf("with a balance that was set: %+v", a)
	}
}

func TestRailReceipts_CountOnce(t *testing.T) {
	t.Parallel()
	// Money that was received over a connection counts as available once, however often it is reported, until it is reversed,
	// and only since the last balance.
	c := newEnv(t)
	receipt := func(partner string, minor int64, at time.Time) transaction.Receipt {
		return transaction.Receipt{Platform: c.platform.ID, Rail: corridor.SEPA, PartnerID: partner,
			Amount: money.Amount{Minor: minor, Currency: "EUR"}, At: at}
	}
	keep := func(receipts ...transaction.Receipt) {
		t.Helper()
		if err := c.KeepRailReceipts(t.Context(), "bank", receipts, noon); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.SaveRailBalances(t.Context(), "bank",
		[]ports.RailBalance{{Amount: money.Amount{Minor: 1, Currency: "EUR"}, At: noon}}); err != nil {
		t.Fatal(err)
	}
	early, one, two := receipt("A", 1000, noon), receipt("B", 200, noon.Add(time.Minute)), receipt("C", 30, noon.Add(2*time.Minute))
	keep(early, one, one)
	keep(one, two)
	if a := c.lockRailAccount(t, noon); a.Moved != 230 {
		t.Errorf("received: %+v", a)
	}
	key := ports.RailReceiptKey{Platform: c.platform.ID, Rail: corridor.SEPA, PartnerID: "B"}
	for range 2 {
		if err := c.ReverseRailReceipt(t.Context(), key, noon.Add(3*time.Minute), noon); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.ReverseRailReceipt(t.Context(), ports.RailReceiptKey{Platform: c.platform.ID, Rail: corridor.SEPA, PartnerID: "X"}, noon,
		noon); err != nil {
		t.Fatal(err)
	}
	if a := c.lockRailAccount(t, noon); a.Moved != 30 {
		t.Errorf("reversed: %+v", a)
	}

	if err := c.SaveRailBalances(t.Context(), "bank",
		[]ports.RailBalance{{Amount: money.Amount{Minor: 1, Currency: "EUR"}, At: noon.Add(90 * time.Second)}}); err != nil {
		t.Fatal(err)
	}

	if a := c.lockRailAccount(t, noon); a.Moved != 30-200 {
		t.Errorf("with a new balance: %+v", a)
	}
	found, err := c.RailReceiptConnections(t.Context(),
		[]ports.RailReceiptKey{key, {Platform: c.otherPlatform.ID, Rail: corridor.SEPA, PartnerID: "B"}})
	if err != nil || len(found) != 1 || found[key] != "bank" {
		t.Errorf("connections %v, %v", found, err)
	}
}

func TestRailUsage_OfTheHourAndDay(t *testing.T) {
	t.Parallel()
	// What was paid out counts for its hour and its day of UTC. Collections do not count.
	c := newEnv(t)
	pay := func(kind rail.Kind, minor int64, now time.Time) {
		c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
			return tx.SaveRailAccounts(ctx, nil, []rail.Payment{railPayment(c, kind, 0, minor, rail.Sent, ""),
				railPayment(c, kind, 0, minor, rail.Sent, "")}, now)
		})
	}
	pay(rail.Payout, 1, noon.Add(-13*time.Hour)) // the day before
	pay(rail.Payout, 10, noon.Add(-time.Minute))
	pay(rail.Refund, 100, noon)
	pay(rail.Payout, 1000, noon.Add(59*time.Minute))
	pay(rail.Collection, 10_000, noon)

	if a := c.lockRailAccount(t, noon.Add(59*time.Minute)); a.Usage[corridor.SEPA] != (rail.Usage{Hour: 2200, Day: 2220}) {
		t.Errorf("usage %+v", a.Usage)
	}
}

func TestRailQueue_Order(t *testing.T) {
	t.Parallel()
	// A queue has the payments first that an operator sends, and then the oldest; without those on some rails.
	c := newEnv(t)
	late, early, forced, review := railPayment(c, rail.Payout, 3, 1, rail.Queued, rail.WaitsForFunds),
		railPayment(c, rail.Payout, 1, 2, rail.Queued, rail.WaitsForFunds),
		railPayment(c, rail.Payout, 4, 3, rail.Queued, rail.WaitsForFunds), railPayment(c, rail.Payout, 0, 4, rail.InReview, rail.WaitsForReview)
	instant := railPayment(c, rail.Payout, 0, 5, rail.Queued, rail.WaitsForResumption)
	instant.Rail = corridor.SEPAInstant
	c.createRailPayments(t, late, early, forced, review, instant)
	forced.Forced = true
	var queue []rail.Payment
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) (err error) {
		if err := tx.UpdateRailPayments(ctx, []rail.Payment{forced}); err != nil {
			return err
		}
		queue, err = tx.LockRailQueue(ctx, rail.AccountKey{Connection: "bank", Currency: "EUR"},
			ports.RailQueueExcept{Stopped: []corridor.Rail{corridor.SEPAInstant}}, rail.Payment{}, 10)
		return err
	})

	var ids []uuid.UUID
	for _, p := range queue {
		ids = append(ids, p.ID)
	}
	if len(ids) != 3 || ids[0] != forced.ID || ids[1] != early.ID || ids[2] != late.ID || queue[1] != early {
		t.Errorf("queue %+v", queue)
	}
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) (err error) {
		queue, err = tx.LockRailQueue(ctx, early.Account(), ports.RailQueueExcept{Closed: []corridor.Rail{corridor.SEPA}}, rail.Payment{}, 10)
		return err
	})
	if len(queue) != 2 || queue[0].ID != forced.ID || queue[1].ID != instant.ID {
		t.Errorf("queue while SEPA is closed %+v", queue)
	}
	after := rail.Payment{}
	for i, want := range [][]rail.Payment{{forced, instant}, {early, late}, nil} {
		c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) (err error) {
			queue, err = tx.LockRailQueue(ctx, early.Account(), ports.RailQueueExcept{}, after, 2)
			return err
		})
		if !slices.Equal(queue, want) {
			t.Fatalf("page %d: %+v\nwant %+v", i, queue, want)
		}
		if len(queue) > 0 {
			after = queue[len(queue)-1]
		}
	}
	queues, err := c.RailQueues(t.Context())
	if err != nil || len(queues) != 1 || queues[0] != early.Account() {
		t.Errorf("queues %+v, %v", queues, err)
	}
	o, err := c.Operations(t.Context(), nil)
	if err != nil || o.Rails.Waiting[rail.WaitsForFunds].Count != 3 || o.Rails.Waiting[rail.WaitsForReview].Count != 1 ||
		len(o.Rails.Proofs) != 0 {
		t.Errorf("operations %+v, %v", o.Rails, err)
	}
}

func TestRailPayments_UnsettledAreListedAndCounted(t *testing.T) {
	t.Parallel()
	// What was handed over and is not settled is listed by connection, the oldest first, and the oldest of each account is
	// counted; what waits or has ended is neither.
	c := newEnv(t)
	c.lockRailAccount(t, noon)
	late, early := railPayment(c, rail.Collection, -10, 1, rail.Sent, ""), railPayment(c, rail.Payout, -20, 2, rail.Sent, "")
	ended := railPayment(c, rail.Payout, -30, 3, rail.Sent, "")
	c.createRailPayments(t, late, early, ended, railPayment(c, rail.Payout, -40, 4, rail.Queued, rail.WaitsForFunds))
	done, err := ended.To(rail.Done, noon)
	if err != nil {
		t.Fatal(err)
	}
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
		return tx.UpdateRailPayments(ctx, []rail.Payment{done})
	})

	listed, err := c.WaitingRailPayments(t.Context(), rail.Sent, "bank", 10)
	if err != nil || len(listed) != 2 || listed[0].ID != early.ID || listed[1].ID != late.ID {
		t.Errorf("listed %+v, %v", listed, err)
	}
	if other, err := c.WaitingRailPayments(t.Context(), rail.Sent, "other", 10); err != nil || len(other) != 0 {
		t.Errorf("of another connection %+v, %v", other, err)
	}
	o, err := c.Operations(t.Context(), nil)
	if u := o.Rails.Unsettled; err != nil || len(u) != 1 || u[0].Connection != "bank" || u[0].Currency != "EUR" || u[0].Age < 20*time.Minute {
		t.Errorf("operations %+v, %v", o.Rails, err)
	}
}

func TestOperations_RailAccounts(t *testing.T) {
	t.Parallel()
	// Operators see what each account at a partner can pay out, once its balance is known, what it has paid out within a day, and
	// what is paused.
	c := newEnv(t)
	c.lockRailAccount(t, noon)
	o, err := c.Operations(t.Context(), nil)
	if err != nil || len(o.Rails.Accounts) != 0 || len(o.Rails.Paused) != 0 {
		t.Errorf("before: %+v, %v", o.Rails, err)
	}
	balance := ports.RailBalance{Amount: money.Amount{Minor: 500, Currency: "EUR"}, At: noon}
	if err := c.SaveRailBalances(t.Context(), "bank", []ports.RailBalance{balance}); err != nil {
		t.Fatal(err)
	}
	for _, pause := range []ports.RailPause{{Name: "bank", Paused: true}, {Name: "SEPA", Paused: true}, {Name: "SEPA"}} {
		pause.By, pause.Note, pause.At = "ana", "Test", noon
		if err := c.SaveRailPause(t.Context(), pause); err != nil {
			t.Fatal(err)
		}
	}
	owner := connect(t, c.url)
	exec(t, owner, `UPDATE rail_accounts SET in_flight = 120`)
	exec(t, owner, `INSERT INTO rail_usage (connection, currency, hour, rail, amount) VALUES ('bank', 'EUR', $1, 'SEPA', 400),
		('bank', 'EUR', $2, 'SEPA', 1000)`,
		noon.Add(-23*time.Hour), noon.Add(-25*time.Hour))

	o, err = c.Operations(t.Context(), nil)

	want := []postgres.RailAccountMetric{{AccountKey: rail.AccountKey{Connection: "bank", Currency: "EUR"}, Available: 380, PaidOut: 400}}
	if err != nil || !slices.Equal(o.Rails.Accounts, want) || !slices.Equal(o.Rails.Paused, []string{"bank"}) {
		t.Errorf("accounts %+v, paused %q, %v", o.Rails.Accounts, o.Rails.Paused, err)
	}
}

func TestRailDecisions_AreKept(t *testing.T) {
	t.Parallel()
	// Every decision about a payment is listed with the payment as it was.
	c := newEnv(t)
	p := railPayment(c, rail.Payout, 0, 1, rail.InReview, rail.WaitsForReview)
	p.Reason = "above the limit"
	d := ports.RailDecision{ID: generator.New(noon), Payment: p, Decision: ports.ReleaseRailPayment, Author: platform.Author{Actor: "ana"},
		Note: "confirmed", At: noon}
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error { return tx.RecordRailDecision(ctx, d) })

	found, err := c.RailDecisions(t.Context(), p.Platform, p.ID)

	if err != nil || len(found) != 1 || found[0].Actor != "ana" || found[0].Note != "confirmed" ||
		found[0].Payment.Reason != "above the limit" || !found[0].At.Equal(noon) {
		t.Errorf("decisions %+v, %v", found, err)
	}
}
