package agent

import (
	"fmt"
	"time"

	"causeway/core/corridor"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/party"
)

// Action is a payment that an agent has asked for, and that its policy did not refuse.
type Action struct {
	ID       ident.AgentAction
	Platform ident.Platform
	Agent    ident.Agent
	Customer ident.Customer
	// PlatformCustomerID is the platform's own id of the customer.
	PlatformCustomerID string
	Type               ActionType
	Status             ActionStatus
	// Quote is the quote to execute; zero for a transfer.
	Quote ident.Quote
	// Transfer is the transfer to make; nil for a quote.
	Transfer *Transfer
	// Signature is that of the owner of the embedded wallet that pays the quote, as it was sent; empty for others.
	Signature string
	// Transaction is the transaction of the payment; zero until it has run.
	Transaction ident.Transaction
	// RejectionReason is the text of the platform that rejected the action; it may be empty.
	RejectionReason string
	// Failure is why an approved action could not run; nil for all others.
	Failure *Failure
	// DecidedBy is the token that approved or rejected the action; zero if the policy asked for no approval.
	DecidedBy ident.Token
	// DecidedAt is when the action was approved or rejected; zero while it waits.
	DecidedAt time.Time
	CreatedAt time.Time
	UpdatedAt time.Time
}

// NewQuoteAction returns the action that executes a quote, which is pending. signature is that of the owner of the
// embedded wallet that pays; empty for others.
func NewQuoteAction(id ident.AgentAction, a Agent, platformCustomerID string, q ident.Quote, signature string, now time.Time) Action {
	action := newAction(id, a, platformCustomerID, ExecuteQuote, now)
	action.Quote, action.Signature = q, signature
	return action
}

// NewTransferAction returns the action that makes a transfer of type TRANSFER_OUT or TRANSFER_IN, which is pending.
func NewTransferAction(id ident.AgentAction, a Agent, platformCustomerID string, direction ActionType, t Transfer, now time.Time) Action {
	action := newAction(id, a, platformCustomerID, direction, now)
	action.Transfer = &t
	return action
}

func newAction(id ident.AgentAction, a Agent, platformCustomerID string, t ActionType, now time.Time) Action {
	return Action{ID: id, Platform: a.Platform, Agent: a.ID, Customer: a.Customer, PlatformCustomerID: platformCustomerID,
		Type: t, Status: ActionPending, CreatedAt: now, UpdatedAt: now}
}

// Run returns the action after its payment has started. by is the token that approved it; zero if the policy asked
// for no approval. Faults: ACTION_NOT_PENDING_APPROVAL.
func (a Action) Run(t ident.Transaction, by ident.Token, now time.Time) (Action, error) {
	if t.IsZero() {
		return a, fmt.Errorf("the action %s has run without a transaction", a.ID)
	}
	next, err := a.decided(ActionApproved, by, now)
	if err == nil {
		next.Transaction = t
	}
	return next, err
}

// Reject returns the action after the platform has rejected it; reason may be empty. Faults:
// ACTION_NOT_PENDING_APPROVAL, INVALID_INPUT.
func (a Action) Reject(reason string, by ident.Token, now time.Time) (Action, error) {
	var bad party.Problems
	if bad.Text("reason", reason, party.Optional, MaxRejectionReason); bad.Err() != nil {
		return a, bad.Err()
	}
	next, err := a.decided(ActionRejected, by, now)
	if err == nil {
		next.RejectionReason = reason
	}
	return next, err
}

// MaxRejectionReason is the largest number of characters of the reason of a rejection.
const MaxRejectionReason = 500

// Fail returns the action after the platform has approved it and it could not run. For a temporary fault, that is
// the error and the action is unchanged: it keeps waiting. Faults: ACTION_NOT_PENDING_APPROVAL, cause.
func (a Action) Fail(cause *fault.Error, by ident.Token, now time.Time) (Action, error) {
	if cause.Code.Temporary() {
		return a, cause
	}
	next, err := a.decided(ActionFailed, by, now)
	if err == nil {
		next.Failure = &Failure{Code: cause.Code, Message: cause.Message}
	}
	return next, err
}

// AgentDeletedReason is the reason of the rejection of what waits when its agent is deleted.
const AgentDeletedReason = "The agent was deleted."

// CheckPending returns ACTION_NOT_PENDING_APPROVAL if the status of the action is final.
func (a Action) CheckPending() error {
	if a.Status == ActionPending {
		return nil
	}
	return fault.New(fault.ActionNotPendingApproval, "The action %s is %s; only one that is %s can be approved or rejected.", a.ID,
		a.Status, ActionPending)
}

// decided returns the action with a final status, or ACTION_NOT_PENDING_APPROVAL if it has one already.
func (a Action) decided(s ActionStatus, by ident.Token, now time.Time) (Action, error) {
	if err := a.CheckPending(); err != nil {
		return a, err
	}
	if now.Before(a.UpdatedAt) {
		now = a.UpdatedAt // the clock went back
	}
	a.Status, a.DecidedBy, a.DecidedAt, a.UpdatedAt = s, by, now, now
	return a, nil
}

// MaxWaiting is the largest number of actions of an agent that wait for approval: a program that asks without end
// would bury what the platform has to decide, and with millions that wait the agent could not be deleted.
const MaxWaiting = 1000

// CheckWaiting returns RATE_LIMITED if as many actions of an agent wait for approval as can; waiting is their number.
func CheckWaiting(waiting int) error {
	if waiting < MaxWaiting {
		return nil
	}
	return &fault.Error{Code: fault.RateLimited, Reason: "Too many actions wait", RetryAfter: time.Minute,
		Message: fmt.Sprintf("%d payments of this agent wait for the approval of the platform. Nothing was done; send the request again when "+
			"the platform has decided some of them.", MaxWaiting)}
}

// ActionNotFound returns AGENT_ACTION_NOT_FOUND.
func ActionNotFound(id ident.AgentAction) error {
	return fault.New(fault.AgentActionNotFound, "There is no action %s.", id)
}

// ActionType is what an action does.
type ActionType string

// The types of actions.
const (
	ExecuteQuote ActionType = "EXECUTE_QUOTE"
	TransferOut  ActionType = "TRANSFER_OUT"
	TransferIn   ActionType = "TRANSFER_IN"
)

// ActionTypes lists every type.
var ActionTypes = []ActionType{ExecuteQuote, TransferOut, TransferIn}

// ActionStatus is the status of an action.
type ActionStatus string

// The statuses of an action. All but PENDING_APPROVAL are final.
const (
	// ActionPending: the platform has to approve or reject it.
	ActionPending ActionStatus = "PENDING_APPROVAL"
	// ActionApproved: the policy or the platform allowed it, and its payment has started.
	ActionApproved ActionStatus = "APPROVED"
	// ActionRejected: the platform rejected it, or deleted the agent.
	ActionRejected ActionStatus = "REJECTED"
	// ActionFailed: the platform approved it, and it could not run any more.
	ActionFailed ActionStatus = "FAILED"
)

// ActionStatuses lists every status.
var ActionStatuses = []ActionStatus{ActionPending, ActionApproved, ActionRejected, ActionFailed}

// Transfer is a transfer between an internal and an external account, out of the internal one or into it.
type Transfer struct {
	Internal ident.InternalAccount
	External ident.ExternalAccount
	Amount   money.Amount
	// Rail is the requested rail of a transfer out; empty for the best one.
	Rail corridor.Rail
	// Remittance and Purpose are those of a transfer out.
	Remittance, Purpose string
}

// Failure is why an approved action could not run.
type Failure struct {
	Code    fault.Code
	Message string
}
