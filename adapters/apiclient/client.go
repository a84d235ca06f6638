// Package apiclient calls the service as a customer's program does: it sends requests with
// credentials and idempotency keys, reads errors, and receives webhooks and verifies
// their signatures.
//
// The demo command and the end-to-end tests share it. It is among the adapters because the
// program may not import what is below e2e; it uses nothing but the standard library, and
// knows only the published interface.
package apiclient

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// Client calls the service with one token of one platform.
type Client struct {
	BaseURL      string // version included
	ClientID     string // empty sends no credentials
	ClientSecret string
	HTTP         *http.Client // nil is http.DefaultClient
	Header       http.Header  // sent with every request
}

// Request is one request. A body that is a string, []byte or io.Reader is sent as it is,
// any other one as JSON.
type Request struct {
	Method, Path   string
	Body           any
	ContentType    string // application/json if empty
	IdempotencyKey string
	Signature      string // Service-Wallet-Signature
}

// Response is a response that was read to its end.
type Response struct {
	Status   int
	Header   http.Header
	Body     []byte
	Duration time.Duration // from sending the request to the last byte of the response
}

// Error is a response whose status is not 2xx.
type Error struct {
	Method, Path  string
	Status        int
	Code, Message string
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s %s was refused: %d %s: %s", e.Method, e.Path, e.Status, e.Code, e.Message)
}

// Do makes a request and returns the response, whatever its status.
func (c *Client) Do(ctx context.Context, r Request) (*Response, error) {
	start := time.Now()
	response, err := c.Open(ctx, r)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, fmt.Errorf("%s %s: read the response: %w", r.Method, r.Path, err)
	}
	return &Response{response.StatusCode, response.Header, body, time.Since(start)}, nil
}

// Open makes a request and returns the response with its body unread. The caller closes it.
func (c *Client) Open(ctx context.Context, r Request) (*http.Response, error) {
	body, err := encodeBody(r.Body)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, r.Method, c.BaseURL+r.Path, body)
	if err != nil {
		return nil, err
	}
	if c.ClientID != "" {
		request.SetBasicAuth(c.ClientID, c.ClientSecret)
	}
	if r.ContentType != "" {
		request.Header.Set("Content-Type", r.ContentType)
	} else if r.Body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if r.IdempotencyKey != "" {
		request.Header.Set("Idempotency-Key", r.IdempotencyKey)
	}
	if r.Signature != "" {
		request.Header.Set("Service-Wallet-Signature", r.Signature)
	}
	for name, values := range c.Header {
		request.Header[name] = values
	}
	client := c.HTTP
	if client == nil {
		client = http.DefaultClient
	}
	return client.Do(request)
}

func encodeBody(body any) (io.Reader, error) {
	switch body := body.(type) {
	case nil:
		return http.NoBody, nil
	case string:
		return strings.NewReader(body), nil
	case []byte:
		return bytes.NewReader(body), nil
	case io.Reader:
		return body, nil
	}
	text, err := json.Marshal(body)
	return bytes.NewReader(text), err
}

// Call makes a request with a JSON body and decodes the response into result. Either may
// be nil. It returns an *Error if the status is not 2xx.
func (c *Client) Call(ctx context.Context, method, path string, body, result any) error {
	response, err := c.Do(ctx, Request{Method: method, Path: path, Body: body})
	if err != nil {
		return err
	}
	if err := response.Err(method, path); err != nil || result == nil {
		return err
	}
	return json.Unmarshal(response.Body, result)
}

// CheckSandbox returns an error if the token is not one with which a sandbox platform can be set up: nothing that simulates or
// tries something may reach a production platform.
func (c *Client) CheckSandbox(ctx context.Context) error {
	_, err := c.probeSandbox(ctx)
	return err
}

// probeSandbox reads something that does not exist and that only a token with MANAGE of a sandbox platform may read.
func (c *Client) probeSandbox(ctx context.Context) (*Response, error) {
	const path = "/sandbox/webhook-deliveries/Webhook:00000000-0000-7000-8000-000000000000/request"
	response, err := c.Do(ctx, Request{Method: http.MethodGet, Path: path})
	if err != nil {
		return nil, fmt.Errorf("no response from %s; is the service running? (%w)", c.BaseURL, err)
	}
	if response.Status == http.StatusNotFound {
		return response, nil
	}
	if err := response.Err(http.MethodGet, path); err != nil {
		return nil, err
	}
	return nil, fmt.Errorf("%s is no service of this API", c.BaseURL)
}

// Err returns an *Error if the status is not 2xx.
func (r *Response) Err(method, path string) error {
	if r.Status >= 200 && r.Status <= 299 {
		return nil
	}
	e := &Error{Method: method, Path: path, Status: r.Status}
	var body struct{ Code, Message string }
	if json.Unmarshal(r.Body, &body) == nil && body.Code != "" {
		e.Code, e.Message = body.Code, body.Message
	} else {
		e.Message = string(r.Body[:min(len(r.Body), 500)])
	}
	return e
}
