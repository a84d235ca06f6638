package console

import (
	"bufio"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"causeway/core/event"
	"causeway/core/ident"
	"causeway/core/person"
	"causeway/ports"
)

// streamURL is that of the stream of a page that was loaded now.
func streamURL(more string) string {
	return base + "/events/stream?until=" + strconv.FormatInt(now.Add(watchTime).Unix(), 10) + more
}

// watch opens a stream, and returns its lines; they end with the stream.
func (s *site) watch(to string, header ...string) (*http.Response, <-chan string) {
	s.t.Helper()
	server := httptest.NewServer(s.handler)
	s.t.Cleanup(server.Close)
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, server.URL+to, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, c := range s.cookies {
		r.AddCookie(c)
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = got.Body.Close() })
	lines := make(chan string, 100)
	go func() {
		defer close(lines)
		for scanner := bufio.NewScanner(got.Body); scanner.Scan(); {
			lines <- scanner.Text()
		}
	}()
	return got, lines
}

// events returns the next n lines with data.
func events(t *testing.T, lines <-chan string, n int) (all []string) {
	t.Helper()
	for len(all) < n {
		select {
		case line, open := <-lines:
			if !open {
				t.Fatalf("the stream ended after %q", all)
			}
			if strings.HasPrefix(line, "data: ") {
				all = append(all, line)
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("only %q came", all)
		}
	}
	return all
}

func TestEvents_StreamGoesOn(t *testing.T) {
	t.Parallel()
	// A stream sends the events after the one that the page has, each once, with nothing of its body, also one that was committed late.
	// It goes on after the last one of an earlier stream, and ends when the service stops.
	newEvent := func(id byte, name string) ports.Delivery {
		d := newDelivery()
		d.ID, d.Name, d.Status = numbered(ident.Webhook{}, id), name, event.Delivered
		return d
	}
	stopping := make(chan struct{})
	open := func() *site {
		s := newSite(t).fill().as(person.Grant{Role: person.Viewer})
		s.console.Stopping = stopping
		s.webhooks.all = []ports.Delivery{newEvent(1, "FIRST"), newEvent(2, "SECOND"), newEvent(3, "THIRD")}
		return s
	}
	s := open()

	got, lines := s.watch(streamURL("&after=" + numbered(ident.Webhook{}, 1).UUID().String()))
	if got.Header.Get("Content-Type") != "text/event-stream" || got.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("header %v", got.Header)
	}
	if all := events(t, lines, 2); !strings.Contains(all[0], "SECOND") || !strings.Contains(all[1], "THIRD") ||
		strings.Contains(strings.Join(all, ""), "Chaac") || !strings.Contains(all[0], `"Status":"delivered"`) {
		t.Errorf("sent %q", all)
	}
	_, resumed := open().watch(streamURL(""), "Last-Event-ID", numbered(ident.Webhook{}, 2).UUID().String())
	if all := events(t, resumed, 2); !strings.Contains(all[0], "FIRST") || !strings.Contains(all[1], "THIRD") { // FIRST may be a late one
		t.Errorf("resumed with %q", all)
	}
	close(stopping)
	for range lines { // ends
	}
}

func TestEvents_StreamsAreBounded(t *testing.T) {
	t.Parallel()
	// A page that is too old gets no stream, and the browser asks no more. A process has so many streams and no more, and the stream of a
	// session that has ended, or lost its role, ends.
	s := newSite(t).fill().as(person.Grant{Role: person.Viewer})
	for _, query := range []string{"", "?until=x", "?until=" + strconv.FormatInt(now.Unix(), 10)} {
		if got := s.get(base + "/events/stream" + query); got.StatusCode != http.StatusNoContent {
			t.Errorf("%q: %d", query, got.StatusCode)
		}
	}
	for range maxStreams {
		s.console.streams <- struct{}{}
	}
	if got := s.get(streamURL("")); got.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("one too many: %d", got.StatusCode)
	}
	if got := s.get(base + "/events"); !strings.Contains(got.body, "events/stream?until=") ||
		!strings.Contains(got.body, "OUTGOING_PAYMENT.FAILED") {
		t.Errorf("page: %s", got.body)
	}
	if got := s.get(base + "/events?after=" + webhookID.UUID().String()); strings.Contains(got.body, "<script") {
		t.Errorf("an older page has a stream: %s", got.body)
	}
}
