package webhooks

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	"causeway/core/event"
	"causeway/core/platform"
	"causeway/core/tracing"
	"causeway/ports"
)

func TestSender_OutcomeByStatus(t *testing.T) {
	t.Parallel()
	// The status decides the outcome, and the beginning of the response is returned.
	f := newFixture(t, Options{})
	for _, c := range []struct {
		status int
		want   event.Outcome
	}{
		{200, event.Accepted}, {202, event.Accepted}, {204, event.Accepted}, {409, event.Duplicate},
		{400, event.Refused}, {401, event.Refused}, {410, event.Refused}, {429, event.Refused}, {500, event.Refused}, {503, event.Refused},
	} {
		server, _ := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(c.status)
			if c.status != 204 {
				_, _ = fmt.Fprintf(w, "status %d", c.status)
			}
		})
		response := f.sender.Deliver(context.Background(), f.delivery(server.URL))
		want := fmt.Sprintf("status %d", c.status)
		if c.status == 204 {
			want = ""
		}
		if response.Outcome != c.want || response.StatusCode != c.status || response.Response != want || response.Error != "" ||
			response.Duration <= 0 {
			t.Errorf("%d: %+v", c.status, response)
		}
	}
}

func TestSender_DoesNotFollowRedirects(t *testing.T) {
	t.Parallel()
	// A redirect counts as refused, and its target gets no request.
	f := newFixture(t, Options{})
	target, requests := newReceiver(t, nil)
	for _, status := range []int{301, 302, 303, 307, 308} {
		server, _ := newReceiver(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, target.URL, status) })

		response := f.sender.Deliver(context.Background(), f.delivery(server.URL))

		if response.Outcome != event.Refused || response.StatusCode != status {
			t.Errorf("%d: %+v", status, response)
		}
	}
	if len(requests) != 0 {
		t.Error("a redirect was followed")
	}
}

func TestSender_EndlessResponse(t *testing.T) {
	t.Parallel()
	// An endless response counts by its status, and is not read to the end.
	f := newFixture(t, Options{})
	stopped := make(chan struct{})
	server, _ := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
		defer close(stopped)
		chunk := []byte(strings.Repeat("x", 32<<10))
		for {
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
	})

	response := f.sender.Deliver(context.Background(), f.delivery(server.URL))

	if response.Outcome != event.Accepted || len(response.Response) != maxAcceptedExcerpt {
		t.Errorf("response %+v", response)
	}
	<-stopped // the connection was closed
}

func TestSender_SlowPhases(t *testing.T) {
	t.Parallel()
	// An endpoint that accepts connections and does not complete the TLS handshake, and one that
	// sends the body of its response byte by byte for ever, hold a delivery for a part of the
	// timeout only. The slow body counts by its status, unless the caller needs the body.
	const timeout = 6 * time.Second
	f := newFixture(t, Options{Timeout: timeout})
	noHandshake := strings.Replace(serveTCP(t, func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }), "http:", "https:", 1)
	dripping, _ := newReceiver(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "1000000000000")
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for {
			_, _ = io.WriteString(w, "x")
			_ = http.NewResponseController(w).Flush()
			select {
			case <-tick.C:
			case <-r.Context().Done():
				return
			}
		}
	})
	for name, c := range map[string]struct {
		url       string
		needsBody bool
		want      event.Outcome
		limit     time.Duration
	}{
		"no handshake": {noHandshake, false, event.TimedOut, timeout * 9 / 10},
		"endless body": {dripping.URL, false, event.Accepted, timeout * 9 / 10},
		"needed body":  {dripping.URL, true, event.TimedOut, timeout * 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := f.delivery(c.url)
			if c.needsBody {
				d.MaxResponseBytes = 1000
			}
			if response := f.sender.Deliver(context.Background(), d); response.Outcome != c.want || response.Duration > c.limit {
				t.Errorf("%s after %s, want %s within %s: %s", response.Outcome, response.Duration, c.want, c.limit, response.Error)
			}
		})
	}
}

func TestSender_MaxResponseBytes(t *testing.T) {
	t.Parallel()
	// MaxResponseBytes sets how much of a response is returned.
	f := newFixture(t, Options{})
	server, _ := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, strings.Repeat("x", 3000)) })
	for limit, want := range map[int]int{0: maxAcceptedExcerpt, 2000: 2000, 4000: 3000} {
		delivery := f.delivery(server.URL)
		delivery.MaxResponseBytes = limit
		if response := f.sender.Deliver(context.Background(), delivery); response.Outcome != event.Accepted || len(response.Response) != want {
			t.Errorf("limit %d: %d bytes, %s; want %d", limit, len(response.Response), response.Outcome, want)
		}
	}
}

func TestSender_ResponseIsValidText(t *testing.T) {
	t.Parallel()
	// The excerpt of a response is valid text without NUL, and no character is cut in two.
	f := newFixture(t, Options{})
	for _, body := range []string{"a\x00b", "\xff\xfe", strings.Repeat("é", 2000), "x" + strings.Repeat("é", 2000),
		"日本" + strings.Repeat("語", 500)} {
		server, _ := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(500)
			_, _ = io.WriteString(w, body)
		})
		response := f.sender.Deliver(context.Background(), f.delivery(server.URL))
		if r := response.Response; r == "" || !utf8.ValidString(r) || strings.ContainsRune(r, 0) || len(r) > 3*maxExcerpt ||
			utf8.ValidString(body) && strings.ContainsRune(r, utf8.RuneError) && !strings.ContainsRune(body, 0) {
			t.Errorf("%.10q: %q", body, r)
		}
	}
}

func FuzzSanitize(f *testing.F) {
	// Any bytes become valid text without NUL, at most three times as long.
	for _, seed := range []string{"", "ok", "a\x00b", "\xff", "日本語", "日本\xe8\xaa"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		got := sanitize(b)
		if !utf8.ValidString(got) || strings.ContainsRune(got, 0) || len(got) > 3*len(b) {
			t.Errorf("%q became %q", b, got)
		}
		if utf8.Valid(b) && !strings.ContainsRune(string(b), 0) && got != string(b) {
			t.Errorf("%q was changed to %q", b, got)
		}
	})
}

func TestSender_FailureReasons(t *testing.T) {
	t.Parallel()
	// An endpoint that accepts and never responds fails after the timeout. One that refuses, closes
	// or responds with something else than HTTP fails at once. The error says which.
	f := newFixture(t, Options{Timeout: 50 * time.Millisecond})
	unlimited := newFixture(t, Options{Resolver: fakeDNS(func(string) net.IP { return nil })})
	for name, c := range map[string]struct {
		fixture *fixture
		url     string
		want    event.Outcome
		message string
	}{
		"silent": {f, serveTCP(t, func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }), event.TimedOut, "no response in time"},
		"closes": {unlimited, serveTCP(t, func(c net.Conn) { _, _ = c.Read(make([]byte, 10)); _ = c.Close() }),
			event.Unreachable, "connection"},
		"not HTTP text": {unlimited, serveTCP(t, func(c net.Conn) { _, _ = io.WriteString(c, "hello\r\n\r\n"); _ = c.Close() }),
			event.Unreachable, "no valid HTTP response"},
		"nothing there": {unlimited, closedPortURL(t), event.Unreachable, "connection refused"},
		"unknown name":  {unlimited, "http://receiver.invalid/", event.Unreachable, "does not resolve"},
		"not TLS": {unlimited, strings.Replace(serveTCP(t, func(c net.Conn) { _, _ = io.WriteString(c, "HTTP/1.1 400 no\r\n\r\n") }),
			"http:", "https:", 1), event.Unreachable, "TLS"},
		"not a URL":     {unlimited, "://", event.Forbidden, "not sent to this address"},
		"not HTTP":      {unlimited, "ftp://example.com/", event.Forbidden, "not sent to this address"},
		"with password": {unlimited, "http://a:b@example.com/", event.Forbidden, "not sent to this address"},
	} {
		d := c.fixture.delivery(c.url)
		response := c.fixture.sender.Deliver(context.Background(), d)
		if response.Outcome != c.want || !strings.Contains(response.Error, c.message) || response.StatusCode != 0 {
			t.Errorf("%s: %+v", name, response)
		}
	}
}

func TestSender_RejectsUntrustedCertificate(t *testing.T) {
	t.Parallel()
	// A certificate of an unknown authority is rejected.
	f := newFixture(t, Options{})
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ErrorLog = discardLog()
	server.StartTLS()
	defer server.Close()

	response := f.sender.Deliver(context.Background(), f.delivery(server.URL))

	if response.Outcome != event.Unreachable || !strings.HasPrefix(response.Error, "the certificate is not valid") {
		t.Errorf("response %+v", response)
	}
}

func TestSender_CancelledContext(t *testing.T) {
	t.Parallel()
	// Cancelling the context interrupts a delivery, which is no failure of the endpoint.
	f := newFixture(t, Options{})
	ctx, cancel := context.WithCancel(context.Background())
	url := serveTCP(t, func(c net.Conn) { cancel(); _, _ = io.Copy(io.Discard, c) })

	response := f.sender.Deliver(ctx, f.delivery(url))

	if response.Outcome != event.InternalError || response.Error != "the delivery was interrupted" {
		t.Errorf("response %+v", response)
	}
}

func TestSender_ReusesConnections(t *testing.T) {
	t.Parallel()
	// Deliveries one after another use one connection. If the receiver has closed it, the next
	// delivery uses a new one and does not fail.
	f := newFixture(t, Options{})
	var connections atomic.Int32
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) }))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	server.Start()
	defer server.Close()
	for range 20 {
		if response := f.sender.Deliver(context.Background(), f.delivery(server.URL)); response.Outcome != event.Accepted {
			t.Fatalf("response %+v", response)
		}
	}
	if n := connections.Load(); n != 1 {
		t.Errorf("%d connections for 20 deliveries", n)
	}
	for range 20 {
		server.CloseClientConnections()
		if response := f.sender.Deliver(context.Background(), f.delivery(server.URL)); response.Outcome != event.Accepted {
			t.Fatalf("response %+v", response)
		}
	}
}

func TestSender_ProductionRequiresPublicHTTPS(t *testing.T) {
	t.Parallel()
	// In production nothing is sent over plain HTTP or to a loopback or private address.
	f := newFixture(t, Options{})
	server, requests := newReceiver(t, nil)
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	defer secure.Close()
	for _, url := range []string{server.URL, secure.URL, "https://localhost:1/", "https://[::ffff:10.0.0.1]/", "https://0x7f000001/",
		"https://2130706433/"} {
		d := f.delivery(url)
		d.Endpoint.Environment = platform.Production
		if response := f.sender.Deliver(context.Background(), d); response.Outcome.Responded() ||
			response.Outcome != event.Forbidden && !strings.HasPrefix(url, "https://0") && !strings.HasPrefix(url, "https://2") {
			t.Errorf("%s: %+v", url, response)
		}
	}
	if len(requests) != 0 {
		t.Error("the receiver got a request")
	}
}

func BenchmarkSender_Deliver(b *testing.B) {
	f := newFixture(b, Options{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) }))
	defer server.Close()
	d := f.delivery(server.URL)
	d.Body = append(d.Body, make([]byte, 1200)...)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if response := f.sender.Deliver(context.Background(), d); response.Outcome != event.Accepted {
				b.Errorf("response %+v", response)
			}
		}
	})
}

var _ ports.Webhooks = (*Sender)(nil)

func TestSender_TraceIsSent(t *testing.T) {
	t.Parallel()
	// A delivery that is traced has its place in the header traceparent, and another one has no such header.
	f := newFixture(t, Options{})
	sent := make(chan []string, 1)
	server, _ := newReceiver(t, func(_ http.ResponseWriter, r *http.Request) { sent <- r.Header.Values("Traceparent") })
	for _, want := range []string{"", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"} {
		d := f.delivery(server.URL)
		d.Trace = tracing.Context(want)
		f.sender.Deliver(t.Context(), d)
		if got := strings.Join(<-sent, ","); got != want {
			t.Errorf("sent %q, want %q", got, want)
		}
	}
}
