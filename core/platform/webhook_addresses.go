package platform

import "net/netip"

// AllowsWebhooksTo reports whether webhooks may be sent to an address: to public ones, and with private also to
// loopback and private networks, so that a receiver can run next to the service. Link-local
// addresses, metadata services of clouds, multicast, and addresses that embed others are never
// allowed.
func AllowsWebhooksTo(private bool, address netip.Addr) bool {
	address = address.Unmap() // ::ffff:127.0.0.1 is 127.0.0.1
	if address.IsLoopback() {
		return private
	}
	if !address.IsValid() || address.Zone() != "" || inRanges(blockedRanges, address) {
		return false
	}
	return private || !inRanges(privateRanges, address)
}

func inRanges(ranges []netip.Prefix, address netip.Addr) bool {
	for _, r := range ranges {
		if r.Contains(address) {
			return true
		}
	}
	return false
}

// blockedRanges are never allowed.
var blockedRanges = mustParsePrefixes(
	"0.0.0.0/8",          // this host
	"169.254.0.0/16",     // link-local, and the metadata service of most clouds
	"100.100.100.200/32", // metadata service
	"168.63.129.16/32",   // metadata service
	"192.0.0.0/24",       // protocol assignments, and a metadata service
	"224.0.0.0/4",        // multicast
	"240.0.0.0/4",        // reserved, and broadcast
	"::/128",             // this host
	"::/96",              // IPv4-compatible, deprecated
	"64:ff9b::/96",       // NAT64
	"64:ff9b:1::/48",     // NAT64, local
	"2001::/32",          // Teredo: embeds IPv4
	"2002::/16",          // 6to4: embeds IPv4
	"fe80::/10",          // link-local
	"fec0::/10",          // site-local, deprecated
	"fd00:ec2::254/128",  // metadata service
	"fd20:ce::254/128",   // metadata service
	"ff00::/8",           // multicast
)

// privateRanges are allowed with private only.
var privateRanges = mustParsePrefixes(
	"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", // private
	"100.64.0.0/10",                                     // carrier-grade NAT
	"192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", // documentation
	"192.88.99.0/24",             // 6to4 relays, deprecated
	"198.18.0.0/15",              // benchmarking
	"2001:db8::/32", "3fff::/20", // documentation
	"2001:2::/48",                  // benchmarking
	"2001:10::/28", "2001:20::/28", // ORCHID
	"100::/64",  // discard-only
	"5f00::/16", // segment routing
	"fc00::/7",  // private
)

func mustParsePrefixes(texts ...string) []netip.Prefix {
	out := make([]netip.Prefix, len(texts))
	for i, text := range texts {
		out[i] = netip.MustParsePrefix(text)
	}
	return out
}
