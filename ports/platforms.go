package ports

import (
	"causeway/core/ident"
	"causeway/core/period"
	"causeway/core/platform"
)

// TokenWithEnvironment is a token and the environment of its platform.
type TokenWithEnvironment struct {
	Token       platform.Token
	Environment platform.Environment
}

// TokenFilter selects tokens; zero fields match all.
type TokenFilter struct {
	Paging
	ID               ident.Token
	Name             string
	Created, Updated period.Interval
}
