package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
)

// demoClient makes requests as a platform's program would, and shows them.
type demoClient struct {
	baseURL          string
	clientID, secret string
	http             *http.Client
	screen           *screen
	quiet            bool // shows nothing
}

func newDemoClient(mine credentials, s *screen) *demoClient {
	return &demoClient{baseURL: strings.TrimRight(mine.BaseURL, "/"), clientID: mine.ClientID, secret: mine.ClientSecret,
		http: &http.Client{Timeout: 30 * time.Second}, screen: s}
}

// withoutOutput is the same caller, showing nothing.
func (c *demoClient) withoutOutput() *demoClient {
	quiet := *c
	quiet.quiet = true
	return &quiet
}

func (c *demoClient) get(ctx context.Context, path string) (apiResponse, error) {
	return c.call(ctx, http.MethodGet, path, nil)
}

func (c *demoClient) post(ctx context.Context, path string, body jsonObject) (apiResponse, error) {
	return c.call(ctx, http.MethodPost, path, body)
}

func (c *demoClient) patch(ctx context.Context, path string, body jsonObject) (apiResponse, error) {
	return c.call(ctx, http.MethodPatch, path, body)
}

// call makes one request. An answer that is not a success is an error with what the
// service said.
func (c *demoClient) call(ctx context.Context, method, path string, body jsonObject) (apiResponse, error) {
	var text []byte
	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			return apiResponse{}, err
		}
	}
	request, err := http.NewRequestWithContext(ctx, method, c.baseURL+path, bytes.NewReader(text))
	if err != nil {
		return apiResponse{}, fmt.Errorf("the base URL %q is not usable: %w", c.baseURL, err)
	}
	request.SetBasicAuth(c.clientID, c.secret)
	key := ""
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if method == http.MethodPost {
		// Sent again with the same key, it would be answered again and not done again.
		key = uuid.NewString()
		request.Header.Set("Idempotency-Key", key)
	}
	if !c.quiet {
		c.screen.writeRequest(method, path, key, text)
	}
	got, err := c.send(request)
	if err != nil {
		return apiResponse{}, err
	}
	if !c.quiet {
		c.screen.writeStatus(got)
	}
	if got.status < 200 || got.status > 299 {
		return apiResponse{}, fmt.Errorf("%s %s was refused: %d %s: %s", method, path, got.status, got.text("code"), got.text("message"))
	}
	return got, nil
}

func (c *demoClient) send(request *http.Request) (apiResponse, error) {
	began := time.Now()
	response, err := c.http.Do(request)
	if err != nil {
		return apiResponse{}, fmt.Errorf("no answer from %s; is the server running? (%w)", c.baseURL, err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if err != nil {
		return apiResponse{}, fmt.Errorf("the answer from %s broke off: %w", c.baseURL, err)
	}
	got := apiResponse{status: response.StatusCode, duration: time.Since(began)}
	if got.body, err = parseJSON(text); err != nil && got.status < 300 {
		return got, fmt.Errorf("the answer from %s is not JSON: %w", request.URL.Path, err)
	}
	return got, nil
}

// apiResponse is what came back: a JSON body, numbers as they were written.
type apiResponse struct {
	status   int
	duration time.Duration
	body     any
}

func parseJSON(text []byte) (body any, err error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	err = decoder.Decode(&body)
	return body, err
}

// value is the value at a path of names and positions, such as "data.0.id"; nil where
// there is none.
func (a apiResponse) value(path string) any {
	value := a.body
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

// text is the value at a path as text; empty where there is none.
func (a apiResponse) text(path string) string {
	switch value := a.value(path).(type) {
	case nil:
		return ""
	case string:
		return value
	case json.Number:
		return value.String()
	default:
		text, _ := json.Marshal(value) // it came from JSON
		return string(text)
	}
}

// requireText is the text at a path that the play cannot go on without.
func (a apiResponse) requireText(path string) (string, error) {
	text := a.text(path)
	if text == "" {
		return "", fmt.Errorf("the answer has no %s", path)
	}
	return text, nil
}

// jsonObject is a JSON object that keeps its order, so that it reads as it was written.
type jsonObject []jsonMember

type jsonMember struct {
	name  string
	value any
}

// MarshalJSON writes the members in order.
func (o jsonObject) MarshalJSON() ([]byte, error) {
	var text bytes.Buffer
	text.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			text.WriteByte(',')
		}
		name, err := json.Marshal(m.name)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(m.value)
		if err != nil {
			return nil, err
		}
		text.Write(name)
		text.WriteByte(':')
		text.Write(value)
	}
	text.WriteByte('}')
	return text.Bytes(), nil
}
