package uma

import (
	"slices"
	"strings"
)

// Policy says with which providers payments are exchanged.
type Policy struct {
	// Allowed are the only domains with which payments are exchanged; empty for all that are not blocked. Each is that of an address, to
	// the letter: neither its subdomains nor its other ports are allowed with it.
	Allowed []string
	// Blocked are blocked with all ports, and with their subdomains, which their owners can make.
	Blocked []string
}

// Allows reports whether payments are exchanged with the provider of a domain, as it is in addresses.
func (p Policy) Allows(domain string) bool {
	host, _, _ := strings.Cut(domain, ":")
	blocked := slices.ContainsFunc(p.Blocked, func(b string) bool { return b == domain || b == host || strings.HasSuffix(host, "."+b) })
	return !blocked && (len(p.Allowed) == 0 || slices.Contains(p.Allowed, domain))
}

// AllowsAnybody reports whether payments of people without a provider are taken: not if only some providers are allowed.
func (p Policy) AllowsAnybody() bool { return len(p.Allowed) == 0 }
