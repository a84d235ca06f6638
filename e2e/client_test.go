package e2e

import (
	"context"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"causeway/adapters/apiclient"
	"causeway/e2e/kit"
)

// object is a JSON object as it is written in a test.
type object = kit.Object

// client calls the service as one token of one platform, and fails its test if a request
// has no response.
type client struct {
	apiclient.Client
	t testing.TB
}

func newClient(t testing.TB, base, id, secret string) *client {
	return newClientFrom(t, nil, base, id, secret)
}

// newClientFrom is newClient with an address of the loopback interface; nil is any.
func newClientFrom(t testing.TB, from net.Addr, base, id, secret string) *client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DialContext = (&net.Dialer{LocalAddr: from}).DialContext
	transport.MaxIdleConnsPerHost = 32
	t.Cleanup(transport.CloseIdleConnections)
	return &client{t: t, Client: apiclient.Client{BaseURL: base, ClientID: id, ClientSecret: secret, HTTP: &http.Client{Transport: transport,
		Timeout: waitTimeout}}}
}

// withToken returns a client of the same server, and with the same address, for another token.
func (c *client) withToken(id, secret string) *client {
	other := *c
	other.ClientID, other.ClientSecret = id, secret
	return &other
}

// withServer returns the same client for another server.
func (c *client) withServer(p *process) *client {
	other := *c
	other.BaseURL = p.baseURL
	return &other
}

// withHeader returns the same client, which sends a header with every request.
func (c *client) withHeader(name, value string) *client {
	other := *c
	if other.Header = c.Header.Clone(); other.Header == nil {
		other.Header = http.Header{}
	}
	other.Header.Set(name, value)
	return &other
}

func (c *client) get(path string) apiResponse { c.t.Helper(); return c.call(http.MethodGet, path, nil) }
func (c *client) post(path string, body any) apiResponse {
	c.t.Helper()
	return c.call(http.MethodPost, path, body)
}
func (c *client) patch(path string, body any) apiResponse {
	c.t.Helper()
	return c.call(http.MethodPatch, path, body)
}
func (c *client) delete(path string) apiResponse {
	c.t.Helper()
	return c.call(http.MethodDelete, path, nil)
}

// call makes a request that must have a response, whatever its status.
func (c *client) call(method, path string, body any) apiResponse {
	c.t.Helper()
	got, err := c.do(context.Background(), method, path, body)
	if err != nil {
		c.t.Fatalf("%s %s: %v", method, path, err)
	}
	return got
}

// do makes a request. A path that begins with // is outside of the versioned interface.
func (c *client) do(ctx context.Context, method, path string, body any) (apiResponse, error) {
	client, request := c.Client, apiclient.Request{Method: method, Path: path, Body: body}
	if strings.HasPrefix(path, "//") {
		client.BaseURL, request.Path = c.BaseURL[:strings.LastIndex(c.BaseURL, "/")], path[1:]
	}
	response, err := client.Do(ctx, request)
	if err != nil {
		return apiResponse{}, err
	}
	return apiResponse{t: c.t, request: method + " " + path, status: response.Status, header: response.Header, body: response.Body}, nil
}

// apiResponse is a response, or the body of a webhook, with checks.
type apiResponse struct {
	t       testing.TB
	request string
	status  int
	header  http.Header
	body    []byte
}

// wantStatus checks the status, and returns the response.
func (a apiResponse) wantStatus(status int) apiResponse {
	a.t.Helper()
	if a.status != status {
		a.t.Fatalf("%s: status %d, want %d: %s", a.request, a.status, status, a.body)
	}
	return a
}

// wantError checks that the response is an error with a status and a code, in the form
// that all errors have.
func (a apiResponse) wantError(status int, code string) apiResponse {
	a.t.Helper()
	if a.status != status || a.text("code") != code {
		a.t.Errorf("%s: %d %s, want %d %s: %.500s", a.request, a.status, a.text("code"), status, code, a.body)
		return a
	}
	if media := a.header.Get("Content-Type"); media != "application/json" {
		a.t.Errorf("%s: Content-Type %q", a.request, media)
	}
	if a.int("status") != int64(status) || a.text("message") == "" {
		a.t.Errorf("%s: not an error body: %s", a.request, a.body)
	}
	if reason := a.text("reason"); reason != a.text("details.reason") {
		a.t.Errorf("%s: reason %q, details.reason %q", a.request, reason, a.text("details.reason"))
	}
	return a
}

// errorFields returns the names of the fields that an error lists.
func (a apiResponse) errorFields() []string {
	var names []string
	for i := range a.list("details.errors") {
		names = append(names, a.text(fmt.Sprintf("details.errors.%d.field", i)))
	}
	return names
}

// value returns the value at a path such as "data.0.id"; nil if there is none.
func (a apiResponse) value(path string) any {
	document, err := apiclient.ParseJSON(a.body)
	if err != nil {
		return nil
	}
	return apiclient.Value(document, path)
}

func (a apiResponse) list(path string) []any {
	list, _ := a.value(path).([]any)
	return list
}

// text returns the text, number or boolean at a path; empty if there is none.
func (a apiResponse) text(path string) string {
	document, err := apiclient.ParseJSON(a.body)
	if err != nil {
		return ""
	}
	return apiclient.Text(document, path)
}

// int returns the whole number at a path.
func (a apiResponse) int(path string) int64 {
	a.t.Helper()
	n, err := strconv.ParseInt(a.text(path), 10, 64)
	if err != nil {
		a.t.Fatalf("%s: %s is not a whole number in %s", a.request, path, a.body)
	}
	return n
}

// rat returns the exact number at a path.
func (a apiResponse) rat(path string) *big.Rat {
	a.t.Helper()
	n, ok := new(big.Rat).SetString(a.text(path))
	if !ok {
		a.t.Fatalf("%s: %s is not a number in %s", a.request, path, a.body)
	}
	return n
}

// time returns the timestamp at a path, which must be UTC with at most milliseconds.
func (a apiResponse) time(path string) time.Time {
	a.t.Helper()
	text := a.text(path)
	timestamp, err := time.Parse("2006-01-02T15:04:05.999Z", text)
	if err != nil {
		a.t.Fatalf("%s: %s: %v", a.request, path, err)
	}
	return timestamp
}

// wantValues checks values by their paths.
func (a apiResponse) wantValues(want map[string]any) apiResponse {
	a.t.Helper()
	for path, value := range want {
		if got := a.text(path); got != fmt.Sprint(value) {
			a.t.Errorf("%s: %s is %q, want %q", a.request, path, got, fmt.Sprint(value))
		}
	}
	return a
}
