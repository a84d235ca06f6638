package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/postgres"
	"causeway/core/money"
	"causeway/core/rail"
	"causeway/ports"
)

const hotWallet = "bitcoin-hot"

func (c *env) leaseWallet(t *testing.T, now time.Time) ports.Lease {
	t.Helper()
	c.at(now)
	lease, ok, err := c.LeaseBitcoinWallet(t.Context(), hotWallet, time.Minute)
	if err != nil || !ok {
		t.Fatalf("lease: %v, %v", ok, err)
	}
	return lease
}

func (c *env) saveBitcoin(t *testing.T, lease ports.Lease, changes ports.BitcoinChanges) {
	t.Helper()
	changes.At = noon
	if err := c.SaveBitcoin(t.Context(), lease, changes); err != nil {
		t.Fatal(err)
	}
}

func (c *env) addBitcoinPayments(t *testing.T, n int) []ports.BitcoinPayment {
	t.Helper()
	payments := make([]ports.BitcoinPayment, n)
	for i := range payments {
		key := ports.RailPaymentKey{Platform: c.platform.ID, ID: generator.New(noon), Kind: rail.Payout}
		payments[i] = ports.BitcoinPayment{RailPaymentKey: key, Address: fmt.Sprintf("bcrt1q%d", i), Satoshis: 1000 + int64(i), CreatedAt: noon}
		c.handOver(t, hotWallet, "BITCOIN", money.Amount{Minor: payments[i].Satoshis, Currency: money.BTC}, key)
	}
	kept, err := c.AddBitcoinPayments(t.Context(), hotWallet, payments)
	if err != nil || !reflect.DeepEqual(kept, payments) {
		t.Fatalf("kept %+v, %v", kept, err)
	}
	return payments
}

func bitcoinVersion(txid string, inputs ...int64) ports.BitcoinVersion {
	v := ports.BitcoinVersion{TxID: txid, Raw: []byte(txid), Fee: 141, CreatedAt: noon}
	for _, vout := range inputs {
		v.Inputs = append(v.Inputs, ports.BitcoinOutput{TxID: "coin", Vout: vout})
	}
	return v
}

func TestBitcoinLease_OneProcessAtATime(t *testing.T) {
	t.Parallel()
	// A wallet belongs to one process until its lease ends. One whose lease was taken over changes nothing.
	c := newEnv(t)
	first := c.leaseWallet(t, noon)
	c.at(noon.Add(time.Second))
	if _, ok, err := c.LeaseBitcoinWallet(t.Context(), hotWallet, time.Hour); ok || err != nil {
		t.Fatalf("leased twice: %v", err)
	}
	second := c.leaseWallet(t, noon.Add(time.Minute))

	position := ports.BitcoinPosition{ScannedBlock: "b1", ScannedHeight: 7, Best: "b3", RescanHeight: -1, ReferencesUntil: noon}
	err := c.SaveBitcoin(t.Context(), first, ports.BitcoinChanges{At: noon, Position: &position})
	if !errors.Is(err, ports.ErrLeaseLost) {
		t.Errorf("saved under a lease that was taken over: %v", err)
	}
	if err := c.EndBitcoinLease(t.Context(), first); !errors.Is(err, ports.ErrLeaseLost) {
		t.Errorf("ended a lease that was taken over: %v", err)
	}
	if _, ok, _ := c.LeaseBitcoinWallet(t.Context(), hotWallet, time.Hour); ok {
		t.Error("a former process has ended the lease of the present one")
	}
	c.saveBitcoin(t, second, ports.BitcoinChanges{Position: &position})
	if w, err := c.BitcoinWallet(t.Context(), hotWallet); err != nil || w.BitcoinPosition != position || !w.CreatedAt.Equal(noon) {
		t.Errorf("%+v, %v", w, err)
	}
	if w, err := c.BitcoinWallet(t.Context(), "other"); err != nil || !w.CreatedAt.IsZero() || w.RescanHeight != -1 {
		t.Errorf("an unknown wallet: %+v, %v", w, err)
	}
	if err := c.EndBitcoinLease(t.Context(), second); err != nil {
		t.Fatal(err)
	}
	c.leaseWallet(t, noon.Add(time.Minute))
}

func TestBitcoinBatches_EachPaymentAndCoinInOne(t *testing.T) {
	t.Parallel()
	// A payment that is kept twice is the first one. A batch takes payments that have none and coins that no other has, or
	// nothing at all. A batch that is released gives both back.
	c := newEnv(t)
	ctx := t.Context()
	lease := c.leaseWallet(t, noon)
	payments := c.addBitcoinPayments(t, 3)
	changed := payments[0]
	changed.Satoshis++
	if kept, err := c.AddBitcoinPayments(ctx, hotWallet, []ports.BitcoinPayment{changed}); err != nil || kept[0] != payments[0] {
		t.Errorf("kept again as %+v, %v", kept, err)
	}
	c.saveBitcoin(t, lease, ports.BitcoinChanges{NewBatch: &ports.BitcoinBatch{Since: "b1", Payments: payments[:2],
		Versions: []ports.BitcoinVersion{bitcoinVersion("t1", 0, 1)}}})

	for name, refused := range map[string]ports.BitcoinBatch{
		"a payment of another batch": {Since: "b1", Payments: payments[1:], Versions: []ports.BitcoinVersion{bitcoinVersion("t2", 2)}},
		"a coin of another batch":    {Since: "b1", Payments: payments[2:], Versions: []ports.BitcoinVersion{bitcoinVersion("t2", 1, 2)}},
	} {
		if err := c.SaveBitcoin(ctx, lease, ports.BitcoinChanges{At: noon, NewBatch: &refused}); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
	c.saveBitcoin(t, lease, ports.BitcoinChanges{Replacement: &ports.BitcoinBatchVersion{Batch: 1, Number: 1,
		BitcoinVersion: bitcoinVersion("t3", 0, 1, 3)}})

	open, err := c.OpenBitcoinBatches(ctx, hotWallet, 10)
	if err != nil || len(open) != 1 {
		t.Fatalf("%+v, %v", open, err)
	}
	if b := open[0]; b.Number != 1 || b.Status != ports.BitcoinSent || b.Since != "b1" || len(b.Payments) != 2 || len(b.Versions) != 2 ||
		b.Versions[1].TxID != "t3" || b.Versions[0].Fee != 141 {
		t.Errorf("the batch %+v", b)
	}
	if unsigned, err := c.UnsignedBitcoinPayments(ctx, hotWallet, 10); err != nil || len(unsigned) != 1 || unsigned[0] != payments[2] {
		t.Errorf("unsigned %+v, %v", unsigned, err)
	}

	c.saveBitcoin(t, lease, ports.BitcoinChanges{Batch: &ports.BitcoinBatchStatus{Batch: 1, Status: ports.BitcoinReleased}})
	c.saveBitcoin(t, lease, ports.BitcoinChanges{NewBatch: &ports.BitcoinBatch{Since: "b9", Payments: payments,
		Versions: []ports.BitcoinVersion{bitcoinVersion("t4", 0, 3)}}})
	c.saveBitcoin(t, lease, ports.BitcoinChanges{Batch: &ports.BitcoinBatchStatus{Batch: 2, Status: ports.BitcoinConfirmed, TxID: "t4"}})
	got, err := c.BitcoinPayments(ctx, hotWallet, []ports.RailPaymentKey{payments[2].RailPaymentKey,
		{Platform: c.otherPlatform.ID, ID: payments[1].ID, Kind: rail.Payout}})
	if err != nil || len(got) != 1 || got[0].Batch != 2 || got[0].Status != ports.BitcoinConfirmed || got[0].TxID != "t4" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestBitcoinPayments_RefundOfCancelledPayout(t *testing.T) {
	t.Parallel()
	// A payout and the refund of the same transaction are two payments of a wallet. If the payout was cancelled before it was signed,
	// the refund alone may leave.
	c := newEnv(t)
	ctx := t.Context()
	lease := c.leaseWallet(t, noon)
	payout := c.addBitcoinPayments(t, 1)[0]
	if _, err := c.Pool().Exec(ports.ForAllPlatforms(ctx), `UPDATE rail_payments SET state = 'CANCELLED' WHERE id = $1`,
		payout.ID.String()); err != nil {
		t.Fatal(err)
	}
	refund := payout
	refund.Kind, refund.Address = rail.Refund, "bcrt1qpayer"
	c.handOver(t, hotWallet, "BITCOIN", money.Amount{Minor: refund.Satoshis, Currency: money.BTC}, refund.RailPaymentKey)
	if kept, err := c.AddBitcoinPayments(ctx, hotWallet, []ports.BitcoinPayment{refund}); err != nil || kept[0] != refund {
		t.Fatalf("kept the refund as %+v, %v", kept, err)
	}

	if unsigned, err := c.UnsignedBitcoinPayments(ctx, hotWallet, 10); err != nil || len(unsigned) != 1 || unsigned[0] != refund {
		t.Errorf("may leave: %+v, %v", unsigned, err)
	}
	batch := ports.BitcoinBatch{Since: "b1", Payments: []ports.BitcoinPayment{payout},
		Versions: []ports.BitcoinVersion{bitcoinVersion("t1", 0)}}
	if err := c.SaveBitcoin(ctx, lease, ports.BitcoinChanges{At: noon, NewBatch: &batch}); !errors.Is(err, ports.ErrBitcoinHeld) {
		t.Errorf("the cancelled payout: %v", err)
	}
	batch.Payments = []ports.BitcoinPayment{refund}
	c.saveBitcoin(t, lease, ports.BitcoinChanges{NewBatch: &batch})
	kept, err := c.BitcoinPayments(ctx, hotWallet, []ports.RailPaymentKey{payout.RailPaymentKey, refund.RailPaymentKey})
	if err != nil || len(kept) != 2 {
		t.Fatalf("%+v, %v", kept, err)
	}
	for _, p := range kept {
		if (p.Batch != 0) != (p.Kind == rail.Refund) {
			t.Errorf("in a batch: %+v", p)
		}
	}
}

func TestBitcoinAddressesAndDeposits(t *testing.T) {
	t.Parallel()
	// Addresses are found until they are imported, and then in the order of their checks. The earliest time at which one
	// may have been shown is kept. Deposits are kept by output, and reversed ones are not recent.
	c := newEnv(t)
	ctx := t.Context()
	lease := c.leaseWallet(t, noon)
	one := ports.BitcoinAddress{Platform: c.platform.ID, Address: "a1", Reference: "R1", KnownAt: noon}
	two := ports.BitcoinAddress{Platform: c.otherPlatform.ID, Address: "a2", Reference: "R2", KnownAt: noon}
	c.saveBitcoin(t, lease, ports.BitcoinChanges{Addresses: []ports.BitcoinAddress{one, two}})
	if found, err := c.BitcoinAddressesToImport(ctx, hotWallet, 10); err != nil ||
		!reflect.DeepEqual(found, []ports.BitcoinAddress{one, two}) {
		t.Fatalf("%+v, %v", found, err)
	}
	one.ImportedAt, one.CheckedAt = noon, noon.Add(time.Hour)
	two.ImportedAt, two.CheckedAt, two.KnownAt = noon, noon, noon.Add(time.Hour)
	c.saveBitcoin(t, lease, ports.BitcoinChanges{Addresses: []ports.BitcoinAddress{one, two}})
	two.KnownAt = noon
	if found, err := c.BitcoinAddressesToCheck(ctx, hotWallet, 10); err != nil || !reflect.DeepEqual(found, []ports.BitcoinAddress{two, one}) {
		t.Fatalf("%+v, %v", found, err)
	}
	if found, err := c.BitcoinAddresses(ctx, hotWallet, []string{"a1", "a9"}); err != nil ||
		!reflect.DeepEqual(found, []ports.BitcoinAddress{one}) {
		t.Fatalf("%+v, %v", found, err)
	}

	output := ports.BitcoinOutput{TxID: "t1", Vout: 1}
	deposit := ports.BitcoinDeposit{BitcoinOutput: output, Address: "a1", Satoshis: 5000, Block: "b1", Height: 9,
		Status: ports.BitcoinCredited, Occurrence: 1}
	c.saveBitcoin(t, lease, ports.BitcoinChanges{Deposits: []ports.BitcoinDeposit{deposit}})
	for height, want := range map[int64]int{9: 1, 10: 0} {
		if found, err := c.RecentBitcoinDeposits(ctx, hotWallet, height, 10); err != nil || len(found) != want {
			t.Errorf("from height %d: %+v, %v", height, found, err)
		}
	}
	deposit.Status = ports.BitcoinReversed
	c.saveBitcoin(t, lease, ports.BitcoinChanges{Deposits: []ports.BitcoinDeposit{deposit}})
	if found, err := c.RecentBitcoinDeposits(ctx, hotWallet, 0, 10); err != nil || len(found) > 0 {
		t.Errorf("a reversed one is recent: %+v, %v", found, err)
	}
	if found, err := c.BitcoinDeposits(ctx, hotWallet, []ports.BitcoinOutput{output, {TxID: "t1"}}); err != nil ||
		!reflect.DeepEqual(found, []ports.BitcoinDeposit{deposit}) {
		t.Errorf("%+v, %v", found, err)
	}
}

func TestBitcoinEvents_OnceInOrderAndRetained(t *testing.T) {
	t.Parallel()
	// Events are read in the order in which they were saved; one that is saved again is not reported again. Read ones are
	// deleted when they are old, and so are the transactions and coins of batches that are final.
	c := newEnv(t)
	ctx := t.Context()
	lease := c.leaseWallet(t, noon)
	events := []ports.BitcoinEvent{
		{Kind: ports.BitcoinReceipt, PartnerID: "t1:0", Platform: c.platform.ID, Reference: "R1", Satoshis: 5000, At: noon},
		{Kind: ports.BitcoinReversal, PartnerID: "t1:0", Receipt: "t1:0", Text: "gone", At: noon},
		{Kind: ports.BitcoinChanged, PartnerID: "1", Subject: uuid.UUID{15: 1}, At: noon},
	}
	c.saveBitcoin(t, lease, ports.BitcoinChanges{Events: events[:2]})
	c.saveBitcoin(t, lease, ports.BitcoinChanges{Events: events})
	got, err := c.BitcoinEvents(ctx, hotWallet, 0, 10)
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
	payments := c.addBitcoinPayments(t, 1)
	c.saveBitcoin(t, lease, ports.BitcoinChanges{NewBatch: &ports.BitcoinBatch{Payments: payments,
		Versions: []ports.BitcoinVersion{bitcoinVersion("t1", 0)}}})
	c.saveBitcoin(t, lease, ports.BitcoinChanges{Batch: &ports.BitcoinBatchStatus{Batch: 1, Status: ports.BitcoinFinal, TxID: "t1"}})
	if rest, err := c.BitcoinEvents(ctx, hotWallet, got[1].Number, 10); err != nil || len(rest) != 1 {
		t.Fatalf("%+v, %v", rest, err)
	}

	deleted := map[string]int{}
	if err := c.DeleteOld(ctx, postgres.RetentionCutoffs{BitcoinEvents: noon.Add(time.Minute)},
		func(table string, n int) { deleted[table] += n }); err != nil {
		t.Fatal(err)
	}
	if deleted["bitcoin_events"] != 2 || deleted["bitcoin_inputs"] != 1 || deleted["bitcoin_transactions"] != 1 {
		t.Errorf("deleted %v", deleted)
	}
	if kept, err := c.BitcoinPayments(ctx, hotWallet, []ports.RailPaymentKey{payments[0].RailPaymentKey}); err != nil || len(kept) != 1 ||
		kept[0].TxID != "t1" {
		t.Errorf("the payment is %+v, %v", kept, err)
	}
}

func TestBitcoinStore_ShowsNoUnfinishedSave(t *testing.T) {
	t.Parallel()
	// Changes that fail at the last step leave nothing.
	c := newEnv(t)
	lease := c.leaseWallet(t, noon)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.SaveBitcoin(ctx, lease, ports.BitcoinChanges{At: noon,
		Events: []ports.BitcoinEvent{{Kind: ports.BitcoinFee, PartnerID: "x"}}}); err == nil {
		t.Error("saved after the caller had gone")
	}
	bad := ports.BitcoinChanges{At: noon, Position: &ports.BitcoinPosition{ScannedBlock: "b1"},
		Batch:       &ports.BitcoinBatchStatus{Batch: 1, Status: "SENT"},
		Replacement: &ports.BitcoinBatchVersion{Batch: 1, BitcoinVersion: ports.BitcoinVersion{TxID: "t"}}}
	if err := c.SaveBitcoin(t.Context(), lease, bad); err == nil {
		t.Error("a version without a transaction was saved")
	}
	if w, err := c.BitcoinWallet(t.Context(), hotWallet); err != nil || w.ScannedBlock != "" {
		t.Errorf("%+v, %v", w, err)
	}
}
