package platform

import (
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"causeway/core/fault"
)

// maxRedirectOrigins is how many origins a platform can allow.
const maxRedirectOrigins = 20

// CheckRedirectURI returns INVALID_INPUT for a redirectUri that is neither empty nor of one of the
// platform's KYCRedirectOrigins. A sandbox platform that has none may use any https URL, because clients are tried before
// they are configured.
func (p Platform) CheckRedirectURI(redirectURI string) error {
	if redirectURI == "" {
		return nil
	}
	origin, ok := originOf(redirectURI)
	field := fault.Field{Field: "redirectUri"}
	switch {
	case !ok:
		field.Message = "must be an https URL of at most 2048 characters, such as https://example.com/done; http is allowed for localhost only"
	case p.Environment == Sandbox && len(p.KYCRedirectOrigins) == 0:
		return nil
	case !p.allowsRedirectTo(origin):
		field.Message = fmt.Sprintf("is not allowed: its origin %s is not in kycRedirectOrigins of your configuration; add it with PATCH /config",
			origin)
	default:
		return nil
	}
	return fault.Invalid(field)
}

func (p Platform) allowsRedirectTo(origin string) bool {
	return slices.ContainsFunc(p.KYCRedirectOrigins, func(text string) bool {
		allowed, ok := originOf(text)
		return ok && allowed == origin
	})
}

// checkRedirectOrigins returns the invalid fields of a list of origins.
func checkRedirectOrigins(origins []string) (bad []fault.Field) {
	if len(origins) > maxRedirectOrigins {
		bad = append(bad, fault.Field{Field: "kycRedirectOrigins", Message: fmt.Sprintf("must have at most %d origins", maxRedirectOrigins)})
	}
	for i, origin := range origins {
		_, ok := originOf(origin)
		if u, err := url.Parse(origin); !ok || err != nil || u.Path != "" || strings.ContainsAny(origin, "?#") {
			bad = append(bad, fault.Field{Field: fmt.Sprintf("kycRedirectOrigins[%d]", i),
				Message: "must be an origin such as https://example.com or http://localhost:3000, without a path; http is allowed for localhost only"})
		}
	}
	return bad
}

// originOf returns the origin of an absolute URL as browsers write it: in lower case, and without the
// port that the scheme has anyway. It returns false unless the connection is encrypted or does not
// leave the computer, and for what browsers may read in another way: user names, letters that are not
// ASCII (xn-- is allowed), zones, and a dot at the end of the host.
func originOf(text string) (string, bool) {
	u, err := url.Parse(text)
	if err != nil || u.User != nil || u.Opaque != "" || len(text) > 2048 {
		return "", false
	}
	host := strings.ToLower(u.Hostname())
	address, err := netip.ParseAddr(host)
	isAddress := err == nil && address.Zone() == ""
	isLocal := host == "localhost" || isAddress && address.IsLoopback()
	if u.Scheme != "https" && (u.Scheme != "http" || !isLocal) || !isAddress && !domainRegexp.MatchString(host) {
		return "", false
	}
	if isAddress {
		host = address.String()
	}
	port, ok := parsePort(u)
	if !ok {
		return "", false
	}
	if isAddress && address.Is6() {
		host = "[" + host + "]"
	}
	if port != "" {
		host += ":" + port
	}
	return u.Scheme + "://" + host, true
}

// parsePort returns the port of a URL, empty if it is that of the scheme.
func parsePort(u *url.URL) (string, bool) {
	if u.Port() == "" {
		return "", true
	}
	port, err := strconv.ParseUint(u.Port(), 10, 16)
	if err != nil {
		return "", false
	}
	if text := strconv.FormatUint(port, 10); text != map[string]string{"https": "443", "http": "80"}[u.Scheme] {
		return text, true
	}
	return "", true
}
