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
	RefundNotPaid   RefundStatus = "FAILED"
)

// Stage says what of the money had moved when a transaction ended early. Together
// with the statuses it says exactly which postings exist.
type Stage string

// The stages of a payment's money.
const (
	// NothingMoved: no money has come.
	NothingMoved Stage = ""
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
	// Reached is the furthest stage of the money before any refund.
	Reached Stage
	// Reason is set when Status is FAILED.
	Reason FailureReason
}

// Happening is what can happen to a transaction.
type Happening string

// The happenings.
const (
	// Fund: the exact amount came in time, and is set on its way.
	Fund Happening = "FUND"
	// FundWrong: money came in time but not the amount or currency agreed.
	FundWrong Happening = "FUND_WRONG"
	// FundLate: money came after the quote expired.
	FundLate Happening = "FUND_LATE"
	// Expire: the quote's time passed without money.
	Expire Happening = "EXPIRE"
	// Execute: it was ordered in time, and the money left the account that pays.
	Execute Happening = "EXECUTE"
	// Collect: it was ordered in time, and the money is asked of an external account.
	Collect Happening = "COLLECT"
	// Uncollected: the external account did not give it.
	Uncollected Happening = "UNCOLLECTED"
	// Hand: the rail has taken a transfer on.
	Hand Happening = "HAND"
	// Deliver: the beneficiary has it.
	Deliver Happening = "DELIVER"
	// Refuse: the conversion or the rail refused for good.
	Refuse Happening = "REFUSE"
	// Cancel: the user took it back while it was on its way.
	Cancel Happening = "CANCEL"
	// Return: the beneficiary's bank sent it back after delivery.
	Return Happening = "RETURN"
	// PayRefund: the payer has the money back.
	PayRefund Happening = "PAY_REFUND"
	// LoseRefund: it could not be sent back; people must look.
	LoseRefund Happening = "LOSE_REFUND"
)

// Happenings lists every one of them, for tests that walk the machine.
var Happenings = []Happening{Fund, FundWrong, FundLate, Expire, Execute, Collect, Uncollected, Hand,
	Deliver, Refuse, Cancel, Return, PayRefund, LoseRefund}

// Initial is the state of a transaction when its quote is made.
var Initial = State{Status: Pending}

// Underway is the state of a transfer out when it is made: its money has left the
// account, and the rail has not been asked yet.
var Underway = State{Status: Pending, Reached: Converted}

type move struct {
	status Status
	refund RefundStatus
	// moved tells whether any of the money has moved.
	moved bool
}

type place struct {
	status Status
	refund RefundStatus
}

// The table of moves: from (status, refund, moved) by a happening to (status,
// refund). What is not in it is refused.
var moves = map[move]map[Happening]place{
	{Pending, NoRefund, false}: {
		Fund:      {Processing, NoRefund},
		FundWrong: {Failed, RefundPending},
		FundLate:  {Expired, RefundPending},
		Expire:    {Expired, NoRefund},
		Execute:   {Processing, NoRefund},
		Collect:   {Processing, NoRefund},
	},
	{Pending, NoRefund, true}: {
		Hand:   {Processing, NoRefund},
		Refuse: {Failed, RefundPending},
	},
	{Expired, NoRefund, false}: {
		FundLate: {Expired, RefundPending},
	},
	{Processing, NoRefund, false}: {
		Fund:        {Processing, NoRefund},
		Uncollected: {Failed, NoRefund},
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
		LoseRefund: {Failed, RefundNotPaid},
	},
	{Expired, RefundPending, true}: {
		PayRefund:  {Expired, RefundCompleted},
		LoseRefund: {Expired, RefundNotPaid},
	},
}

var reached = map[Happening]Stage{
	Fund: Converted, Execute: Converted, FundWrong: Received, FundLate: Received, Deliver: Delivered,
}

// Next is the state after h, or a CONFLICT fault when h cannot happen in s. The
// reason is kept only where the transaction fails.
func (s State) Next(h Happening, reason FailureReason) (State, error) {
	to, ok := moves[move{s.Status, s.Refund, s.Reached != NothingMoved}][h]
	if !ok {
		return s, fault.New(fault.Conflict, "a transaction that is %s cannot %s", s, h)
	}
	next := State{Status: to.status, Refund: to.refund, Reached: s.Reached, Reason: s.Reason}
	if stage, moved := reached[h]; moved {
		next.Reached = stage
	}
	if next.Status == Failed && s.Status != Failed {
		next.Reason = reason
	}
	return next, nil
}

// OnItsWay tells whether the money has been set on its way to whom it is for and
// neither arrived nor turned back.
func (s State) OnItsWay() bool {
	return s.Reached == Converted && s.Refund == NoRefund && (s.Status == Pending || s.Status == Processing)
}

// Arrived tells whether it has reached whom it is for, and was not returned.
func (s State) Arrived() bool { return s.Status == Completed && s.Reached == Delivered }

// Final tells whether nothing but a bank return, or a late payment on an expired
// quote, can change the transaction any more.
func (s State) Final() bool {
	return s.Status != Pending && s.Status != Processing && s.Refund != RefundPending
}

// String is for messages: "FAILED (refund PENDING)".
func (s State) String() string {
	if s.Refund == NoRefund {
		return string(s.Status)
	}
	return fmt.Sprintf("%s (refund %s)", s.Status, s.Refund)
}
