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
		if got := allowed(true, a); got != (want >= private) {
			t.Errorf("%s with private addresses: %v", address, got)
		}
		if got := allowed(false, a); got != (want == always) {
			t.Errorf("%s without private addresses: %v", address, got)
		}
	}
	if allowed(true, netip.Addr{}) {
		t.Error("the zero address is allowed")
	}
}

func TestSender_BlocksDNSRebinding(t *testing.T) {
	t.Parallel()
	// A name that resolves to a public address first and to a forbidden one later is not dialled,
	// because the dialled address is checked.
	var rebound atomic.Bool
	resolver := fakeDNS(func(string) net.IP {
		if !rebound.Load() {
			return net.IPv4(93, 184, 216, 34)
		}
		return net.IPv4(169, 254, 169, 254)
	})
	if found, err := resolver.LookupHost(context.Background(), "rebind.test"); err != nil || found[0] != "93.184.216.34" {
		t.Fatalf("the first lookup: %v, %v", found, err)
	}
	rebound.Store(true)
	f := newFixture(t, Options{Resolver: resolver})
	for _, env := range []platform.Environment{platform.Sandbox, platform.Production} {
		d := f.delivery("https://rebind.test/")
		d.Endpoint.Environment = env

		response := f.sender.Deliver(context.Background(), d)

		if response.Outcome != event.Forbidden {
			t.Errorf("%s: %+v", env, response)
		}
	}
}

func TestSender_LoopbackNeedsSandboxAndSwitch(t *testing.T) {
	t.Parallel()
	// A loopback address, also if a name resolves to it, is allowed for sandbox platforms where the
	// operator allows it, and never in production. A public address always is.
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	named := strings.Replace(server.URL, "127.0.0.1", "receiver.test", 1)
	resolver := fakeDNS(func(string) net.IP { return net.IPv4(127, 0, 0, 1) })
	for _, private := range []bool{false, true} {
		f := newFixture(t, Options{Resolver: resolver})
		f.sender = NewSender(f.keyring, Options{Resolver: resolver, AllowPrivate: private})
		for _, url := range []string{server.URL, named} {
			want := event.Forbidden
			if private {
				want = event.Accepted
			}
			d := f.delivery(url)
			if response := f.sender.Deliver(context.Background(), d); response.Outcome != want {
				t.Errorf("private %v, %s: %+v", private, url, response)
			}
			d.Endpoint = ports.Endpoint{URL: strings.Replace(url, "http:", "https:", 1), Environment: platform.Production}
			if response := f.sender.Deliver(context.Background(), d); response.Outcome != event.Forbidden {
				t.Errorf("private %v, %s in production: %+v", private, url, response)
			}
		}
	}
}

// fakeDNS resolves names with resolve; nil means that there is no such name.
func fakeDNS(resolve func(name string) net.IP) *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		go func() {
			defer func() { _ = server.Close() }()
			for {
				// As over TCP, a message is preceded by its length.
				var length uint16
				if binary.Read(server, binary.BigEndian, &length) != nil {
					return
				}
				query := make([]byte, length)
				if _, err := io.ReadFull(server, query); err != nil {
					return
				}
				reply := dnsReply(query, resolve)
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

// dnsReply replies to a query for an A record; to other queries the reply is empty.
func dnsReply(query []byte, resolve func(string) net.IP) []byte {
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
	switch ip := resolve(strings.Join(labels, ".")); {
	case ip == nil:
		reply[3] |= 3 // no such name
	case kind == 1:
		reply[7] = 1
		reply = append(reply, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4)
		reply = append(reply, ip.To4()...)
	}
	return reply
}
