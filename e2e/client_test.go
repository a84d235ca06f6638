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
	t          testing.TB
	base       string
	id, secret string
	http       *http.Client
	headers    http.Header
}

func newClient(t testing.TB, base, id, secret string) *client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = 32
	t.Cleanup(transport.CloseIdleConnections)
	return &client{t: t, base: base, id: id, secret: secret, http: &http.Client{Transport: transport, Timeout: patience}}
}

// at is the same client, at another server.
func (c *client) at(p *process) *client {
	other := *c
	other.base = p.base
	return &other
}

// with is the same client, sending a header with every request.
func (c *client) with(name, value string) *client {
	other := *c
	if other.headers = c.headers.Clone(); other.headers == nil {
		other.headers = http.Header{}
	}
	other.headers.Set(name, value)
	return &other
}

func (c *client) get(path string) answer { c.t.Helper(); return c.call(http.MethodGet, path, nil) }
func (c *client) post(path string, body any) answer {
	c.t.Helper()
	return c.call(http.MethodPost, path, body)
}
func (c *client) patch(path string, body any) answer {
	c.t.Helper()
	return c.call(http.MethodPatch, path, body)
}
func (c *client) delete(path string) answer {
	c.t.Helper()
	return c.call(http.MethodDelete, path, nil)
}

// call makes a request that must be answered, however.
func (c *client) call(method, path string, body any) answer {
	c.t.Helper()
	got, err := c.try(context.Background(), method, path, body)
	if err != nil {
		c.t.Fatalf("%s %s: %v", method, path, err)
	}
	return got
}

// try makes a request. A body that is text is sent as it is.
func (c *client) try(ctx context.Context, method, path string, body any) (answer, error) {
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
			return answer{}, err
		}
		reader = bytes.NewReader(text)
	}
	base := c.base
	if strings.HasPrefix(path, "//") { // outside of the versioned interface
		base, path = c.base[:strings.LastIndex(c.base, "/")], path[1:]
	}
	request, err := http.NewRequestWithContext(ctx, method, base+path, reader)
	if err != nil {
		return answer{}, err
	}
	if c.id != "" {
		request.SetBasicAuth(c.id, c.secret)
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	for name, values := range c.headers {
		request.Header[name] = values
	}
	response, err := c.http.Do(request)
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return answer{}, err
	}
	return answer{t: c.t, what: method + " " + path, status: response.StatusCode, header: response.Header, text: text}, nil
}

// answer is what came back.
type answer struct {
	t      testing.TB
	what   string
	status int
	header http.Header
	text   []byte
}

// want checks the status, and returns the answer.
func (a answer) want(status int) answer {
	a.t.Helper()
	if a.status != status {
		a.t.Fatalf("%s: status %d, want %d: %s", a.what, a.status, status, a.text)
	}
	return a
}

// refused checks that the answer is an error with a status and a code, in the form
// that all errors have.
func (a answer) refused(status int, code string) answer {
	a.t.Helper()
	if a.status != status || a.str("code") != code {
		a.t.Errorf("%s: %d %s, want %d %s: %.500s", a.what, a.status, a.str("code"), status, code, a.text)
		return a
	}
	if media := a.header.Get("Content-Type"); media != "application/json" {
		a.t.Errorf("%s: Content-Type %q", a.what, media)
	}
	if a.int("status") != int64(status) || a.str("message") == "" {
		a.t.Errorf("%s: not an error body: %s", a.what, a.text)
	}
	if reason := a.str("reason"); reason != a.str("details.reason") {
		a.t.Errorf("%s: reason %q, details.reason %q", a.what, reason, a.str("details.reason"))
	}
	return a
}

// fields are the names of the bad fields that an error lists.
func (a answer) fields() []string {
	var names []string
	for i := range a.list("details.errors") {
		names = append(names, a.str(fmt.Sprintf("details.errors.%d.field", i)))
	}
	return names
}

// value is what is found at a path such as "data.0.id"; nil where there is nothing.
func (a answer) value(path string) any {
	decoder := json.NewDecoder(bytes.NewReader(a.text))
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

func (a answer) list(path string) []any {
	list, _ := a.value(path).([]any)
	return list
}

// str is a text or a number at a path; empty where there is neither.
func (a answer) str(path string) string {
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
func (a answer) int(path string) int64 {
	a.t.Helper()
	n, err := strconv.ParseInt(a.str(path), 10, 64)
	if err != nil {
		a.t.Fatalf("%s: %s is no whole number in %s", a.what, path, a.text)
	}
	return n
}

// rat is the number at a path, exactly.
func (a answer) rat(path string) *big.Rat {
	a.t.Helper()
	n, ok := new(big.Rat).SetString(a.str(path))
	if !ok {
		a.t.Fatalf("%s: %s is no number in %s", a.what, path, a.text)
	}
	return n
}

// time is the moment at a path, which must be UTC with at most milliseconds.
func (a answer) time(path string) time.Time {
	a.t.Helper()
	text := a.str(path)
	at, err := time.Parse("2006-01-02T15:04:05.999Z", text)
	if err != nil {
		a.t.Fatalf("%s: %s: %v", a.what, path, err)
	}
	return at
}

// each checks values by their paths.
func (a answer) each(want map[string]any) answer {
	a.t.Helper()
	for path, value := range want {
		if got := a.str(path); got != fmt.Sprint(value) {
			a.t.Errorf("%s: %s is %q, want %q", a.what, path, got, fmt.Sprint(value))
		}
	}
	return a
}
