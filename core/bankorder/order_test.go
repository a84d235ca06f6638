package bankorder_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/core/bankorder"
	"causeway/core/corridor"
	"causeway/core/money"
	"causeway/core/rail"
)

var (
	states = []bankorder.State{bankorder.Queued, bankorder.InFile, bankorder.Accepted, bankorder.Pending, bankorder.Settled,
		bankorder.Rejected, bankorder.Returned}
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
	if o.PartnerID != "B1" || o.Code != "AC04" || o.Text != "closed" || !o.AcceptedAt.Equal(earlier) || !o.SettledAt.Equal(noon) ||
		!o.ReturnedAt.Equal(noon) {
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
		{bankorder.Refund, bankorder.Returned, euros(90), false, 10},
		{bankorder.Payout, bankorder.Returned, euros(89), true, 0},
		{bankorder.Payout, bankorder.Returned, euros(50), true, 0},
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

func TestOrder_SecondBookingContradicts(t *testing.T) {
	t.Parallel()
	// A payment comes back with one credit, and leaves with one debit: another one, by its id, contradicts. The same one
	// again repeats, and the credit of a return that was reported by a message before is that return.
	euros := money.Amount{Minor: 100, Currency: "EUR"}
	credit := func(id string) bankorder.Report {
		return bankorder.Report{State: bankorder.Returned, PartnerID: id, Amount: euros, Booked: true}
	}
	debit := func(id string) bankorder.Report {
		return bankorder.Report{State: bankorder.Settled, PartnerID: id, Amount: euros, Booked: true}
	}
	message := bankorder.Report{State: bankorder.Returned, PartnerID: "T1"}
	for name, c := range map[string]struct {
		reports []bankorder.Report
		want    string
	}{
		"credits":                    {[]bankorder.Report{credit("C1"), credit("C1"), credit("C2"), credit("C1")}, "Crxr"},
		"debits":                     {[]bankorder.Report{debit("D1"), debit("D1"), debit("D2")}, "Crx"},
		"a message, then the credit": {[]bankorder.Report{message, credit("C1"), credit("C2"), message}, "Crxr"},
		"a late debit":               {[]bankorder.Report{credit("C1"), debit("D1"), debit("D1")}, "Crr"},
		"a debit after the return":   {[]bankorder.Report{debit("D1"), credit("C1"), debit("D1"), debit("D2")}, "CCrx"},
		"a rejection, then credits":  {[]bankorder.Report{{State: bankorder.Rejected}, credit("C1"), credit("C2")}, "Crx"},
	} {
		o, got := bankorder.Order{State: bankorder.InFile, Amount: euros}, ""
		for _, r := range c.reports {
			var effect bankorder.Effect
			o, effect = o.Apply(r, noon)
			got += map[bankorder.Effect]string{bankorder.Repeats: "r", bankorder.Changes: "C", bankorder.Contradicts: "x"}[effect]
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestOrder_ChargesExplainAReturnOfLess(t *testing.T) {
	t.Parallel()
	// What the bank says that it has deducted is a deduction, however much it is; half of a payment without that is a part.
	o := bankorder.Order{State: bankorder.Settled, Amount: money.Amount{Minor: 10_15, Currency: "EUR"}}
	r := bankorder.Report{State: bankorder.Returned, Amount: money.Amount{Minor: 5_08, Currency: "EUR"}, Booked: true, PartnerID: "C1"}
	if _, effect := o.Apply(r, noon); effect != bankorder.Contradicts {
		t.Errorf("half of it: effect %d", effect)
	}
	r.Charges = money.Amount{Minor: 5_07, Currency: "EUR"}
	if after, effect := o.Apply(r, noon); effect != bankorder.Changes || after.Deducted(r).Minor != 5_07 {
		t.Errorf("with charges: effect %d, deducted %s", effect, after.Deducted(r))
	}
}

func TestApply_SettlesOnRailsOfTheReport(t *testing.T) {
	t.Parallel()
	// A report settles payments of its rails. By a status, the others are pending; by an entry, nothing is said of them.
	order := bankorder.Order{Kind: bankorder.Payout, Rail: corridor.Wire, State: bankorder.Accepted,
		Amount: money.Amount{Minor: 5, Currency: "USD"}}
	for name, c := range map[string]struct {
		settles []corridor.Rail
		booked  bool
		state   bankorder.State
		effect  bankorder.Effect
	}{
		"all":                 {nil, false, bankorder.Settled, bankorder.Changes},
		"its own":             {[]corridor.Rail{corridor.ACH, corridor.Wire}, true, bankorder.Settled, bankorder.Changes},
		"status of none":      {[]corridor.Rail{}, false, bankorder.Pending, bankorder.Changes},
		"status of another":   {[]corridor.Rail{corridor.ACH}, false, bankorder.Pending, bankorder.Changes},
		"an entry of another": {[]corridor.Rail{corridor.ACH}, true, bankorder.Accepted, bankorder.Repeats},
	} {
		got, effect := order.Apply(bankorder.Report{State: bankorder.Settled, Settles: c.settles, Booked: c.booked, PartnerID: "B1"},
			time.Unix(1, 0))
		if got.State != c.state || effect != c.effect {
			t.Errorf("%s: %s, %d", name, got.State, effect)
		}
	}
}
