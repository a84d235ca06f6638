package transaction

import (
	"fmt"

	"causeway/core/fault"
)

// Status is the public status of a transaction.
type Status string

// The statuses of an outgoing transaction.
const (
	Pending Status = "PENDING"
	// PendingAuthorization: the payer has been challenged and has not authorised the payment yet.
	PendingAuthorization Status = "PENDING_AUTHORIZATION"
	Processing           Status = "PROCESSING"
	Completed            Status = "COMPLETED"
	Failed               Status = "FAILED"
	Expired              Status = "EXPIRED"
)

// Statuses lists every status.
var Statuses = []Status{Pending, PendingAuthorization, Processing, Completed, Failed, Expired}

// RefundStatus is the status of a refund; empty if there is none.
type RefundStatus string

// The statuses of a refund.
const (
	NoRefund        RefundStatus = ""
	RefundPending   RefundStatus = "PENDING"
	RefundCompleted RefundStatus = "COMPLETED"
	RefundUnpaid    RefundStatus = "FAILED"
)

// Stage is how far the funds had moved when a transaction ended early. Together with the statuses it
// determines which postings exist.
type Stage string

// The stages of the funds of a payment.
const (
	// NoFundsMoved: nothing was received.
	NoFundsMoved Stage = ""
	// Received: funds were received and not converted.
	Received Stage = "RECEIVED"
	// Converted: funds were converted if necessary, and are in transit to the beneficiary.
	Converted Stage = "CONVERTED"
	// Delivered: the beneficiary has the funds.
	Delivered Stage = "DELIVERED"
)

// State is the state of a transaction.
type State struct {
	Status Status
	Refund RefundStatus
	// Stage is the furthest stage of the funds before any refund.
	Stage Stage
	// Reason is set when Status is FAILED.
	Reason FailureReason
}

// Event is what can happen to a transaction.
type Event string

// The events.
const (
	// Fund: the exact amount was received in time, and is dispatched.
	Fund Event = "FUND"
	// FundWrongAmount: a payment was received in time, with another amount or currency than quoted.
	FundWrongAmount Event = "FUND_WRONG_AMOUNT"
	// FundRefused: a payment was received in time, and a party may no longer move money, or the payer has not authorised it.
	FundRefused Event = "FUND_REFUSED"
	// FundLate: a payment was received after the quote expired.
	FundLate Event = "FUND_LATE"
	// Expire: the quote expired without a payment.
	Expire Event = "EXPIRE"
	// Challenge: the payer is asked to authorise the payment.
	Challenge Event = "CHALLENGE"
	// Authorize: the payer has authorised a payment that waits to be funded.
	Authorize Event = "AUTHORIZE"
	// LapseAuthorization: the quote expired before the payer has authorised it.
	LapseAuthorization Event = "LAPSE_AUTHORIZATION"
	// Execute: the quote was executed in time, and its internal account debited.
	Execute Event = "EXECUTE"
	// Collect: the quote was executed in time, and an external account is being debited.
	Collect Event = "COLLECT"
	// FailCollection: the external account could not be debited.
	FailCollection Event = "FAIL_COLLECTION"
	// Submit: the rail has accepted a transfer.
	Submit Event = "SUBMIT"
	// Deliver: the beneficiary has the funds.
	Deliver Event = "DELIVER"
	// Refuse: the rail refused the payout permanently, or the conversion failed permanently.
	Refuse Event = "REFUSE"
	// Cancel: the user cancelled the payment before its delivery.
	Cancel Event = "CANCEL"
	// Return: the beneficiary's bank returned the payment after delivery.
	Return Event = "RETURN"
	// PayRefund: the refund was paid.
	PayRefund Event = "PAY_REFUND"
	// FailRefund: the refund could not be paid; an operator must act.
	FailRefund Event = "FAIL_REFUND"
)

// Events lists all events, for tests of the state machine.
var Events = []Event{Fund, FundWrongAmount, FundRefused, FundLate, Expire, Challenge, Authorize, LapseAuthorization,
	Execute, Collect, FailCollection, Submit, Deliver, Refuse, Cancel, Return, PayRefund, FailRefund}

// Initial is the state of a transaction when its quote is created.
var Initial = State{Status: Pending}

// TransferInitial is the state of a new transfer out: its account is debited, and the rail has not
// been called.
var TransferInitial = State{Status: Pending, Stage: Converted}

type transitionFrom struct {
	status Status
	refund RefundStatus
	// fundsMoved reports whether any funds have moved.
	fundsMoved bool
}

type transitionTo struct {
	status Status
	refund RefundStatus
}

// transitions lists the allowed transitions: from a status, a refund status and whether funds have
// moved, by an event, to a status and a refund status.
var transitions = map[transitionFrom]map[Event]transitionTo{
	{Pending, NoRefund, false}: {
		Fund:            {Processing, NoRefund},
		FundWrongAmount: {Failed, RefundPending},
		FundRefused:     {Failed, RefundPending},
		FundLate:        {Expired, RefundPending},
		Expire:          {Expired, NoRefund},
		Challenge:       {PendingAuthorization, NoRefund},
		Execute:         {Processing, NoRefund},
		Collect:         {Processing, NoRefund},
	},
	{PendingAuthorization, NoRefund, false}: {
		FundWrongAmount:    {Failed, RefundPending},
		FundRefused:        {Failed, RefundPending},
		FundLate:           {Expired, RefundPending},
		Authorize:          {Pending, NoRefund},
		LapseAuthorization: {Failed, NoRefund},
		Execute:            {Processing, NoRefund},
		Collect:            {Processing, NoRefund},
	},
	{Pending, NoRefund, true}: {
		Submit: {Processing, NoRefund},
		Refuse: {Failed, RefundPending},
		Cancel: {Failed, RefundPending},
	},
	// A payment that reached the partner in time may be reported after the quote has expired.
	{Expired, NoRefund, false}: {
		Fund:            {Processing, NoRefund},
		FundWrongAmount: {Failed, RefundPending},
		FundRefused:     {Failed, RefundPending},
		FundLate:        {Expired, RefundPending},
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
	Fund: Converted, Execute: Converted, FundWrongAmount: Received, FundRefused: Received, FundLate: Received, Deliver: Delivered,
}

// Next returns the state after an event, or a CONFLICT fault if the event is not possible in s. The
// reason is kept only if the transaction fails.
func (s State) Next(event Event, reason FailureReason) (State, error) {
	to, ok := transitions[transitionFrom{s.Status, s.Refund, s.Stage != NoFundsMoved}][event]
	if !ok {
		return s, fault.New(fault.Conflict, "a transaction that is %s cannot %s", s, event)
	}
	next := State{Status: to.status, Refund: to.refund, Stage: s.Stage, Reason: s.Reason}
	if stage, moved := stageAfter[event]; moved {
		next.Stage = stage
	}
	if next.Status == Failed && s.Status != Failed {
		next.Reason = reason
	}
	return next, nil
}

// InTransit reports whether the funds were dispatched to the beneficiary, and neither delivered nor
// refused.
func (s State) InTransit() bool {
	return s.Stage == Converted && s.Refund == NoRefund && (s.Status == Pending || s.Status == Processing)
}

// IsDelivered reports whether the beneficiary has the funds, and they were not returned.
func (s State) IsDelivered() bool { return s.Status == Completed && s.Stage == Delivered }

// IsFinal reports whether only a return, or a payment for an expired quote that is reported later, can
// still change the transaction.
func (s State) IsFinal() bool {
	return s.Status != Pending && s.Status != PendingAuthorization && s.Status != Processing && s.Refund != RefundPending
}

// String returns the state for messages, such as "FAILED (refund PENDING)".
func (s State) String() string {
	if s.Refund == NoRefund {
		return string(s.Status)
	}
	return fmt.Sprintf("%s (refund %s)", s.Status, s.Refund)
}
