package platform

import (
	"slices"

	"causeway/core/fault"
	"causeway/core/ident"
)

// Environment is the environment of a platform; it never changes.
type Environment string

// The two environments.
const (
	Sandbox    Environment = "SANDBOX"
	Production Environment = "PRODUCTION"
)

// Permission is a permission of a token. None includes another.
type Permission string

// The permissions.
const (
	// View allows reading.
	View Permission = "VIEW"
	// Transact allows moving money: quotes, execution, transfers, approvals of incoming
	// payments.
	Transact Permission = "TRANSACT"
	// Manage allows changing customers, accounts, settings and tokens.
	Manage Permission = "MANAGE"
)

// Permissions lists every permission; the first token of a platform has them all.
var Permissions = []Permission{View, Transact, Manage}

// Principal is the caller of a request: one token, or one agent, of one platform.
type Principal struct {
	Platform    ident.Platform
	Environment Environment
	Token       ident.Token  // zero for an agent
	Agent       ident.Agent  // zero for a token
	Permissions []Permission // of the token
}

// CheckPermission returns FORBIDDEN if the principal does not have the permission.
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

// CheckSandbox returns FORBIDDEN if the platform is not a sandbox platform.
func (p Principal) CheckSandbox() error {
	if p.Environment == Sandbox {
		return nil
	}
	return &fault.Error{
		Code:    fault.Forbidden,
		Message: "This operation is for sandbox platforms only; this token belongs to a production platform.",
		Reason:  "Sandbox only",
	}
}
