package causeway

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"

	"causeway/clients/go/api"
)

// Config says whom a client calls, as whom, and for how long.
type Config struct {
	// BaseURL is the URL of the API with its version, such as https://pay.example.com/2025-10-13.
	BaseURL string

	// ClientID and ClientSecret are those of a token of a platform.
	ClientID, ClientSecret string
	// AccessToken is that of an agent, in place of a token.
	AccessToken string

	// MaxRetries is how often a request is sent again. Zero means 3, and -1 never.
	MaxRetries int
	// Timeout is how long one attempt may take. Zero means 30 seconds.
	Timeout time.Duration
	// Deadline is how long a call may take with all its attempts. Zero means 60 seconds.
	Deadline time.Duration
	// HTTP sends the requests. Nil means http.DefaultClient.
	HTTP *http.Client
}

// Client calls the API. Its methods may be called concurrently.
//
// Every POST has an idempotency key of its own, unless its params have one. A request whose response was lost is sent again
// if that is safe: a GET, and a POST with the same key. All requests are sent again if the service asks for it.
type Client struct {
	*api.ClientWithResponses
}

// New returns a client.
func New(c Config) (*Client, error) {
	if (c.AccessToken == "") == (c.ClientID == "" || c.ClientSecret == "") {
		return nil, errors.New("causeway: set ClientID and ClientSecret, or AccessToken")
	}
	if c.MaxRetries == 0 {
		c.MaxRetries = 3
	}
	if c.Timeout == 0 {
		c.Timeout = 30 * time.Second
	}
	if c.Deadline == 0 {
		c.Deadline = time.Minute
	}
	if c.HTTP == nil {
		c.HTTP = http.DefaultClient
	}
	generated, err := api.NewClientWithResponses(c.BaseURL, api.WithHTTPClient(&sender{c}))
	if err != nil {
		return nil, err
	}
	return &Client{generated}, nil
}

// All iterates over the items of a list. It calls page for the first page, with a nil cursor, and then with the cursor of each
// next one as it is needed. It ends with the first error.
func All[T any](page func(cursor *string) (items []T, nextCursor *string, err error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var cursor *string
		for {
			items, next, err := page(cursor)
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, item := range items {
				if !yield(item, nil) {
					return
				}
			}
			if next == nil || cursor != nil && *cursor == *next {
				return
			}
			cursor = next
		}
	}
}

// Ptr returns a pointer to a value, for what may be left out.
func Ptr[T any](value T) *T { return &value }

// sender sends the requests of the generated client.
type sender struct{ Config }

// Do sends a request until it has a response that is final. It returns an error unless that is a success.
func (s *sender) Do(r *http.Request) (*http.Response, error) {
	if s.AccessToken != "" {
		r.Header.Set("Authorization", "Bearer "+s.AccessToken)
	} else {
		r.SetBasicAuth(s.ClientID, s.ClientSecret)
	}
	key := r.Header.Get("Idempotency-Key")
	if key == "" && r.Method == http.MethodPost && !strings.HasSuffix(r.URL.Path, "/redeem") { // which takes none
		key = uuid.NewString()
		r.Header.Set("Idempotency-Key", key)
	}
	deadline := time.Now().Add(s.Deadline)
	ctx, cancel := context.WithDeadline(r.Context(), deadline)
	for retry := 0; ; retry++ {
		response, err := s.attempt(ctx, r, key)
		if err == nil {
			response.Body = &closingBody{response.Body, cancel}
			return response, nil
		}
		delay, again := err.delay(retry, rand.Float64())
		if !again || retry >= s.MaxRetries || time.Until(deadline) <= delay || r.Body != nil && r.GetBody == nil {
			cancel()
			return nil, err
		}
		if !sleep(ctx, delay) {
			cancel()
			return nil, &ConnectionError{attempted{requestName(r), key}, ctx.Err(), false}
		}
	}
}

// attempt sends a request once. It returns the response if that is a success; JSON is then read already.
func (s *sender) attempt(ctx context.Context, r *http.Request, key string) (*http.Response, retryableError) {
	attempted := attempted{requestName(r), key}
	ctx, cancel := context.WithCancelCause(ctx)
	fail := func(err error) retryableError {
		if late := context.Cause(ctx); late != nil && r.Context().Err() == nil {
			err = late
		}
		cancel(nil)
		return &ConnectionError{attempted, err, r.Context().Err() == nil && (r.Method == http.MethodGet || key != "")}
	}
	timeout := time.AfterFunc(s.Timeout, func() {
		cancel(fmt.Errorf("no response within %s: %w", s.Timeout, context.DeadlineExceeded))
	})
	defer timeout.Stop() // a file may take longer to read
	request := r.Clone(ctx)
	if r.GetBody != nil {
		body, err := r.GetBody()
		if err != nil {
			return nil, fail(err)
		}
		request.Body = body
	}
	response, err := s.HTTP.Do(request)
	if err != nil {
		return nil, fail(err)
	}
	success := response.StatusCode >= 200 && response.StatusCode <= 299
	if success && !strings.HasPrefix(response.Header.Get("Content-Type"), "application/json") {
		response.Body = &closingBody{response.Body, func() { cancel(nil) }}
		return response, nil
	}
	body, err := io.ReadAll(response.Body)
	response.Body.Close()
	if err != nil {
		return nil, fail(err)
	}
	cancel(nil)
	if !success {
		return nil, newError(attempted, response, body)
	}
	response.Body = io.NopCloser(bytes.NewReader(body))
	return response, nil
}

// closingBody ends the context of a request when its response has been read.
type closingBody struct {
	io.ReadCloser
	cancel context.CancelFunc
}

func (b *closingBody) Close() error {
	defer b.cancel()
	return b.ReadCloser.Close()
}

func requestName(r *http.Request) string { return fmt.Sprintf("%s %s", r.Method, r.URL.Path) }

// sleep reports whether the time has passed before ctx has ended.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
