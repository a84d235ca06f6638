package uma

import "slices"

// Policy says with which providers payments are exchanged.
type Policy struct {
	// Allowed are the only domains with which payments are exchanged; empty for all that are not blocked.
	Allowed []string
	Blocked []string
}

// Allows reports whether payments are exchanged with the provider of a domain.
func (p Policy) Allows(domain string) bool {
	return !slices.Contains(p.Blocked, domain) && (len(p.Allowed) == 0 || slices.Contains(p.Allowed, domain))
}

// AllowsAnybody reports whether payments of people without a provider are taken: not if only some providers are allowed.
func (p Policy) AllowsAnybody() bool { return len(p.Allowed) == 0 }
