package bankfile_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"causeway/adapters/rails/bankfile"
	"causeway/core/bankorder"
	"causeway/core/corridor"
	"causeway/core/transaction"
	"causeway/ports"
)

func TestAdapter_AnswersWithWhatTheBankSaid(t *testing.T) {
	t.Parallel()
	// A payment is what the bank has reported of it, also when the reports are fewer or in another order. One that settled and
	// came back is done for a call that does not know yet that it has settled, and returned for the one that asks later.
	d, b := openDatabase(t), newBank(t)
	connection := europe("reported", b.dir)
	a := d.open(t, connection, d.Store, nil)
	defer a.Close()
	type report = bankorder.Report
	accepted, pending, settled := report{State: bankorder.Accepted, PartnerID: "B1"}, report{State: bankorder.Pending, Code: "AM04"},
		report{State: bankorder.Settled, PartnerID: "B1"}
	returned := report{State: bankorder.Returned, Code: "AC04", Text: "closed"}
	rejected := func(code string) report { return report{State: bankorder.Rejected, Code: code} }
	for n, c := range []struct {
		reports    []report
		sent, done ports.Outcome // without times
	}{
		{nil, ports.Outcome{Verdict: ports.Waiting}, ports.Outcome{Verdict: ports.Waiting}},
		{[]report{accepted}, ports.Outcome{Verdict: ports.Waiting, PartnerID: "B1", Accepted: true},
			ports.Outcome{Verdict: ports.Waiting, PartnerID: "B1", Accepted: true}},
		{[]report{pending}, ports.Outcome{Verdict: ports.Waiting, Code: "AM04", Accepted: true},
			ports.Outcome{Verdict: ports.Waiting, Code: "AM04", Accepted: true}},
		{[]report{settled, accepted}, ports.Outcome{Verdict: ports.Done, PartnerID: "B1", Accepted: true},
			ports.Outcome{Verdict: ports.Done, PartnerID: "B1", Accepted: true}},
		{[]report{accepted, settled, returned}, ports.Outcome{Verdict: ports.Done, PartnerID: "B1", Accepted: true},
			ports.Outcome{Verdict: ports.Returned, PartnerID: "B1", Accepted: true, Code: "AC04", Text: "closed"}},
		{[]report{returned}, ports.Outcome{Verdict: ports.Refused, Reason: transaction.AccountInvalid, Code: "AC04", Text: "closed"},
			ports.Outcome{Verdict: ports.Returned, Code: "AC04", Text: "closed"}},
		{[]report{rejected("AC04")}, ports.Outcome{Verdict: ports.Refused, Reason: transaction.AccountInvalid, Code: "AC04"},
			ports.Outcome{}},
		// Without funds it was not paid either: a bank does not try it again.
		{[]report{accepted, rejected("AM04")}, ports.Outcome{Verdict: ports.Refused, Reason: transaction.CounterpartyPostFailed, PartnerID: "B1",
			Code: "AM04", Accepted: true}, ports.Outcome{}},
	} {
		payouts := []ports.Payout{d.payout("reported", n, corridor.SEPA)}
		a.Send(t.Context(), payouts)
		d.clock.Advance(time.Minute)
		pollAll(t, a, "")
		d.report(t, connection.Name, bankorder.EndToEndIDOf(bankorder.Payout, payouts[0].Transaction.ID.UUID()), c.reports)

		got := []ports.Outcome{a.Send(t.Context(), payouts)[0], a.Status(t.Context(), payouts)[0]}

		if c.done.Verdict == "" { // it is never asked about, because it was never done
			c.done = got[1]
		}
		for i, want := range []ports.Outcome{c.sent, c.done} {
			if (got[i].Verdict == ports.Waiting || got[i].Verdict == ports.Done) == got[i].RetryAt.IsZero() ||
				(got[i].Verdict == ports.Returned) == got[i].ReturnedAt.IsZero() {
				t.Errorf("%d: times of %+v", n, got[i])
			}
			if got[i].RetryAt, got[i].ReturnedAt = (time.Time{}), (time.Time{}); got[i] != want {
				t.Errorf("%d: %+v, want %+v", n, got[i], want)
			}
		}
	}
}

// report applies reports to an order, each of a file of the bank.
func (d database) report(t testing.TB, connection, endToEndID string, reports []bankorder.Report) {
	t.Helper()
	d.clock.Advance(5 * time.Minute) // the lease of the adapter has ended
	lease, held, err := d.Lease(t.Context(), connection, 0)
	if err != nil || !held {
		t.Fatalf("lease: %t, %v", held, err)
	}
	for i, r := range reports {
		notices, _, err := d.ReportOrders(t.Context(), lease, int64(i+1),
			[]bankfile.OrderReport{{EndToEndID: endToEndID, Place: fmt.Sprint(i), Report: r}}, d.clock.Now())
		if err != nil || len(notices) > 0 {
			t.Fatalf("%v, %v", notices, err)
		}
	}
}

func TestAdapter_KnowsNothingWithoutItsStore(t *testing.T) {
	t.Parallel()
	// A call whose order cannot be stored is unknown: it is made again, and the order is stored once.
	d, b := openDatabase(t), newBank(t)
	connection := europe("unknown", b.dir)
	payouts := []ports.Payout{d.payout("unknown", 1, corridor.SEPA), d.payout("unknown", 2, corridor.SEPA)}
	for _, how := range []ending{before, after} {
		a := d.open(t, connection, d.stepped(&process{endsAt: 1, how: how}), folderTransport(t, b.dir))
		if outcomes := a.Send(t.Context(), payouts); len(outcomes) != 2 || outcomes[0] != (ports.Outcome{Verdict: ports.Unknown}) ||
			outcomes[1] != outcomes[0] {
			t.Errorf("%s: %+v", how, outcomes)
		}
	}
	a := d.open(t, connection, d.Store, nil)
	defer a.Close()
	if outcomes := a.Send(t.Context(), payouts); !waiting(outcomes) {
		t.Errorf("%+v", outcomes)
	}
	d.clock.Advance(time.Minute)
	pollAll(t, a, "")
	if content := b.only(t, ""); strings.Count(content, "<EndToEndId>") != 2 {
		t.Errorf("the file has\n%s", content)
	}
	// What no order is stored of was done longer ago than any bank returns a payment.
	old := []ports.Payout{d.payout("old", 1, corridor.SEPA)}
	if outcome := a.Status(t.Context(), old)[0]; outcome != (ports.Outcome{Verdict: ports.Done}) {
		t.Errorf("%+v", outcome)
	}
}
