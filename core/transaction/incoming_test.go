package transaction_test

import (
	"reflect"
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

// allowedIncoming is the machine of incoming transactions once more, written by hand from
// the rules: what is not here must be refused.
var allowedIncoming = map[transaction.IncomingState]map[transaction.IncomingEvent]transaction.IncomingState{
	transaction.AwaitingFunds: {transaction.Arrive: transaction.Credited, transaction.Fail: transaction.Declined},
	transaction.ApprovalRequested: {transaction.Approve: transaction.Credited, transaction.Reject: transaction.Declined,
		transaction.Acknowledge: transaction.ApprovalPending},
	transaction.ApprovalPending: {transaction.Approve: transaction.Credited, transaction.Reject: transaction.Declined,
		transaction.TimeOut: transaction.Declined},
}

func TestIncomingState_EveryTransition(t *testing.T) {
	t.Parallel()
	// In every state, every event leads to the state in the table, for the state alone and for a
	// transaction; an event that is not in the table is refused and changes nothing.
	for _, state := range transaction.IncomingStates {
		for _, a := range transaction.IncomingEvents {
			want, may := allowedIncoming[state][a]
			got, err := state.Next(a)
			if may && (err != nil || got != want) || !may && (!fault.Is(err, fault.Conflict) || got != state) {
				t.Errorf("%s, %s: %s, %v; want %s", state, a, got, err, want)
			}

			d, err := applyIncomingEvent(incomingInState(state), a, noon.Add(time.Minute))
			if may != (err == nil) || may && d.Transaction.IncomingState() != want {
				t.Errorf("a transaction, %s, %s: %s, %v; want %s", state, a, d.Transaction.IncomingState(), err, want)
			}
			if err != nil && len(d.Postings)+len(d.Events) > 0 {
				t.Errorf("%s, %s: refused with %+v", state, a, d)
			}
		}
	}
}

// newIncoming is 12.50 USD for an account.
func newIncoming() transaction.IncomingPayment {
	in := transaction.IncomingPayment{Rail: "UMA", Amount: money.Amount{Minor: 12_50, Currency: "USD"}, Reference: "REF"}
	ident.SetUUID(&in.ID, uuid.MustParse("0199f0a2-0000-7000-8000-000000000001"))
	ident.SetUUID(&in.Platform, uuid.MustParse("0199f0a2-0000-7000-8000-000000000002"))
	ident.SetUUID(&in.Account, internal)
	in.AccountPath = ledger.CustomerAccount(in.Account)
	return in
}

func newPull() transaction.IncomingPayment {
	in := newIncoming()
	in.Rail = "ACH"
	ident.SetUUID(&in.Source.ExternalAccount, external)
	return in
}

// incomingInState returns a transaction in the state.
func incomingInState(s transaction.IncomingState) transaction.Transaction {
	asked := newIncoming().RequestApproval(transaction.Approval{Requested: []transaction.InfoField{{Name: "NATIONALITY"}}}, nil, noon).Transaction
	switch s {
	case transaction.AwaitingFunds:
		return newPull().RequestFunds(noon).Transaction
	case transaction.ApprovalRequested:
		return asked
	case transaction.ApprovalPending:
		d, _ := asked.Acknowledged(noon.Add(time.Minute - time.Second))
		return d.Transaction
	case transaction.Credited:
		return newIncoming().Deposit(noon).Transaction
	default:
		d, _ := newPull().RequestFunds(noon).Transaction.Failed(transaction.QuoteExecutionFailed, noon)
		return d.Transaction
	}
}

// applyIncomingEvent makes one thing happen; a decision of the platform comes in time, and time is
// out when it is.
func applyIncomingEvent(t transaction.Transaction, a transaction.IncomingEvent, now time.Time) (transaction.Decision, error) {
	switch a {
	case transaction.Arrive:
		return t.Arrived(now)
	case transaction.Fail:
		return t.Failed(transaction.QuoteExecutionFailed, now)
	case transaction.Approve:
		return t.Approved(nil, now)
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
	// The account is credited when the funds have arrived and are accepted, and not before. A
	// failed payment makes no postings.
	later := noon.Add(time.Second)
	arrived, err := newPull().RequestFunds(noon).Transaction.Arrived(later)
	if err != nil {
		t.Fatal(err)
	}
	approved, err := newIncoming().RequestApproval(transaction.Approval{}, nil, noon).Transaction.Approved(nil, later)
	if err != nil {
		t.Fatal(err)
	}
	missed, err := newPull().RequestFunds(noon).Transaction.Failed(transaction.QuoteExecutionFailed, later)
	if err != nil {
		t.Fatal(err)
	}
	account := newIncoming().AccountPath + " USD"
	for name, test := range map[string]struct {
		decision transaction.Decision
		books    map[string]int64
		status   transaction.Status
		event    string
	}{
		"a deposit":              {newIncoming().Deposit(noon), map[string]int64{"rails/UMA USD": 12_50, account: -12_50}, transaction.Completed, "INCOMING_PAYMENT.COMPLETED"},
		"a transfer in":          {arrived, map[string]int64{"rails/ACH USD": 12_50, account: -12_50}, transaction.Completed, "INCOMING_PAYMENT.COMPLETED"},
		"an approved payment":    {approved, map[string]int64{"rails/UMA USD": 12_50, account: -12_50}, transaction.Completed, "INCOMING_PAYMENT.COMPLETED"},
		"a transfer that failed": {missed, nil, transaction.Failed, "INCOMING_PAYMENT.FAILED"},
	} {
		wantBalances(t, test.decision.Postings, test.books)
		wantEvents(t, test.decision.Events, test.event)
		made := test.decision.Transaction
		if made.State.Status != test.status || made.SettledAt.IsZero() == (test.status == transaction.Completed) {
			t.Errorf("%s: %+v", name, made)
		}
		for _, p := range test.decision.Postings {
			if err := p.Validate(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	for name, d := range map[string]transaction.Decision{"awaited": newPull().RequestFunds(noon), "asked": newIncoming().RequestApproval(transaction.Approval{}, nil, noon)} {
		if len(d.Postings)+len(d.Events) > 0 || d.Next == transaction.NoStep {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

func TestIncomingPayment_PostingsMatchState(t *testing.T) {
	t.Parallel()
	// Whatever happens in whatever order: the postings so far are exactly those that
	// the state says, and its times go forward.
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
			next, err := applyIncomingEvent(tx, rapid.SampledFrom(transaction.IncomingEvents).Draw(t, "arrival"), now)
			if err != nil {
				continue
			}
			if !next.Transaction.UpdatedAt.After(tx.UpdatedAt) {
				t.Fatalf("%s to %s without time passing", tx.IncomingState(), next.Transaction.IncomingState())
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
	// A platform that said it will decide has five seconds, and must give what is
	// mandatory; its refusal keeps its words, and nothing is decided twice.
	asked := newIncoming().RequestApproval(transaction.Approval{Requested: []transaction.InfoField{{Name: "FULL_NAME", Mandatory: true}, {Name: "EMAIL"}}}, nil, noon).Transaction
	waiting, err := asked.Acknowledged(noon.Add(time.Second))
	if err != nil || waiting.Next != transaction.StepTimeOut || !waiting.Transaction.Approval.Deadline.Equal(noon.Add(6*time.Second)) || !asked.Approval.Deadline.IsZero() {
		t.Fatalf("%+v, %v", waiting.Transaction.Approval, err)
	}
	name := map[string]string{"FULL_NAME": "Ana Silva"}

	if _, err := waiting.Transaction.Approved(map[string]string{"EMAIL": "ana@example.com"}, noon.Add(2*time.Second)); !fault.Is(err, fault.InvalidInput) {
		t.Errorf("without the name: %v", err)
	}
	if _, err := waiting.Transaction.TimedOut(noon.Add(6*time.Second - 1)); !fault.Is(err, fault.Conflict) {
		t.Errorf("timed out too early: %v", err)
	}
	approved, err := waiting.Transaction.Approved(name, noon.Add(6*time.Second-1))
	if err != nil || !reflect.DeepEqual(approved.Transaction.Approval.Receiver, name) {
		t.Errorf("in time: %+v, %v", approved, err)
	}
	rejected, err := waiting.Transaction.Rejected(transaction.PayRequestFailed, "not him", noon.Add(2*time.Second))
	if err != nil || rejected.Transaction.Approval.Note != "not him" || rejected.Transaction.State.Reason != transaction.PayRequestFailed {
		t.Errorf("rejected: %+v, %v", rejected, err)
	}
	timedOut, err := waiting.Transaction.TimedOut(noon.Add(6 * time.Second))
	if err != nil || timedOut.Transaction.State.Reason != transaction.ApprovalTimedOut {
		t.Errorf("timed out: %+v, %v", timedOut, err)
	}

	for what, tx := range map[string]transaction.Transaction{
		"approved": approved.Transaction, "rejected": rejected.Transaction, "timed out": timedOut.Transaction,
		"a deposit": newIncoming().Deposit(noon).Transaction, "a transfer in": newPull().RequestFunds(noon).Transaction, "an outgoing one": onRamp(),
		"too late": waiting.Transaction,
	} {
		at := noon.Add(6 * time.Second)
		if _, err := tx.Approved(name, at); !fault.Is(err, fault.TransactionNotPendingPlatformApproval) {
			t.Errorf("approve %s: %v", what, err)
		}
		if _, err := tx.Rejected(transaction.PayRequestFailed, "", at); !fault.Is(err, fault.TransactionNotPendingPlatformApproval) {
			t.Errorf("reject %s: %v", what, err)
		}
	}
}
