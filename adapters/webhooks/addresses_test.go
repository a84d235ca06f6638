package webhooks

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"causeway/core/event"
	"causeway/core/platform"
	"causeway/ports"
)

func TestAllowed_AddressRanges(t *testing.T) {
	t.Parallel()
	// Each range and its neighbours, in both environments.
	const nowhere, sandboxOnly, everywhere = 0, 1, 2
	for address, where := range map[string]int{
		"1.1.1.1": everywhere, "93.184.216.34": everywhere, "172.15.255.255": everywhere, "172.32.0.0": everywhere,
		"192.167.255.255": everywhere, "192.169.0.0": everywhere, "11.0.0.0": everywhere, "9.255.255.255": everywhere,
		"100.63.255.255": everywhere, "100.128.0.0": everywhere, "169.253.255.255": everywhere, "169.255.0.0": everywhere,
		"198.17.255.255": everywhere, "198.20.0.0": everywhere, "223.255.255.255": everywhere, "168.63.129.17": everywhere,
		"2606:4700::1111": everywhere, "2a00:1450::1": everywhere,

		"127.0.0.1": sandboxOnly, "127.255.255.254": sandboxOnly, "::1": sandboxOnly, "10.0.0.1": sandboxOnly,
		"172.16.0.1": sandboxOnly, "172.31.255.255": sandboxOnly, "192.168.1.1": sandboxOnly, "100.64.0.1": sandboxOnly,
		"100.127.255.255": sandboxOnly, "fc00::1": sandboxOnly, "fdff::1": sandboxOnly, "192.0.2.1": sandboxOnly,
		"198.18.0.1": sandboxOnly, "203.0.113.9": sandboxOnly, "2001:db8::1": sandboxOnly,
		"::ffff:127.0.0.1": sandboxOnly, "::ffff:10.1.2.3": sandboxOnly,

		"0.0.0.0": nowhere, "0.1.2.3": nowhere, "::": nowhere, "169.254.0.1": nowhere, "169.254.169.254": nowhere,
		"::ffff:169.254.169.254": nowhere, "fe80::1": nowhere, "fe80::1%eth0": nowhere, "febf::1": nowhere, "fec0::1": nowhere,
		"224.0.0.1": nowhere, "239.255.255.255": nowhere, "255.255.255.255": nowhere, "240.0.0.1": nowhere, "ff02::1": nowhere,
		"100.100.100.200": nowhere, "168.63.129.16": nowhere, "192.0.0.192": nowhere, "fd00:ec2::254": nowhere,
		"::7f00:1": nowhere, "64:ff9b::a00:1": nowhere, "64:ff9b:1::1": nowhere, "2002:7f00:1::": nowhere, "2001:0:1::1": nowhere,
		"::ffff:0.0.0.0": nowhere,
	} {
		a := netip.MustParseAddr(address)
		if got := allowed(platform.Sandbox, a); got != (where >= sandboxOnly) {
			t.Errorf("%s in the sandbox: %v", address, got)
		}
		if got := allowed(platform.Production, a); got != (where == everywhere) {
			t.Errorf("%s in production: %v", address, got)
		}
		if got := allowed("ELSEWHERE", a); got != (where == everywhere) {
			t.Errorf("%s in an unknown environment: %v", address, got)
		}
	}
	if allowed(platform.Sandbox, netip.Addr{}) {
		t.Error("no address is allowed")
	}
}

func TestSender_BlocksDNSRebinding(t *testing.T) {
	t.Parallel()
	// A name that resolves to a public address when it is checked and to a forbidden
	// one when it is used does not get through: what is dialled is what is checked.
	var moved atomic.Bool
	resolver := fakeDNS(func(string) net.IP {
		if !moved.Load() {
			return net.IPv4(93, 184, 216, 34)
		}
		return net.IPv4(169, 254, 169, 254)
	})
	if found, err := resolver.LookupHost(context.Background(), "rebind.test"); err != nil || found[0] != "93.184.216.34" {
		t.Fatalf("the first look-up: %v, %v", found, err)
	}
	moved.Store(true)
	f := newFixture(t, Options{Resolver: resolver})
	for _, env := range []platform.Environment{platform.Sandbox, platform.Production} {
		d := f.delivery("https://rebind.test/")
		d.Endpoint.Environment = env

		answer := f.sender.Deliver(context.Background(), d)

		if answer.Outcome != event.Forbidden {
			t.Errorf("%s: %+v", env, answer)
		}
	}
}

func TestSender_LoopbackNameOnlyInSandbox(t *testing.T) {
	t.Parallel()
	// A name that resolves to this machine is reached in the sandbox and not in production.
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	f := newFixture(t, Options{Resolver: fakeDNS(func(string) net.IP { return net.IPv4(127, 0, 0, 1) })})
	d := f.delivery(strings.Replace(server.URL, "127.0.0.1", "receiver.test", 1))

	if answer := f.sender.Deliver(context.Background(), d); answer.Outcome != event.Accepted {
		t.Errorf("sandbox: %+v", answer)
	}
	d.Endpoint = ports.Endpoint{URL: strings.Replace(d.Endpoint.URL, "http:", "https:", 1), Environment: platform.Production}
	if answer := f.sender.Deliver(context.Background(), d); answer.Outcome != event.Forbidden {
		t.Errorf("production: %+v", answer)
	}
}

// fakeDNS resolves every name to what answer says; nil: there is no such name.
func fakeDNS(answer func(name string) net.IP) *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		go func() {
			defer func() { _ = server.Close() }()
			for {
				// Over a pipe the messages come as over TCP: after their length.
				var length uint16
				if binary.Read(server, binary.BigEndian, &length) != nil {
					return
				}
				query := make([]byte, length)
				if _, err := io.ReadFull(server, query); err != nil {
					return
				}
				reply := dnsReply(query, answer)
				if binary.Write(server, binary.BigEndian, uint16(len(reply))) != nil {
					return
				}
				if _, err := server.Write(reply); err != nil {
					return
				}
			}
		}()
		return client, nil
	}}
}

// dnsReply answers a query for an A record, and any other with nothing.
func dnsReply(query []byte, answer func(string) net.IP) []byte {
	end := 12
	var labels []string
	for query[end] != 0 {
		labels = append(labels, string(query[end+1:end+1+int(query[end])]))
		end += 1 + int(query[end])
	}
	end += 5 // the root, type and class
	question := query[12:end]
	kind := binary.BigEndian.Uint16(query[end-4:])
	reply := append([]byte{query[0], query[1], 0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0}, question...)
	switch ip := answer(strings.Join(labels, ".")); {
	case ip == nil:
		reply[3] |= 3 // there is no such name
	case kind == 1:
		reply[7] = 1
		reply = append(reply, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4)
		reply = append(reply, ip.To4()...)
	}
	return reply
}
