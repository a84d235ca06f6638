package transaction

import (
	"causeway/core/fault"
)

// IncomingState is the state of an incoming transaction.
type IncomingState string

// The states of an incoming transaction. The first four have the status PENDING.
const (
	// AwaitingFunds: the rail is collecting the money.
	AwaitingFunds IncomingState = "AWAITING_FUNDS"
	// ApprovalRequested: approval is requested from the platform's endpoint.
	ApprovalRequested IncomingState = "APPROVAL_REQUESTED"
	// ApprovalPending: the platform has acknowledged the request and has not decided yet.
	ApprovalPending IncomingState = "APPROVAL_PENDING"
	// AwaitingPayment: the platform has approved, and the invoice of the payment can be paid.
	AwaitingPayment IncomingState = "AWAITING_PAYMENT"
	// Credited: the account is credited.
	Credited IncomingState = "CREDITED"
	// Declined: the account will not be credited.
	Declined IncomingState = "DECLINED"
)

// IncomingStates lists all states, for tests of the state machine.
var IncomingStates = []IncomingState{AwaitingFunds, ApprovalRequested, ApprovalPending, AwaitingPayment, Credited, Declined}

// IncomingEvent is what can happen to an incoming transaction.
type IncomingEvent string

// The events of an incoming transaction.
const (
	// Arrive: the rail has collected the money.
	Arrive IncomingEvent = "ARRIVE"
	// Fail: the rail could not collect the money.
	Fail IncomingEvent = "FAIL"
	// Approve: the platform approves the payment.
	Approve IncomingEvent = "APPROVE"
	// AllowInvoice: the platform approves a payment that is to be paid by an invoice.
	AllowInvoice IncomingEvent = "ALLOW_INVOICE"
	// PayInvoice: the invoice of the payment was paid.
	PayInvoice IncomingEvent = "PAY_INVOICE"
	// Lapse: the invoice has expired unpaid.
	Lapse IncomingEvent = "LAPSE"
	// Reject: the platform rejects the payment, or its endpoint fails.
	Reject IncomingEvent = "REJECT"
	// Acknowledge: the platform will decide within the approval timeout.
	Acknowledge IncomingEvent = "ACKNOWLEDGE"
	// TimeOut: the platform has not decided in time.
	TimeOut IncomingEvent = "TIME_OUT"
)

// IncomingEvents lists all events, for tests of the state machine.
var IncomingEvents = []IncomingEvent{Arrive, Fail, Approve, AllowInvoice, PayInvoice, Lapse, Reject, Acknowledge, TimeOut}

// The transitions of an incoming transaction; all others are refused. A platform may decide before
// its endpoint has acknowledged the request, because the two may be different programs.
var incomingTransitions = map[IncomingState]map[IncomingEvent]IncomingState{
	AwaitingFunds:     {Arrive: Credited, Fail: Declined},
	ApprovalRequested: {Approve: Credited, AllowInvoice: AwaitingPayment, Reject: Declined, Acknowledge: ApprovalPending, Lapse: Declined},
	ApprovalPending:   {Approve: Credited, AllowInvoice: AwaitingPayment, Reject: Declined, TimeOut: Declined, Lapse: Declined},
	AwaitingPayment:   {PayInvoice: Credited, Lapse: Declined},
}

// Next returns the state after an event, or a CONFLICT fault.
func (s IncomingState) Next(event IncomingEvent) (IncomingState, error) {
	next, ok := incomingTransitions[s][event]
	if !ok {
		return s, fault.New(fault.Conflict, "an incoming transaction that is %s cannot %s", s, event)
	}
	return next, nil
}

// IncomingState returns the state of an incoming transaction.
func (t Transaction) IncomingState() IncomingState {
	switch {
	case t.State.Status == Completed:
		return Credited
	case t.State.Status != Pending:
		return Declined
	case t.Approval == nil:
		return AwaitingFunds
	case !t.Approval.ApprovedAt.IsZero():
		return AwaitingPayment
	case t.Approval.Deadline.IsZero():
		return ApprovalRequested
	default:
		return ApprovalPending
	}
}
