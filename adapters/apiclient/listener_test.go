package apiclient

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// deliveries is a service with the webhook deliveries of one platform.
type deliveries struct {
	mu     sync.Mutex
	events []listedEvent
	// broken are the ids of events whose request cannot be read now.
	broken map[string]bool
	now    time.Time
}

func (d *deliveries) add(id, name string, at time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.events = append(d.events, listedEvent{id, name, at})
	slices.SortFunc(d.events, func(a, b listedEvent) int { return a.CreatedAt.Compare(b.CreatedAt) })
}

// ServeHTTP lists two events on each page.
func (d *deliveries) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d.mu.Lock()
	defer d.mu.Unlock()
	w.Header().Set("Date", d.now.UTC().Format(http.TimeFormat))
	if rest, ok := strings.CutPrefix(r.URL.Path, "/sandbox/webhook-deliveries/"); ok {
		id := strings.TrimSuffix(rest, "/request")
		if !slices.ContainsFunc(d.events, func(e listedEvent) bool { return e.WebhookID == id }) {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		if d.broken[id] {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"headers": map[string]string{"webhook-id": id}, "body": `{"transaction":{"id":"of ` + id + `"}}`})
		return
	}
	from, err := time.Parse(time.RFC3339, r.URL.Query().Get("startDate"))
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	page := map[string]any{"hasMore": false}
	listed, started := []listedEvent{}, r.URL.Query().Get("cursor") == ""
	for _, e := range d.events {
		switch {
		case !started:
			started = e.WebhookID == r.URL.Query().Get("cursor")
		case e.CreatedAt.Before(from):
		case len(listed) == 2:
			page["hasMore"], page["nextCursor"] = true, listed[1].WebhookID
		default:
			listed = append(listed, e)
		}
	}
	page["data"] = listed
	_ = json.NewEncoder(w).Encode(page)
}

func TestListener_EachEventOnce(t *testing.T) {
	t.Parallel()
	// What happens after the start is returned once, the oldest first: also an event that becomes visible after later ones,
	// and those that a failing service did not return at first. What was there before, and other events, are not.
	begin := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	service := &deliveries{now: begin, broken: map[string]bool{}}
	server := httptest.NewServer(service)
	t.Cleanup(server.Close)
	listener := &Listener{Client: &Client{BaseURL: server.URL}, Events: []string{"A", "B"}}
	poll := func(want ...string) {
		t.Helper()
		var got []string
		_ = listener.Poll(t.Context(), func(w SignedWebhook) error {
			got = append(got, w.WebhookID)
			if w.Resource() != "of "+w.WebhookID || w.Headers["webhook-id"] != w.WebhookID {
				t.Errorf("returned %+v", w)
			}
			return nil
		})
		if !slices.Equal(got, want) {
			t.Errorf("returned %v, want %v", got, want)
		}
	}
	for _, id := range []string{"1", "2", "3"} {
		service.add(id, "A", begin.Add(-time.Second))
	}
	if err := listener.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	poll()

	service.add("5", "A", begin.Add(50*time.Second))
	service.add("6", "C", begin.Add(51*time.Second))
	service.add("7", "B", begin.Add(52*time.Second))
	service.now = begin.Add(time.Minute)
	poll("5", "7")
	service.add("4", "A", begin.Add(5*time.Second))
	poll("4")
	service.add("8", "A", begin.Add(60*time.Second))
	service.add("9", "A", begin.Add(61*time.Second))
	service.broken["9"] = true
	poll("8")
	poll()
	service.broken["9"] = false
	poll("9")
	service.now = begin.Add(time.Hour)
	poll()
	poll()
	if len(listener.returned) != 0 {
		t.Errorf("%d events are remembered after an hour", len(listener.returned))
	}
}

func TestListener_StartRefused(t *testing.T) {
	t.Parallel()
	// A token that may not listen ends the start with the reason.
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		_, _ = w.Write([]byte(`{"code":"FORBIDDEN","message":"Only for sandbox platforms."}`))
	}))
	t.Cleanup(server.Close)
	err := (&Listener{Client: &Client{BaseURL: server.URL}}).Start(t.Context())
	if err == nil || IsTemporary(err) || !strings.Contains(err.Error(), "Only for sandbox platforms.") {
		t.Errorf("error %v", err)
	}
}

func TestForwarder_SendsUnchanged(t *testing.T) {
	t.Parallel()
	// Body and headers arrive as they are, a redirect is the answer, and a program that starts a moment later receives them.
	w := SignedWebhook{Headers: map[string]string{"webhook-signature": "v1,x", "Content-Type": "application/json"}, Body: []byte(`{"a": "<é>"}`)}
	var got []byte
	received := httptest.NewUnstartedServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		got, _ = io.ReadAll(r.Body)
		if r.Header.Get("Webhook-Signature") != "v1,x" {
			out.WriteHeader(http.StatusUnauthorized)
			return
		}
		http.Redirect(out, r, "/elsewhere", http.StatusFound)
	}))
	address := received.Listener.Addr().String()
	if err := received.Listener.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := NewForwarder("http://" + address + "/hooks")
	if err != nil {
		t.Fatal(err)
	}
	refused := make(chan struct{})
	f.HTTP.Transport = roundTripper(func(r *http.Request) (*http.Response, error) {
		response, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			select {
			case <-refused:
			default:
				close(refused)
			}
		}
		return response, err
	})
	started := make(chan error, 1)
	go func() {
		<-refused
		listener, err := listenAt(t.Context(), address)
		if err == nil {
			received.Listener = listener
			received.Start()
		}
		started <- err
	}()

	response, err := f.Forward(t.Context(), w)

	if startErr := <-started; startErr != nil {
		t.Skip("the port was taken meanwhile:", startErr)
	}
	t.Cleanup(received.Close)
	if err != nil || response.Status != http.StatusFound || string(got) != string(w.Body) {
		t.Errorf("%v, %+v, received %s", err, response, got)
	}
	for _, bad := range []string{"", "localhost:3000", "ftp://x/y", "http://"} {
		if _, err := NewForwarder(bad); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func listenAt(ctx context.Context, address string) (net.Listener, error) {
	return (&net.ListenConfig{}).Listen(ctx, "tcp", address)
}
