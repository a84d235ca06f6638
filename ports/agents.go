package ports

import (
	"causeway/core/agent"
	"causeway/core/ident"
	"causeway/core/period"
	"causeway/core/platform"
)

// AgentToken is the access token of an agent.
type AgentToken struct {
	Platform    ident.Platform
	Environment platform.Environment
	Agent       ident.Agent
	Customer    ident.Customer
	Permissions []agent.Permission
	Hash        agent.TokenHash
}

// AgentFilter selects agents; zero fields match all.
type AgentFilter struct {
	Paging
	Customer          ident.Customer
	Paused, Connected *bool
	Created, Updated  period.Interval
}
