package platform

import (
	"slices"
	"strings"

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
	Token       ident.Token    // zero for an agent
	Person      ident.Person   // whom the token belongs to; zero for that of a service
	Agent       ident.Agent    // zero for a token
	Customer    ident.Customer // of the agent
	Permissions []Permission   // of the token, or of the policy of the agent
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

// CheckAgentPermission returns FORBIDDEN if the principal, an agent, has none of the permissions. Without any,
// every agent is allowed.
func (p Principal) CheckAgentPermission(oneOf ...Permission) error {
	if len(oneOf) == 0 || slices.ContainsFunc(oneOf, func(need Permission) bool { return slices.Contains(p.Permissions, need) }) {
		return nil
	}
	names := make([]string, len(oneOf))
	for i, need := range oneOf {
		names[i] = string(need)
	}
	message := "The policy of this agent does not have the permission " + strings.Join(names, " or ") + ". Ask the platform to add it."
	return &fault.Error{
		Code: fault.Forbidden, Message: message, Reason: missingAgentPermission,
		Details: map[string]any{"reasons": []map[string]string{{"code": missingAgentPermission, "message": message}}},
	}
}

// missingAgentPermission is the reason code of a policy that lacks a permission.
const missingAgentPermission = "PERMISSION_MISSING"

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

// RefusedError is the error of credentials that name a known token and do not have its secret. Callers see Err only, which does not
// say that the token is known.
type RefusedError struct {
	Err error
	// Principal has the token and its platform, and no permission.
	Principal Principal
}

func (e *RefusedError) Error() string { return e.Err.Error() }

// Unwrap returns the error without the token.
func (e *RefusedError) Unwrap() error { return e.Err }
