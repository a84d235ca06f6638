package platform_test

import (
	"errors"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"causeway/core/fault"
	"causeway/core/platform"
)

func TestAllowsWebhooksTo_AddressRanges(t *testing.T) {
	t.Parallel()
	// Addresses in and next to each range, with private addresses and without.
	const never, private, always = 0, 1, 2
	for address, want := range map[string]int{
		"1.1.1.1": always, "93.184.216.34": always, "172.15.255.255": always, "172.32.0.0": always,
		"192.167.255.255": always, "192.169.0.0": always, "11.0.0.0": always, "9.255.255.255": always,
		"100.63.255.255": always, "100.128.0.0": always, "169.253.255.255": always, "169.255.0.0": always,
		"198.17.255.255": always, "198.20.0.0": always, "223.255.255.255": always, "168.63.129.17": always,
		"2606:4700::1111": always, "2a00:1450::1": always,

		"127.0.0.1": private, "127.255.255.254": private, "::1": private, "10.0.0.1": private,
		"172.16.0.1": private, "172.31.255.255": private, "192.168.1.1": private, "100.64.0.1": private,
		"100.127.255.255": private, "fc00::1": private, "fdff::1": private, "192.0.2.1": private,
		"198.18.0.1": private, "203.0.113.9": private, "2001:db8::1": private,
		"::ffff:127.0.0.1": private, "::ffff:10.1.2.3": private,

		"0.0.0.0": never, "0.1.2.3": never, "::": never, "169.254.0.1": never, "169.254.169.254": never,
		"::ffff:169.254.169.254": never, "fe80::1": never, "fe80::1%eth0": never, "febf::1": never, "fec0::1": never,
		"224.0.0.1": never, "239.255.255.255": never, "255.255.255.255": never, "240.0.0.1": never, "ff02::1": never,
		"100.100.100.200": never, "168.63.129.16": never, "192.0.0.192": never, "fd00:ec2::254": never,
		"::7f00:1": never, "64:ff9b::a00:1": never, "64:ff9b:1::1": never, "2002:7f00:1::": never, "2001:0:1::1": never,
		"::ffff:0.0.0.0": never,
	} {
		a := netip.MustParseAddr(address)
		if got := platform.AllowsWebhooksTo(true, a); got != (want >= private) {
			t.Errorf("%s with private addresses: %v", address, got)
		}
		if got := platform.AllowsWebhooksTo(false, a); got != (want == always) {
			t.Errorf("%s without private addresses: %v", address, got)
		}
	}
	if platform.AllowsWebhooksTo(true, netip.Addr{}) {
		t.Error("the zero address is allowed")
	}
}

func TestApply_WebhookEndpointOfForbiddenAddress(t *testing.T) {
	t.Parallel()
	// An endpoint that names an address is refused by the rule of deliveries when it is set, and the error says what to do. Names are
	// checked when they are resolved, at each delivery.
	const public, private, forbidden = "", "--allow-private-webhooks", "public"
	for _, c := range []struct {
		environment platform.Environment
		allow       bool
		endpoint    string
		want        string // in the message; empty if it is accepted
	}{
		{platform.Sandbox, false, "http://127.0.0.1:8080/hooks", private},
		{platform.Sandbox, false, "http://[::1]/hooks", private},
		{platform.Sandbox, false, "https://10.1.2.3/hooks", private},
		{platform.Sandbox, false, "https://[::ffff:192.168.1.1]/hooks", private},
		{platform.Sandbox, true, "http://127.0.0.1:8080/hooks", public},
		{platform.Sandbox, true, "https://[fd12::1]:9000/hooks", public},
		{platform.Sandbox, true, "http://169.254.169.254/latest", forbidden},
		{platform.Sandbox, true, "http://[fe80::1%25eth0]/", forbidden},
		{platform.Sandbox, false, "http://169.254.169.254/latest", forbidden},
		{platform.Sandbox, false, "http://1.1.1.1/hooks", public},
		{platform.Sandbox, false, "http://localhost:8080/hooks", public},
		{platform.Production, true, "https://127.0.0.1/hooks", forbidden},
		{platform.Production, true, "https://10.1.2.3/hooks", forbidden},
		{platform.Production, false, "https://1.1.1.1/hooks", public},
	} {
		_, _, err := platform.Platform{Environment: c.environment}.Apply(
			platform.Change{WebhookEndpoint: &c.endpoint, AllowPrivateWebhooks: c.allow}, time.Time{})
		if c.want == "" {
			if err != nil {
				t.Errorf("%+v: %v", c, err)
			}
			continue
		}
		var refused *fault.Error
		if !errors.As(err, &refused) || !slices.ContainsFunc(refused.Fields, func(f fault.Field) bool {
			return f.Field == "webhookEndpoint" && strings.Contains(f.Message, c.want)
		}) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
