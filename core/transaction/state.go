package transaction

import (
	"fmt"

	"causeway/core/fault"
)

// Status is what the platform is told of a transaction.
type Status string

// The statuses of an outgoing transaction.
const (
	Pending    Status = "PENDING"
	Processing Status = "PROCESSING"
	Completed  Status = "COMPLETED"
	Failed     Status = "FAILED"
	Expired    Status = "EXPIRED"
)

// RefundStatus is how far a refund is; empty means there is none.
type RefundStatus string

// The statuses of a refund.
const (
	NoRefund        RefundStatus = ""
	RefundPending   RefundStatus = "PENDING"
	RefundCompleted RefundStatus = "COMPLETED"
	RefundUnpaid    RefundStatus = "FAILED"
)

// Stage says what of the money had moved when a transaction ended early. Together
// with the statuses it says exactly which postings exist.
type Stage string

// The stages of a payment's money.
const (
	// NoFundsMoved: no money has come.
	NoFundsMoved Stage = ""
	// Received: it came and was not converted.
	Received Stage = "RECEIVED"
	// Converted: it is on its way to whom it is for, converted where need be.
	Converted Stage = "CONVERTED"
	// Delivered: it reached whom it is for.
	Delivered Stage = "DELIVERED"
)

// State is where a transaction stands.
type State struct {
	Status Status
	Refund RefundStatus
	// Stage is the furthest stage of the money before any refund.
	Stage Stage
	// Reason is set when Status is FAILED.
	Reason FailureReason
}

// Event is what can happen to a transaction.
type Event string

// The happenings.
const (
	// Fund: the exact amount came in time, and is set on its way.
	Fund Event = "FUND"
	// FundWrongAmount: money came in time but not the amount or currency agreed.
	FundWrongAmount Event = "FUND_WRONG"
	// FundLate: money came after the quote expired.
	FundLate Event = "FUND_LATE"
	// Expire: the quote's time passed without money.
	Expire Event = "EXPIRE"
	// Execute: it was ordered in time, and the money left the account that pays.
	Execute Event = "EXECUTE"
	// Collect: it was ordered in time, and the money is asked of an external account.
	Collect Event = "COLLECT"
	// FailCollection: the external account did not give it.
	FailCollection Event = "UNCOLLECTED"
	// Submit: the rail has taken a transfer on.
	Submit Event = "HAND"
	// Deliver: the beneficiary has it.
	Deliver Event = "DELIVER"
	// Refuse: the conversion or the rail refused for good.
	Refuse Event = "REFUSE"
	// Cancel: the user took it back while it was on its way.
	Cancel Event = "CANCEL"
	// Return: the beneficiary's bank sent it back after delivery.
	Return Event = "RETURN"
	// PayRefund: the payer has the money back.
	PayRefund Event = "PAY_REFUND"
	// FailRefund: it could not be sent back; people must look.
	FailRefund Event = "LOSE_REFUND"
)

// Events lists every one of them, for tests that walk the machine.
var Events = []Event{Fund, FundWrongAmount, FundLate, Expire, Execute, Collect, FailCollection, Submit,
	Deliver, Refuse, Cancel, Return, PayRefund, FailRefund}

// Initial is the state of a transaction when its quote is made.
var Initial = State{Status: Pending}

// TransferInitial is the state of a transfer out when it is made: its money has left the
// account, and the rail has not been asked yet.
var TransferInitial = State{Status: Pending, Stage: Converted}

type transitionFrom struct {
	status Status
	refund RefundStatus
	// fundsMoved tells whether any of the money has moved.
	fundsMoved bool
}

type transitionTo struct {
	status Status
	refund RefundStatus
}

// The table of moves: from (status, refund, moved) by a happening to (status,
// refund). What is not in it is refused.
var transitions = map[transitionFrom]map[Event]transitionTo{
	{Pending, NoRefund, false}: {
		Fund:            {Processing, NoRefund},
		FundWrongAmount: {Failed, RefundPending},
		FundLate:        {Expired, RefundPending},
		Expire:          {Expired, NoRefund},
		Execute:         {Processing, NoRefund},
		Collect:         {Processing, NoRefund},
	},
	{Pending, NoRefund, true}: {
		Submit: {Processing, NoRefund},
		Refuse: {Failed, RefundPending},
	},
	{Expired, NoRefund, false}: {
		FundLate: {Expired, RefundPending},
	},
	{Processing, NoRefund, false}: {
		Fund:           {Processing, NoRefund},
		FailCollection: {Failed, NoRefund},
	},
	{Processing, NoRefund, true}: {
		Deliver: {Completed, NoRefund},
		Refuse:  {Failed, RefundPending},
		Cancel:  {Failed, RefundPending},
	},
	{Completed, NoRefund, true}: {
		Return: {Failed, RefundPending},
	},
	{Failed, RefundPending, true}: {
		PayRefund:  {Failed, RefundCompleted},
		FailRefund: {Failed, RefundUnpaid},
	},
	{Expired, RefundPending, true}: {
		PayRefund:  {Expired, RefundCompleted},
		FailRefund: {Expired, RefundUnpaid},
	},
}

var stageAfter = map[Event]Stage{
	Fund: Converted, Execute: Converted, FundWrongAmount: Received, FundLate: Received, Deliver: Delivered,
}

// Next is the state after h, or a CONFLICT fault when h cannot happen in s. The
// reason is kept only where the transaction fails.
func (s State) Next(h Event, reason FailureReason) (State, error) {
	to, ok := transitions[transitionFrom{s.Status, s.Refund, s.Stage != NoFundsMoved}][h]
	if !ok {
		return s, fault.New(fault.Conflict, "a transaction that is %s cannot %s", s, h)
	}
	next := State{Status: to.status, Refund: to.refund, Stage: s.Stage, Reason: s.Reason}
	if stage, moved := stageAfter[h]; moved {
		next.Stage = stage
	}
	if next.Status == Failed && s.Status != Failed {
		next.Reason = reason
	}
	return next, nil
}

// InTransit tells whether the money has been set on its way to whom it is for and
// neither arrived nor turned back.
func (s State) InTransit() bool {
	return s.Stage == Converted && s.Refund == NoRefund && (s.Status == Pending || s.Status == Processing)
}

// IsDelivered tells whether it has reached whom it is for, and was not returned.
func (s State) IsDelivered() bool { return s.Status == Completed && s.Stage == Delivered }

// IsFinal tells whether nothing but a bank return, or a late payment on an expired
// quote, can change the transaction any more.
func (s State) IsFinal() bool {
	return s.Status != Pending && s.Status != Processing && s.Refund != RefundPending
}

// String is for messages: "FAILED (refund PENDING)".
func (s State) String() string {
	if s.Refund == NoRefund {
		return string(s.Status)
	}
	return fmt.Sprintf("%s (refund %s)", s.Status, s.Refund)
}
