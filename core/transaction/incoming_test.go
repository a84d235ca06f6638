package transaction_test

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"causeway/core/account"
	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/money"
	"causeway/core/transaction"
	"causeway/ledger"
)

// allowedIncoming is a second copy of the state machine of incoming transactions, written by hand from
// the specification. Transitions that are not listed must be refused.
var allowedIncoming = map[transaction.IncomingState]map[transaction.IncomingEvent]transaction.IncomingState{
	transaction.AwaitingFunds: {transaction.Arrive: transaction.Credited, transaction.Fail: transaction.Declined},
	transaction.ApprovalRequested: {transaction.Approve: transaction.Credited, transaction.Reject: transaction.Declined,
		transaction.Acknowledge: transaction.ApprovalPending, transaction.AllowInvoice: transaction.AwaitingPayment,
		transaction.Lapse: transaction.Declined},
	transaction.ApprovalPending: {transaction.Approve: transaction.Credited, transaction.Reject: transaction.Declined,
		transaction.TimeOut: transaction.Declined, transaction.AllowInvoice: transaction.AwaitingPayment,
		transaction.Lapse: transaction.Declined},
	transaction.AwaitingPayment: {transaction.PayInvoice: transaction.Credited, transaction.Lapse: transaction.Declined},
}

func TestIncomingState_EveryTransition(t *testing.T) {
	t.Parallel()
	// Every event in every state leads to the specified state, in the state machine and for a transaction;
	// other events are refused and change nothing.
	for _, state := range transaction.IncomingStates {
		for _, event := range transaction.IncomingEvents {
			want, ok := allowedIncoming[state][event]
			got, err := state.Next(event)
			if ok && (err != nil || got != want) || !ok && (!fault.Is(err, fault.Conflict) || got != state) {
				t.Errorf("%s, %s: %s, %v; want %s", state, event, got, err, want)
			}

			d, err := applyIncomingEvent(incomingInState(state), event, noon.Add(time.Minute))
			if ok != (err == nil) || ok && d.Transaction.IncomingState() != want {
				t.Errorf("a transaction, %s, %s: %s, %v; want %s", state, event, d.Transaction.IncomingState(), err, want)
			}
			if err != nil && len(d.Postings)+len(d.Events) > 0 {
				t.Errorf("%s, %s: refused with %+v", state, event, d)
			}
		}
	}
}

func TestIncomingPayment_GivesBackUsageOfAgent(t *testing.T) {
	t.Parallel()
	// A transfer in of an agent that fails is given back, and one that is credited is not.
	for _, state := range transaction.IncomingStates {
		for _, event := range transaction.IncomingEvents {
			before := incomingInState(state)
			before.AgentUsage = &transaction.AgentUsage{Day: "2026-03-01"}
			d, err := applyIncomingEvent(before, event, noon.Add(time.Minute))
			if err != nil {
				continue
			}
			if want := d.Transaction.State.Status == transaction.Failed; d.Transaction.AgentUsage.GivenBack != want ||
				d.Transaction.AgentUsage.Day != "2026-03-01" || before.AgentUsage.GivenBack {
				t.Errorf("%s, %s: %+v, want given back %t", state, event, d.Transaction.AgentUsage, want)
			}
		}
	}
}

// readyCustomer may receive money.
var readyCustomer = customer.Customer{Status: customer.Approved}

// newIncoming returns a payment of 12.50 USD to an account.
func newIncoming() transaction.IncomingPayment {
	in := transaction.IncomingPayment{Rail: "UMA", Amount: money.Amount{Minor: 12_50, Currency: "USD"}, Reference: "REF"}
	in.ID.SetUUID(uuid.MustParse("0199f0a2-0000-7000-8000-000000000001"))
	in.Platform.SetUUID(uuid.MustParse("0199f0a2-0000-7000-8000-000000000002"))
	in.Account.SetUUID(internal)
	in.AccountPath = ledger.CustomerAccount(in.Account)
	return in
}

// newPull returns a transfer in of 12.50 USD.
func newPull() transaction.IncomingPayment {
	in := newIncoming()
	in.Rail = "ACH"
	in.Source.ExternalAccount.SetUUID(external)
	return in
}

// incomingInState returns a transaction in state s.
func incomingInState(s transaction.IncomingState) transaction.Transaction {
	requested := newIncoming().RequestApproval(transaction.Approval{Requested: []transaction.InfoField{{Name: "NATIONALITY"}}},
		nil, noon).Transaction
	switch s {
	case transaction.AwaitingFunds:
		return newPull().RequestFunds(noon).Transaction
	case transaction.ApprovalRequested:
		return requested
	case transaction.ApprovalPending:
		d, _ := requested.Acknowledged(noon.Add(time.Minute - time.Second))
		return d.Transaction
	case transaction.AwaitingPayment:
		requested.Quote.SetUUID(external)
		d, _ := requested.Approved(nil, readyCustomer, noon)
		return d.Transaction
	case transaction.Credited:
		return newIncoming().Deposit(noon).Transaction
	default:
		d, _ := newPull().RequestFunds(noon).Transaction.Failed(transaction.QuoteExecutionFailed, noon)
		return d.Transaction
	}
}

// applyIncomingEvent applies one event. The platform decides before the deadline, and the timeout comes
// after it.
func applyIncomingEvent(t transaction.Transaction, event transaction.IncomingEvent, now time.Time) (transaction.Decision, error) {
	switch event {
	case transaction.Arrive:
		return t.Arrived(now)
	case transaction.Fail:
		return t.Failed(transaction.QuoteExecutionFailed, now)
	case transaction.Approve:
		return t.Approved(nil, readyCustomer, now)
	case transaction.AllowInvoice:
		t.Quote.SetUUID(external)
		return t.Approved(nil, readyCustomer, now)
	case transaction.PayInvoice:
		t.Quote.SetUUID(external)
		d, err := t.Receive(transaction.Receipt{Rail: "LIGHTNING", Amount: t.Pricing.Sent, At: now},
			transaction.Parties{Customer: &readyCustomer, ToInternal: &account.Internal{Status: account.InternalActive}}, now)
		if err == nil && d.Next == transaction.StepSendBack {
			return transaction.Decision{Transaction: d.Transaction}, fault.New(fault.Conflict, "nothing is to be paid")
		}
		return d, err
	case transaction.Lapse:
		return t.ExpireAt(now)
	case transaction.Reject:
		return t.Rejected(transaction.PayRequestFailed, "no", now)
	case transaction.Acknowledge:
		return t.Acknowledged(now)
	default:
		return t.TimedOut(now.Add(transaction.ApprovalTimeout))
	}
}

func TestIncomingPayment_Balances(t *testing.T) {
	t.Parallel()
	// An account is credited when the money is received and, if necessary, approved, and not before. A
	// payment that fails has no postings.
	later := noon.Add(time.Second)
	arrived, err := newPull().RequestFunds(noon).Transaction.Arrived(later)
	if err != nil {
		t.Fatal(err)
	}
	approved, err := newIncoming().RequestApproval(transaction.Approval{}, nil, noon).Transaction.Approved(nil, readyCustomer, later)
	if err != nil {
		t.Fatal(err)
	}
	failed, err := newPull().RequestFunds(noon).Transaction.Failed(transaction.QuoteExecutionFailed, later)
	if err != nil {
		t.Fatal(err)
	}
	if got := failed.Transaction.State.Reason; got != transaction.CollectionFailed {
		t.Errorf("a collection that failed has the reason %s", got)
	}
	account := newIncoming().AccountPath + " USD"
	for name, test := range map[string]struct {
		decision transaction.Decision
		balances map[string]int64
		status   transaction.Status
		event    string
	}{
		"a deposit": {newIncoming().Deposit(noon), map[string]int64{"rails/UMA USD": 12_50, account: -12_50}, transaction.Completed,
			"INCOMING_PAYMENT.COMPLETED"},
		"a transfer in": {arrived, map[string]int64{"rails/ACH USD": 12_50, account: -12_50}, transaction.Completed,
			"INCOMING_PAYMENT.COMPLETED"},
		"an approved payment": {approved, map[string]int64{"rails/UMA USD": 12_50, account: -12_50}, transaction.Completed,
			"INCOMING_PAYMENT.COMPLETED"},
		"a transfer that failed": {failed, nil, transaction.Failed, "INCOMING_PAYMENT.FAILED"},
	} {
		wantBalances(t, test.decision.Postings, test.balances)
		wantEvents(t, test.decision.Events, test.event)
		tx := test.decision.Transaction
		if tx.State.Status != test.status || tx.SettledAt.IsZero() == (test.status == transaction.Completed) {
			t.Errorf("%s: %+v", name, tx)
		}
		for _, p := range test.decision.Postings {
			if err := p.Validate(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	for name, d := range map[string]transaction.Decision{"awaiting funds": newPull().RequestFunds(noon),
		"approval requested": newIncoming().RequestApproval(transaction.Approval{}, nil, noon)} {
		if len(d.Postings)+len(d.Events) > 0 || d.Next == transaction.NoStep {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

func TestIncomingPayment_PostingsMatchState(t *testing.T) {
	t.Parallel()
	// After any events in any order, the postings are exactly those of the state, and the time of the last
	// update has increased.
	rapid.Check(t, func(t *rapid.T) {
		var d transaction.Decision
		switch rapid.IntRange(0, 2).Draw(t, "kind") {
		case 0:
			d = newIncoming().Deposit(noon)
		case 1:
			d = newPull().RequestFunds(noon)
		default:
			d = newIncoming().RequestApproval(transaction.Approval{}, nil, noon)
		}
		tx, kinds, now := d.Transaction, kindsOf(d.Postings), noon
		for range rapid.IntRange(0, 6).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(0, 7).Draw(t, "seconds")) * time.Second)
			next, err := applyIncomingEvent(tx, rapid.SampledFrom(transaction.IncomingEvents).Draw(t, "event"), now)
			if err != nil {
				continue
			}
			if !next.Transaction.UpdatedAt.After(tx.UpdatedAt) {
				t.Fatalf("%s to %s without a later UpdatedAt", tx.IncomingState(), next.Transaction.IncomingState())
			}
			tx, kinds = next.Transaction, append(kinds, kindsOf(next.Postings)...)
		}
		if err := tx.Flow().CheckKinds(tx.State, kinds); err != nil {
			t.Fatal(err)
		}
	})
}

func kindsOf(postings []ledger.Posting) []ledger.Kind {
	var kinds []ledger.Kind
	for _, p := range postings {
		kinds = append(kinds, p.Kind)
	}
	return kinds
}

func TestIncomingPayment_ApprovalDeadlineAndFields(t *testing.T) {
	t.Parallel()
	// A platform that acknowledged the request has five seconds to decide, and must provide the mandatory
	// facts. The note of a rejection is kept, and a payment is decided once.
	requested := newIncoming().RequestApproval(transaction.Approval{Requested: []transaction.InfoField{{Name: "FULL_NAME", Mandatory: true},
		{Name: "EMAIL"}}}, nil, noon).Transaction
	acknowledged, err := requested.Acknowledged(noon.Add(time.Second))
	if err != nil || acknowledged.Next != transaction.StepTimeOut ||
		!acknowledged.Transaction.Approval.Deadline.Equal(noon.Add(6*time.Second)) || !requested.Approval.Deadline.IsZero() {
		t.Fatalf("%+v, %v", acknowledged.Transaction.Approval, err)
	}
	receiver := map[string]string{"FULL_NAME": "Ana Silva"}

	if _, err := acknowledged.Transaction.Approved(map[string]string{"EMAIL": "ana@example.com"}, readyCustomer,
		noon.Add(2*time.Second)); !fault.Is(err, fault.InvalidInput) {
		t.Errorf("without the name: %v", err)
	}
	if _, err := acknowledged.Transaction.TimedOut(noon.Add(6*time.Second - 1)); !fault.Is(err, fault.Conflict) {
		t.Errorf("timed out too early: %v", err)
	}
	approved, err := acknowledged.Transaction.Approved(receiver, readyCustomer, noon.Add(6*time.Second-1))
	if err != nil || !reflect.DeepEqual(approved.Transaction.Approval.Receiver, receiver) {
		t.Errorf("in time: %+v, %v", approved, err)
	}
	rejected, err := acknowledged.Transaction.Rejected(transaction.PayRequestFailed, "not him", noon.Add(2*time.Second))
	if err != nil || rejected.Transaction.Approval.Note != "not him" || rejected.Transaction.State.Reason != transaction.PayRequestFailed {
		t.Errorf("rejected: %+v, %v", rejected, err)
	}
	timedOut, err := acknowledged.Transaction.TimedOut(noon.Add(6 * time.Second))
	if err != nil || timedOut.Transaction.State.Reason != transaction.ApprovalTimedOut {
		t.Errorf("timed out: %+v, %v", timedOut, err)
	}

	for name, tx := range map[string]transaction.Transaction{
		"approved": approved.Transaction, "rejected": rejected.Transaction, "timed out": timedOut.Transaction,
		"a deposit": newIncoming().Deposit(noon).Transaction, "a transfer in": newPull().RequestFunds(noon).Transaction,
		"an outgoing one": onRamp(),
		"too late":        acknowledged.Transaction,
	} {
		deadline := noon.Add(6 * time.Second)
		if _, err := tx.Approved(receiver, readyCustomer, deadline); !fault.Is(err, fault.TransactionNotPendingPlatformApproval) {
			t.Errorf("approve %s: %v", name, err)
		}
		if _, err := tx.Rejected(transaction.PayRequestFailed, "", deadline); !fault.Is(err, fault.TransactionNotPendingPlatformApproval) {
			t.Errorf("reject %s: %v", name, err)
		}
	}
}

func TestReceive_InvoicedThatCannotBeCreditedIsRefunded(t *testing.T) {
	t.Parallel()
	// The money of an approved payment that came with another amount, for an account that may no longer receive, or with either after the
	// invoice had expired, is refunded: the payment fails, and its refund is announced. A second payment of it is sent back by itself.
	waiting := incomingInState(transaction.AwaitingPayment)
	waiting.ExpiresAt = noon.Add(time.Minute)
	lapsed, err := waiting.ExpireAt(noon.Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	more := waiting.Pricing.Sent
	more.Minor++
	active, closed := transaction.Parties{Customer: &readyCustomer, ToInternal: &account.Internal{Status: account.InternalActive}},
		transaction.Parties{Customer: &readyCustomer, ToInternal: &account.Internal{Status: account.InternalClosed}}
	for name, test := range map[string]struct {
		before  transaction.Transaction
		parties transaction.Parties
		amount  money.Amount
		reason  transaction.FailureReason
		events  []string
	}{
		"more than asked": {waiting, active, more, transaction.QuoteExecutionFailed,
			[]string{"INCOMING_PAYMENT.FAILED", "INCOMING_PAYMENT.REFUND_PENDING"}},
		"to a closed account": {waiting, closed, waiting.Pricing.Sent, transaction.QuoteExecutionFailed,
			[]string{"INCOMING_PAYMENT.FAILED", "INCOMING_PAYMENT.REFUND_PENDING"}},
		"more, after it had lapsed": {lapsed.Transaction, active, more, transaction.QuoteExpired, []string{"INCOMING_PAYMENT.REFUND_PENDING"}},
	} {
		at := noon.Add(2 * time.Hour)
		receipt := transaction.Receipt{Rail: "LIGHTNING", Amount: test.amount, Reference: test.before.Reference, At: at}
		receipt.ID.SetUUID(external)

		d, err := test.before.Receive(receipt, test.parties, at)

		want := transaction.State{Status: transaction.Failed, Refund: transaction.RefundPending, Stage: transaction.Received, Reason: test.reason}
		if err != nil || d.Transaction.State != want || !slices.Equal(d.Events, test.events) || d.Next != transaction.StepRefund ||
			d.Transaction.Refund == nil || d.Transaction.Refund.Amount != test.amount {
			t.Errorf("%s: %+v, %v, %s, %v", name, d.Transaction.State, d.Events, d.Next, err)
			continue
		}
		if steps := d.Transaction.RailSteps(); !slices.Equal(steps, []transaction.Step{transaction.StepRefund}) {
			t.Errorf("%s: the rail is called about %v", name, steps)
		}
		again, err := d.Transaction.Receive(receipt, test.parties, at)
		if err != nil || again.Next != transaction.StepSendBack || again.Transaction.State != want || again.Events != nil {
			t.Errorf("%s, paid again: %+v, %v", name, again, err)
		}
		for _, end := range []struct {
			event  string
			finish func(transaction.Transaction) (transaction.Decision, error)
		}{
			{"INCOMING_PAYMENT.REFUND_COMPLETED", func(t transaction.Transaction) (transaction.Decision, error) {
				return t.RefundPaid("rails/LIGHTNING", at)
			}},
			{"INCOMING_PAYMENT.REFUND_FAILED", func(t transaction.Transaction) (transaction.Decision, error) { return t.RefundFailed(at) }},
		} {
			done, err := end.finish(d.Transaction)
			if err != nil || !slices.Equal(done.Events, []string{end.event}) {
				t.Fatalf("%s: %v, %v", name, done.Events, err)
			}
			var kinds []ledger.Kind
			for _, posting := range slices.Concat(d.Postings, done.Postings) {
				kinds = append(kinds, posting.Kind)
			}
			if err := done.Transaction.Flow().CheckKinds(done.Transaction.State, kinds); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if _, err := end.finish(done.Transaction); !fault.Is(err, fault.Conflict) {
				t.Errorf("%s: it ends twice: %v", name, err)
			}
		}
	}
}
