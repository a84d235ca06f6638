package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// hooks receives the webhooks of a platform. It refuses what is not signed as the
// service promises, and notes whatever breaks the promises of order.
type hooks struct {
	t      testing.TB
	server *httptest.Server
	keys   *keyring

	mu       sync.Mutex
	more     chan struct{} // closed and replaced with each delivery
	all      []delivery
	accepted map[string]bool   // webhooks, by id
	open     map[string]string // by transaction, the event that was refused and not accepted since
	inFlight map[string]int    // by transaction
	// respond says how to answer; nil accepts.
	respond func(d delivery) int
	// reply is the body of the answer to the question whether a payment is taken.
	reply string
}

// delivery is one attempt that came.
type delivery struct {
	answer           // the body
	id, event, about string
	path             string // of the endpoint
	header           http.Header
	status           int // that it was answered with
	again            bool
	at               time.Time
}

// listen starts a receiver and makes it the platform's endpoint; it returns when the
// TEST event has come.
func (p *party) listen() *hooks {
	p.t.Helper()
	h := p.hookUp()
	h.await("the TEST event", func(d delivery) bool { return d.event == "TEST" })
	return h
}

// hookUp is listen without waiting for anything.
func (p *party) hookUp() *hooks {
	p.t.Helper()
	h := &hooks{t: p.t, keys: &keyring{client: p.client}, more: make(chan struct{}), accepted: map[string]bool{},
		open: map[string]string{}, inFlight: map[string]int{}}
	h.server = httptest.NewServer(http.HandlerFunc(h.take))
	p.t.Cleanup(h.server.Close)
	p.hooks = h
	p.patch("/config", object{"webhookEndpoint": h.server.URL + "/hooks"}).want(200)
	return h
}

func (h *hooks) take(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the sender died
	}
	d := delivery{answer: answer{t: h.t, what: "webhook", text: body}, at: time.Now(), header: r.Header, path: r.URL.Path}
	d.id, d.event, d.about = d.str("webhookId"), d.str("event"), d.str("transaction.id")
	if err := h.keys.verify(r.Header, body); err != nil {
		h.t.Errorf("webhook %s %s: %v", d.event, d.id, err)
		http.Error(w, err.Error(), http.StatusUnauthorized)
		return
	}
	if !json.Valid(body) || !strings.HasPrefix(d.id, "Webhook:") || r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json" {
		h.t.Errorf("a webhook that is none: %s %q %s", r.Method, r.Header.Get("Content-Type"), body)
	}
	// A question goes out at once, beside the events of its transaction.
	question := d.event == "INCOMING_PAYMENT.PENDING"
	h.mu.Lock()
	ordered := d.about != "" && !question
	if ordered {
		if h.inFlight[d.about]++; h.inFlight[d.about] > 1 {
			h.t.Errorf("two events of %s are sent at once; one is %s", d.about, d.event)
		}
		if before := h.open[d.about]; before != "" && before != d.id {
			h.t.Errorf("%s of %s was sent before %s was accepted", d.event, d.about, before)
		}
	}
	d.again = h.accepted[d.id]
	respond, reply := h.respond, h.reply
	h.mu.Unlock()

	d.status = http.StatusOK
	if respond != nil {
		d.status = respond(d)
	}

	h.mu.Lock()
	defer h.mu.Unlock()
	if ordered {
		h.inFlight[d.about]--
	}
	if d.status < 300 || d.status == http.StatusConflict {
		h.accepted[d.id] = true
		delete(h.open, d.about)
	} else if ordered {
		h.open[d.about] = d.id
	}
	h.all = append(h.all, d)
	close(h.more)
	h.more = make(chan struct{})
	w.WriteHeader(d.status)
	if question {
		_, _ = io.WriteString(w, reply)
	}
}

// answerWith changes how events are answered from now on.
func (h *hooks) answerWith(respond func(d delivery) int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.respond = respond
}

// say makes the platform answer this to the question whether a payment is taken; other
// events are accepted.
func (h *hooks) say(status int, reply string) {
	h.answerWith(func(d delivery) int {
		if d.event == "INCOMING_PAYMENT.PENDING" {
			return status
		}
		return http.StatusOK
	})
	h.mu.Lock()
	defer h.mu.Unlock()
	h.reply = reply
}

// await returns the first delivery that matches, past or future.
func (h *hooks) await(what string, match func(delivery) bool) delivery {
	h.t.Helper()
	return h.awaitWithin(patience, what, match)
}

func (h *hooks) awaitWithin(limit time.Duration, what string, match func(delivery) bool) delivery {
	h.t.Helper()
	tooLong := time.After(limit)
	for i := 0; ; {
		h.mu.Lock()
		fresh, more := h.all[i:], h.more
		h.mu.Unlock()
		for _, d := range fresh {
			if match(d) {
				return d
			}
		}
		i += len(fresh)
		select {
		case <-more:
		case <-tooLong:
			h.t.Fatalf("%s did not come within %s; what came:\n%s", what, limit, h.list())
		}
	}
}

// end awaits the acceptance of an event of a transaction.
func (h *hooks) end(transaction, event string) delivery {
	h.t.Helper()
	return h.await(event+" of "+transaction, func(d delivery) bool {
		return d.about == transaction && d.event == "OUTGOING_PAYMENT."+event && (d.status < 300 || d.status == http.StatusConflict)
	})
}

// events are the events of a transaction that were accepted, each once, in the
// order in which they were, without "OUTGOING_PAYMENT.".
func (h *hooks) events(transaction string) []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var names []string
	seen := map[string]bool{}
	for _, d := range h.all {
		if d.about == transaction && (d.status < 300 || d.status == http.StatusConflict) && !seen[d.id] {
			seen[d.id] = true
			names = append(names, strings.TrimPrefix(d.event, "OUTGOING_PAYMENT."))
		}
	}
	return names
}

// story checks all the events of a transaction, in order.
func (h *hooks) story(transaction string, want ...string) {
	h.t.Helper()
	h.end(transaction, want[len(want)-1])
	if got := h.events(transaction); !slices.Equal(got, want) {
		h.t.Errorf("events of %s: %v, want %v", transaction, got, want)
	}
}

// attempts are all deliveries of one event.
func (h *hooks) attempts(id string) []delivery {
	h.mu.Lock()
	defer h.mu.Unlock()
	var found []delivery
	for _, d := range h.all {
		if d.id == id {
			found = append(found, d)
		}
	}
	return found
}

func (h *hooks) list() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var text strings.Builder
	for _, d := range h.all[max(0, len(h.all)-30):] {
		fmt.Fprintf(&text, "  %s %s %s answered %d\n", d.event, d.about, d.id, d.status)
	}
	return text.String()
}
