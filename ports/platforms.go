package ports

import (
	"causeway/core/ident"
	"causeway/core/period"
	"causeway/core/platform"
)

// PlatformCurrency holds the settings of a platform for one currency.
type PlatformCurrency struct {
	Platform ident.Platform
	platform.Currency
}

// TokenWithEnvironment is a token and the environment of its platform.
type TokenWithEnvironment struct {
	Token       platform.Token
	Environment platform.Environment
}

// TokenFilter selects tokens; zero fields match all.
type TokenFilter struct {
	Paging
	Name             string
	Created, Updated period.Interval
}
