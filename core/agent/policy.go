package agent

import (
	"causeway/core/ident"
	"causeway/core/money"
)

// Policy says what an agent may do.
type Policy struct {
	Permissions []Permission // at least one, each once
	// DefaultMode is that of payments from accounts without a rule of their own.
	DefaultMode ExecutionMode
	Limits      SpendingLimits
	// AllowedAccounts are the accounts from which the agent may spend: nil for all internal accounts of the
	// customer, empty for none.
	AllowedAccounts []ident.InternalAccount
	AccountRules    []AccountRule // at most one for each account
	Threshold       ApprovalThreshold
}

// Permission is what an agent may do. None includes another.
type Permission string

// The permissions.
const (
	ViewTransactions       Permission = "VIEW_TRANSACTIONS" // and balances
	CreateTransfers        Permission = "CREATE_TRANSFERS"
	CreateQuotes           Permission = "CREATE_QUOTES"
	ExecuteQuotes          Permission = "EXECUTE_QUOTES"
	ManageExternalAccounts Permission = "MANAGE_EXTERNAL_ACCOUNTS"
)

// Permissions lists every permission.
var Permissions = []Permission{ViewTransactions, CreateTransfers, CreateQuotes, ExecuteQuotes, ManageExternalAccounts}

// ExecutionMode says whether the platform has to approve what an agent starts.
type ExecutionMode string

// The execution modes.
const (
	Auto             ExecutionMode = "AUTO"
	ApprovalRequired ExecutionMode = "APPROVAL_REQUIRED"
)

// ExecutionModes lists every execution mode.
var ExecutionModes = []ExecutionMode{Auto, ApprovalRequired}

// SpendingLimits limit what an agent spends. Amounts are in minor units of Currency. Days and months are of UTC.
type SpendingLimits struct {
	Currency          money.Currency
	PerTransaction    int64
	Daily             int64 // zero: none
	DailyTransactions int64 // the number of transactions of a day; zero: not limited
	Monthly           int64 // zero: none
}

// AccountRule replaces parts of a policy for payments from one account.
type AccountRule struct {
	Account ident.InternalAccount
	// Mode is empty for the default one of the policy.
	Mode ExecutionMode
	// PerTransaction is in minor units of the currency of the spending limits; zero for their limit.
	PerTransaction int64
}

// ApprovalThreshold is the amount above which the platform has to approve a payment whose mode is AUTO.
type ApprovalThreshold struct {
	// Currency may be empty if Amount is nil.
	Currency money.Currency
	// Amount is in minor units; nil for no threshold.
	Amount *int64
}
