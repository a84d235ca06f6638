package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/google/uuid"

	"causeway/adapters/apiclient"
	"causeway/adapters/cli"
)

// demoClient makes requests as a platform's program would, and shows them.
type demoClient struct {
	apiclient.Client
	screen *screen
	quiet  bool // shows nothing
}

func newDemoClient(c cli.Credentials, s *screen) *demoClient {
	return &demoClient{screen: s, Client: *newAPIClient(c)}
}

// withoutOutput returns the same client, which shows nothing.
func (c *demoClient) withoutOutput() *demoClient {
	quiet := *c
	quiet.quiet = true
	return &quiet
}

func (c *demoClient) get(ctx context.Context, path string) (apiResponse, error) {
	return c.call(ctx, http.MethodGet, path, "")
}

// post sends a body of JSON, whose members are shown in the order they are written in.
func (c *demoClient) post(ctx context.Context, path, body string) (apiResponse, error) {
	return c.call(ctx, http.MethodPost, path, body)
}

func (c *demoClient) patch(ctx context.Context, path, body string) (apiResponse, error) {
	return c.call(ctx, http.MethodPatch, path, body)
}

// call makes one request. It returns an error if the status is not 2xx.
func (c *demoClient) call(ctx context.Context, method, path, body string) (apiResponse, error) {
	request := apiclient.Request{Method: method, Path: path}
	var text bytes.Buffer
	if body != "" {
		if err := json.Compact(&text, []byte(body)); err != nil {
			return apiResponse{}, err
		}
		request.Body = text.Bytes()
	}
	if method == http.MethodPost {
		// A repeated request with the same key returns the first response and changes nothing.
		request.IdempotencyKey = uuid.NewString()
	}
	if !c.quiet {
		c.screen.writeRequest(method, path, request.IdempotencyKey, text.Bytes())
	}
	response, err := c.Do(ctx, request)
	if err != nil {
		return apiResponse{}, fmt.Errorf("no response from %s; is the server running? (%w)", c.BaseURL, err)
	}
	if !c.quiet {
		c.screen.writeStatus(response)
	}
	if err := response.Err(method, path); err != nil {
		return apiResponse{}, err
	}
	if response.Status == http.StatusNoContent {
		return apiResponse{}, nil
	}
	document, err := apiclient.ParseJSON(response.Body)
	if err != nil {
		return apiResponse{}, fmt.Errorf("the response to %s %s is not JSON: %w", method, path, err)
	}
	return apiResponse{document}, nil
}

// refused makes a POST request that the service has to refuse with a code, and shows its message.
func (c *demoClient) refused(ctx context.Context, path, body, code string) error {
	_, err := c.post(ctx, path, body)
	var refusal *apiclient.Error
	switch {
	case err == nil:
		return fmt.Errorf("POST %s was accepted, and has to be refused with %s", path, code)
	case !errors.As(err, &refusal) || refusal.Code != code:
		return err
	}
	c.screen.writeText(margin+"  ", refusal.Code+": "+refusal.Message)
	return nil
}

// apiResponse is the JSON body of a response or a webhook.
type apiResponse struct{ body any }

func (a apiResponse) value(path string) any   { return apiclient.Value(a.body, path) }
func (a apiResponse) text(path string) string { return apiclient.Text(a.body, path) }

// requireText returns the text at a path that the demo cannot continue without.
func (a apiResponse) requireText(path string) (string, error) {
	text := a.text(path)
	if text == "" {
		return "", fmt.Errorf("the response has no %s", path)
	}
	return text, nil
}

// quoted returns a text as JSON.
func quoted(text string) string {
	encoded, _ := json.Marshal(text) // a string can always be encoded
	return string(encoded)
}
