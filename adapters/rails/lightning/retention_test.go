package lightning_test

import (
	"testing"
	"time"

	"causeway/adapters/rails/lightning"
	"causeway/adapters/rails/lightning/lndtest"
	"causeway/core/rail"
	"causeway/ports"
)

// deleteOld deletes what is older than the present time of the world, and returns how many rows of each table.
func (w *world) deleteOld() map[string]int64 {
	w.t.Helper()
	deleted := map[string]int64{}
	for _, rows := range lightning.OldRows(w.clock.Now()) {
		result, err := w.db.Pool().Exec(w.t.Context(), rows.Delete, rows.Before, 100)
		if err != nil {
			w.t.Fatal(err)
		}
		deleted[rows.Table] = result.RowsAffected()
	}
	return deleted
}

func TestOldRows_Payments(t *testing.T) {
	t.Parallel()
	// A payment is deleted when it has ended, its outcome was recorded, and its invoice has expired. One whose outcome was not recorded
	// can still be asked about, and one that is on its way is. A payment that was deleted and is sent again is not paid again.
	bothNodes(t, func(t *testing.T, w *world) {
		r := w.rail()
		paid, refused, unrecorded, stuck := w.payout(1, 1_000), w.payout(2, 2_000), w.payout(3, 3_000), w.payout(4, 4_000)
		w.node.SetFate(refused.Account.Fields["invoice"], lndtest.NoRoute)
		w.node.SetFate(stuck.Account.Fields["invoice"], lndtest.Stuck)
		all := []ports.Payout{paid, refused, unrecorded, stuck}
		r.Send(t.Context(), all)
		for range 2 {
			w.run()
		}
		r.Status(t.Context(), all)
		if n := w.deleteOld()["lightning_payments"]; n != 0 {
			t.Errorf("%d payments are deleted before their outcome is recorded", n)
		}
		w.record(t, paid, rail.Done)
		w.record(t, refused, rail.Refused)
		if n := w.deleteOld()["lightning_payments"]; n != 0 {
			t.Errorf("%d payments are deleted as long as their invoices are good", n)
		}
		w.clock.Advance(48 * time.Hour) // the invoices expire
		if n := w.deleteOld()["lightning_payments"]; n != 2 {
			t.Errorf("%d payments are deleted, want those that were paid and refused", n)
		}
		for i, want := range map[int]ports.Verdict{2: ports.Done, 3: ports.Waiting} {
			if o := r.Status(t.Context(), all[i:i+1])[0]; o.Verdict != want {
				t.Errorf("payout %d is %+v, want %s", i, o, want)
			}
		}
		if o := w.rail().Send(t.Context(), []ports.Payout{paid})[0]; o.Verdict == ports.Done {
			t.Errorf("what was deleted is %+v", o)
		}
		w.run()
		if times, _ := w.node.Paid(hashOf(t, paid.Account.Fields["invoice"])); len(times) != 1 {
			t.Errorf("paid %v", times)
		}
	})
}

// record records the outcome of a payout of the connection.
func (w *world) record(t *testing.T, p ports.Payout, s rail.State) {
	t.Helper()
	if _, err := w.db.Pool().Exec(t.Context(), `UPDATE rail_payments SET state = $2, settled_at = now() WHERE id = $1`, p.Transaction.ID.UUID(),
		string(s)); err != nil {
		t.Fatal(err)
	}
}

func TestOldRows_Invoices(t *testing.T) {
	t.Parallel()
	// An invoice is deleted long after it has expired, also if it was never paid. What is reported as paid to it after that is received once,
	// under its reference and of no platform, which is then that of the reference.
	bothNodes(t, func(t *testing.T, w *world) {
		w.mustPoll()
		mine := w.poller.Invoices(w.platform)
		late, err := mine.Invoice(t.Context(), w.request(1, 2_500))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := mine.Invoice(t.Context(), w.request(2, 100)); err != nil {
			t.Fatal(err)
		}
		if n := w.deleteOld()["lightning_invoices"]; n != 0 {
			t.Errorf("%d invoices are deleted that are good", n)
		}
		w.node.Pay(late.Request, 0) // and nobody hears of it for days
		w.clock.Advance(48 * time.Hour)
		if n := w.deleteOld()["lightning_invoices"]; n != 2 {
			t.Errorf("%d invoices are deleted", n)
		}
		receipts := w.mustPoll().Receipts
		w.cursor = "" // as if it had not been stored
		again := w.mustPoll().Receipts
		if len(receipts) != 1 || len(again) != 1 || again[0] != receipts[0] || receipts[0].Reference != "REF-B" ||
			!receipts[0].Platform.IsZero() || receipts[0].Amount.Minor != 2_500 {
			t.Errorf("received %+v, then %+v", receipts, again)
		}
	})
}
