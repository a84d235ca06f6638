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

// caller makes requests as a platform's program would, and shows them.
type caller struct {
	base        string
	id, secret  string
	client      *http.Client
	screen      *screen
	unobtrusive bool // shows nothing
}

func newCaller(mine credentials, s *screen) *caller {
	return &caller{base: strings.TrimRight(mine.BaseURL, "/"), id: mine.ClientID, secret: mine.ClientSecret,
		client: &http.Client{Timeout: 30 * time.Second}, screen: s}
}

// quietly is the same caller, showing nothing.
func (c *caller) quietly() *caller {
	quiet := *c
	quiet.unobtrusive = true
	return &quiet
}

func (c *caller) get(ctx context.Context, path string) (answer, error) {
	return c.call(ctx, http.MethodGet, path, nil)
}

func (c *caller) post(ctx context.Context, path string, body object) (answer, error) {
	return c.call(ctx, http.MethodPost, path, body)
}

func (c *caller) patch(ctx context.Context, path string, body object) (answer, error) {
	return c.call(ctx, http.MethodPatch, path, body)
}

// call makes one request. An answer that is not a success is an error with what the
// service said.
func (c *caller) call(ctx context.Context, method, path string, body object) (answer, error) {
	var text []byte
	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			return answer{}, err
		}
	}
	request, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(text))
	if err != nil {
		return answer{}, fmt.Errorf("the base URL %q is not usable: %w", c.base, err)
	}
	request.SetBasicAuth(c.id, c.secret)
	key := ""
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if method == http.MethodPost {
		// Sent again with the same key, it would be answered again and not done again.
		key = uuid.NewString()
		request.Header.Set("Idempotency-Key", key)
	}
	if !c.unobtrusive {
		c.screen.request(method, path, key, text)
	}
	got, err := c.send(request)
	if err != nil {
		return answer{}, err
	}
	if !c.unobtrusive {
		c.screen.status(got)
	}
	if got.status < 200 || got.status > 299 {
		return answer{}, fmt.Errorf("%s %s was refused: %d %s: %s", method, path, got.status, got.text("code"), got.text("message"))
	}
	return got, nil
}

func (c *caller) send(request *http.Request) (answer, error) {
	began := time.Now()
	response, err := c.client.Do(request)
	if err != nil {
		return answer{}, fmt.Errorf("no answer from %s; is the server running? (%w)", c.base, err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if err != nil {
		return answer{}, fmt.Errorf("the answer from %s broke off: %w", c.base, err)
	}
	got := answer{status: response.StatusCode, took: time.Since(began)}
	if got.body, err = parse(text); err != nil && got.status < 300 {
		return got, fmt.Errorf("the answer from %s is not JSON: %w", request.URL.Path, err)
	}
	return got, nil
}

// answer is what came back: a JSON body, numbers as they were written.
type answer struct {
	status int
	took   time.Duration
	body   any
}

func parse(text []byte) (body any, err error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	err = decoder.Decode(&body)
	return body, err
}

// at is the value at a path of names and positions, such as "data.0.id"; nil where
// there is none.
func (a answer) at(path string) any {
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
func (a answer) text(path string) string {
	switch value := a.at(path).(type) {
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

// need is the text at a path that the play cannot go on without.
func (a answer) need(path string) (string, error) {
	text := a.text(path)
	if text == "" {
		return "", fmt.Errorf("the answer has no %s", path)
	}
	return text, nil
}

// object is a JSON object that keeps its order, so that it reads as it was written.
type object []member

type member struct {
	name  string
	value any
}

// MarshalJSON writes the members in order.
func (o object) MarshalJSON() ([]byte, error) {
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
