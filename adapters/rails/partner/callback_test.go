package partner_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"causeway/adapters/rails/partner"
	"causeway/core/fault"
	"causeway/core/rail"
	"causeway/core/signedmessage"
	"causeway/ports/portstest"
)

func TestCallback_StoresAndRefuses(t *testing.T) {
	t.Parallel()
	// A message is stored if the secret of its connection signed it within five minutes; with anything changed it is
	// refused before its event is read. Secrets and personal data are in no answer and no log.
	text, err := json.Marshal(someEvents()[1])
	if err != nil {
		t.Fatal(err)
	}
	body := string(text)
	sign := func(key string, at time.Time, body string) http.Header {
		secrets, err := signedmessage.Parse(key)
		if err != nil {
			t.Fatal(err)
		}
		s := secrets.Sign("msg_1", at, []byte(body))
		h := http.Header{}
		h.Set(signedmessage.IDHeader, s.ID)
		h.Set(signedmessage.TimestampHeader, s.Timestamp)
		h.Set(signedmessage.SignatureHeader, s.Signature)
		return h
	}
	good := func() http.Header { return sign(secret, now, body) }
	edited := func(name string, values ...string) http.Header {
		h := good()
		h[http.CanonicalHeaderKey(name)] = values
		return h
	}
	signed := func(body string) http.Header { return sign(secret, now, body) }
	other := strings.Replace(body, `"1050"`, `"1051"`, 1)
	spaced := strings.ReplaceAll(body, `":`, `" : `)
	down := errors.New("internals of Acme")
	for name, c := range map[string]struct {
		connection string
		header     http.Header
		body       string
		store      *memoryEvents
		status     int
		result     partner.Result
		stored     int
	}{
		"stored":              {"bank", good(), body, &memoryEvents{}, 204, partner.Stored, 1},
		"known":               {"bank", good(), body, stored(t, body), 204, partner.Stored, 1},
		"known, written anew": {"bank", signed(spaced), spaced, stored(t, body), 204, partner.Stored, 1},
		"id used again":       {"bank", signed(other), other, stored(t, body), 409, partner.Refused, 2},
		"4 minutes ago":       {"bank", sign(secret, now.Add(-4*time.Minute), body), body, &memoryEvents{}, 204, partner.Stored, 1},
		"6 minutes ago":       {"bank", sign(secret, now.Add(-6*time.Minute), body), body, &memoryEvents{}, 401, partner.Refused, 0},
		"in 6 minutes":        {"bank", sign(secret, now.Add(6*time.Minute), body), body, &memoryEvents{}, 401, partner.Refused, 0},
		"another secret":      {"bank", sign(anotherSecret, now, body), body, &memoryEvents{}, 401, partner.Refused, 0},
		"another body":        {"bank", good(), other, &memoryEvents{}, 401, partner.Refused, 0},
		"another time": {"bank", edited(signedmessage.TimestampHeader, strconv.FormatInt(now.Unix()+1, 10)), body, &memoryEvents{}, 401,
			partner.Refused, 0},
		"another id": {"bank", edited(signedmessage.IDHeader, "msg_2"), body, &memoryEvents{}, 401, partner.Refused, 0},
		"two signatures": {"bank", edited(signedmessage.SignatureHeader, good().Get(signedmessage.SignatureHeader), "v1,AAAA"), body,
			&memoryEvents{}, 401, partner.Refused, 0},
		"no headers":           {"bank", http.Header{}, body, &memoryEvents{}, 401, partner.Refused, 0},
		"no JSON":              {"bank", signed("x"), "x", &memoryEvents{}, 400, partner.Refused, 0},
		"not valid":            {"bank", signed(`{"id":"1"}`), `{"id":"1"}`, &memoryEvents{}, 400, partner.Refused, 0},
		"large":                {"bank", good(), strings.Repeat("x", 70_000), &memoryEvents{}, 413, partner.Refused, 0},
		"unknown connection":   {"other", good(), body, &memoryEvents{}, 404, partner.Refused, 0},
		"another adapter":      {"files", good(), body, &memoryEvents{}, 404, partner.Refused, 0},
		"connections are gone": {"down", good(), body, &memoryEvents{}, 503, partner.Failed, 0},
		"no secret":            {"secretless", good(), body, &memoryEvents{}, 503, partner.Failed, 0},
		"database is down":     {"bank", good(), body, &memoryEvents{err: down}, 503, partner.Failed, 0},
	} {
		log, logged := newLog()
		var result partner.Result
		callback := &partner.Callback{Secrets: portstest.Secrets{"file:/secret": secret}, Events: c.store, Clock: &worldClock{now: now}, Log: log,
			Received: func(r partner.Result) { result = r },
			Connection: func(_ context.Context, name string) (rail.Connection, error) {
				connection := bankRail("https://partner.example.com")
				switch name {
				case "bank":
				case "files":
					connection.Adapter = rail.BankFile
				case "secretless":
					connection.Settings["secret"] = "file:/gone"
				case "down":
					return connection, errors.New("database is down")
				default:
					return connection, fault.New(fault.NotImplemented, "There is no such connection.")
				}
				return connection, nil
			}}
		request := httptest.NewRequest(http.MethodPost, "/rails/partner/"+c.connection+"/events", strings.NewReader(c.body))
		request.SetPathValue("connection", c.connection)
		request.Header = c.header
		response := httptest.NewRecorder()

		callback.ServeHTTP(response, request)

		if response.Code != c.status || result != c.result || len(c.store.events) != c.stored {
			t.Errorf("%s: %d, %s, %d stored: %s; want %d, %s, %d", name, response.Code, result, len(c.store.events), response.Body, c.status,
				c.result, c.stored)
		}
		text := response.Body.String()
		if (c.status == 204) != (text == "") || strings.Contains(text+logged.String(), "DE89") ||
			strings.Contains(text+logged.String(), "whsec") || strings.Contains(text, "internals") {
			t.Errorf("%s: answered %q, logged %s", name, text, logged)
		}
		if (c.status == 503) != (response.Header().Get("Retry-After") != "") {
			t.Errorf("%s: Retry-After %q", name, response.Header().Get("Retry-After"))
		}
	}
}

// stored returns a store that has the event of a message.
func stored(t *testing.T, body string) *memoryEvents {
	t.Helper()
	e, err := partner.ParseEvent([]byte(body), now)
	if err != nil {
		t.Fatal(err)
	}
	store := &memoryEvents{}
	log, _ := newLog()
	r, err := partner.Open(partner.Config{Connection: bankRail("https://partner.example.com"), Secrets: portstest.Secrets{}, Events: store,
		Departures: &portstest.RailDepartures{}, Clock: &worldClock{now: now}, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	save(t, r, e)
	return store
}
