package main

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
)

// testFlags are for tests with several installations on one machine.
type testFlags struct {
	TestHosts []string `name:"test-hosts" env:"CAUSEWAY_TEST_HOSTS" help:"For tests only: where hosts are reached that are on this machine, instead of at their name over TLS, as bank.test=http://127.0.0.1:8080. They are UMA providers and endpoints of production platforms." placeholder:"HOST=URL"`
}

func (f testFlags) checkTestHosts(refuse func(setting, must string, got any)) {
	if _, err := f.testHosts(); err != nil {
		refuse("--test-hosts (CAUSEWAY_TEST_HOSTS)", err.Error(), strings.Join(f.TestHosts, ","))
	}
}

func (f testFlags) testHosts() (map[string]*url.URL, error) {
	hosts := map[string]*url.URL{}
	for _, host := range f.TestHosts {
		name, text, _ := strings.Cut(host, "=")
		origin, err := url.Parse(text)
		if err != nil || name == "" || origin.Host == "" || origin.Scheme != "http" && origin.Scheme != "https" {
			return nil, errors.New("pairs such as bank.test=http://127.0.0.1:8080")
		}
		hosts[name] = origin
	}
	return hosts, nil
}

// reachTestHosts returns a transport that sends requests for hosts of a test to this machine, and the others as before.
func (f testFlags) reachTestHosts(public http.RoundTripper) http.RoundTripper {
	hosts, _ := f.testHosts() // checked at the start
	if len(hosts) == 0 {
		return public
	}
	return &testTransport{public, newLoopbackTransport(), hosts}
}

// testTransport sends requests for the hosts of a test to this machine.
type testTransport struct {
	public, loopback http.RoundTripper
	hosts            map[string]*url.URL
}

// newLoopbackTransport returns a transport that connects to this machine only.
func newLoopbackTransport() *http.Transport {
	dialer := &net.Dialer{ControlContext: func(_ context.Context, _, address string, _ syscall.RawConn) error {
		if target, err := netip.ParseAddrPort(address); err != nil || !target.Addr().Unmap().IsLoopback() {
			return errors.New("hosts of a test are on this machine")
		}
		return nil
	}}
	return &http.Transport{DialContext: dialer.DialContext}
}

// RoundTrip implements http.RoundTripper.
func (t *testTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	origin, test := t.hosts[r.URL.Host]
	if !test {
		return t.public.RoundTrip(r)
	}
	sent := r.Clone(r.Context())
	sent.Host = r.URL.Host
	sent.URL.Scheme, sent.URL.Host = origin.Scheme, origin.Host
	return t.loopback.RoundTrip(sent)
}
