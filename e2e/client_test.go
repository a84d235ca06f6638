package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"
)

// object is a JSON object as it is written in a test.
type object map[string]any

// client calls the service as one token of one platform.
type client struct {
	t                testing.TB
	baseURL          string
	clientID, secret string
	http             *http.Client
	headers          http.Header
}

func newClient(t testing.TB, base, id, secret string) *client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 32
	t.Cleanup(transport.CloseIdleConnections)
	return &client{t: t, baseURL: base, clientID: id, secret: secret, http: &http.Client{Transport: transport, Timeout: waitTimeout}}
}

// withServer is the same client, at another server.
func (c *client) withServer(p *process) *client {
	other := *c
	other.baseURL = p.baseURL
	return &other
}

// withHeader is the same client, sending a header with every request.
func (c *client) withHeader(name, value string) *client {
	other := *c
	if other.headers = c.headers.Clone(); other.headers == nil {
		other.headers = http.Header{}
	}
	other.headers.Set(name, value)
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

// call makes a request that must be answered, however.
func (c *client) call(method, path string, body any) apiResponse {
	c.t.Helper()
	got, err := c.do(context.Background(), method, path, body)
	if err != nil {
		c.t.Fatalf("%s %s: %v", method, path, err)
	}
	return got
}

// do makes a request. A body that is text is sent as it is.
func (c *client) do(ctx context.Context, method, path string, body any) (apiResponse, error) {
	var reader io.Reader
	switch body := body.(type) {
	case nil:
	case string:
		reader = strings.NewReader(body)
	case io.Reader:
		reader = body
	default:
		text, err := json.Marshal(body)
		if err != nil {
			return apiResponse{}, err
		}
		reader = bytes.NewReader(text)
	}
	base := c.baseURL
	if strings.HasPrefix(path, "//") { // outside of the versioned interface
		base, path = c.baseURL[:strings.LastIndex(c.baseURL, "/")], path[1:]
	}
	request, err := http.NewRequestWithContext(ctx, method, base+path, reader)
	if err != nil {
		return apiResponse{}, err
	}
	if c.clientID != "" {
		request.SetBasicAuth(c.clientID, c.secret)
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	for name, values := range c.headers {
		request.Header[name] = values
	}
	response, err := c.http.Do(request)
	if err != nil {
		return apiResponse{}, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return apiResponse{}, err
	}
	return apiResponse{t: c.t, request: method + " " + path, status: response.StatusCode, header: response.Header, body: text}, nil
}

// apiResponse is what came back.
type apiResponse struct {
	t       testing.TB
	request string
	status  int
	header  http.Header
	body    []byte
}

// wantStatus checks the status, and returns the answer.
func (a apiResponse) wantStatus(status int) apiResponse {
	a.t.Helper()
	if a.status != status {
		a.t.Fatalf("%s: status %d, want %d: %s", a.request, a.status, status, a.body)
	}
	return a
}

// wantError checks that the answer is an error with a status and a code, in the form
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

// errorFields are the names of the bad fields that an error lists.
func (a apiResponse) errorFields() []string {
	var names []string
	for i := range a.list("details.errors") {
		names = append(names, a.text(fmt.Sprintf("details.errors.%d.field", i)))
	}
	return names
}

// value is what is found at a path such as "data.0.id"; nil where there is nothing.
func (a apiResponse) value(path string) any {
	decoder := json.NewDecoder(bytes.NewReader(a.body))
	decoder.UseNumber()
	var value any
	if decoder.Decode(&value) != nil {
		return nil
	}
	for name := range strings.SplitSeq(path, ".") {
		switch in := value.(type) {
		case map[string]any:
			value = in[name]
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(in) {
				return nil
			}
			value = in[i]
		default:
			return nil
		}
	}
	return value
}

func (a apiResponse) list(path string) []any {
	list, _ := a.value(path).([]any)
	return list
}

// text is a text or a number at a path; empty where there is neither.
func (a apiResponse) text(path string) string {
	switch value := a.value(path).(type) {
	case string:
		return value
	case json.Number:
		return value.String()
	case bool:
		return strconv.FormatBool(value)
	default:
		return ""
	}
}

// int is the whole number at a path.
func (a apiResponse) int(path string) int64 {
	a.t.Helper()
	n, err := strconv.ParseInt(a.text(path), 10, 64)
	if err != nil {
		a.t.Fatalf("%s: %s is no whole number in %s", a.request, path, a.body)
	}
	return n
}

// rat is the number at a path, exactly.
func (a apiResponse) rat(path string) *big.Rat {
	a.t.Helper()
	n, ok := new(big.Rat).SetString(a.text(path))
	if !ok {
		a.t.Fatalf("%s: %s is no number in %s", a.request, path, a.body)
	}
	return n
}

// time is the moment at a path, which must be UTC with at most milliseconds.
func (a apiResponse) time(path string) time.Time {
	a.t.Helper()
	text := a.text(path)
	at, err := time.Parse("2006-01-02T15:04:05.999Z", text)
	if err != nil {
		a.t.Fatalf("%s: %s: %v", a.request, path, err)
	}
	return at
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
