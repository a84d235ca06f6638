package transaction

import (
	"causeway/core/fault"
)

// IncomingState is where an incoming transaction stands.
type IncomingState string

// The stands of an incoming transaction. The first three are all PENDING.
const (
	// AwaitingFunds: the rail is asked for the money.
	AwaitingFunds IncomingState = "AWAITED"
	// ApprovalRequested: the platform's endpoint is asked for approval.
	ApprovalRequested IncomingState = "ASKED"
	// ApprovalPending: the platform said that it will decide, and has not yet.
	ApprovalPending IncomingState = "DECIDING"
	// Credited: the money is in the account.
	Credited IncomingState = "CREDITED"
	// Declined: it never will be.
	Declined IncomingState = "DECLINED"
)

// IncomingStates lists every one of them, for tests that walk the machine.
var IncomingStates = []IncomingState{AwaitingFunds, ApprovalRequested, ApprovalPending, Credited, Declined}

// IncomingEvent is what can happen to an incoming transaction.
type IncomingEvent string

// The happenings of an incoming transaction.
const (
	// Arrive: the rail says that the money is here.
	Arrive IncomingEvent = "ARRIVE"
	// Fail: the rail says that it will not come.
	Fail IncomingEvent = "MISS"
	// Approve: the platform takes it.
	Approve IncomingEvent = "APPROVE"
	// Reject: the platform does not take it, or cannot say.
	Reject IncomingEvent = "REJECT"
	// Acknowledge: the platform will decide in a moment.
	Acknowledge IncomingEvent = "ACKNOWLEDGE"
	// TimeOut: that moment has passed.
	TimeOut IncomingEvent = "TIME_OUT"
)

// IncomingEvents lists every one of them, for tests that walk the machine.
var IncomingEvents = []IncomingEvent{Arrive, Fail, Approve, Reject, Acknowledge, TimeOut}

// The table of moves of an incoming transaction. What is not in it is refused. A
// platform may decide before its endpoint has said that it will: the answer of one
// of its programs can overtake that of another.
var incomingTransitions = map[IncomingState]map[IncomingEvent]IncomingState{
	AwaitingFunds:     {Arrive: Credited, Fail: Declined},
	ApprovalRequested: {Approve: Credited, Reject: Declined, Acknowledge: ApprovalPending},
	ApprovalPending:   {Approve: Credited, Reject: Declined, TimeOut: Declined},
}

// Next is the stand after what happened, or a CONFLICT fault.
func (s IncomingState) Next(a IncomingEvent) (IncomingState, error) {
	next, ok := incomingTransitions[s][a]
	if !ok {
		return s, fault.New(fault.Conflict, "an incoming transaction that is %s cannot %s", s, a)
	}
	return next, nil
}

// IncomingState is that of an incoming transaction.
func (t Transaction) IncomingState() IncomingState {
	switch {
	case t.State.Status == Completed:
		return Credited
	case t.State.Status != Pending:
		return Declined
	case t.Approval == nil:
		return AwaitingFunds
	case t.Approval.Deadline.IsZero():
		return ApprovalRequested
	default:
		return ApprovalPending
	}
}
