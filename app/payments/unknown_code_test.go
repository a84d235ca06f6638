package payments_test

import (
	"testing"
	"time"

	"causeway/app/internal/apptest"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/rail"
	"causeway/core/transaction"
	"causeway/ports"
)

func TestUnknownCode_PayoutEndsAndIsAskedAbout(t *testing.T) {
	t.Parallel()
	// A partner rejects or returns a payout with a reason that no standard has: the payout ends as with any other reason, which its
	// transaction says, and one item stands with the words of the partner, however often it says so. A reason that a standard has makes no
	// item.
	rejected := ports.Outcome{Verdict: ports.Refused, Reason: transaction.CounterpartyPostFailed, PartnerID: "TRX-1", Code: "XX99",
		Text: "see letter"}
	returned := ports.Outcome{Verdict: ports.Returned, Accepted: true, PartnerID: "TRX-1", Code: "R48", Text: "see letter"}
	for name, c := range map[string]struct {
		says  []ports.Outcome
		state rail.State
		code  string
	}{
		"rejected":                     {[]ports.Outcome{rejected}, rail.Refused, "XX99"},
		"returned":                     {[]ports.Outcome{saysDone, returned}, rail.Returned, "R48"},
		"returned at once":             {[]ports.Outcome{returned}, rail.Returned, "R48"},
		"rejected with a known reason": {[]ports.Outcome{saysRefused}, rail.Refused, ""},
		"returned with a known reason": {[]ports.Outcome{saysDone, saysReturned}, rail.Returned, ""},
		"rejected without any reason": {[]ports.Outcome{{Verdict: ports.Refused, Reason: transaction.CounterpartyPostFailed}},
			rail.Refused, ""},
		"waits with a reason of its own": {[]ports.Outcome{{Verdict: ports.Waiting, Accepted: true, Code: "CLOSED"}}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env, partner := newPartnerEnv(t)
			env.Rail.OnRefund = apptest.AllOutcomes[ports.Refund](ports.Outcome{Verdict: ports.Done})
			partner.set(waiting(env, 24*time.Hour))
			payout := env.transferOut(t)

			for _, o := range c.says {
				partner.set(o)
				env.news(t, payout.ID)
				env.news(t, payout.ID)
			}

			if end := env.Transaction(payout.ID).PayoutEnd(); end != c.state {
				t.Errorf("it has ended as %q, want %q", end, c.state)
			}
			said := transaction.Rejection{}
			if last := c.says[len(c.says)-1]; c.state != "" {
				said = transaction.Rejection{Code: last.Code, Text: last.Text}
			}
			if got := env.Transaction(payout.ID).Rejection; got != said {
				t.Errorf("the transaction says %+v, want %+v", got, said)
			}
			found := env.contradictions(t, payout.ID)
			if c.code == "" {
				if len(found) != 0 {
					t.Errorf("items: %+v", found)
				}
				return
			}
			if len(found) != 1 || found[0].Kind != rail.Payout || found[0].Reported.Code != c.code || found[0].Reported.Text != "see letter" ||
				found[0].Reported.PartnerID != "TRX-1" || found[0].Recorded.State != string(c.state) {
				t.Errorf("items: %+v", found)
			}
		})
	}
}

func TestUnknownCode_CollectionsRefundsAndSendBacks(t *testing.T) {
	t.Parallel()
	// The same of a collection, a refund and a receipt that is sent back.
	env, partner := newPartnerEnv(t)
	unknown := ports.Outcome{Verdict: ports.Returned, Code: "XX99", Text: "see letter", PartnerID: "RET-1", ReturnedAt: env.Clock.Now()}

	partner.set(saysDone)
	pulled := env.transferIn(t)
	partner.set(unknown)
	env.news(t, pulled.ID)
	env.news(t, pulled.ID)

	to := env.NewWallet("spark1good")
	q := env.quote(t, "USD", 100_00, to)
	late := env.receipt(q, "RTP", 100_00)
	partner.set(waiting(env, 24*time.Hour))
	for _, r := range []transaction.Receipt{env.receipt(q, "RTP", 100_00), late} {
		if _, err := env.Receive(t.Context(), r, nil); err != nil {
			t.Fatal(err)
		}
	}
	env.runDue(t)
	partner.set(unknown)
	env.news(t, late.DepositID())

	partner.set(ports.Outcome{Verdict: ports.Refused, Code: "XX99", Text: "see letter", PartnerID: "RET-1"})
	wrong := env.quote(t, "USD", 100_00, to)
	if _, err := env.Receive(t.Context(), env.receipt(wrong, "RTP", 90_00), nil); err != nil { // not the amount, so it is refunded
		t.Fatal(err)
	}
	env.runDue(t)

	for kind, id := range map[rail.Kind]ident.Transaction{rail.Collection: pulled.ID, rail.SendBack: late.DepositID(),
		rail.Refund: wrong.Transaction} {
		found := env.contradictions(t, id)
		if len(found) != 1 || found[0].Kind != kind || found[0].Reported.Code != "XX99" || found[0].Reported.Text != "see letter" {
			t.Errorf("%s: %+v", kind, found)
		}
	}
}

func TestUnknownCode_ReceiptIsTakenBack(t *testing.T) {
	t.Parallel()
	// A receipt is taken back for a reason that no standard has: it is taken back, and one item stands with what was received and
	// what the partner says; also if the reversal came before the receipt.
	e := newFeedEnv(t)
	taken := func(receipt string) ports.ReceiptReversal {
		v := e.reversal(receipt)
		v.Code, v.Text = "XX99", "see letter"
		return v
	}
	e.adapter.add(ports.RailReport{Receipts: []ports.RailReceipt{e.receipt("1", "RENT", 3_00)}, Reversals: []ports.ReceiptReversal{taken("1"),
		taken("1"), taken("later")}})
	e.read()
	e.adapter.add(ports.RailReport{Receipts: []ports.RailReceipt{e.receipt("later", "RENT", 4_00)},
		Reversals: []ports.ReceiptReversal{taken("later")}})
	e.read()

	e.WantBalances(map[string]int64{})
	received := map[string]money.Amount{}
	for _, c := range e.contradictions(t, ident.Transaction{}) {
		if c.Reported.Code != "XX99" || c.Reported.Text != "see letter" || c.Reported.PartnerID != "REV-"+c.Name || c.Platform != e.Platform.ID {
			t.Errorf("item %+v", c)
		}
		received[c.Recorded.PartnerID] = c.Recorded.Amount
	}
	if len(e.items()) != 2 || received["1"].Minor != 3_00 || received["later"].Minor != 4_00 {
		t.Errorf("items %+v, received %v", e.items(), received)
	}
}
