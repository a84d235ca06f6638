package rail

import (
	"errors"
	"net/netip"
	"net/url"
	"strings"
)

// NodeURL parses the URL of a node of a chain or network, for ParseSetting: a scheme, a host and a port. Without TLS the node has to
// be on this machine. The example is one of the error.
func NodeURL(example string) func(value string) (string, error) {
	return func(value string) (string, error) {
		u, err := url.Parse(value)
		if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || strings.Trim(u.Path, "/") != "" {
			return "", errors.New("must be a URL such as " + example + ", without user, password and path")
		}
		address, err := netip.ParseAddr(u.Hostname())
		isLocal := u.Hostname() == "localhost" || err == nil && address.IsLoopback()
		if u.Scheme != "https" && (u.Scheme != "http" || !isLocal) {
			return "", errors.New("must begin with https, or name a node on this machine")
		}
		return u.Scheme + "://" + strings.TrimSuffix(u.Host, ":"), nil
	}
}
