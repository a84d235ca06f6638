// Package trigger makes each webhook of a sandbox platform happen: through the requests of a platform's own program, so that
// what follows is the same. It knows only the published interface.
package trigger

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/apiclient"
)

// Trigger is how a webhook is made to happen.
type Trigger struct {
	// Does says in a few words what is done, and Needs what has to be set before, if anything.
	Does, Needs string
	// Never says why the webhook cannot be triggered; empty if it can.
	Never string
	run   func(*run) error
}

// Of returns how the webhook with a name is triggered. It returns false for an unknown name.
func Of(event string) (Trigger, bool) {
	t, known := triggers[event]
	return t, known
}

// awaitTimeout is how long a webhook may take after the last request.
const awaitTimeout = 30 * time.Second

// Event makes the webhook with a name happen, and returns its id. It calls note with each request.
func Event(ctx context.Context, client *apiclient.Client, event string, note func(method, path string, status int)) (string, error) {
	t, known := triggers[event]
	switch {
	case !known:
		return "", fmt.Errorf("there is no event %s", event)
	case t.Never != "":
		return "", fmt.Errorf("%s cannot be triggered: %s", event, t.Never)
	}
	r := &run{ctx: ctx, client: client, note: note, serial: strings.ReplaceAll(uuid.NewString(), "-", "")[:12]}
	if err := client.CheckSandbox(ctx); err != nil {
		return "", err
	}
	before, _, err := r.latest(event)
	if err != nil {
		return "", err
	}
	if err := t.run(r); err != nil {
		if t.Needs != "" {
			return "", fmt.Errorf("%w (it needs %s)", err, t.Needs)
		}
		return "", err
	}
	return r.await(event, before)
}

// object is a JSON object.
type object map[string]any

// document is the JSON body of a response.
type document struct{ body any }

func (d document) text(path string) string { return apiclient.Text(d.body, path) }

// run is one run of a trigger.
type run struct {
	ctx    context.Context
	client *apiclient.Client
	note   func(method, path string, status int)
	serial string // random, so that nothing is registered twice
}

// call makes a request; the body is nil, JSON, or a form with its content type.
func (r *run) call(method, path string, body any, contentType string) (document, error) {
	return r.callAs(r.client, method, path, body, contentType)
}

func (r *run) callAs(client *apiclient.Client, method, path string, body any, contentType string) (document, error) {
	request := apiclient.Request{Method: method, Path: path, Body: body, ContentType: contentType}
	if method == http.MethodPost && client.ClientID != "" {
		request.IdempotencyKey = uuid.NewString()
	}
	response, err := client.Do(r.ctx, request)
	if err != nil {
		return document{}, err
	}
	if method != http.MethodGet {
		r.note(method, path, response.Status)
	}
	if err := response.Err(method, path); err != nil || len(response.Body) == 0 {
		return document{}, err
	}
	parsed, err := apiclient.ParseJSON(response.Body)
	return document{parsed}, err
}

func (r *run) post(path string, body any) (document, error) {
	return r.call(http.MethodPost, path, body, "")
}
func (r *run) get(path string) (document, error) { return r.call(http.MethodGet, path, nil, "") }

// latest returns the newest delivery of an event, and what it is about.
func (r *run) latest(event string) (id string, d document, err error) {
	d, err = r.get("/webhook-deliveries?limit=1&event=" + url.QueryEscape(event))
	return d.text("data.0.webhookId"), d, err
}

// await returns the id of the first webhook of an event after another one.
func (r *run) await(event, before string) (string, error) {
	for end := time.Now().Add(awaitTimeout); ; {
		id, _, err := r.latest(event)
		if err != nil {
			return "", err
		}
		if id != "" && id != before {
			return id, nil
		}
		if time.Now().After(end) {
			return "", fmt.Errorf("there was no %s within %s after the last request", event, awaitTimeout)
		}
		if err := r.pause(); err != nil {
			return "", err
		}
	}
}

func (r *run) pause() error {
	select {
	case <-r.ctx.Done():
		return r.ctx.Err()
	case <-time.After(200 * time.Millisecond):
		return nil
	}
}

// awaitText reads a resource until the text at a path is wanted.
func (r *run) awaitText(path, field, want string) error {
	for end := time.Now().Add(awaitTimeout); ; {
		d, err := r.get(path)
		if err != nil || d.text(field) == want {
			return err
		}
		if time.Now().After(end) {
			return fmt.Errorf("%s of %s is %q after %s, not %q", field, path, d.text(field), awaitTimeout, want)
		}
		if err := r.pause(); err != nil {
			return err
		}
	}
}
