package transaction_test

import (
	"testing"
	"time"

	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/transaction"
	"causeway/ledger"
)

// unmatched is money that came without a reference, an hour before noon.
func unmatched(minor int64) transaction.Unmatched {
	quoted := ramp()
	r := paid(quoted, minor, "p1", noon.Add(-time.Hour))
	r.Reference = ""
	return transaction.Unmatched{Receipt: r, Posting: r.Unmatched().ID, Kind: ledger.KindUnmatchedReceived, Since: noon.Add(-time.Hour)}
}

func TestUnmatchedMoneyPaysAQuote(t *testing.T) {
	t.Parallel()
	// Money that is found to be for a quote sets it off as if it had come with the
	// reference, and the books explain the payment to its end.
	u, quoted := unmatched(10050), ramp()

	d, err := quoted.Found(u, "the payer called", noon)

	if err != nil || d.Next != transaction.StepDeliver || d.Transaction.Funded != u.Receipt.Amount || d.Transaction.InRail != u.Receipt.Rail {
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
	explains(t, done.Transaction, append(d.Postings, done.Postings...))
}

func TestUnmatchedMoneyThatNoQuoteWaitsFor(t *testing.T) {
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
		"an account pays":  {func(t *transaction.Transaction) { ident.Set(&t.Source.InternalAccount, internal) }, 10050, noon},
	} {
		quoted := ramp()
		if c.change != nil {
			c.change(&quoted)
		}
		d, err := quoted.Found(unmatched(c.minor), "", c.now)
		if !fault.Is(err, fault.Conflict) || len(d.Postings) > 0 {
			t.Errorf("%s: %v, %+v", name, err, d)
		}
	}
}

func TestUnmatchedMoneyForAnAccount(t *testing.T) {
	t.Parallel()
	// It becomes a deposit that has arrived, taken out of what is unmatched, and the
	// books explain it.
	u, in := unmatched(12_50), inflow()

	d, err := in.Found(u, "Ana's rent", noon)

	if err != nil || d.Transaction.State.Status != transaction.Completed {
		t.Fatalf("%v: %+v", err, d)
	}
	wantEvents(t, d.Events, "INCOMING_PAYMENT.COMPLETED")
	wantBalances(t, append([]ledger.Posting{u.Receipt.Unmatched()}, d.Postings...), map[string]int64{"rails/RTP USD": 12_50, in.Path + " USD": -12_50})
	explains(t, d.Transaction, d.Postings)
}

func TestUnmatchedMoneyGoesBack(t *testing.T) {
	t.Parallel()
	// It is owed to the payer, sent, and where the rail refuses it lies where it was:
	// then only an account can have it.
	u := unmatched(500)

	owed, err := u.GoesBack("nobody knows them", noon)
	if err != nil {
		t.Fatal(err)
	}

	wantBalances(t, []ledger.Posting{u.Receipt.Unmatched(), owed}, map[string]int64{"rails/RTP USD": 500, "transit/refunds USD": -500})
	wantBalances(t, []ledger.Posting{u.Receipt.Unmatched(), owed, u.Receipt.SentBack(u.Receipt.Rail, noon)}, nil)
	failed := u.Receipt.NotSentBack(noon)
	again := transaction.Unmatched{Receipt: u.Receipt, Posting: failed.ID, Kind: failed.Kind}
	if _, err := again.GoesBack("", noon); !fault.Is(err, fault.Conflict) {
		t.Errorf("sent a second time: %v", err)
	}
	d, err := inflow().Found(again, "", noon)
	if err != nil || d.Postings[0].ID == owed.ID {
		t.Errorf("%v: both assignments are posted as %s", err, owed.ID)
	}
}

func TestWhereUnmatchedMoneyDoesNotGo(t *testing.T) {
	t.Parallel()
	// A refund that failed pays no quote and is not sent again. It is deposited, under an id
	// that is no other transaction's.
	lost := unmatched(10050)
	lost.Of, lost.Kind = ramp().ID, ledger.KindRefundFailed
	ident.Set(&lost.Receipt.ID, lost.Of.UUID())

	_, pays := ramp().Found(lost, "", noon)
	_, again := lost.GoesBack("", noon)
	for name, err := range map[string]error{"a refund to a quote": pays, "a refund to its payer": again} {
		if !fault.Is(err, fault.Conflict) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, id := range []ident.Transaction{lost.Of, transaction.Counterpart(lost.Of)} {
		if lost.DepositID() == id {
			t.Errorf("the refund of %s is deposited as %s", lost.Of, id)
		}
	}
}

func TestUnmatchedMoneyIsAssignedOnce(t *testing.T) {
	t.Parallel()
	// Whatever was decided stands.
	u := unmatched(10050)
	u.Assignment = &transaction.Assignment{At: noon}
	_, quote := ramp().Found(u, "", noon)
	_, deposit := inflow().Found(u, "", noon)
	_, back := u.GoesBack("", noon)
	for name, err := range map[string]error{"quote": quote, "account": deposit, "payer": back} {
		if !fault.Is(err, fault.Conflict) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func explains(t *testing.T, of transaction.Transaction, postings []ledger.Posting) {
	t.Helper()
	kinds := make([]ledger.Kind, len(postings))
	for i, p := range postings {
		kinds[i] = p.Kind
		if p.Transaction != of.ID {
			t.Errorf("%s is not counted to the transaction", p.Kind)
		}
	}
	if err := of.Shape().Explain(of.State, kinds); err != nil {
		t.Errorf("the transaction %v", err)
	}
}

func TestMoneyThatAnAccountCannotTake(t *testing.T) {
	t.Parallel()
	// It is unmatched like money of an unknown owner, under the same id, and says why.
	r := paid(ramp(), 500, "p1", noon)
	kept, unknown := r.NotTaken(), r.Unmatched()

	if kept.Memo != "not taken in: "+r.Reference || kept.ID != unknown.ID || kept.Kind != ledger.KindUnmatchedReceived {
		t.Errorf("%+v", kept)
	}
	wantBalances(t, []ledger.Posting{kept}, map[string]int64{"rails/RTP USD": 500, "funding/unmatched USD": -500})
}
