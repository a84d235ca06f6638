package rail

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"causeway/core/corridor"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
)

// Route is what a connection is chosen by.
type Route struct {
	Platform ident.Platform
	Rail     corridor.Rail
	Currency money.Currency
	// Country is that of the account at the other end, ISO 3166-1 alpha-2; empty for a wallet, and if it is unknown. It
	// does not count for money that is sent back.
	Country string
	Back    bool // sent back to its payer
}

// Choose returns the connection that a payment takes: of those that serve its route the one with the lowest
// priority, and of several the first by name. A paused connection keeps its payments, which then wait. It returns
// NOT_IMPLEMENTED if no connection serves the route.
func Choose(connections []Connection, r Route) (Connection, error) {
	var chosen *Connection
	for i, c := range connections {
		if c.Serves(r) && (chosen == nil || Compare(c, *chosen) < 0) {
			chosen = &connections[i]
		}
	}
	if chosen == nil {
		return Connection{}, NoConnection(r)
	}
	return *chosen, nil
}

// Compare orders connections by priority, then by name.
func Compare(a, b Connection) int {
	return cmp.Or(cmp.Compare(a.Priority, b.Priority), cmp.Compare(a.Name, b.Name))
}

// Serves reports whether new payments of a route can take the connection: it carries them, was tested and is not retired.
func (c Connection) Serves(r Route) bool { return c.TakesNew() && c.carries(r) }

// TakesNew reports whether new payments can take the connection, and payers are asked to pay over it.
func (c Connection) TakesNew() bool { return !c.Untested && !c.Retired }

// carries reports whether the connection carries payments of a route. A payment whose country is unknown takes only a
// connection for every country.
func (c Connection) carries(r Route) bool {
	return slices.Contains(c.Rails, r.Rail) && slices.Contains(c.Currencies, r.Currency) && c.ServesPlatform(r.Platform) &&
		(r.Back || len(c.Countries) == 0 || slices.Contains(c.Countries, r.Country))
}

// ServesPlatform reports whether the connection carries payments of a platform.
func (c Connection) ServesPlatform(p ident.Platform) bool {
	return len(c.Platforms) == 0 || slices.Contains(c.Platforms, p)
}

// IsOfWallets reports whether the connection carries the payments of embedded wallets.
func (c Connection) IsOfWallets() bool { return slices.Contains(c.Currencies, money.USDB) }

// maxHeldBack is how many connections WhyNone names.
const maxHeldBack = 3

// WhyNone says, for operators, why no connection serves a route, and whether that is because connections that carry it are
// held back.
func WhyNone(connections []Connection, r Route) (reason string, heldBack bool) {
	var reasons []string
	for _, c := range connections {
		switch {
		case !c.carries(r) || len(reasons) == maxHeldBack:
		case c.Retired:
			reasons = append(reasons, c.Name+" carries it, but is retired")
		case c.Untested:
			reasons = append(reasons, fmt.Sprintf("%s carries it, but was not tested: run causeway rails test %s", c.Name, c.Name))
		}
	}
	if len(reasons) > 0 {
		return strings.Join(reasons, "; "), true
	}
	return fmt.Sprintf("no connection carries %s over %s", r.Currency, r.Rail), false
}

// NoConnection is the fault of a payment that no connection serves.
func NoConnection(r Route) error {
	if neverCarried(r.Rail) {
		return fault.New(fault.NotImplemented, "Payments over %s are not supported in production. Use another network or account.",
			r.Rail.PublicName())
	}
	to := ""
	if r.Country != "" {
		to = " to " + r.Country
	}
	return fault.New(fault.NotImplemented, "No connection carries %s over %s%s for this platform. Ask the operator of the service to "+
		"connect a partner, or use another account.", r.Currency, r.Rail.PublicName(), to)
}

// neverCarried reports whether no adapter can carry the rail.
func neverCarried(r corridor.Rail) bool { return r == corridor.Layer2 }
