package transaction_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"causeway/core/account"
	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/transaction"
	"causeway/ledger"
)

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// onRamp returns the transaction of a new quote: 100.50 USD with a fee of 0.50 to 0.00100000 BTC.
func onRamp() transaction.Transaction {
	t := transaction.Transaction{
		Type: transaction.Outgoing, State: transaction.Initial, SourceRail: "RTP", SourceAccount: "rails/RTP", DestinationRail: "LAYER2",
		DestinationAccount: "chains/LAYER2", Reference: "REF",
		Pricing: transaction.Pricing{
			Sent: money.Amount{Minor: 10050, Currency: "USD"}, Received: money.Amount{Minor: 100000, Currency: "BTC"},
			Fees: 50, Rate: money.MustRate("10"), Market: money.MustRate("10"),
		},
		CreatedAt: noon, UpdatedAt: noon, ExpiresAt: noon.Add(5 * time.Minute),
	}
	t.ID.SetUUID(uuid.MustParse("0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e11"))
	t.Platform.SetUUID(uuid.MustParse("0199f0a2-0000-7000-8000-000000000001"))
	return t
}

func receiptFor(t transaction.Transaction, minor int64, partnerID string, at time.Time) transaction.Receipt {
	return transaction.Receipt{ID: newReceiptID(partnerID), PartnerID: partnerID, Platform: t.Platform,
		Rail: t.SourceRail, Reference: t.Reference, Amount: money.Amount{Minor: minor, Currency: t.Pricing.Sent.Currency}, At: at}
}

func newReceiptID(partnerID string) (id ident.Receipt) {
	id.SetUUID(uuid.NewSHA1(uuid.NameSpaceURL, []byte(partnerID)))
	return id
}

// activeParties returns parties that may move money.
func activeParties() transaction.Parties {
	return transaction.Parties{Customer: &customer.Customer{Status: customer.Approved},
		FromInternal: &account.Internal{Status: account.InternalActive}, FromExternal: &account.External{Status: account.Active},
		ToInternal: &account.Internal{Status: account.InternalActive}, ToExternal: &account.External{Status: account.Active}}
}

// balances returns the balance changes of the postings, with debits positive.
func balances(postings []ledger.Posting) map[string]int64 {
	sums := map[string]int64{}
	for _, p := range postings {
		for _, e := range p.Entries {
			sums[e.Debit+" "+string(e.Currency)] += e.Amount
			sums[e.Credit+" "+string(e.Currency)] -= e.Amount
		}
	}
	for account, sum := range sums {
		if sum == 0 {
			delete(sums, account)
		}
	}
	return sums
}

func TestTransaction_OnRampBalances(t *testing.T) {
	t.Parallel()
	// The exact payment in time is received, converted and delivered. The ledger has the dollars at the
	// rail, the bitcoin paid out on the chain, and the fee as income.
	quoted := onRamp()

	funded, err := quoted.Receive(receiptFor(quoted, 10050, "p1", noon.Add(time.Minute)), transaction.Parties{}, noon.Add(time.Minute))
	if err != nil || funded.Next != transaction.StepDeliver {
		t.Fatalf("%v, next %q", err, funded.Next)
	}
	done, err := funded.Transaction.Deliver(noon.Add(2 * time.Minute))
	if err != nil {
		t.Fatal(err)
	}

	wantBalances(t, append(funded.Postings, done.Postings...), map[string]int64{
		"rails/RTP USD": 10050, "income/fees USD": -50, "fx/position USD": -10000,
		"fx/position BTC": 100000, "chains/LAYER2 BTC": -100000,
	})
	wantEvents(t, append(funded.Events, done.Events...), "OUTGOING_PAYMENT.PROCESSING", "OUTGOING_PAYMENT.COMPLETED")
	if !done.Transaction.SettledAt.Equal(noon.Add(2 * time.Minute)) {
		t.Fatalf("settled at %s", done.Transaction.SettledAt)
	}
}

func TestTransaction_ReceiveWrongPayment(t *testing.T) {
	t.Parallel()
	// A wrong payment fails or expires the transaction, and is refunded in full.
	late := noon.Add(5 * time.Minute)
	for name, c := range map[string]struct {
		receipt      func(transaction.Transaction) transaction.Receipt
		at           time.Time
		state        string
		reason       transaction.FailureReason
		refundReason transaction.RefundReason
		owed         int64
		events       []string
	}{
		"too little": {func(q transaction.Transaction) transaction.Receipt { return receiptFor(q, 10049, "p", noon) }, noon,
			"FAILED (refund PENDING)", transaction.FundingAmountMismatch, transaction.RefundFailed, 10049,
			[]string{"OUTGOING_PAYMENT.FAILED", "OUTGOING_PAYMENT.REFUND_PENDING"}},
		"too much": {func(q transaction.Transaction) transaction.Receipt { return receiptFor(q, 10051, "p", noon) }, noon,
			"FAILED (refund PENDING)", transaction.FundingAmountMismatch, transaction.RefundFailed, 10051,
			[]string{"OUTGOING_PAYMENT.FAILED", "OUTGOING_PAYMENT.REFUND_PENDING"}},
		"another currency": {func(q transaction.Transaction) transaction.Receipt {
			r := receiptFor(q, 10050, "p", noon)
			r.Amount.Currency, r.Rail = "EUR", "SEPA_INSTANT"
			return r
		}, noon, "FAILED (refund PENDING)", transaction.FundingAmountMismatch, transaction.RefundFailed, 10050,
			[]string{"OUTGOING_PAYMENT.FAILED", "OUTGOING_PAYMENT.REFUND_PENDING"}},
		"reported late, of the wrong amount": {func(q transaction.Transaction) transaction.Receipt {
			return receiptFor(q, 10049, "p", late.Add(-time.Millisecond))
		}, late.Add(time.Hour), "FAILED (refund PENDING)", transaction.FundingAmountMismatch, transaction.RefundFailed, 10049,
			[]string{"OUTGOING_PAYMENT.FAILED", "OUTGOING_PAYMENT.REFUND_PENDING"}},
		"at the time of expiry": {func(q transaction.Transaction) transaction.Receipt { return receiptFor(q, 10050, "p", late) }, late,
			"EXPIRED (refund PENDING)", "", transaction.RefundTimeout, 10050,
			[]string{"OUTGOING_PAYMENT.EXPIRED", "OUTGOING_PAYMENT.REFUND_PENDING"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			quoted := onRamp()
			receipt := c.receipt(quoted)

			got, err := quoted.Receive(receipt, transaction.Parties{}, c.at)

			if err != nil || got.Next != transaction.StepRefund {
				t.Fatalf("%v, next %q", err, got.Next)
			}
			if s := got.Transaction.State; s.String() != c.state || s.Reason != c.reason {
				t.Errorf("state %s, reason %q; want %s, %q", s, s.Reason, c.state, c.reason)
			}
			if r := got.Transaction.Refund; r.Reason != c.refundReason || r.Amount != receipt.Amount || r.Reference != "REF-REFUND" {
				t.Errorf("refund %+v", r)
			}
			wantEvents(t, got.Events, c.events...)
			wantBalances(t, got.Postings, map[string]int64{
				receipt.Rail.LedgerPath() + " " + string(receipt.Amount.Currency): c.owed,
				"transit/refunds " + string(receipt.Amount.Currency):              -c.owed,
			})
		})
	}
}

func TestTransaction_PaymentReportedLate(t *testing.T) {
	t.Parallel()
	// A payment that reached the partner before the quote expired runs it, however late this service
	// hears of it, and also if the quote is EXPIRED by then. One that reached the partner later is refunded.
	reported := noon.Add(time.Hour)
	for _, expired := range []bool{false, true} {
		for reached, want := range map[time.Time]string{noon.Add(5*time.Minute - time.Millisecond): "PROCESSING",
			noon.Add(5 * time.Minute): "EXPIRED (refund PENDING)"} {
			quoted := onRamp()
			if expired {
				d, err := quoted.ExpireAt(noon.Add(5 * time.Minute))
				if err != nil {
					t.Fatal(err)
				}
				quoted = d.Transaction
			}

			got, err := quoted.Receive(receiptFor(quoted, 10050, "p", reached), transaction.Parties{}, reported)

			if err != nil || got.Transaction.State.String() != want || got.Postings[0].Effective != reached {
				t.Errorf("expired %v, reached the partner at %s: %s, %v; want %s", expired, reached, got.Transaction.State, err, want)
			}
			wantKindsMatchState(t, got.Transaction, got.Postings)
		}
	}
}

func TestTransaction_ExpireEarly(t *testing.T) {
	t.Parallel()
	// A quote that waits for money expires at the given time or at its own, whichever is first; a payment from then on is late.
	// Nothing else can expire.
	for _, now := range []time.Time{noon.Add(time.Minute), noon.Add(10 * time.Minute)} {
		waiting := onRamp()
		d, err := waiting.ExpireEarly(now)
		if err != nil || d.Transaction.State.Status != transaction.Expired || d.Transaction.ExpiresAt.After(now) ||
			d.Transaction.ExpiresAt.After(waiting.ExpiresAt) || !slices.Equal(d.Events, []string{"OUTGOING_PAYMENT.EXPIRED"}) {
			t.Errorf("at %s: %v, %+v", now, err, d)
		}
		late, err := d.Transaction.Receive(receiptFor(d.Transaction, 10050, "late", now), activeParties(), now)
		if err != nil || late.Transaction.Refund == nil || late.Transaction.Refund.Reason != transaction.RefundTimeout {
			t.Errorf("a payment at %s: %v, %+v", now, err, late.Transaction)
		}
		if _, err := d.Transaction.ExpireEarly(now); !fault.Is(err, fault.Conflict) {
			t.Errorf("again: %v", err)
		}
	}
	transfer := onRamp()
	transfer.State = transaction.TransferInitial
	if _, err := transfer.ExpireEarly(noon); !fault.Is(err, fault.Conflict) {
		t.Errorf("a transfer: %v", err)
	}
}

func TestTransaction_PartyNoLongerActive(t *testing.T) {
	t.Parallel()
	// A party that was deleted, is not active or not verified stops the execution of a quote with the
	// reason, and a payment for it is refunded. Without a change the quote runs.
	funded, prefunded := onRamp(), onRamp()
	for _, q := range []*transaction.Transaction{&funded, &prefunded} {
		q.Customer.SetUUID(internal)
		q.Destination.ExternalAccount.SetUUID(external)
	}
	prefunded.Source.InternalAccount.SetUUID(internal)
	prefunded.SourceAccount = ledger.CustomerAccount(prefunded.Source.InternalAccount)
	for name, c := range map[string]struct {
		change func(*transaction.Parties)
		code   fault.Code
		reason string
	}{
		"nothing": {func(*transaction.Parties) {}, "", ""},
		"the customer is deleted": {func(p *transaction.Parties) { p.Customer.DeletedAt = noon }, fault.QuoteNotExecutable,
			"Customer deleted"},
		"the customer is gone": {func(p *transaction.Parties) { p.Customer = nil }, fault.QuoteNotExecutable, "Customer deleted"},
		"the customer is rejected": {func(p *transaction.Parties) { p.Customer.Status = customer.Rejected }, fault.UserNotReady,
			"Customer not verified"},
		"the receiver is deleted": {func(p *transaction.Parties) {
			p.Owner = &customer.Customer{Status: customer.Approved,
				DeletedAt: noon}
		}, fault.QuoteNotExecutable, "Customer deleted"},
		"the receiver is not verified": {func(p *transaction.Parties) { p.Owner = &customer.Customer{Status: customer.Pending} },
			fault.UserNotReady, "Customer not verified"},
		"the bank account is deleted": {func(p *transaction.Parties) { p.ToExternal = nil }, fault.QuoteNotExecutable, "Account deleted"},
		"the bank account is in review": {func(p *transaction.Parties) { p.ToExternal.Status = account.UnderReview }, fault.QuoteNotExecutable,
			"Account not active"},
		"the account that pays is frozen": {func(p *transaction.Parties) { p.FromInternal.Status = account.InternalFrozen },
			fault.QuoteNotExecutable, "Account not active"},
	} {
		parties := activeParties()
		c.change(&parties)

		executed, err := prefunded.Execute(parties, noon)
		refused, _ := fault.As(err)
		if c.code == "" && err != nil || c.code != "" && (refused == nil || refused.Code != c.code || refused.Reason != c.reason ||
			len(executed.Postings) > 0) {
			t.Errorf("%s: executed with %+v, want %s %s", name, err, c.code, c.reason)
		}
		paid, err := funded.Receive(receiptFor(funded, 10050, "p", noon), parties, noon)
		if err != nil {
			t.Fatal(err)
		}
		isRefunded := paid.Transaction.State == transaction.State{Status: transaction.Failed, Refund: transaction.RefundPending,
			Stage: transaction.Received, Reason: transaction.QuoteExecutionFailed}
		if paysFromAccount := name == "the account that pays is frozen"; isRefunded != (c.code != "" && !paysFromAccount) {
			t.Errorf("%s: paid, it is %+v", name, paid.Transaction.State)
		}
		wantKindsMatchState(t, paid.Transaction, paid.Postings)
	}
}

func TestTransaction_SecondPaymentIsRefunded(t *testing.T) {
	t.Parallel()
	// A further payment does not change the transaction, and is refunded.
	quoted := onRamp()
	funded, err := quoted.Receive(receiptFor(quoted, 10050, "p1", noon), transaction.Parties{}, noon)
	if err != nil {
		t.Fatal(err)
	}

	second, err := funded.Transaction.Receive(receiptFor(quoted, 10050, "p2", noon.Add(time.Second)), transaction.Parties{},
		noon.Add(time.Second))

	if err != nil || second.Next != transaction.StepSendBack || len(second.Events) != 0 ||
		second.Transaction.State != funded.Transaction.State {
		t.Fatalf("%v: %+v", err, second)
	}
	wantBalances(t, second.Postings, map[string]int64{"rails/RTP USD": 10050, "transit/refunds USD": -10050})
	for _, p := range second.Postings {
		if !p.Transaction.IsZero() {
			t.Errorf("posting %s belongs to the transaction", p.Kind)
		}
	}
}

func TestTransaction_PostingsMatchState(t *testing.T) {
	t.Parallel()
	// After any events in any order, the postings are exactly those of the state, and nothing is left in
	// transit when a transaction is final. One that has failed has a reason. The platform has its fees exactly if it has completed.
	rapid.Check(t, func(t *rapid.T) {
		now, tx := noon, anyTransaction(t)
		var kinds []ledger.Kind
		var postings []ledger.Posting
		for step := range rapid.IntRange(1, 12).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(-1, 200).Draw(t, "seconds")) * time.Second)
			before := tx
			d, err := applyRandomEvent(t, tx, now, step)
			if err != nil {
				continue
			}
			if state := d.Transaction.State; (state.Status == transaction.Failed) != (state.Reason != "") {
				t.Fatalf("%s has the reason %q", state, state.Reason)
			}
			tx = d.Transaction
			if tx.State != before.State && tx.State != transaction.TransferInitial && !tx.UpdatedAt.After(before.UpdatedAt) {
				t.Fatalf("%s to %s without a later UpdatedAt", before.State, tx.State)
			}
			for _, p := range d.Postings {
				if err := p.Validate(); err != nil {
					t.Fatalf("%s: %v", p.Kind, err)
				}
				if p.Transaction == tx.ID {
					kinds, postings = append(kinds, p.Kind), append(postings, p)
				}
			}
			if err := tx.Flow().CheckKinds(tx.State, kinds); err != nil {
				t.Fatal(err)
			}
		}
		if tx.State.IsFinal() {
			final := balances(postings)
			for _, path := range []string{"transit/payouts USD", "transit/payouts BTC", "funding/jit USD", "transit/refunds USD",
				"platform/fees-pending USD"} {
				if left := final[path]; left != 0 {
					t.Fatalf("%s, but %d is left in %s", tx.State, left, path)
				}
			}
			earned := int64(0)
			if tx.State.Status == transaction.Completed {
				earned = tx.Pricing.PlatformFees
			}
			if got := -final["platform/fees USD"]; got != earned {
				t.Fatalf("%s, and the platform has %d of its fees, want %d", tx.State, got, earned)
			}
		}
	})
}

func TestTransaction_GivesBackUsageOfAgent(t *testing.T) {
	t.Parallel()
	// After any events, a payment of an agent is given back exactly if it has failed, for good and on its day. A
	// payment that does not count never begins to.
	rapid.Check(t, func(t *rapid.T) {
		now, tx := noon, anyTransaction(t)
		counts := rapid.Bool().Draw(t, "counts")
		if counts {
			tx.AgentUsage = &transaction.AgentUsage{Day: "2026-03-01"}
		}
		for step := range rapid.IntRange(1, 12).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(-1, 200).Draw(t, "seconds")) * time.Second)
			before := tx
			d, err := applyRandomEvent(t, tx, now, step)
			if err != nil {
				continue
			}
			tx = d.Transaction
			want := transaction.AgentUsage{Day: "2026-03-01", GivenBack: tx.State.Status == transaction.Failed}
			if counts != (tx.AgentUsage != nil) || counts && *tx.AgentUsage != want {
				t.Fatalf("%s: %+v, want %+v", tx.State, tx.AgentUsage, want)
			}
			if counts && before.AgentUsage.GivenBack && before.State.Status != transaction.Failed {
				t.Fatalf("%s was changed", before.State)
			}
		}
	})
}

// The ids of the accounts at both ends.
var (
	external = uuid.MustParse("0199f0a2-0000-7000-8000-00000000000e")
	internal = uuid.MustParse("0199f0a2-0000-7000-8000-00000000000f")
)

// anyTransaction returns a transaction with any kind of source and destination.
func anyTransaction(t *rapid.T) transaction.Transaction {
	tx := onRamp()
	tx.Pricing.RoundingSent = rapid.Int64Range(0, 100).Draw(t, "rounding sent")
	tx.Pricing.RoundingReceived = rapid.Int64Range(0, 100).Draw(t, "rounding received")
	tx.Pricing.PlatformFees = rapid.Int64Range(0, tx.Pricing.Fees).Draw(t, "platform fees")
	switch rapid.IntRange(0, 3).Draw(t, "funding") {
	case 0:
		tx.Source.InternalAccount.SetUUID(internal)
		tx.SourceAccount = ledger.CustomerAccount(tx.Source.InternalAccount)
	case 1:
		tx.Source.ExternalAccount.SetUUID(external)
	case 2:
		tx.Source.InternalAccount.SetUUID(internal)
		tx.SourceRail, tx.SourceAccount = "LAYER2", ledger.Wallet(tx.Source.InternalAccount)
	}
	switch rapid.IntRange(0, 3).Draw(t, "destination") {
	case 0:
		tx.Destination.InternalAccount.SetUUID(external)
		tx.DestinationRail, tx.DestinationAccount = "", ledger.PlatformAccount(tx.Destination.InternalAccount)
	case 2:
		tx.Destination.InternalAccount.SetUUID(external)
		tx.DestinationAccount = ledger.Wallet(tx.Destination.InternalAccount)
	case 1: // a payout in the sending currency
		tx.Pricing.Received = money.Amount{Minor: tx.Pricing.Sent.Minor - tx.Pricing.Fees, Currency: tx.Pricing.Sent.Currency}
		tx.Pricing.RoundingSent, tx.Pricing.RoundingReceived = 0, 0
	}
	return tx
}

// applyRandomEvent applies an event drawn by rapid.
func applyRandomEvent(t *rapid.T, tx transaction.Transaction, now time.Time, step int) (transaction.Decision, error) {
	parties := activeParties()
	if rapid.IntRange(0, 9).Draw(t, "party deleted") == 0 {
		parties.ToInternal, parties.FromInternal, parties.FromExternal = nil, nil, nil
	}
	reached := now.Add(-time.Duration(rapid.IntRange(0, 120).Draw(t, "reported late")) * time.Second)
	switch rapid.IntRange(0, 14).Draw(t, "event") {
	case 0:
		return tx.Receive(receiptFor(tx, 10050, string(rune('a'+step)), reached), parties, now)
	case 1:
		return tx.Receive(receiptFor(tx, rapid.Int64Range(1, 20000).Draw(t, "amount"), string(rune('a'+step)), reached), parties, now)
	case 2:
		return tx.ExpireAt(now)
	case 3, 4:
		return tx.Deliver(now)
	case 5:
		return tx.Refuse(transaction.CounterpartyPostFailed, now)
	case 6:
		return tx.Return(now)
	case 7:
		return tx.RefundPaid(tx.SourceAccount, now)
	case 8:
		return tx.RefundFailed(now)
	case 9:
		return tx.Execute(parties, now)
	case 10:
		return tx.Collected(now)
	case 11:
		return tx.CollectionFailed(transaction.QuoteExecutionFailed, now)
	case 12:
		return tx.ExecuteSigned(parties, now)
	case 13:
		if mayBeTransfer(tx) {
			return tx.StartTransfer(now)
		}
		return tx.Submitted(now)
	default:
		return tx.Cancel(now)
	}
}

// mayBeTransfer reports whether a transaction to which nothing has happened can be a transfer out.
func mayBeTransfer(tx transaction.Transaction) bool {
	flow := tx.Flow()
	return tx.State == transaction.Initial && tx.UpdatedAt.Equal(noon) && flow.Funding == transaction.Balance &&
		!flow.Internal && !flow.Converts
}

func TestTransaction_BalanceFundedBalances(t *testing.T) {
	t.Parallel()
	// The account is debited 100.50 USD at execution, and is refunded in full when the payout is refused.
	quoted := onRamp()
	quoted.Source.InternalAccount.SetUUID(internal)
	quoted.SourceAccount = ledger.CustomerAccount(quoted.Source.InternalAccount)

	executed, err := quoted.Execute(activeParties(), noon.Add(time.Minute))
	if err != nil || executed.Next != transaction.StepDeliver {
		t.Fatalf("%v, next %q", err, executed.Next)
	}
	wantBalances(t, executed.Postings, map[string]int64{quoted.SourceAccount + " USD": 10050, "income/fees USD": -50,
		"fx/position USD": -10000, "fx/position BTC": 100000, "transit/payouts BTC": -100000})
	refused, err := executed.Transaction.Refuse(transaction.CounterpartyPostFailed, noon.Add(2*time.Minute))
	if err != nil || refused.Next != transaction.StepRefund {
		t.Fatalf("%v, next %q", err, refused.Next)
	}
	refunded, err := refused.Transaction.RefundPaid(quoted.SourceAccount, noon.Add(3*time.Minute))
	if err != nil {
		t.Fatal(err)
	}

	wantBalances(t, append(append(executed.Postings, refused.Postings...), refunded.Postings...), nil)
	wantEvents(t, append(append(executed.Events, refused.Events...), refunded.Events...), "OUTGOING_PAYMENT.PROCESSING",
		"OUTGOING_PAYMENT.FAILED", "OUTGOING_PAYMENT.REFUND_PENDING", "OUTGOING_PAYMENT.REFUND_COMPLETED")
}

// fromWallet returns onRamp, paid by an embedded wallet.
func fromWallet() transaction.Transaction {
	t := onRamp()
	t.Source.InternalAccount.SetUUID(internal)
	t.SourceRail, t.SourceAccount = "LAYER2", ledger.Wallet(t.Source.InternalAccount)
	return t
}

func TestTransaction_WalletFundedBalances(t *testing.T) {
	t.Parallel()
	// The signed execution debits the wallet and holds the money; it is converted when the transfer has
	// settled on the chain. A payout that is refused later is refunded to the wallet.
	quoted := fromWallet()

	executed, err := quoted.ExecuteSigned(activeParties(), noon.Add(time.Minute))
	if err != nil || executed.Next != transaction.StepDebitWallet {
		t.Fatalf("%v, next %q", err, executed.Next)
	}
	wantBalances(t, executed.Postings, map[string]int64{quoted.SourceAccount + " USD": 10050, "funding/jit USD": -10050})
	settled, err := executed.Transaction.Collected(noon.Add(2 * time.Minute))
	if err != nil || settled.Next != transaction.StepDeliver {
		t.Fatalf("%v, next %q", err, settled.Next)
	}
	postings := append(executed.Postings, settled.Postings...)
	wantBalances(t, postings, map[string]int64{quoted.SourceAccount + " USD": 10050, "income/fees USD": -50,
		"fx/position USD": -10000, "fx/position BTC": 100000, "transit/payouts BTC": -100000})
	refused, err := settled.Transaction.Refuse(transaction.CounterpartyPostFailed, noon.Add(3*time.Minute))
	if err != nil || refused.Next != transaction.StepRefund {
		t.Fatalf("%v, next %q", err, refused.Next)
	}
	refunded, err := refused.Transaction.RefundPaid(quoted.SourceAccount, noon.Add(4*time.Minute))
	if err != nil {
		t.Fatal(err)
	}

	wantBalances(t, append(append(postings, refused.Postings...), refunded.Postings...), nil)
	wantEvents(t, append(append(append(executed.Events, settled.Events...), refused.Events...), refunded.Events...),
		"OUTGOING_PAYMENT.PROCESSING",
		"OUTGOING_PAYMENT.FAILED", "OUTGOING_PAYMENT.REFUND_PENDING", "OUTGOING_PAYMENT.REFUND_COMPLETED")
}

func TestTransaction_WalletTransferRefusedByChain(t *testing.T) {
	t.Parallel()
	// If the chain refuses the transfer, the debit is reversed and nothing is refunded.
	executed, err := fromWallet().ExecuteSigned(activeParties(), noon.Add(time.Minute))
	if err != nil {
		t.Fatal(err)
	}

	refused, err := executed.Transaction.CollectionFailed(transaction.QuoteExecutionFailed, noon.Add(2*time.Minute))

	if err != nil || refused.Next != transaction.NoStep ||
		refused.Transaction.State != (transaction.State{Status: transaction.Failed, Reason: transaction.QuoteExecutionFailed}) {
		t.Fatalf("%v: %+v", err, refused)
	}
	if !refused.Postings[0].IsReversalOf(executed.Postings[0]) {
		t.Errorf("posted %+v", refused.Postings)
	}
	wantKindsMatchState(t, refused.Transaction, append(executed.Postings, refused.Postings...))
	wantEvents(t, refused.Events, "OUTGOING_PAYMENT.FAILED")
}

func TestTransaction_ExecuteNeedsSignatureOfWallet(t *testing.T) {
	t.Parallel()
	// A wallet pays with a signature only, and only a wallet does. A quote that cannot be executed says so
	// first, so that nobody signs in vain.
	unsigned, err := fromWallet().Execute(activeParties(), noon)
	if missing, _ := fault.As(err); missing == nil || missing.Code != fault.Unauthorized ||
		missing.Reason != "Missing Service-Wallet-Signature" || len(unsigned.Postings) > 0 {
		t.Errorf("without a signature: %v", err)
	}
	if _, err := fromWallet().Execute(activeParties(), noon.Add(time.Hour)); !fault.Is(err, fault.QuoteExpired) {
		t.Errorf("an expired quote: %v", err)
	}
	prefunded := onRamp()
	prefunded.Source.InternalAccount.SetUUID(internal)
	prefunded.SourceAccount = ledger.CustomerAccount(prefunded.Source.InternalAccount)
	if _, err := prefunded.ExecuteSigned(activeParties(), noon); !fault.Is(err, fault.Conflict) {
		t.Errorf("another account: %v", err)
	}
}

func TestTransaction_ToWalletSettlesOnChain(t *testing.T) {
	t.Parallel()
	// A payment to a wallet is credited when the chain has settled it, and no bank returns it. One without a
	// rail, from before wallets were paid on a chain, is complete when it is converted.
	quoted := onRamp()
	quoted.Destination.InternalAccount.SetUUID(external)
	quoted.DestinationAccount = ledger.Wallet(quoted.Destination.InternalAccount)

	funded, err := quoted.Receive(receiptFor(quoted, 10050, "p1", noon),
		transaction.Parties{ToInternal: &account.Internal{Status: account.InternalActive}}, noon)
	if err != nil || funded.Next != transaction.StepCreditWallet || funded.Transaction.State.Status != transaction.Processing {
		t.Fatalf("%v: %+v", err, funded)
	}
	delivered, err := funded.Transaction.Deliver(noon.Add(time.Minute))
	if err != nil {
		t.Fatal(err)
	}

	wantBalances(t, append(funded.Postings, delivered.Postings...), map[string]int64{"rails/RTP USD": 10050, "income/fees USD": -50,
		"fx/position USD": -10000, "fx/position BTC": 100000, quoted.DestinationAccount + " BTC": -100000})
	if _, err := delivered.Transaction.Return(noon.Add(time.Hour)); !fault.Is(err, fault.Conflict) {
		t.Errorf("returned: %v", err)
	}
	quoted.DestinationRail = ""
	if flow := quoted.Flow(); !flow.Internal || flow.ToWallet {
		t.Errorf("without a rail the flow is %+v", flow)
	}
}

func TestTransaction_InternalConversionCompletesAtOnce(t *testing.T) {
	t.Parallel()
	// A payment from one internal account to another is complete when it is converted.
	quoted := onRamp()
	quoted.Source.InternalAccount.SetUUID(internal)
	quoted.Destination.InternalAccount.SetUUID(external)
	quoted.DestinationRail = ""
	quoted.SourceAccount, quoted.DestinationAccount = ledger.CustomerAccount(quoted.Source.InternalAccount),
		ledger.CustomerAccount(quoted.Destination.InternalAccount)

	executed, err := quoted.Execute(activeParties(), noon.Add(time.Minute))

	if err != nil || executed.Next != transaction.NoStep || executed.Transaction.State.Status != transaction.Completed ||
		executed.Transaction.SettledAt.IsZero() {
		t.Fatalf("%v: %+v", err, executed)
	}
	wantBalances(t, executed.Postings, map[string]int64{quoted.SourceAccount + " USD": 10050, "income/fees USD": -50,
		"fx/position USD": -10000, "fx/position BTC": 100000, quoted.DestinationAccount + " BTC": -100000})
	wantEvents(t, executed.Events, "OUTGOING_PAYMENT.PROCESSING", "OUTGOING_PAYMENT.COMPLETED")
}

func TestTransaction_TransferOutBalances(t *testing.T) {
	t.Parallel()
	// A transfer out debits the account when it is created; the rail accepts it and delivers it.
	transfer := onRamp()
	transfer.Source.InternalAccount.SetUUID(internal)
	transfer.SourceAccount, transfer.DestinationAccount = ledger.CustomerAccount(transfer.Source.InternalAccount), "rails/ACH"
	transfer.Pricing = transaction.Pricing{Sent: transfer.Pricing.Sent, Received: transfer.Pricing.Sent}

	started, err := transfer.StartTransfer(noon)
	if err != nil {
		t.Fatal(err)
	}
	submitted, err := started.Transaction.Submitted(noon.Add(time.Second))
	if err != nil {
		t.Fatal(err)
	}
	done, err := submitted.Transaction.Deliver(noon.Add(2 * time.Second))
	if err != nil {
		t.Fatal(err)
	}

	wantBalances(t, append(started.Postings, done.Postings...), map[string]int64{transfer.SourceAccount + " USD": 10050,
		"rails/ACH USD": -10050})
	wantEvents(t, append(append(started.Events, submitted.Events...), done.Events...),
		"OUTGOING_PAYMENT.PENDING", "OUTGOING_PAYMENT.PROCESSING", "OUTGOING_PAYMENT.COMPLETED")
}

func TestTransaction_ExecuteRefused(t *testing.T) {
	t.Parallel()
	// A quote is executed once, before it expires, and only if an account funds it.
	accountFunded := onRamp()
	accountFunded.Source.InternalAccount.SetUUID(internal)
	accountFunded.SourceAccount = ledger.CustomerAccount(accountFunded.Source.InternalAccount)
	executed, err := accountFunded.Execute(activeParties(), noon)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		tx   transaction.Transaction
		at   time.Time
		code fault.Code
	}{
		"twice":                     {executed.Transaction, noon, fault.QuoteAlreadyExecuted},
		"when it expires":           {accountFunded, accountFunded.ExpiresAt, fault.QuoteExpired},
		"a just-in-time funded one": {onRamp(), noon, fault.QuoteNotExecutable},
	} {
		if d, err := c.tx.Execute(activeParties(), c.at); !fault.Is(err, c.code) || len(d.Postings) > 0 {
			t.Errorf("%s: %v, %+v; want %s", name, err, d, c.code)
		}
	}
}

func TestReceipt_Storable(t *testing.T) {
	t.Parallel()
	// A reference of any length is kept, and only what is not text is replaced. A partner's id that is
	// not text or is long becomes a hash of its own.
	long := strings.Repeat("é\n🙂\t", 2500)
	for reference, want := range map[string]string{"": "", "4T9K2M7PXQ3A": "4T9K2M7PXQ3A", long: long, "a\x00b\xffc": "a\uFFFDb\uFFFDc"} {
		if got := (transaction.Receipt{Reference: reference}).Storable().Reference; got != want {
			t.Errorf("%.20q is kept as %.20q", reference, got)
		}
	}
	seen := map[string]bool{}
	for _, id := range []string{"20250310MMQFMP31000042", strings.Repeat("x", 255), strings.Repeat("x", 256), strings.Repeat("x", 257),
		"a\x00", "a\xff", "a"} {
		got := (transaction.Receipt{PartnerID: id}).Storable().PartnerID
		if seen[got] || len(got) > transaction.MaxPartnerID || strings.HasPrefix(got, "sha256:") == (got == id) {
			t.Errorf("%.20q becomes %.20q", id, got)
		}
		seen[got] = true
	}
}

func TestReceipt_MemosOfAnyReference(t *testing.T) {
	// Whatever the payer wrote, the postings of a receipt are valid, and those of a surplus payment are
	// found by their memos. The kinds of those whose reference may be any say that it may be in the memo.
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text") + rapid.SampledFrom([]string{"", "\n", "\x00", "\xff", "🙂"}).Draw(t, "more")
		r := receiptFor(onRamp(), 100, "1", noon)
		r.Reference = strings.Repeat(text, rapid.SampledFrom([]int{1, 20, 500}).Draw(t, "times"))
		r = r.Storable()
		surplus := append(r.Surplus(), r.SentBack("rails/RTP", noon), r.SendBackFailed(noon))
		for _, posting := range append([]ledger.Posting{r.Unmatched(), r.RejectedByAccount()}, surplus...) {
			if err := posting.Validate(); err != nil {
				t.Fatalf("reference %.50q: %v", r.Reference, err)
			}
		}
		reversal := transaction.NewReceiptReversal(r, "R1", "AC04", "", noon, noon)
		foreign, _, err := reversal.OfUnmatched(transaction.Unmatched{Receipt: r})
		if err != nil {
			t.Fatal(err)
		}
		foreign = append(foreign, r.Unmatched(), r.RejectedByAccount(), r.SentBack("rails/RTP", noon), r.SendBackFailed(noon),
			r.LossRecovered(noon), reversal.Lost(), reversal.OfSendBack())
		for _, posting := range foreign {
			if !posting.Kind.HasForeignMemo() {
				t.Fatalf("%s has the memo %q", posting.Kind, posting.Memo)
			}
		}
		for _, posting := range surplus {
			if r.Reference != "" && !slices.Contains(transaction.SurplusMemos(r.Reference), posting.Memo) {
				t.Fatalf("%s has the memo %q", posting.Kind, posting.Memo)
			}
		}
		if sent := transaction.RefundReference(onRamp().ID, r.Reference); len(sent) > 110 || strings.ContainsAny(sent, "\n\x00") ||
			sent == "-REFUND" {
			t.Fatalf("the refund has the reference %q", sent)
		}
	})
}

func wantBalances(t *testing.T, postings []ledger.Posting, want map[string]int64) {
	t.Helper()
	got := balances(postings)
	for account, sum := range want {
		if got[account] != sum {
			t.Errorf("%s has %d, want %d", account, got[account], sum)
		}
		delete(got, account)
	}
	if len(got) > 0 {
		t.Errorf("unexpected balances %v", got)
	}
}

func wantEvents(t *testing.T, got []string, want ...string) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("events %v, want %v", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("events %v, want %v", got, want)
		}
	}
}

func TestRefundAgain(t *testing.T) {
	t.Parallel()
	// A failed refund that was sent again is shown as what becomes of that, with an event for each change; what has the same outcome again
	// changes nothing, and what cannot be is refused. Its own state stays, because the postings are those of the receipt.
	all := []transaction.RefundStatus{transaction.RefundPending, transaction.RefundCompleted, transaction.RefundUnpaid}
	possible := map[string]bool{" PENDING": true, " COMPLETED": true, "PENDING COMPLETED": true, "PENDING FAILED": true,
		"FAILED COMPLETED": true}
	for _, from := range append(all, transaction.NoRefund) {
		for _, to := range all {
			failed := onRamp()
			failed.State = transaction.State{Status: transaction.Failed, Refund: transaction.RefundUnpaid, Stage: transaction.Received}
			failed.UpdatedAt, failed.Refund = noon, &transaction.Refund{Again: from}

			d, err := failed.RefundAgain(to, noon)

			switch {
			case from == to:
				if err != nil || len(d.Events) > 0 || d.Transaction.UpdatedAt != noon {
					t.Errorf("%s twice: %v, %+v", to, err, d.Events)
				}
			case possible[string(from+" "+to)]:
				wantEvents(t, d.Events, "OUTGOING_PAYMENT.REFUND_"+string(to))
				if got := d.Transaction; err != nil || got.RefundStatus() != to || got.State != failed.State || !got.UpdatedAt.After(noon) ||
					got.Refund.SettledAt.IsZero() != (to != transaction.RefundCompleted) || failed.Refund.Again != from || len(d.Postings) > 0 {
					t.Errorf("%q to %s: %v, %+v", from, to, err, got.Refund)
				}
			case !fault.Is(err, fault.Conflict):
				t.Errorf("%q to %s: %v", from, to, err)
			}
		}
	}
	if _, err := onRamp().RefundAgain(transaction.RefundPending, noon); !fault.Is(err, fault.Conflict) {
		t.Errorf("a payment without a refund: %v", err)
	}
}

func TestRepeatableID(t *testing.T) {
	t.Parallel()
	// A request that is sent again makes the same transaction, and another request or another reference another one. Its id sorts as what it
	// refers to.
	lookup, other := uuid.UUID{1, 2, 3, 4, 5, 6, 7}, uuid.UUID{1, 2, 3, 4, 5, 7}
	id := transaction.RepeatableID([]byte("one"), lookup)
	if id != transaction.RepeatableID([]byte("one"), lookup) || id == transaction.RepeatableID([]byte("two"), lookup) ||
		id == transaction.RepeatableID([]byte("one"), other) {
		t.Errorf("%s", id)
	}
	if u := id.UUID(); [6]byte(u[:6]) != [6]byte(lookup[:6]) || u.Version() != 8 || u.Variant() != uuid.RFC4122 {
		t.Errorf("%s is of version %d", id, u.Version())
	}
}
