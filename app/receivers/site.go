package receivers

import (
	"strings"

	"golang.org/x/net/publicsuffix"
)

// siteOf returns what one owner has registered of the domain of a provider, such as example.co.uk, whose subdomains and ports count as one
// provider where providers are limited.
func siteOf(domain string) string {
	host, _, _ := strings.Cut(domain, ":")
	last := host[strings.LastIndexByte(host, '.')+1:]
	site, err := publicsuffix.EffectiveTLDPlusOne(host)
	if err != nil || strings.Trim(last, "0123456789") == "" { // a public suffix, or an address of the network
		return host
	}
	return site
}
