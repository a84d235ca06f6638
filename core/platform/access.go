package platform

import (
	"slices"

	"causeway/core/fault"
	"causeway/core/ident"
)

// Environment says whether a platform plays or pays; it never changes.
type Environment string

// The two environments.
const (
	Sandbox    Environment = "SANDBOX"
	Production Environment = "PRODUCTION"
)

// Permission is one kind of thing a token may do. None includes another.
type Permission string

// What a token can be allowed.
const (
	// View reads.
	View Permission = "VIEW"
	// Transact moves money: quotes, execution, transfers, approvals of incoming payments.
	Transact Permission = "TRANSACT"
	// Manage changes customers, accounts, settings, tokens and agents.
	Manage Permission = "MANAGE"
)

// Permissions are all there are; the first token of a platform has them all.
var Permissions = []Permission{View, Transact, Manage}

// Principal is who makes a request: one token of one platform.
type Principal struct {
	Platform    ident.Platform
	Environment Environment
	Token       ident.Token
	Permissions []Permission
}

// CheckPermission returns nil if the principal has the permission, else FORBIDDEN with a message
// that names it.
func (p Principal) CheckPermission(need Permission) error {
	if slices.Contains(p.Permissions, need) {
		return nil
	}
	return &fault.Error{
		Code:    fault.Forbidden,
		Message: "This token lacks the permission " + string(need) + ". Use a token that has it, or create one.",
		Reason:  "Missing permission",
		Details: map[string]any{"missingPermission": string(need)},
	}
}

// CheckSandbox returns nil on a sandbox platform, else FORBIDDEN: the operation
// simulates something, and production is not to be simulated.
func (p Principal) CheckSandbox() error {
	if p.Environment == Sandbox {
		return nil
	}
	return &fault.Error{
		Code:    fault.Forbidden,
		Message: "This operation exists for sandbox platforms only; this token belongs to a production platform.",
		Reason:  "Sandbox only",
	}
}
