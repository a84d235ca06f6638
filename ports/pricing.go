package ports

import (
	"time"

	"causeway/core/corridor"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
)

// CorridorAuthor is who changes an override, and why.
type CorridorAuthor struct {
	// By is the operator of the command; that of a proposal, if the change was proposed. If it is empty, the history
	// names the login.
	By, Note string
	// Person is the operator, if it has signed in.
	Person ident.Person
	// Approval is that of four eyes; zero without.
	Approval platform.Approval
}

// CorridorKey identifies an override; a zero Platform stands for all platforms.
type CorridorKey struct {
	Platform ident.Platform
	From, To money.Currency
}

// CorridorOverride is an override of the terms of a corridor; a zero Platform stands for all
// platforms.
type CorridorOverride struct {
	Platform ident.Platform
	From, To money.Currency
	Terms    corridor.Override
}

// CorridorChangeFilter selects changes; zero fields match all. A platform selects its own
// changes and those for all platforms.
type CorridorChangeFilter struct {
	Platform ident.Platform
	From, To money.Currency
}

// CorridorChange is a change of one override.
type CorridorChange struct {
	CorridorKey
	Number int64 // in the history of all corridors
	At     time.Time
	// The operator of a change by hand is the login.
	CorridorAuthor
	Before, After corridor.Override
}
