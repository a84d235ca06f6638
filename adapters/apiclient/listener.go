package apiclient

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"
)

// overlap is how far back each poll reads again. An event is listed when its commit is visible, which is later than its
// time; no commit takes this long.
const overlap = 2 * time.Minute

// localRetry is how long a local program that refuses connections is tried again: a restart takes seconds.
const localRetry = 10 * time.Second

// SignedWebhook is a webhook as the service would send it now.
type SignedWebhook struct {
	WebhookID string
	Event     string
	CreatedAt time.Time
	Headers   map[string]string
	Body      []byte
}

// Resource returns the id of what the webhook is about; empty if it has none.
func (w SignedWebhook) Resource() string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(w.Body, &fields) != nil {
		return ""
	}
	for _, value := range fields {
		document, err := ParseJSON(value)
		if err != nil {
			continue
		}
		for _, name := range []string{"id", "jobId", "code", "account", "date"} {
			if id := Text(document, name); id != "" {
				return id
			}
		}
	}
	return ""
}

// Listener reads the webhooks of a sandbox platform as they come, whether or not they are sent to an endpoint. Each is
// returned once. It remembers what it has returned, so the service may restart meanwhile.
type Listener struct {
	Client *Client
	// Events are the names of the events to return; empty for all.
	Events []string
	// Answers is whether the caller answers requests for approval, see Answer; the endpoint does not get them then.
	Answers bool

	returned map[string]time.Time // when the events of the overlap happened, by id
	latest   time.Time            // the service's time of the last complete poll
}

// Start makes Poll return what happens from now on. The error is final: the token may not listen.
func (l *Listener) Start(ctx context.Context) error {
	response, err := l.Client.probeSandbox(ctx)
	if err != nil {
		return err
	}
	l.returned = map[string]time.Time{}
	if l.latest, err = http.ParseTime(response.Header.Get("Date")); err != nil {
		return fmt.Errorf("the response of %s has no Date header: %w", l.Client.BaseURL, err)
	}
	listed, latest, err := l.list(ctx)
	if err != nil {
		return err
	}
	for _, e := range listed {
		l.returned[e.WebhookID] = e.CreatedAt
	}
	l.latest = latest
	return nil
}

// Poll calls each with the events since the last poll, the oldest first, as soon as one is signed. The next poll continues after
// an error, with the event that it was about.
func (l *Listener) Poll(ctx context.Context, each func(SignedWebhook) error) error {
	if l.Answers {
		if err := l.Client.Call(ctx, http.MethodPost, "/sandbox/webhook-listener", struct{}{}, nil); err != nil {
			return err
		}
	}
	listed, latest, err := l.list(ctx)
	if err != nil {
		return err
	}
	for _, e := range listed {
		if _, returned := l.returned[e.WebhookID]; returned {
			continue
		}
		if len(l.Events) == 0 || slices.Contains(l.Events, e.Event) {
			w := SignedWebhook{WebhookID: e.WebhookID, Event: e.Event, CreatedAt: e.CreatedAt}
			var request struct {
				Headers map[string]string
				Body    string
			}
			if err := l.Client.Call(ctx, http.MethodGet, "/sandbox/webhook-deliveries/"+e.WebhookID+"/request", nil, &request); err != nil {
				if isNotFound(err) { // the sandbox was reset meanwhile
					continue
				}
				return err
			}
			w.Headers, w.Body = request.Headers, []byte(request.Body)
			if err := each(w); err != nil {
				return err
			}
		}
		l.returned[e.WebhookID] = e.CreatedAt
	}
	l.latest = latest
	for id, at := range l.returned {
		if at.Before(latest.Add(-2 * overlap)) {
			delete(l.returned, id)
		}
	}
	return nil
}

// approvalRequest is the name of the event that asks for an answer.
const approvalRequest = "INCOMING_PAYMENT.PENDING"

// AsksForAnswer reports whether the response to a webhook decides about a payment, of those with the names; none for all.
func AsksForAnswer(names ...string) bool {
	return len(names) == 0 || slices.Contains(names, approvalRequest)
}

// Answer gives the response to a webhook that asks for one to the service, and returns the status of the payment. What fails for
// a while is repeated; the answer counts once, and not after answerTime.
func (l *Listener) Answer(ctx context.Context, w SignedWebhook, response *Response) (string, error) {
	document, err := ParseJSON(w.Body)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	path := "/sandbox/transactions/" + Text(document, "transaction.id") + "/approval-response"
	for {
		answered, err := l.Client.Do(ctx, Request{Method: http.MethodPost, Path: path, IdempotencyKey: "answer " + w.WebhookID,
			Body: map[string]any{"status": response.Status, "body": string(response.Body)}})
		if err == nil {
			err = answered.Err(http.MethodPost, path)
		}
		if err == nil {
			document, err = ParseJSON(answered.Body)
			return Text(document, "status"), err
		}
		if !IsTemporary(err) || ctx.Err() != nil {
			return "", err
		}
		select {
		case <-ctx.Done():
		case <-time.After(answerRetry):
		}
	}
}

// answerTime is how long the service waits for an answer, and answerRetry the time between two attempts to give it.
const (
	answerTime  = 10 * time.Second
	answerRetry = 500 * time.Millisecond
)

type listedEvent struct {
	WebhookID, Event string
	CreatedAt        time.Time
}

// list returns the events of the overlap before the last poll and since, the oldest first, and the service's time before it
// read them.
func (l *Listener) list(ctx context.Context) (events []listedEvent, at time.Time, err error) {
	query := url.Values{"sortOrder": {"asc"}, "limit": {"100"}, "startDate": {l.latest.Add(-overlap).UTC().Format(time.RFC3339)}}
	for {
		path := "/webhook-deliveries?" + query.Encode()
		response, err := l.Client.Do(ctx, Request{Method: http.MethodGet, Path: path})
		if err == nil {
			err = response.Err(http.MethodGet, "/webhook-deliveries")
		}
		if err != nil {
			return nil, at, err
		}
		var page struct {
			Data       []listedEvent
			HasMore    bool
			NextCursor string
		}
		if err := json.Unmarshal(response.Body, &page); err != nil {
			return nil, at, fmt.Errorf("the list of webhook deliveries: %w", err)
		}
		if at.IsZero() {
			if at, err = http.ParseTime(response.Header.Get("Date")); err != nil {
				return nil, at, fmt.Errorf("the list of webhook deliveries has no Date header: %w", err)
			}
		}
		events = append(events, page.Data...)
		if !page.HasMore {
			return events, at, nil
		}
		query.Set("cursor", page.NextCursor)
	}
}

// isNotFound reports whether a request failed because what it names does not exist.
func isNotFound(err error) bool {
	var refused *Error
	return errors.As(err, &refused) && refused.Status == http.StatusNotFound
}

// IsTemporary reports whether a request that failed with this error is worth a repetition.
func IsTemporary(err error) bool {
	var refused *Error
	if !errors.As(err, &refused) {
		return true // no response
	}
	return refused.Status >= http.StatusInternalServerError || refused.Status == http.StatusTooManyRequests
}

// Forwarder sends webhooks to a program on this machine, unchanged.
type Forwarder struct {
	URL  string
	HTTP *http.Client

	// down: the program has refused connections for longer than a restart takes.
	down bool
}

// NewForwarder returns a forwarder to a URL. It follows no redirect, as the service does not.
func NewForwarder(address string) (*Forwarder, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("must be a URL such as http://localhost:3000/webhooks, not %q", address)
	}
	return &Forwarder{URL: address, HTTP: &http.Client{Timeout: 10 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}, nil
}

// Forward sends a webhook and returns the response with the beginning of its body. A program that refuses the connection is
// tried again for some seconds, because it may be restarting; it cannot have received anything. After that it is not waited for
// until it has responded again.
func (f *Forwarder) Forward(ctx context.Context, w SignedWebhook) (*Response, error) {
	for end, pause := time.Now().Add(localRetry), 100*time.Millisecond; ; pause = min(2*pause, time.Second) {
		response, err := f.forward(ctx, w)
		refused := errors.Is(err, syscall.ECONNREFUSED)
		if !refused || f.down || time.Now().After(end) {
			f.down = refused
			return response, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(pause):
		}
	}
}

func (f *Forwarder) forward(ctx context.Context, w SignedWebhook) (*Response, error) {
	start := time.Now()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, f.URL, bytes.NewReader(w.Body))
	if err != nil {
		return nil, err
	}
	for name, value := range w.Headers {
		request.Header[name] = []string{value}
	}
	response, err := f.HTTP.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, 64<<10))
	return &Response{response.StatusCode, response.Header, bytes.TrimSpace(body), time.Since(start)}, err
}

// UnknownNames returns those of the names that are not known, for a message.
func UnknownNames(names, known []string) error {
	var unknown []string
	for _, name := range names {
		if !slices.Contains(known, name) {
			unknown = append(unknown, name)
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	return fmt.Errorf("there is no event %s; the events are %s", strings.Join(unknown, ", "), strings.Join(known, ", "))
}
