package rail

import (
	"cmp"
	"slices"

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

// Serves reports whether the connection carries payments of a route. A payment whose country is unknown takes only a
// connection for every country.
func (c Connection) Serves(r Route) bool {
	return slices.Contains(c.Rails, r.Rail) && slices.Contains(c.Currencies, r.Currency) && c.ServesPlatform(r.Platform) &&
		(r.Back || len(c.Countries) == 0 || slices.Contains(c.Countries, r.Country))
}

// ServesPlatform reports whether the connection carries payments of a platform.
func (c Connection) ServesPlatform(p ident.Platform) bool {
	return len(c.Platforms) == 0 || slices.Contains(c.Platforms, p)
}

// NoConnection is the fault of a payment that no connection serves.
func NoConnection(r Route) error {
	if neverCarried(r.Rail) {
		return fault.New(fault.NotImplemented, "Payments over %s are not supported in production. Use another network or account.", r.Rail.PublicName())
	}
	to := ""
	if r.Country != "" {
		to = " to " + r.Country
	}
	return fault.New(fault.NotImplemented, "No connection carries %s over %s%s for this platform. Ask the operator of the service to connect a partner, or use another account.", r.Currency, r.Rail.PublicName(), to)
}

// neverCarried reports whether no adapter can carry the rail.
func neverCarried(r corridor.Rail) bool { return r == corridor.Lightning || r == corridor.Layer2 }
