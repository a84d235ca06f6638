package agent_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"causeway/core/agent"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
)

var (
	actionID      = id[ident.AgentAction](1)
	transactionID = id[ident.Transaction](1)
	approver      = id[ident.Token](1)
	unexecutable  = &fault.Error{Code: fault.QuoteExpired, Message: "The quote expired.", Reason: "x"}
)

// decisions are what can happen to an action, each with the status that it leads to.
var decisions = map[agent.ActionStatus]func(agent.Action) (agent.Action, error){
	agent.ActionApproved: func(a agent.Action) (agent.Action, error) { return a.Run(transactionID, approver, now.Add(time.Hour)) },
	agent.ActionRejected: func(a agent.Action) (agent.Action, error) { return a.Reject("No.", approver, now.Add(time.Hour)) },
	agent.ActionFailed:   func(a agent.Action) (agent.Action, error) { return a.Fail(unexecutable, approver, now.Add(time.Hour)) },
}

func newAction() agent.Action {
	return agent.NewQuoteAction(actionID, spender(), "ana", id[ident.Quote](1), "signature", now)
}

func TestAction_NewIsPending(t *testing.T) {
	t.Parallel()
	// A new action belongs to its agent and waits, with what is to be done.
	want := agent.Action{ID: actionID, Platform: acme, Agent: agentID, Customer: anaID, PlatformCustomerID: "ana", Type: agent.ExecuteQuote,
		Status: agent.ActionPending,
		Quote:  id[ident.Quote](1), Signature: "signature", CreatedAt: now, UpdatedAt: now}
	if got := newAction(); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	transfer := agent.Transfer{Internal: dollars.ID, External: id[ident.ExternalAccount](1), Amount: money.Amount{Minor: 5, Currency: "USD"},
		Rail: "RTP"}
	got := agent.NewTransferAction(actionID, spender(), "ana", agent.TransferIn, transfer, now)
	want.Type, want.Quote, want.Signature, want.Transfer = agent.TransferIn, ident.Quote{}, "", &transfer
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestAction_EachDecisionIsFinal(t *testing.T) {
	t.Parallel()
	// A pending action is decided once, by whom and when is recorded, and each later decision is refused and
	// changes nothing.
	for status, decide := range decisions {
		decided, err := decide(newAction())
		want := newAction()
		want.Status, want.DecidedBy, want.DecidedAt, want.UpdatedAt = status, approver, now.Add(time.Hour), now.Add(time.Hour)
		switch status {
		case agent.ActionApproved:
			want.Transaction = transactionID
		case agent.ActionRejected:
			want.RejectionReason = "No."
		case agent.ActionFailed:
			want.Failure = &agent.Failure{Code: fault.QuoteExpired, Message: "The quote expired."}
		}
		if err != nil || !reflect.DeepEqual(decided, want) {
			t.Errorf("%s: %+v, %v, want %+v", status, decided, err, want)
		}
		for second, again := range decisions {
			after, err := again(decided)
			if !fault.Is(err, fault.ActionNotPendingApproval) || !strings.Contains(err.Error(), string(status)) ||
				!reflect.DeepEqual(after, decided) {
				t.Errorf("%s, then %s: %+v, %v", status, second, after, err)
			}
		}
	}
}

func TestAction_RunNeedsTransaction(t *testing.T) {
	t.Parallel()
	// An action runs with its transaction only. Without an approval, nobody has decided it; a clock that went back
	// does not move its times back.
	if after, err := newAction().Run(ident.Transaction{}, approver, now); err == nil || after.Status != agent.ActionPending {
		t.Errorf("without a transaction: %+v, %v", after, err)
	}
	ran, err := newAction().Run(transactionID, ident.Token{}, now.Add(-time.Minute))
	if err != nil || ran.Status != agent.ActionApproved || !ran.DecidedBy.IsZero() || !ran.DecidedAt.Equal(now) || !ran.UpdatedAt.Equal(now) {
		t.Errorf("%+v, %v", ran, err)
	}
}

func TestAction_FailsForFinalFaultsOnly(t *testing.T) {
	t.Parallel()
	// A fault that may be gone the next time is returned, and the action keeps waiting; every other one ends it.
	for _, code := range fault.Codes() {
		after, err := newAction().Fail(fault.New(code, "x"), approver, now)
		if code.Temporary() && (!fault.Is(err, code) || !reflect.DeepEqual(after, newAction())) || !code.Temporary() &&
			(err != nil || after.Status != agent.ActionFailed) {
			t.Errorf("%s: %+v, %v", code, after, err)
		}
	}
}

func TestCheckWaiting(t *testing.T) {
	t.Parallel()
	// The last action that can wait is accepted; the next one may be later.
	if err := agent.CheckWaiting(agent.MaxWaiting - 1); err != nil {
		t.Error(err)
	}
	if err := agent.CheckWaiting(agent.MaxWaiting); !fault.Is(err, fault.RateLimited) {
		t.Error(err)
	}
}

func TestAction_RejectionReasons(t *testing.T) {
	t.Parallel()
	// A reason is a text of one line, or empty.
	for reason, accepted := range map[string]bool{
		"": true, "Not this month.": true, strings.Repeat("é", 500): true,
		" ": false, "two\nlines": false, strings.Repeat("a", 501): false, "\xff": false,
	} {
		after, err := newAction().Reject(reason, approver, now)
		if accepted && (err != nil || after.RejectionReason != reason) || !accepted &&
			(!fault.Is(err, fault.InvalidInput) || after.Status != agent.ActionPending) {
			t.Errorf("%q: %+v, %v", reason, after, err)
		}
	}
	if err := agent.ActionNotFound(actionID); !fault.Is(err, fault.AgentActionNotFound) {
		t.Error(err)
	}
}
