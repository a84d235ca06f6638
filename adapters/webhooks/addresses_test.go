package webhooks

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"causeway/core/event"
	"causeway/core/platform"
	"causeway/ports"
)

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
