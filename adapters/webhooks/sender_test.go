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
	"causeway/ports"
)

func TestSender_OutcomeByStatus(t *testing.T) {
	t.Parallel()
	// The status decides, and the beginning of the answer is kept.
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
				_, _ = fmt.Fprintf(w, "said %d", c.status)
			}
		})
		answer := f.sender.Deliver(context.Background(), f.delivery(server.URL))
		said := fmt.Sprintf("said %d", c.status)
		if c.status == 204 {
			said = ""
		}
		if answer.Outcome != c.want || answer.StatusCode != c.status || answer.Response != said || answer.Error != "" || answer.Duration <= 0 {
			t.Errorf("%d: %+v", c.status, answer)
		}
	}
}

func TestSender_DoesNotFollowRedirects(t *testing.T) {
	t.Parallel()
	// A redirect is a refusal; the place it names hears nothing.
	f := newFixture(t, Options{})
	elsewhere, heard := newReceiver(t, nil)
	for _, status := range []int{301, 302, 303, 307, 308} {
		server, _ := newReceiver(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, elsewhere.URL, status) })

		answer := f.sender.Deliver(context.Background(), f.delivery(server.URL))

		if answer.Outcome != event.Refused || answer.StatusCode != status {
			t.Errorf("%d: %+v", status, answer)
		}
	}
	if len(heard) != 0 {
		t.Error("a redirect was followed")
	}
}

func TestSender_EndlessResponse(t *testing.T) {
	t.Parallel()
	// An answer without end counts by its status, and costs neither time nor memory.
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

	answer := f.sender.Deliver(context.Background(), f.delivery(server.URL))

	if answer.Outcome != event.Accepted || len(answer.Response) != maxAcceptedExcerpt {
		t.Errorf("answer %+v", answer)
	}
	<-stopped // the connection was ended
}

func TestSender_MaxResponseBytes(t *testing.T) {
	t.Parallel()
	// Whoever asked a question gets the answer whole, up to what they want of it.
	f := newFixture(t, Options{})
	server, _ := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, strings.Repeat("x", 3000)) })
	for keep, want := range map[int]int{0: maxAcceptedExcerpt, 2000: 2000, 4000: 3000} {
		delivery := f.delivery(server.URL)
		delivery.MaxResponseBytes = keep
		if answer := f.sender.Deliver(context.Background(), delivery); answer.Outcome != event.Accepted || len(answer.Response) != want {
			t.Errorf("keep %d: %d of the answer, %s; want %d", keep, len(answer.Response), answer.Outcome, want)
		}
	}
}

func TestSender_ResponseIsValidText(t *testing.T) {
	t.Parallel()
	// What is kept of an answer can be kept: valid text without NUL, no character cut in two.
	f := newFixture(t, Options{})
	for _, body := range []string{"a\x00b", "\xff\xfe", strings.Repeat("é", 2000), "x" + strings.Repeat("é", 2000), "日本" + strings.Repeat("語", 500)} {
		server, _ := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(500)
			_, _ = io.WriteString(w, body)
		})
		answer := f.sender.Deliver(context.Background(), f.delivery(server.URL))
		if r := answer.Response; r == "" || !utf8.ValidString(r) || strings.ContainsRune(r, 0) || len(r) > 3*maxExcerpt ||
			utf8.ValidString(body) && strings.ContainsRune(r, utf8.RuneError) && !strings.ContainsRune(body, 0) {
			t.Errorf("%.10q: %q", body, r)
		}
	}
}

func FuzzSanitize(f *testing.F) {
	// Whatever a receiver answers, what is kept of it is valid text without NUL and not
	// longer than it can become by replacing bytes.
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
	// A receiver that accepts and never answers is given up after the timeout; one that
	// refuses, closes or talks nonsense, at once. The words say which.
	f := newFixture(t, Options{Timeout: 50 * time.Millisecond})
	patient := newFixture(t, Options{Resolver: fakeDNS(func(string) net.IP { return nil })})
	for name, c := range map[string]struct {
		fixture *fixture
		url     string
		want    event.Outcome
		says    string
	}{
		"silent":        {f, serveTCP(t, func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }), event.TimedOut, "no answer in time"},
		"closes":        {patient, serveTCP(t, func(c net.Conn) { _, _ = c.Read(make([]byte, 10)); _ = c.Close() }), event.Unreachable, "connection"},
		"nonsense":      {patient, serveTCP(t, func(c net.Conn) { _, _ = io.WriteString(c, "hello\r\n\r\n"); _ = c.Close() }), event.Unreachable, "no valid HTTP answer"},
		"nobody there":  {patient, closedPortURL(t), event.Unreachable, "connection refused"},
		"unknown name":  {patient, "http://receiver.invalid/", event.Unreachable, "does not resolve"},
		"not TLS":       {patient, strings.Replace(serveTCP(t, func(c net.Conn) { _, _ = io.WriteString(c, "HTTP/1.1 400 no\r\n\r\n") }), "http:", "https:", 1), event.Unreachable, "TLS"},
		"not a URL":     {patient, "://", event.Forbidden, "not sent to this address"},
		"not HTTP":      {patient, "ftp://example.com/", event.Forbidden, "not sent to this address"},
		"with password": {patient, "http://a:b@example.com/", event.Forbidden, "not sent to this address"},
	} {
		d := c.fixture.delivery(c.url)
		answer := c.fixture.sender.Deliver(context.Background(), d)
		if answer.Outcome != c.want || !strings.Contains(answer.Error, c.says) || answer.StatusCode != 0 {
			t.Errorf("%s: %+v", name, answer)
		}
	}
}

func TestSender_RejectsUntrustedCertificate(t *testing.T) {
	t.Parallel()
	// TLS is really verified.
	f := newFixture(t, Options{})
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ErrorLog = discardLog()
	server.StartTLS()
	defer server.Close()

	answer := f.sender.Deliver(context.Background(), f.delivery(server.URL))

	if answer.Outcome != event.Unreachable || !strings.HasPrefix(answer.Error, "the certificate is not valid") {
		t.Errorf("answer %+v", answer)
	}
}

func TestSender_CancelledContext(t *testing.T) {
	t.Parallel()
	// The caller can end a delivery.
	f := newFixture(t, Options{})
	ctx, cancel := context.WithCancel(context.Background())
	url := serveTCP(t, func(c net.Conn) { cancel(); _, _ = io.Copy(io.Discard, c) })

	answer := f.sender.Deliver(ctx, f.delivery(url))

	if answer.Outcome != event.Unreachable || answer.Error != "the delivery was interrupted" {
		t.Errorf("answer %+v", answer)
	}
}

func TestSender_ReusesConnections(t *testing.T) {
	t.Parallel()
	// Deliveries one after the other use one connection; when the receiver has closed
	// it, the next delivery takes a new one and does not fail.
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
		if answer := f.sender.Deliver(context.Background(), f.delivery(server.URL)); answer.Outcome != event.Accepted {
			t.Fatalf("answer %+v", answer)
		}
	}
	if n := connections.Load(); n != 1 {
		t.Errorf("%d connections for 20 deliveries", n)
	}
	for range 20 {
		server.CloseClientConnections()
		if answer := f.sender.Deliver(context.Background(), f.delivery(server.URL)); answer.Outcome != event.Accepted {
			t.Fatalf("answer %+v", answer)
		}
	}
}

func TestSender_ProductionRequiresPublicHTTPS(t *testing.T) {
	t.Parallel()
	// To a production platform nothing is sent in clear, nor to this machine.
	f := newFixture(t, Options{})
	server, heard := newReceiver(t, nil)
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	defer secure.Close()
	for _, url := range []string{server.URL, secure.URL, "https://localhost:1/", "https://[::ffff:10.0.0.1]/", "https://0x7f000001/", "https://2130706433/"} {
		d := f.delivery(url)
		d.Endpoint.Environment = platform.Production
		if answer := f.sender.Deliver(context.Background(), d); answer.Outcome.Responded() ||
			answer.Outcome != event.Forbidden && !strings.HasPrefix(url, "https://0") && !strings.HasPrefix(url, "https://2") {
			t.Errorf("%s: %+v", url, answer)
		}
	}
	if len(heard) != 0 {
		t.Error("the receiver heard something")
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
			if answer := f.sender.Deliver(context.Background(), d); answer.Outcome != event.Accepted {
				b.Errorf("answer %+v", answer)
			}
		}
	})
}

var _ ports.Webhooks = (*Sender)(nil)
