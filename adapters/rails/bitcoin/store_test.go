package bitcoin_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/postgres"
	"causeway/adapters/rails/bitcoin"
	"causeway/adapters/rails/feed"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/rail"
	"causeway/ports"
	"causeway/ports/portstest"
)

const hotWallet = "bitcoin-hot"

var noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

// env is a store in a database with two platforms.
type env struct {
	*bitcoin.Store
	db                      *postgres.DB
	clock                   *portstest.FakeClock
	platform, otherPlatform ident.Platform
}

func newEnv(t *testing.T) *env {
	t.Helper()
	clock := portstest.NewFakeClock(noon)
	db := openDatabase(t, clock)
	return &env{bitcoin.NewStore(db.Storage()), db, clock, newPlatform(t, db, noon), newPlatform(t, db, noon)}
}

// at sets the clock.
func (c *env) at(now time.Time) { c.clock.Advance(now.Sub(c.clock.Now())) }

// handOver records a payment that the connection gets, as the service does before it calls the adapter.
func (c *env) handOver(t *testing.T, p bitcoin.Payment) {
	t.Helper()
	err := portstest.NewRailHandover(c.db, hotWallet, c.clock).HandOver(t.Context(), p.Platform, p.ID, p.Kind, rail.Route{Rail: "BITCOIN"},
		money.Amount{Minor: p.Satoshis, Currency: money.BTC})
	if err != nil {
		t.Fatal(err)
	}
}

func (c *env) lease(t *testing.T, now time.Time) ports.Lease {
	t.Helper()
	c.at(now)
	lease, ok, err := c.Lease(t.Context(), hotWallet, time.Minute)
	if err != nil || !ok {
		t.Fatalf("lease: %v, %v", ok, err)
	}
	return lease
}

func (c *env) save(t *testing.T, lease ports.Lease, changes bitcoin.Changes) {
	t.Helper()
	changes.At = noon
	if err := c.Save(t.Context(), lease, changes); err != nil {
		t.Fatal(err)
	}
}

func (c *env) addPayments(t *testing.T, n int) []bitcoin.Payment {
	t.Helper()
	payments := make([]bitcoin.Payment, n)
	for i := range payments {
		key := ports.RailPaymentKey{Platform: c.platform, ID: generator.New(noon), Kind: rail.Payout}
		payments[i] = bitcoin.Payment{RailPaymentKey: key, Address: fmt.Sprintf("bcrt1q%d", i), Satoshis: 1000 + int64(i), CreatedAt: noon}
		c.handOver(t, payments[i])
	}
	kept, err := c.AddPayments(t.Context(), hotWallet, payments)
	if err != nil || !reflect.DeepEqual(kept, payments) {
		t.Fatalf("kept %+v, %v", kept, err)
	}
	return payments
}

func newVersion(txid string, inputs ...int64) bitcoin.Version {
	v := bitcoin.Version{TxID: txid, Raw: []byte(txid), Fee: 141, CreatedAt: noon}
	for _, vout := range inputs {
		v.Inputs = append(v.Inputs, bitcoin.Output{TxID: "coin", Vout: vout})
	}
	return v
}

func TestStore_OneProcessAtATime(t *testing.T) {
	t.Parallel()
	// A wallet belongs to one process until its lease ends. One whose lease was taken over changes nothing.
	c := newEnv(t)
	first := c.lease(t, noon)
	c.at(noon.Add(time.Second))
	if _, ok, err := c.Lease(t.Context(), hotWallet, time.Hour); ok || err != nil {
		t.Fatalf("leased twice: %v", err)
	}
	second := c.lease(t, noon.Add(time.Minute))

	position := bitcoin.Position{ScannedBlock: "b1", ScannedHeight: 7, Best: "b3", RescanHeight: -1, ReferencesUntil: noon}
	err := c.Save(t.Context(), first, bitcoin.Changes{At: noon, Position: &position})
	if !errors.Is(err, ports.ErrLeaseLost) {
		t.Errorf("saved under a lease that was taken over: %v", err)
	}
	if err := c.Release(t.Context(), first); !errors.Is(err, ports.ErrLeaseLost) {
		t.Errorf("ended a lease that was taken over: %v", err)
	}
	if _, ok, _ := c.Lease(t.Context(), hotWallet, time.Hour); ok {
		t.Error("a former process has ended the lease of the present one")
	}
	c.save(t, second, bitcoin.Changes{Position: &position})
	if w, err := c.Wallet(t.Context(), hotWallet); err != nil || w.Position != position || !w.CreatedAt.Equal(noon) {
		t.Errorf("%+v, %v", w, err)
	}
	if w, err := c.Wallet(t.Context(), "other"); err != nil || !w.CreatedAt.IsZero() || w.RescanHeight != -1 {
		t.Errorf("an unknown wallet: %+v, %v", w, err)
	}
	if err := c.Release(t.Context(), second); err != nil {
		t.Fatal(err)
	}
	c.lease(t, noon.Add(time.Minute))
}

func TestBatches_EachPaymentAndCoinInOne(t *testing.T) {
	t.Parallel()
	// A payment that is kept twice is the first one. A batch takes payments that have none and coins that no other has, or
	// nothing at all. A batch that is released gives both back.
	c := newEnv(t)
	ctx := t.Context()
	lease := c.lease(t, noon)
	payments := c.addPayments(t, 3)
	changed := payments[0]
	changed.Satoshis++
	if kept, err := c.AddPayments(ctx, hotWallet, []bitcoin.Payment{changed}); err != nil || kept[0] != payments[0] {
		t.Errorf("kept again as %+v, %v", kept, err)
	}
	c.save(t, lease, bitcoin.Changes{NewBatch: &bitcoin.Batch{Since: "b1", Payments: payments[:2],
		Versions: []bitcoin.Version{newVersion("t1", 0, 1)}}})

	for name, refused := range map[string]bitcoin.Batch{
		"a payment of another batch": {Since: "b1", Payments: payments[1:], Versions: []bitcoin.Version{newVersion("t2", 2)}},
		"a coin of another batch":    {Since: "b1", Payments: payments[2:], Versions: []bitcoin.Version{newVersion("t2", 1, 2)}},
	} {
		if err := c.Save(ctx, lease, bitcoin.Changes{At: noon, NewBatch: &refused}); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
	c.save(t, lease, bitcoin.Changes{Replacement: &bitcoin.BatchVersion{Batch: 1, Number: 1,
		Version: newVersion("t3", 0, 1, 3)}})

	open, err := c.OpenBatches(ctx, hotWallet, 10)
	if err != nil || len(open) != 1 {
		t.Fatalf("%+v, %v", open, err)
	}
	if b := open[0]; b.Number != 1 || b.Status != bitcoin.Sent || b.Since != "b1" || len(b.Payments) != 2 || len(b.Versions) != 2 ||
		b.Versions[1].TxID != "t3" || b.Versions[0].Fee != 141 {
		t.Errorf("the batch %+v", b)
	}
	if unsigned, err := c.UnsignedPayments(ctx, hotWallet, 10); err != nil || len(unsigned) != 1 || unsigned[0] != payments[2] {
		t.Errorf("unsigned %+v, %v", unsigned, err)
	}

	c.save(t, lease, bitcoin.Changes{Batch: &bitcoin.BatchStatus{Batch: 1, Status: bitcoin.Released}})
	c.save(t, lease, bitcoin.Changes{NewBatch: &bitcoin.Batch{Since: "b9", Payments: payments,
		Versions: []bitcoin.Version{newVersion("t4", 0, 3)}}})
	c.save(t, lease, bitcoin.Changes{Batch: &bitcoin.BatchStatus{Batch: 2, Status: bitcoin.Confirmed, TxID: "t4"}})
	got, err := c.Payments(ctx, hotWallet, []ports.RailPaymentKey{payments[2].RailPaymentKey,
		{Platform: c.otherPlatform, ID: payments[1].ID, Kind: rail.Payout}})
	if err != nil || len(got) != 1 || got[0].Batch != 2 || got[0].Status != bitcoin.Confirmed || got[0].TxID != "t4" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestPayments_RefundOfCancelledPayout(t *testing.T) {
	t.Parallel()
	// A payout and the refund of the same transaction are two payments of a wallet. If the payout was cancelled before it was signed,
	// the refund alone may leave.
	c := newEnv(t)
	ctx := t.Context()
	lease := c.lease(t, noon)
	payout := c.addPayments(t, 1)[0]
	if _, err := c.db.Pool().Exec(ports.ForAllPlatforms(ctx), `UPDATE rail_payments SET state = 'CANCELLED' WHERE id = $1`,
		payout.ID.String()); err != nil {
		t.Fatal(err)
	}
	refund := payout
	refund.Kind, refund.Address = rail.Refund, "bcrt1qpayer"
	c.handOver(t, refund)
	if kept, err := c.AddPayments(ctx, hotWallet, []bitcoin.Payment{refund}); err != nil || kept[0] != refund {
		t.Fatalf("kept the refund as %+v, %v", kept, err)
	}

	if unsigned, err := c.UnsignedPayments(ctx, hotWallet, 10); err != nil || len(unsigned) != 1 || unsigned[0] != refund {
		t.Errorf("may leave: %+v, %v", unsigned, err)
	}
	batch := bitcoin.Batch{Since: "b1", Payments: []bitcoin.Payment{payout},
		Versions: []bitcoin.Version{newVersion("t1", 0)}}
	if err := c.Save(ctx, lease, bitcoin.Changes{At: noon, NewBatch: &batch}); !errors.Is(err, bitcoin.ErrHeld) {
		t.Errorf("the cancelled payout: %v", err)
	}
	batch.Payments = []bitcoin.Payment{refund}
	c.save(t, lease, bitcoin.Changes{NewBatch: &batch})
	kept, err := c.Payments(ctx, hotWallet, []ports.RailPaymentKey{payout.RailPaymentKey, refund.RailPaymentKey})
	if err != nil || len(kept) != 2 {
		t.Fatalf("%+v, %v", kept, err)
	}
	for _, p := range kept {
		if (p.Batch != 0) != (p.Kind == rail.Refund) {
			t.Errorf("in a batch: %+v", p)
		}
	}
}

func TestStore_AddressesAndDeposits(t *testing.T) {
	t.Parallel()
	// Addresses are found until they are imported, and then in the order of their checks. The earliest time at which one
	// may have been shown is kept. Deposits are kept by output, and reversed ones are not recent.
	c := newEnv(t)
	ctx := t.Context()
	lease := c.lease(t, noon)
	one := bitcoin.Address{Platform: c.platform, Address: "a1", Reference: "R1", KnownAt: noon}
	two := bitcoin.Address{Platform: c.otherPlatform, Address: "a2", Reference: "R2", KnownAt: noon}
	c.save(t, lease, bitcoin.Changes{Addresses: []bitcoin.Address{one, two}})
	if found, err := c.AddressesToImport(ctx, hotWallet, 10); err != nil ||
		!reflect.DeepEqual(found, []bitcoin.Address{one, two}) {
		t.Fatalf("%+v, %v", found, err)
	}
	one.ImportedAt, one.CheckedAt = noon, noon.Add(time.Hour)
	two.ImportedAt, two.CheckedAt, two.KnownAt = noon, noon, noon.Add(time.Hour)
	c.save(t, lease, bitcoin.Changes{Addresses: []bitcoin.Address{one, two}})
	two.KnownAt = noon
	if found, err := c.AddressesToCheck(ctx, hotWallet, 10); err != nil || !reflect.DeepEqual(found, []bitcoin.Address{two, one}) {
		t.Fatalf("%+v, %v", found, err)
	}
	if found, err := c.Addresses(ctx, hotWallet, []string{"a1", "a9"}); err != nil ||
		!reflect.DeepEqual(found, []bitcoin.Address{one}) {
		t.Fatalf("%+v, %v", found, err)
	}

	output := bitcoin.Output{TxID: "t1", Vout: 1}
	deposit := bitcoin.Deposit{Output: output, Address: "a1", Satoshis: 5000, Block: "b1", Height: 9,
		Status: bitcoin.Credited, Occurrence: 1}
	c.save(t, lease, bitcoin.Changes{Deposits: []bitcoin.Deposit{deposit}})
	for height, want := range map[int64]int{9: 1, 10: 0} {
		if found, err := c.RecentDeposits(ctx, hotWallet, height, 10); err != nil || len(found) != want {
			t.Errorf("from height %d: %+v, %v", height, found, err)
		}
	}
	deposit.Status = bitcoin.Reversed
	c.save(t, lease, bitcoin.Changes{Deposits: []bitcoin.Deposit{deposit}})
	if found, err := c.RecentDeposits(ctx, hotWallet, 0, 10); err != nil || len(found) > 0 {
		t.Errorf("a reversed one is recent: %+v, %v", found, err)
	}
	if found, err := c.Deposits(ctx, hotWallet, []bitcoin.Output{output, {TxID: "t1"}}); err != nil ||
		!reflect.DeepEqual(found, []bitcoin.Deposit{deposit}) {
		t.Errorf("%+v, %v", found, err)
	}
}

func TestEvents_OnceInOrderAndRetained(t *testing.T) {
	t.Parallel()
	// Events are read in the order in which they were saved; one that is saved again is not reported again. Read ones are
	// deleted when they are old, and so are the transactions and coins of batches that are final.
	c := newEnv(t)
	ctx := t.Context()
	lease := c.lease(t, noon)
	events := []feed.Event{
		{Kind: feed.Receipt, PartnerID: "t1:0", Platform: c.platform, Reference: "R1", Satoshis: 5000, At: noon},
		{Kind: feed.Reversal, PartnerID: "t1:0", Receipt: "t1:0", Text: "gone", At: noon},
		{Kind: feed.Changed, PartnerID: "1", Subject: uuid.UUID{15: 1}, At: noon},
	}
	c.save(t, lease, bitcoin.Changes{Events: events[:2]})
	c.save(t, lease, bitcoin.Changes{Events: events})
	got, err := c.Events(ctx, hotWallet, 0, 10)
	if err != nil || len(got) != 3 {
		t.Fatalf("%+v, %v", got, err)
	}
	for i, e := range got {
		want := events[i]
		want.Number = e.Number
		if e != want || i > 0 && e.Number <= got[i-1].Number {
			t.Errorf("event %d: %+v, want %+v", i, e, want)
		}
	}
	payments := c.addPayments(t, 1)
	c.save(t, lease, bitcoin.Changes{NewBatch: &bitcoin.Batch{Payments: payments,
		Versions: []bitcoin.Version{newVersion("t1", 0)}}})
	c.save(t, lease, bitcoin.Changes{Batch: &bitcoin.BatchStatus{Batch: 1, Status: bitcoin.Final, TxID: "t1"}})
	if rest, err := c.Events(ctx, hotWallet, got[1].Number, 10); err != nil || len(rest) != 1 {
		t.Fatalf("%+v, %v", rest, err)
	}

	deleted := map[string]int{}
	if err := c.db.DeleteOld(ctx, postgres.RetentionCutoffs{WithoutPlatform: bitcoin.OldRows(noon.Add(time.Minute))},
		func(table string, n int) { deleted[table] += n }); err != nil {
		t.Fatal(err)
	}
	if deleted["bitcoin_events"] != 2 || deleted["bitcoin_inputs"] != 1 || deleted["bitcoin_transactions"] != 1 {
		t.Errorf("deleted %v", deleted)
	}
	if kept, err := c.Payments(ctx, hotWallet, []ports.RailPaymentKey{payments[0].RailPaymentKey}); err != nil || len(kept) != 1 ||
		kept[0].TxID != "t1" {
		t.Errorf("the payment is %+v, %v", kept, err)
	}
}

func TestStore_ShowsNoUnfinishedSave(t *testing.T) {
	t.Parallel()
	// Changes that fail at the last step leave nothing.
	c := newEnv(t)
	lease := c.lease(t, noon)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.Save(ctx, lease, bitcoin.Changes{At: noon,
		Events: []feed.Event{{Kind: feed.Fee, PartnerID: "x"}}}); err == nil {
		t.Error("saved after the caller had gone")
	}
	bad := bitcoin.Changes{At: noon, Position: &bitcoin.Position{ScannedBlock: "b1"},
		Batch:       &bitcoin.BatchStatus{Batch: 1, Status: "SENT"},
		Replacement: &bitcoin.BatchVersion{Batch: 1, Version: bitcoin.Version{TxID: "t"}}}
	if err := c.Save(t.Context(), lease, bad); err == nil {
		t.Error("a version without a transaction was saved")
	}
	if w, err := c.Wallet(t.Context(), hotWallet); err != nil || w.ScannedBlock != "" {
		t.Errorf("%+v, %v", w, err)
	}
}
