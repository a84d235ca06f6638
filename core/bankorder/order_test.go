package bankorder_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/core/bankorder"
	"causeway/core/money"
	"causeway/core/rail"
)

var (
	states   = []bankorder.State{bankorder.Queued, bankorder.InFile, bankorder.Accepted, bankorder.Pending, bankorder.Settled, bankorder.Rejected, bankorder.Returned}
	reported = states[2:]
	noon     = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
)

func TestOrder_EveryReportInEveryState(t *testing.T) {
	t.Parallel()
	// What each report does to an order in each state: C changes it, r repeats what is known, x contradicts it.
	// The columns are the reports: accepted, pending, settled, rejected, returned.
	want := map[bankorder.State]string{
		bankorder.Queued:   "xxxxx",
		bankorder.InFile:   "CCCCC",
		bankorder.Accepted: "rCCCC",
		bankorder.Pending:  "rrCCC",
		bankorder.Settled:  "rrrxC",
		bankorder.Rejected: "rrxrr",
		bankorder.Returned: "rrrrr",
	}
	for _, state := range states {
		got := ""
		for _, report := range reported {
			before := bankorder.Order{State: state}
			after, effect := before.Apply(bankorder.Report{State: report, Code: "X"}, noon)
			got += map[bankorder.Effect]string{bankorder.Repeats: "r", bankorder.Changes: "C", bankorder.Contradicts: "x"}[effect]
			if changed := after.State != state || after.Code != ""; changed != (effect == bankorder.Changes) || changed && after.State != report {
				t.Errorf("%s, reported %s: %+v", state, report, after)
			}
		}
		if got != want[state] {
			t.Errorf("%s: %s, want %s", state, got, want[state])
		}
	}
	if _, effect := (bankorder.Order{State: bankorder.InFile}).Apply(bankorder.Report{State: "MAYBE"}, noon); effect != bankorder.Contradicts {
		t.Error("an unknown report was applied")
	}
}

func TestOrder_KeepsWhatTheBankSaid(t *testing.T) {
	t.Parallel()
	// The times are those of the bank unless they are in the future, and a return keeps the bank's id of the payment
	// and the time of its settlement.
	earlier := noon.Add(-time.Hour)
	o := bankorder.Order{State: bankorder.InFile}
	for _, r := range []bankorder.Report{
		{State: bankorder.Accepted, PartnerID: "B1", At: earlier},
		{State: bankorder.Settled, At: noon.Add(time.Hour)},
		{State: bankorder.Returned, PartnerID: "R1", Code: "AC04", Text: "closed"},
	} {
		o, _ = o.Apply(r, noon)
	}
	if o.PartnerID != "B1" || o.Code != "AC04" || o.Text != "closed" || !o.AcceptedAt.Equal(earlier) || !o.SettledAt.Equal(noon) || !o.ReturnedAt.Equal(noon) {
		t.Errorf("%+v", o)
	}
}

func TestReportable_IsWhatChanges(t *testing.T) {
	t.Parallel()
	// A report about a whole file settles what is not yet settled or rejected.
	if got := bankorder.Reportable(bankorder.Settled); len(got) != 3 || got[0] != bankorder.InFile || got[2] != bankorder.Pending {
		t.Errorf("%v", got)
	}
}

func TestIDs_OfPayoutAndRefundDiffer(t *testing.T) {
	t.Parallel()
	// A payout and its refund have the same subject and can both be at the bank. Both ids fit into ISO 20022, and the
	// part of a refund's before the hyphen is that of the transaction.
	subject := uuid.MustParse("0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e11")
	payout, refund := bankorder.EndToEndIDOf(bankorder.Payout, subject), bankorder.EndToEndIDOf(bankorder.Refund, subject)
	if payout != rail.EndToEndID(subject) || !strings.HasPrefix(refund, payout+"-") || len(refund) > 35 {
		t.Errorf("%s and %s", payout, refund)
	}
	if bankorder.IDOf(bankorder.Payout, subject) != subject || bankorder.IDOf(bankorder.Refund, subject) == subject {
		t.Error("the ids of the orders")
	}
	if short := rail.ShortID(payout); len(short) != 15 || short == rail.ShortID(refund) || short != "31EBBPW7E4WZQP4" {
		t.Errorf("short id %s", short)
	}
}

func TestOrder_AmountsOfReports(t *testing.T) {
	t.Parallel()
	// A booking is of exactly the amount, and a payment comes back with all of it or less, of which the rest was deducted;
	// a collection with all of it. Every other amount contradicts, in every state, and changes nothing. Without an amount
	// all of it is meant.
	euros := func(minor int64) money.Amount { return money.Amount{Minor: minor, Currency: "EUR"} }
	for _, c := range []struct {
		kind        bankorder.Kind
		report      bankorder.State
		amount      money.Amount
		contradicts bool
		deducted    int64
	}{
		{bankorder.Payout, bankorder.Settled, euros(100), false, 0},
		{bankorder.Payout, bankorder.Settled, money.Amount{}, false, 0},
		{bankorder.Payout, bankorder.Settled, euros(99), true, 0},
		{bankorder.Payout, bankorder.Settled, euros(101), true, 0},
		{bankorder.Payout, bankorder.Settled, euros(0), true, 0},
		{bankorder.Payout, bankorder.Settled, money.Amount{Minor: 100, Currency: "USD"}, true, 0},
		{bankorder.Payout, bankorder.Accepted, euros(99), false, 0},
		{bankorder.Payout, bankorder.Returned, euros(100), false, 0},
		{bankorder.Payout, bankorder.Returned, money.Amount{}, false, 0},
		{bankorder.Payout, bankorder.Returned, euros(98), false, 2},
		{bankorder.Refund, bankorder.Returned, euros(1), false, 99},
		{bankorder.Payout, bankorder.Returned, euros(101), true, 0},
		{bankorder.Payout, bankorder.Returned, money.Amount{Minor: 98, Currency: "USD"}, true, 0},
		{bankorder.Collection, bankorder.Returned, euros(100), false, 0},
		{bankorder.Collection, bankorder.Returned, euros(98), true, 0},
	} {
		for _, state := range states[1:] {
			before := bankorder.Order{Kind: c.kind, State: state, Amount: euros(100)}
			report := bankorder.Report{State: c.report, Amount: c.amount}
			_, without := before.Apply(bankorder.Report{State: c.report}, noon)
			after, effect := before.Apply(report, noon)
			if want := c.contradicts || without == bankorder.Contradicts; (effect == bankorder.Contradicts) != want || want && after.State != state {
				t.Errorf("%s of %s, %s of %s reported: effect %d, %s", c.kind, state, c.report, c.amount, effect, after.State)
			}
			if got := after.Deducted(report); got.Minor != c.deducted {
				t.Errorf("%s, %s of %s: deducted %s", c.kind, c.report, c.amount, got)
			}
		}
	}
}
