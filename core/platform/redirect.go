package platform

import (
	"fmt"
	"net/netip"
	"net/url"
	"slices"

	"causeway/core/fault"
)

// maxRedirectOrigins is how many origins a platform can allow.
const maxRedirectOrigins = 20

// CheckRedirectURI returns INVALID_INPUT for a redirectUri that is neither empty nor allowed: https, or
// http on the same computer, and of one of the platform's KYCRedirectOrigins if it has any.
func (p Platform) CheckRedirectURI(redirectURI string) error {
	if redirectURI == "" {
		return nil
	}
	u, secure := parseSecureURL(redirectURI)
	field := fault.Field{Field: "redirectUri"}
	switch {
	case !secure:
		field.Message = "must be an https URL of at most 2048 characters, such as https://example.com/done; http is allowed for localhost only"
	case len(p.KYCRedirectOrigins) > 0 && !slices.Contains(p.KYCRedirectOrigins, originOf(u)):
		field.Message = "must begin with one of the kycRedirectOrigins of your configuration"
	default:
		return nil
	}
	return fault.Invalid(field)
}

// checkRedirectOrigins returns the invalid fields of a list of origins.
func checkRedirectOrigins(origins []string) (bad []fault.Field) {
	if len(origins) > maxRedirectOrigins {
		bad = append(bad, fault.Field{Field: "kycRedirectOrigins", Message: fmt.Sprintf("must have at most %d origins", maxRedirectOrigins)})
	}
	for i, origin := range origins {
		if u, secure := parseSecureURL(origin); !secure || originOf(u) != origin {
			bad = append(bad, fault.Field{Field: fmt.Sprintf("kycRedirectOrigins[%d]", i),
				Message: "must be an origin such as https://example.com or http://localhost:3000, without a path"})
		}
	}
	return bad
}

// parseSecureURL parses an absolute URL whose connection is encrypted or does not leave the computer.
func parseSecureURL(text string) (*url.URL, bool) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.User != nil || u.Opaque != "" || len(text) > 2048 {
		return nil, false
	}
	if u.Scheme == "https" {
		return u, true
	}
	address, err := netip.ParseAddr(u.Hostname())
	return u, u.Scheme == "http" && (u.Hostname() == "localhost" || err == nil && address.IsLoopback())
}

// originOf returns the scheme and the host, with the port if there is one.
func originOf(u *url.URL) string { return u.Scheme + "://" + u.Host }
