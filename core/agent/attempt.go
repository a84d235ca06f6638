package agent

import (
	"time"

	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
)

// Attempt is an entry of the audit trail of an agent: something that the agent asked for, whether its policy
// allowed it or not, or a decision of the platform about an action. It never changes.
type Attempt struct {
	ID        ident.AgentAttempt
	Platform  ident.Platform
	Agent     ident.Agent
	Customer  ident.Customer
	At        time.Time
	Operation Operation
	Decision  Decision
	// Reasons are why the policy refused it or asked for approval; empty if it allowed it.
	Reasons []Reason
	// Error is the code of the fault for which it then could not run; empty if it ran or waits for approval.
	Error fault.Code
	// Amount is what was to be sent; zero if no money was to move.
	Amount money.Amount
	// Internal and External are the accounts that the request named; zero for none.
	Internal    ident.InternalAccount
	External    ident.ExternalAccount
	Quote       ident.Quote
	Transaction ident.Transaction
	Action      ident.AgentAction
	// Token is the token of the platform that approved or rejected the action; zero for the agent.
	Token ident.Token
}

// Operation is what was attempted.
type Operation string

// The operations that are in the audit trail.
const (
	OpCreateQuote           Operation = "CREATE_QUOTE"
	OpExecuteQuote          Operation = "EXECUTE_QUOTE"
	OpTransferOut           Operation = "TRANSFER_OUT"
	OpTransferIn            Operation = "TRANSFER_IN"
	OpCreateExternalAccount Operation = "CREATE_EXTERNAL_ACCOUNT"
	OpDeleteExternalAccount Operation = "DELETE_EXTERNAL_ACCOUNT"
	OpApprove               Operation = "APPROVE_ACTION" // by the platform
	OpReject                Operation = "REJECT_ACTION"  // by the platform
)

// Operations lists every operation.
var Operations = []Operation{OpCreateQuote, OpExecuteQuote, OpTransferOut, OpTransferIn, OpCreateExternalAccount, OpDeleteExternalAccount,
	OpApprove, OpReject}

// Decision is what a policy says about an attempt.
type Decision string

// The decisions.
const (
	Allowed       Decision = "ALLOWED"
	NeedsApproval Decision = "APPROVAL_REQUIRED"
	Refused       Decision = "REFUSED"
)

// Decisions lists every decision.
var Decisions = []Decision{Allowed, NeedsApproval, Refused}

// Reason is one reason of a decision.
type Reason struct {
	Code ReasonCode
	// Message says what the policy allows, and what was asked for.
	Message string
}

// ReasonCode is the kind of a reason.
type ReasonCode string

// The reasons for which a policy refuses.
const (
	AgentPaused          ReasonCode = "AGENT_PAUSED"
	PermissionMissing    ReasonCode = "PERMISSION_MISSING"
	AccountNotAllowed    ReasonCode = "ACCOUNT_NOT_ALLOWED"
	PerTransactionLimit  ReasonCode = "PER_TRANSACTION_LIMIT"
	DailyLimit           ReasonCode = "DAILY_LIMIT"
	DailyTransactionsMet ReasonCode = "DAILY_TRANSACTION_LIMIT"
	MonthlyLimit         ReasonCode = "MONTHLY_LIMIT"
)

// The reasons for which a policy asks for approval.
const (
	ModeRequiresApproval ReasonCode = "EXECUTION_MODE"
	AboveThreshold       ReasonCode = "APPROVAL_THRESHOLD"
)

// ReasonCodes lists every reason.
var ReasonCodes = []ReasonCode{AgentPaused, PermissionMissing, AccountNotAllowed, PerTransactionLimit, DailyLimit,
	DailyTransactionsMet, MonthlyLimit,
	ModeRequiresApproval, AboveThreshold}
