package partner_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"causeway/adapters/rails/partner"
	"causeway/core/rail"
	"causeway/core/signedmessage"
	"causeway/ports"
	"causeway/ports/portstest"
)

func TestRail_AnswerThatDoesNotEnd(t *testing.T) {
	t.Parallel()
	// A partner that sends its answer slowly, or without an end, is given up: at the timeout, or when it is too large.
	for name, pause := range map[string]time.Duration{"slow": 50 * time.Millisecond, "endless": 0} {
		ended := make(chan struct{}, 1)
		r, _ := newRail(t, func(w http.ResponseWriter, req *http.Request) {
			_, _ = io.Copy(io.Discard, req.Body) // only then the server notices that the client has gone
			w.Header().Set("Content-Type", "application/json")
			_, err := io.WriteString(w, `{"text":"`)
			for chunk := bytes.Repeat([]byte("x"), 1000); err == nil; {
				if pause > 0 {
					chunk = chunk[:1]
				}
				_, err = w.Write(chunk)
				w.(http.Flusher).Flush()
				time.Sleep(pause)
				if req.Context().Err() != nil {
					break
				}
			}
			ended <- struct{}{}
		})
		if o := r.Send(t.Context(), []ports.Payout{thePayout()})[0]; o != (ports.Outcome{Verdict: ports.Unknown}) {
			t.Errorf("%s: %+v", name, o)
		}
		<-ended
	}
}

func TestRail_RetryAfterIsAtMostAnHour(t *testing.T) {
	t.Parallel()
	// However many seconds a partner asks for, a payment is called about again within an hour.
	for seconds, want := range map[string]time.Duration{"0": time.Second, "3601": time.Hour, "9999999999": time.Hour,
		"9223372036854775807": time.Hour} {
		r, _ := newRail(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", seconds)
			w.WriteHeader(http.StatusServiceUnavailable)
		})
		if o := r.Send(t.Context(), []ports.Payout{thePayout()})[0]; o.Verdict != ports.Waiting || !o.RetryAt.Equal(now.Add(want)) {
			t.Errorf("%s: %+v, want %s", seconds, o, want)
		}
	}
}

func TestRail_SendsOnlyToTheRightServer(t *testing.T) {
	t.Parallel()
	// A server gets a request only if its certificate is signed by those of the setting, is that of its address, and if it
	// has a present version of TLS.
	var requests atomic.Int32
	newServer := func(change func(*tls.Config)) *httptest.Server {
		server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			requests.Add(1)
			answerJSON(w, settledState(req))
		}))
		server.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
		change(server.TLS)
		server.Config.ErrorLog = log.New(io.Discard, "", 0)
		server.StartTLS()
		t.Cleanup(server.Close)
		return server
	}
	good, old := newServer(func(*tls.Config) {}),
		newServer(func(c *tls.Config) { c.MinVersion, c.MaxVersion = tls.VersionTLS10, tls.VersionTLS11 })
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: good.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		url, ca string
		want    ports.Verdict
	}{
		"the right one":       {good.URL, file, ports.Done},
		"unknown certificate": {good.URL, "", ports.Unknown},
		"another name":        {"https://localhost:" + good.URL[len("https://127.0.0.1:"):], file, ports.Unknown},
		"old TLS":             {old.URL, file, ports.Unknown},
	} {
		requests.Store(0)
		connection := bankRail(c.url)
		if c.ca != "" {
			connection.Settings["caFile"] = c.ca
		}
		logger, _ := newLog()
		r, err := partner.Open(partner.Config{Connection: connection, Secrets: portstest.Secrets{"file:/secret": secret}, Events: &memoryEvents{},
			Departures: &portstest.RailDepartures{}, Clock: &worldClock{now: now}, Log: logger})
		if err != nil {
			t.Fatal(err)
		}
		o := r.Send(t.Context(), []ports.Payout{thePayout()})[0]
		if o.Verdict != c.want || (requests.Load() > 0) != (c.want == ports.Done) {
			t.Errorf("%s: %+v, %d requests", name, o, requests.Load())
		}
		_ = r.Close()
	}
}

func TestRail_CursorWithOddCharacters(t *testing.T) {
	t.Parallel()
	// What a partner writes into a cursor comes back as it was, and is part of what is signed.
	const cursor = `a&limit=1?/../%2F+;#"<'\~`
	secrets, err := signedmessage.Parse(secret)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	r, _ := newRail(t, func(w http.ResponseWriter, req *http.Request) {
		h := signedmessage.Headers{ID: req.Header.Get(signedmessage.IDHeader), Timestamp: req.Header.Get(signedmessage.TimestampHeader),
			Signature: req.Header.Get(signedmessage.SignatureHeader)}
		if _, err := secrets.Verify(h, []byte("GET "+req.RequestURI[len("/v1"):]), now); err != nil {
			t.Errorf("%s: %v", req.RequestURI, err)
		}
		got = append(got, req.URL.Query().Get("after"))
		answerJSON(w, partner.EventPage{Events: []partner.Event{}, Cursor: cursor})
	})
	position := ""
	for range 2 {
		report, err := r.Poll(t.Context(), position)
		if err != nil {
			t.Fatal(err)
		}
		position = report.Cursor
	}
	if len(got) != 2 || got[1] != cursor {
		t.Errorf("cursors %q", got)
	}
}

func TestCallback_SecretIsReplaced(t *testing.T) {
	t.Parallel()
	// While a secret is replaced, events signed with either are stored; afterwards only the new one is accepted. A message
	// for another connection, and a request of the service that is sent back to it, are refused.
	text, err := json.Marshal(someEvents()[1])
	if err != nil {
		t.Fatal(err)
	}
	payment, err := json.Marshal(partner.Payment{Kind: partner.Payout, ID: "0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e66"})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		connection, accepted, signedWith string
		body                             []byte
		status                           int
	}{
		"before":                   {"bank", secret, secret, text, 204},
		"both, old":                {"bank", secret + "\n" + anotherSecret + "\n", secret, text, 204},
		"both, new":                {"bank", secret + "\n" + anotherSecret + "\n", anotherSecret, text, 204},
		"both, with both":          {"bank", secret + "\n" + anotherSecret + "\n", secret + "," + anotherSecret, text, 204},
		"after, old":               {"bank", anotherSecret, secret, text, 401},
		"after, new":               {"bank", anotherSecret, anotherSecret, text, 204},
		"of another connection":    {"other", secret, secret, text, 401},
		"a request that came back": {"bank", secret, secret, payment, 400},
	} {
		logger, _ := newLog()
		store := &memoryEvents{}
		callback := &partner.Callback{Secrets: portstest.Secrets{"file:/secret": c.accepted, "file:/other": anotherSecret}, Events: store,
			Clock: &worldClock{now: now}, Log: logger,
			Connection: func(_ context.Context, name string) (rail.Connection, error) {
				connection := bankRail("https://partner.example.com")
				if name == "other" {
					connection.Settings["secret"] = "file:/other"
				}
				return connection, nil
			}}
		secrets, err := signedmessage.Parse(c.signedWith)
		if err != nil {
			t.Fatal(err)
		}
		h := secrets.Sign("msg_1", now, c.body)
		request := httptest.NewRequest(http.MethodPost, "/rails/partner/"+c.connection+"/events", bytes.NewReader(c.body))
		request.SetPathValue("connection", c.connection)
		request.Header.Set(signedmessage.IDHeader, h.ID)
		request.Header.Set(signedmessage.TimestampHeader, h.Timestamp)
		request.Header.Set(signedmessage.SignatureHeader, h.Signature)
		response := httptest.NewRecorder()

		callback.ServeHTTP(response, request)

		if response.Code != c.status || (len(store.events) == 1) != (c.status == 204) {
			t.Errorf("%s: %d %s, %d stored; want %d", name, response.Code, response.Body, len(store.events), c.status)
		}
	}
}
