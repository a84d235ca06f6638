package provider_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sirupsen/logrus"

	"causeway/adapters/identity/provider"
	"causeway/app/customers"
	"causeway/core/fault"
	"causeway/core/verification"
	"causeway/ports"
	"causeway/ports/portstest"
)

const (
	secret    = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
	oldSecret = "whsec_ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8="
	another   = "whsec_QEFCQ0RFRkdISUpLTE1OT1BRUlNUVVZXWFlaW1xdXl8="
)

// reports are the decisions that were applied, which may fail.
type reports struct {
	applied   []customers.ReportedDecision
	unchanged bool
	err       error
}

func (r *reports) Report(ctx context.Context, d customers.ReportedDecision) (bool, error) {
	if scope, ok := ports.ScopeOf(ctx); !ok || scope.Platform != d.Platform {
		return false, errors.New("the context has another platform")
	}
	r.applied = append(r.applied, d)
	return !r.unchanged && r.err == nil, r.err
}

// sign returns the headers of a message.
func sign(t *testing.T, secret, id string, at time.Time, body string) http.Header {
	t.Helper()
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		t.Fatal(err)
	}
	timestamp := strconv.FormatInt(at.Unix(), 10)
	mac := hmac.New(sha256.New, key)
	_, _ = io.WriteString(mac, id+"."+timestamp+"."+body)
	h := http.Header{}
	h.Set("webhook-id", id)
	h.Set("webhook-timestamp", timestamp)
	h.Set("webhook-signature", "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	return h
}

func TestCallback_AcceptsAndRefuses(t *testing.T) {
	t.Parallel()
	// A message is applied if one of the secrets signed it within five minutes; with anything changed it
	// is refused before the decision is read. Secrets and personal data are in no response.
	secrets, err := provider.ParseSecrets(secret + ",\n" + oldSecret)
	if err != nil {
		t.Fatal(err)
	}
	a := portstest.IdentityApplications()[2]
	body := `{"id": "` + a.ID.String() + `", "platformId": "` + a.Platform.String() + `", "subjectId": "` + a.Owner.ID.String() +
		`", "status": "APPROVED", "later": 1}`
	good := func() http.Header { return sign(t, secret, "msg_1", now, body) }
	edited := func(name, value string) http.Header {
		h := good()
		h.Set(name, value)
		return h
	}
	signed := func(body string) http.Header { return sign(t, secret, "msg_1", now, body) }
	for name, c := range map[string]struct {
		header http.Header
		body   string
		stored reports
		status int
		result provider.Result
	}{
		"applied":    {good(), body, reports{}, 204, provider.Applied},
		"old secret": {sign(t, oldSecret, "msg_1", now, body), body, reports{}, 204, provider.Applied},
		"several": {edited("webhook-signature", "v1a,AAAA v1,AAAA "+good().Get("webhook-signature")), body, reports{},
			204, provider.Applied},
		"4 minutes ago":   {sign(t, secret, "msg_1", now.Add(-4*time.Minute), body), body, reports{}, 204, provider.Applied},
		"unchanged":       {good(), body, reports{unchanged: true}, 204, provider.Unchanged},
		"another secret":  {sign(t, another, "msg_1", now, body), body, reports{}, 401, provider.Refused},
		"6 minutes ago":   {sign(t, secret, "msg_1", now.Add(-6*time.Minute), body), body, reports{}, 401, provider.Refused},
		"in 6 minutes":    {sign(t, secret, "msg_1", now.Add(6*time.Minute), body), body, reports{}, 401, provider.Refused},
		"another id":      {edited("webhook-id", "msg_2"), body, reports{}, 401, provider.Refused},
		"another time":    {edited("webhook-timestamp", strconv.FormatInt(now.Unix()+1, 10)), body, reports{}, 401, provider.Refused},
		"another body":    {good(), body + " ", reports{}, 401, provider.Refused},
		"no signature":    {edited("webhook-signature", ""), body, reports{}, 401, provider.Refused},
		"no id":           {edited("webhook-id", ""), body, reports{}, 401, provider.Refused},
		"id with a space": {sign(t, secret, "msg 1", now, body), body, reports{}, 401, provider.Refused},
		"long id":         {sign(t, secret, strings.Repeat("x", 257), now, body), body, reports{}, 401, provider.Refused},
		"no headers":      {http.Header{}, body, reports{}, 401, provider.Refused},
		"two ids": {http.Header{"Webhook-Id": {"msg_1", "msg_2"}, "Webhook-Timestamp": good()["Webhook-Timestamp"],
			"Webhook-Signature": good()["Webhook-Signature"]}, body, reports{}, 401, provider.Refused},
		"large":   {good(), strings.Repeat("x", 70_000), reports{}, 413, provider.Refused},
		"no JSON": {signed("APPROVED"), "APPROVED", reports{}, 400, provider.Refused},
		"no ids":  {signed(`{"status": "APPROVED"}`), `{"status": "APPROVED"}`, reports{}, 400, provider.Refused},
		"unknown status": {signed(strings.Replace(body, "APPROVED", "FINE", 1)), strings.Replace(body, "APPROVED", "FINE", 1), reports{},
			400, provider.Refused},
		"unknown owner":     {good(), body, reports{err: fault.New(fault.BeneficialOwnerNotFound, "There is none.")}, 404, provider.Refused},
		"wrong resource":    {good(), body, reports{err: fault.Invalid(fault.Field{Field: "errors", Message: "no"})}, 400, provider.Refused},
		"database is down":  {good(), body, reports{err: ports.ErrStoreUnavailable}, 503, provider.Failed},
		"unexpected errors": {good(), body, reports{err: errors.New("internals of Ana Ng")}, 503, provider.Failed},
	} {
		log := logrus.New()
		log.SetOutput(io.Discard)
		var result provider.Result
		stored := c.stored
		callback := &provider.Callback{Secrets: secrets, Decisions: &stored, Clock: fixedClock(now), Log: log,
			Received: func(r provider.Result) { result = r }}
		request := httptest.NewRequest(http.MethodPost, provider.CallbackPath, strings.NewReader(c.body))
		request.Header = c.header
		response := httptest.NewRecorder()

		callback.ServeHTTP(response, request)

		if response.Code != c.status || result != c.result {
			t.Errorf("%s: %d, %s: %s; want %d, %s", name, response.Code, result, response.Body, c.status, c.result)
		}
		if text := response.Body.String(); (c.status == 204) != (text == "") || strings.Contains(text, "Ana") || strings.Contains(text, "whsec") {
			t.Errorf("%s: body %q", name, text)
		}
		if (c.status == 503) != (response.Header().Get("Retry-After") != "") {
			t.Errorf("%s: Retry-After %q", name, response.Header().Get("Retry-After"))
		}
		if name == "applied" {
			d := stored.applied[0]
			if d.Message != "msg_1" || d.Application != a.ID || d.Platform != a.Platform || d.Subject.Owner != a.Owner.ID ||
				d.Verdict != verification.Accepted {
				t.Errorf("applied %+v", d)
			}
		} else if c.status == 401 && len(stored.applied) > 0 {
			t.Errorf("%s: applied %+v", name, stored.applied)
		}
	}
}

func TestParseSecrets(t *testing.T) {
	t.Parallel()
	// Secrets have the format of Standard Webhooks, and there are a few of them at most.
	for text, want := range map[string]int{
		secret: 1, secret + "," + oldSecret: 2, " " + secret + "\n" + oldSecret + "\n": 2,
		"": 0, "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=": 0, "whsec_": 0, "whsec_c2hvcnQ=": 0, "whsec_???": 0,
		secret + ",x": 0, strings.Repeat(secret+",", 9): 0,
	} {
		got, err := provider.ParseSecrets(text)
		if len(got) != want || (err == nil) != (want > 0) {
			t.Errorf("%q: %d secrets, %v; want %d", text, len(got), err, want)
		}
	}
}
