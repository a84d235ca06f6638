package transaction_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/transaction"
	"causeway/ledger"
)

// anyInternalPayment draws a payment between two customers: the outgoing transaction, which is converted if
// necessary and in transit, its postings, and the incoming one, which waits for its approval.
func anyInternalPayment(t *rapid.T) (sent transaction.Transaction, postings []ledger.Posting, received transaction.Transaction) {
	sent = onRamp()
	sent.DestinationRail, sent.DestinationAccount, sent.Destination.UMA = transaction.UMARail, transaction.UMARail.LedgerPath(),
		"$ana@uma.test"
	paid := rapid.Int64Range(1, 1_000_000).Draw(t, "received")
	sent.Pricing.Fees = rapid.Int64Range(0, 500).Draw(t, "fees")
	if rapid.Bool().Draw(t, "converts") {
		sent.Pricing.Received = money.Amount{Minor: paid, Currency: "EUR"}
		sent.Pricing.RoundingSent = rapid.Int64Range(0, 9).Draw(t, "rounding sent")
		sent.Pricing.RoundingReceived = rapid.Int64Range(0, 9).Draw(t, "rounding received")
	} else {
		sent.Pricing.Received = money.Amount{Minor: paid, Currency: "USD"}
		sent.Pricing.Sent.Minor = paid + sent.Pricing.Fees
	}
	var d transaction.Decision
	var err error
	if rapid.Bool().Draw(t, "from balance") {
		sent.Source.InternalAccount.SetUUID(external)
		sent.SourceAccount = ledger.CustomerAccount(sent.Source.InternalAccount)
		d, err = sent.Execute(activeParties(), noon)
	} else {
		d, err = sent.Receive(receiptFor(sent, sent.Pricing.Sent.Minor, "p1", noon), activeParties(), noon)
	}
	if err != nil {
		t.Fatal(err)
	}
	in := newIncoming()
	in.Amount, in.Source.UMA = sent.Pricing.Received, "$ben@uma.test"
	received = in.RequestApproval(transaction.Approval{}, nil, noon).Transaction
	received.SentBy = sent.ID
	return d.Transaction, d.Postings, received
}

func TestWithSender_TouchesNoPartner(t *testing.T) {
	t.Parallel()
	// For any payment between two customers and any decision of the platform, the decision changes no balance at a
	// partner. What the sender has paid less fees and rounding is the receiver's, or owed to the sender again, and
	// the postings of each side explain it.
	rapid.Check(t, func(t *rapid.T) {
		sent, before, received := anyInternalPayment(t)
		p, now := sent.Pricing, noon.Add(time.Second)
		if rapid.Bool().Draw(t, "acknowledged") {
			d, err := received.Acknowledged(now)
			if err != nil {
				t.Fatal(err)
			}
			both, err := d.WithSender(sent, now)
			if err != nil || len(both) != 1 || len(both[0].Postings) != 0 || both[0].Transaction.SourceAccount != "rails/UMA" {
				t.Fatalf("while it waits: %+v, %v", both, err)
			}
			received, now = d.Transaction, now.Add(time.Second)
		}
		approves := rapid.Bool().Draw(t, "approves")
		var d transaction.Decision
		var err error
		if approves {
			d, err = received.Approved(nil, readyCustomer, now)
		} else {
			d, err = received.Rejected(transaction.PayRequestFailed, "no", now)
		}
		if err != nil {
			t.Fatal(err)
		}
		both, err := d.WithSender(sent, now)
		if err != nil || len(both) != 2 || both[0].Transaction.ID != received.ID || both[1].Transaction.ID != sent.ID {
			t.Fatalf("%+v, %v", both, err)
		}
		settled := append(append([]ledger.Posting(nil), both[0].Postings...), both[1].Postings...)
		clearing := int64(0)
		for _, posting := range settled {
			if err := posting.Validate(); err != nil {
				t.Fatal(err)
			}
			for _, e := range posting.Entries {
				if strings.HasPrefix(e.Debit+e.Credit, "rails/") || strings.Contains(e.Credit, "rails/") ||
					strings.Contains(e.Debit+e.Credit, "chains/") {
					t.Fatalf("%s posts %+v", posting.Kind, e)
				}
				if e.Credit == ledger.TransitInternal {
					clearing += e.Amount
				} else if e.Debit == ledger.TransitInternal {
					clearing -= e.Amount
				}
				if clearing < 0 {
					t.Fatal("transit/internal is overdrawn")
				}
			}
		}

		sums := balances(append(before, settled...))
		account := func(path string, currency money.Currency) int64 { return -sums[path+" "+string(currency)] }
		if account(ledger.TransitInternal, "USD") != 0 || account(ledger.TransitInternal, "EUR") != 0 ||
			account(ledger.TransitPayouts, "USD") != 0 || account(ledger.TransitPayouts, "EUR") != 0 {
			t.Fatalf("in transit: %v", sums)
		}
		to := account(received.DestinationAccount, p.Received.Currency)
		owed := account(ledger.TransitRefunds, "USD")
		from := account(sent.SourceAccount, "USD") // minus what the sender paid, from its balance or over the rail
		if from != -p.Sent.Minor {
			t.Fatalf("the sender has paid %d, not %s", -from, p.Sent)
		}
		switch {
		case !approves && (to != 0 || owed != p.Sent.Minor || len(sums) != 2):
			t.Fatalf("rejected: %v", sums)
		case approves && (to != p.Received.Minor || owed != 0):
			t.Fatalf("approved: %v", sums)
		case approves && p.Sent.Currency == p.Received.Currency && from+to != -p.Fees:
			t.Fatalf("of %d to %d, with fees of %d", from, to, p.Fees)
		case approves && p.Sent.Currency != p.Received.Currency &&
			(account(ledger.FXPosition, "USD") != p.Sent.Minor-p.Fees-p.RoundingSent || account(ledger.FXPosition, "EUR") != -to-p.RoundingReceived):
			t.Fatalf("converted: %v", sums)
		}

		sides := map[ident.Transaction]transaction.Evidence{}
		for _, posting := range append(before, settled...) {
			e, known := sides[posting.Transaction]
			if !known {
				e = transaction.Evidence{}
			}
			e.Posted = append(e.Posted, postedBy(posting, now, false))
			sides[posting.Transaction] = e
		}
		for _, d := range both {
			wantExplained(t, d.Transaction, sides[d.Transaction.ID].Posted)
		}
	})
}

// wantExplained fails unless the postings explain a transaction, and do not explain it through another account.
func wantExplained(t *rapid.T, tx transaction.Transaction, posted []transaction.Posted) {
	tx.Customer.SetUUID(uuid.UUID{1})
	evidence := evidenceOf(tx)
	evidence.Posted = posted
	if !tx.Receipt.IsZero() {
		evidence.Receipt = &transaction.Receipt{ID: tx.Receipt, Rail: tx.SourceRail, Reference: tx.Reference, Amount: tx.Funded, At: noon}
	}
	if err := tx.CheckEvidence(evidence); err != nil {
		t.Fatal(err)
	}
	if tx.State.Status != transaction.Completed {
		return
	}
	if tx.Type == transaction.Incoming {
		tx.SourceAccount = "rails/UMA"
	} else {
		tx.DestinationAccount = "rails/UMA"
	}
	if tx.CheckEvidence(evidence) == nil {
		t.Fatalf("%s is explained by postings through another account", tx.ID)
	}
}

func TestWithSender_SettledBefore(t *testing.T) {
	t.Parallel()
	// A payment whose sender was refunded, or whose side was settled, is not received. It can be declined, which
	// changes nothing for the sender.
	funded := onRamp()
	d, err := funded.Receive(receiptFor(funded, 10050, "p1", noon), transaction.Parties{}, noon)
	if err != nil {
		t.Fatal(err)
	}
	refused, err := d.Transaction.Refuse(transaction.CounterpartyPostFailed, noon)
	if err != nil {
		t.Fatal(err)
	}
	delivered, err := d.Transaction.Deliver(noon)
	if err != nil {
		t.Fatal(err)
	}
	received := newIncoming().RequestApproval(transaction.Approval{}, nil, noon).Transaction
	for name, sent := range map[string]transaction.Transaction{"refunded": refused.Transaction, "delivered": delivered.Transaction} {
		approved, _ := received.Approved(nil, readyCustomer, noon)
		if both, err := approved.WithSender(sent, noon); !fault.Is(err, fault.Conflict) || both != nil {
			t.Errorf("%s, approved: %+v, %v", name, both, err)
		}
		rejected, _ := received.Rejected(transaction.PayRequestFailed, "no", noon)
		if both, err := rejected.WithSender(sent, noon); err != nil || len(both) != 1 || both[0].Transaction.State.Status != transaction.Failed {
			t.Errorf("%s, rejected: %+v, %v", name, both, err)
		}
	}
}
