package agent

import (
	"time"

	"causeway/core/corridor"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
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
}

// Failure is why an approved action could not run.
type Failure struct {
	Code    fault.Code
	Message string
}
