package transaction_test

import (
	"testing"
	"time"

	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/transaction"
	"causeway/ledger"
)

// unmatched returns money that was received without a reference, an hour before noon.
func unmatched(minor int64) transaction.Unmatched {
	quoted := onRamp()
	r := receiptFor(quoted, minor, "p1", noon.Add(-time.Hour))
	r.Reference = ""
	return transaction.Unmatched{Receipt: r, SourceAccount: r.Rail.LedgerPath(), Posting: r.Unmatched().ID, Kind: ledger.KindUnmatchedReceived,
		Since: noon.Add(-time.Hour)}
}

func TestUnmatched_AssignToQuote(t *testing.T) {
	t.Parallel()
	// Unmatched money that is assigned to a quote funds it as if it had been received with the reference,
	// and the postings match the state until delivery.
	u, quoted := unmatched(10050), onRamp()

	d, err := quoted.AssignUnmatched(u, transaction.Parties{}, "the payer called", noon)

	if err != nil || d.Next != transaction.StepDeliver || d.Transaction.Funded != u.Receipt.Amount ||
		d.Transaction.SourceRail != u.Receipt.Rail || d.Transaction.SourceAccount != u.Receipt.Rail.LedgerPath() {
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
	// A quote that is paid, expired, funded by an account or for another amount does not change.
	for name, c := range map[string]struct {
		change func(*transaction.Transaction)
		minor  int64
		now    time.Time
	}{
		"another amount":   {nil, 10049, noon},
		"another currency": {func(t *transaction.Transaction) { t.Pricing.Sent.Currency = "EUR" }, 10050, noon},
		"expired":          {nil, 10050, noon.Add(5 * time.Minute)},
		"paid":             {func(t *transaction.Transaction) { t.State.Status = transaction.Processing }, 10050, noon},
		"not authorised":   {func(t *transaction.Transaction) { *t = t.Protected() }, 10050, noon},
		"an incoming one, which no platform has approved": {func(t *transaction.Transaction) {
			t.Type, t.Approval = transaction.Incoming, &transaction.Approval{}
		}, 10050, noon},
		"an account pays": {func(t *transaction.Transaction) { t.Source.InternalAccount.SetUUID(internal) }, 10050, noon},
	} {
		quoted := onRamp()
		if c.change != nil {
			c.change(&quoted)
		}
		d, err := quoted.AssignUnmatched(unmatched(c.minor), transaction.Parties{}, "", c.now)
		if !fault.Is(err, fault.Conflict) || len(d.Postings) > 0 {
			t.Errorf("%s: %v, %+v", name, err, d)
		}
	}
}

func TestUnmatched_AssignToAccount(t *testing.T) {
	t.Parallel()
	// Unmatched money that is assigned to an account becomes a completed deposit, and the postings match
	// its state.
	u, in := unmatched(12_50), newIncoming()

	d, err := in.AssignUnmatched(u, "Ana's rent", noon)

	if err != nil || d.Transaction.State.Status != transaction.Completed || d.Transaction.SourceAccount != "rails/RTP" {
		t.Fatalf("%v: %+v", err, d)
	}
	wantEvents(t, d.Events, "INCOMING_PAYMENT.COMPLETED")
	wantBalances(t, append([]ledger.Posting{u.Receipt.Unmatched()}, d.Postings...), map[string]int64{"rails/RTP USD": 12_50,
		in.AccountPath + " USD": -12_50})
	wantKindsMatchState(t, d.Transaction, d.Postings)
}

func TestUnmatched_SendBack(t *testing.T) {
	t.Parallel()
	// Unmatched money is refunded to its payer. If the rail refuses the refund, the money is unmatched
	// again and can only be assigned to an account.
	u := unmatched(500)

	owed, err := u.SendBack(transaction.BeforeSendBack{}, "unknown payer", noon)
	if err != nil {
		t.Fatal(err)
	}

	wantBalances(t, []ledger.Posting{u.Receipt.Unmatched(), owed}, map[string]int64{"rails/RTP USD": 500, "transit/refunds USD": -500})
	wantBalances(t, []ledger.Posting{u.Receipt.Unmatched(), owed, u.Receipt.SentBack(u.Receipt.Rail.LedgerPath(), noon)}, nil)
	failed := u.Receipt.SendBackFailed(noon)
	again := transaction.Unmatched{Receipt: u.Receipt, Posting: failed.ID, Kind: failed.Kind}
	if _, err := again.SendBack(transaction.BeforeSendBack{}, "", noon); !fault.Is(err, fault.Conflict) {
		t.Errorf("sent a second time: %v", err)
	}
	d, err := newIncoming().AssignUnmatched(again, "", noon)
	if err != nil || d.Postings[0].ID == owed.ID {
		t.Errorf("%v: both assignments are posted as %s", err, owed.ID)
	}
}

func TestUnmatched_FailedRefundIsSentAgain(t *testing.T) {
	t.Parallel()
	// A failed refund is sent again as the receipt that had paid for its transaction, unless a rail has refused that too. The posting has an
	// id of its own.
	failed := unmatched(10050)
	paid := failed.Receipt.ID
	failed.RefundOf, failed.Kind, failed.FundedBy = onRamp().ID, ledger.KindRefundFailed, paid
	failed.Receipt.ID.SetUUID(failed.RefundOf.UUID())

	owed, err := failed.SendBack(transaction.BeforeSendBack{}, "their bank has opened the account again", noon)

	if err != nil || failed.SentBack() != paid {
		t.Fatalf("%v, sent back as %s", err, failed.SentBack())
	}
	wantBalances(t, []ledger.Posting{failed.Receipt.Unmatched(), owed},
		map[string]int64{"rails/RTP USD": 10050, "transit/refunds USD": -10050})
	if first, err := unmatched(10050).SendBack(transaction.BeforeSendBack{}, "", noon); err != nil || first.ID == owed.ID {
		t.Errorf("%v: both are posted as %s", err, owed.ID)
	}
	for _, before := range []transaction.BeforeSendBack{{PayerHasIt: true}, {SaidPaid: true}} {
		if _, err := failed.SendBack(before, "", noon); !fault.Is(err, fault.Conflict) {
			t.Errorf("%+v: %v", before, err)
		}
	}
}

func TestUnmatched_FailedRefundOnlyDeposits(t *testing.T) {
	t.Parallel()
	// A failed refund cannot fund a quote, nor be sent again if nothing was received for it. It can be deposited, under an id that no other
	// transaction has.
	failedRefund := unmatched(10050)
	failedRefund.RefundOf, failedRefund.Kind = onRamp().ID, ledger.KindRefundFailed
	failedRefund.Receipt.ID.SetUUID(failedRefund.RefundOf.UUID())

	_, quoteErr := onRamp().AssignUnmatched(failedRefund, transaction.Parties{}, "", noon)
	_, sendErr := failedRefund.SendBack(transaction.BeforeSendBack{}, "", noon)
	for name, err := range map[string]error{"a refund to a quote": quoteErr, "a refund to its payer": sendErr} {
		if !fault.Is(err, fault.Conflict) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, id := range []ident.Transaction{failedRefund.RefundOf, transaction.CounterpartID(failedRefund.RefundOf)} {
		if failedRefund.DepositID() == id {
			t.Errorf("the refund of %s is deposited as %s", failedRefund.RefundOf, id)
		}
	}
	failedRefund.SourceAccount = ledger.Wallet(ident.InternalAccount{})
	if d, err := newIncoming().AssignUnmatched(failedRefund, "", noon); err != nil || d.Transaction.Flow().Funding == transaction.Wallet {
		t.Errorf("the deposit of a refund to a wallet is paid by the wallet: %v", err)
	}
}

func TestUnmatched_AssignTwiceRefused(t *testing.T) {
	t.Parallel()
	// An assignment cannot be changed.
	u := unmatched(10050)
	u.Assignment = &transaction.Assignment{At: noon}
	_, quoteErr := onRamp().AssignUnmatched(u, transaction.Parties{}, "", noon)
	_, depositErr := newIncoming().AssignUnmatched(u, "", noon)
	_, sendErr := u.SendBack(transaction.BeforeSendBack{}, "", noon)
	for name, err := range map[string]error{"quote": quoteErr, "account": depositErr, "payer": sendErr} {
		if !fault.Is(err, fault.Conflict) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func wantKindsMatchState(t *testing.T, tx transaction.Transaction, postings []ledger.Posting) {
	t.Helper()
	kinds := make([]ledger.Kind, len(postings))
	for i, p := range postings {
		kinds[i] = p.Kind
		if p.Transaction != tx.ID {
			t.Errorf("%s does not belong to the transaction", p.Kind)
		}
	}
	if err := tx.Flow().CheckKinds(tx.State, kinds); err != nil {
		t.Errorf("the transaction %v", err)
	}
}

func TestReceipt_RejectedByAccount(t *testing.T) {
	t.Parallel()
	// Money that the account cannot receive is unmatched like money of an unknown owner, under the same id,
	// and its memo says why.
	r := receiptFor(onRamp(), 500, "p1", noon)
	rejected, unknown := r.RejectedByAccount(), r.Unmatched()

	if rejected.Memo != "not accepted by the account: "+r.Reference || rejected.ID != unknown.ID ||
		rejected.Kind != ledger.KindUnmatchedReceived {
		t.Errorf("%+v", rejected)
	}
	wantBalances(t, []ledger.Posting{rejected}, map[string]int64{"rails/RTP USD": 500, "funding/unmatched USD": -500})
}
