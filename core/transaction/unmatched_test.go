package transaction_test

import (
	"testing"
	"time"

	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/transaction"
	"causeway/ledger"
)

// unmatched returns funds that arrived without a reference, an hour before noon.
func unmatched(minor int64) transaction.Unmatched {
	quoted := onRamp()
	r := receiptFor(quoted, minor, "p1", noon.Add(-time.Hour))
	r.Reference = ""
	return transaction.Unmatched{Receipt: r, SourceAccount: r.Rail.LedgerPath(), Posting: r.Unmatched().ID, Kind: ledger.KindUnmatchedReceived, Since: noon.Add(-time.Hour)}
}

func TestUnmatched_AssignToQuote(t *testing.T) {
	t.Parallel()
	// Unmatched funds that are assigned to a quote start it, as if they had arrived with its
	// reference, and its postings match its state.
	u, quoted := unmatched(10050), onRamp()

	d, err := quoted.AssignUnmatched(u, "the payer called", noon)

	if err != nil || d.Next != transaction.StepDeliver || d.Transaction.Funded != u.Receipt.Amount || d.Transaction.SourceRail != u.Receipt.Rail || d.Transaction.SourceAccount != u.Receipt.Rail.LedgerPath() {
		t.Fatalf("%v: %+v", err, d)
	}
	wantEvents(t, d.Events, "OUTGOING_PAYMENT.PROCESSING")
	postings := append([]ledger.Posting{u.Receipt.Unmatched()}, d.Postings...)
	wantBalances(t, postings, map[string]int64{
		"rails/RTP USD": 10050, "income/fees USD": -50, "fx/position USD": -10000, "fx/position BTC": 100000, "transit/payouts BTC": -100000})
	if p := d.Postings[0]; p.Memo != "the payer called" || p.Transaction != quoted.ID || p.Effective != noon {
		t.Errorf("%+v", p)
	}
	done, err := d.Transaction.Deliver(noon.Add(time.Second))
	if err != nil {
		t.Fatal(err)
	}
	wantKindsMatchState(t, done.Transaction, append(d.Postings, done.Postings...))
}

func TestUnmatched_AssignToQuoteRefused(t *testing.T) {
	t.Parallel()
	// A quote that waits for no money, for other money, or no longer, is left as it is.
	for name, c := range map[string]struct {
		change func(*transaction.Transaction)
		minor  int64
		now    time.Time
	}{
		"another amount":   {nil, 10049, noon},
		"another currency": {func(t *transaction.Transaction) { t.Pricing.Sent.Currency = "EUR" }, 10050, noon},
		"expired":          {nil, 10050, noon.Add(5 * time.Minute)},
		"paid":             {func(t *transaction.Transaction) { t.State.Status = transaction.Processing }, 10050, noon},
		"an account pays":  {func(t *transaction.Transaction) { ident.SetUUID(&t.Source.InternalAccount, internal) }, 10050, noon},
	} {
		quoted := onRamp()
		if c.change != nil {
			c.change(&quoted)
		}
		d, err := quoted.AssignUnmatched(unmatched(c.minor), "", c.now)
		if !fault.Is(err, fault.Conflict) || len(d.Postings) > 0 {
			t.Errorf("%s: %v, %+v", name, err, d)
		}
	}
}

func TestUnmatched_AssignToAccount(t *testing.T) {
	t.Parallel()
	// The funds become a completed deposit, debited to the account of unmatched funds, and its
	// postings match its state.
	u, in := unmatched(12_50), newIncoming()

	d, err := in.AssignUnmatched(u, "Ana's rent", noon)

	if err != nil || d.Transaction.State.Status != transaction.Completed || d.Transaction.SourceAccount != "rails/RTP" {
		t.Fatalf("%v: %+v", err, d)
	}
	wantEvents(t, d.Events, "INCOMING_PAYMENT.COMPLETED")
	wantBalances(t, append([]ledger.Posting{u.Receipt.Unmatched()}, d.Postings...), map[string]int64{"rails/RTP USD": 12_50, in.AccountPath + " USD": -12_50})
	wantKindsMatchState(t, d.Transaction, d.Postings)
}

func TestUnmatched_SendBack(t *testing.T) {
	t.Parallel()
	// The funds are owed to the payer and then sent. If the rail refuses them, they are
	// unmatched again and can only be assigned to an account.
	u := unmatched(500)

	owed, err := u.SendBack("nobody knows them", noon)
	if err != nil {
		t.Fatal(err)
	}

	wantBalances(t, []ledger.Posting{u.Receipt.Unmatched(), owed}, map[string]int64{"rails/RTP USD": 500, "transit/refunds USD": -500})
	wantBalances(t, []ledger.Posting{u.Receipt.Unmatched(), owed, u.Receipt.SentBack(u.Receipt.Rail.LedgerPath(), noon)}, nil)
	failed := u.Receipt.SendBackFailed(noon)
	again := transaction.Unmatched{Receipt: u.Receipt, Posting: failed.ID, Kind: failed.Kind}
	if _, err := again.SendBack("", noon); !fault.Is(err, fault.Conflict) {
		t.Errorf("sent a second time: %v", err)
	}
	d, err := newIncoming().AssignUnmatched(again, "", noon)
	if err != nil || d.Postings[0].ID == owed.ID {
		t.Errorf("%v: both assignments are posted as %s", err, owed.ID)
	}
}

func TestUnmatched_FailedRefundOnlyDeposits(t *testing.T) {
	t.Parallel()
	// A refund that failed pays no quote and is not sent again. It is deposited, under an id
	// that is no other transaction's.
	lost := unmatched(10050)
	lost.RefundOf, lost.Kind = onRamp().ID, ledger.KindRefundFailed
	ident.SetUUID(&lost.Receipt.ID, lost.RefundOf.UUID())

	_, pays := onRamp().AssignUnmatched(lost, "", noon)
	_, again := lost.SendBack("", noon)
	for name, err := range map[string]error{"a refund to a quote": pays, "a refund to its payer": again} {
		if !fault.Is(err, fault.Conflict) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, id := range []ident.Transaction{lost.RefundOf, transaction.CounterpartID(lost.RefundOf)} {
		if lost.DepositID() == id {
			t.Errorf("the refund of %s is deposited as %s", lost.RefundOf, id)
		}
	}
}

func TestUnmatched_AssignTwiceRefused(t *testing.T) {
	t.Parallel()
	// Unmatched funds are assigned once.
	u := unmatched(10050)
	u.Assignment = &transaction.Assignment{At: noon}
	_, quote := onRamp().AssignUnmatched(u, "", noon)
	_, deposit := newIncoming().AssignUnmatched(u, "", noon)
	_, back := u.SendBack("", noon)
	for name, err := range map[string]error{"quote": quote, "account": deposit, "payer": back} {
		if !fault.Is(err, fault.Conflict) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func wantKindsMatchState(t *testing.T, of transaction.Transaction, postings []ledger.Posting) {
	t.Helper()
	kinds := make([]ledger.Kind, len(postings))
	for i, p := range postings {
		kinds[i] = p.Kind
		if p.Transaction != of.ID {
			t.Errorf("%s is not counted to the transaction", p.Kind)
		}
	}
	if err := of.Flow().CheckKinds(of.State, kinds); err != nil {
		t.Errorf("the transaction %v", err)
	}
}

func TestReceipt_RejectedByAccount(t *testing.T) {
	t.Parallel()
	// It is unmatched like money of an unknown owner, under the same id, and says why.
	r := receiptFor(onRamp(), 500, "p1", noon)
	kept, unknown := r.RejectedByAccount(), r.Unmatched()

	if kept.Memo != "not taken in: "+r.Reference || kept.ID != unknown.ID || kept.Kind != ledger.KindUnmatchedReceived {
		t.Errorf("%+v", kept)
	}
	wantBalances(t, []ledger.Posting{kept}, map[string]int64{"rails/RTP USD": 500, "funding/unmatched USD": -500})
}
