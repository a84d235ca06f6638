package causeway

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"causeway/clients/go/api"
)

// answer is what a test server does with one attempt: a status and a body with headers, or nothing.
type answer struct {
	status int // 0 closes the connection, -1 never answers
	body   string
	header map[string]string
}

// attempt is a request as the server has received it.
type attempt struct {
	*http.Request
	body string
}

// clientOf returns a client of a server that gives these answers, the last one again and again, and the attempts that it
// has received.
func clientOf(t *testing.T, c Config, answers ...answer) (*Client, func() []attempt) {
	t.Helper()
	received := make(chan attempt, 100)
	var count atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		received <- attempt{r, string(body)}
		a := answers[min(int(count.Add(1)), len(answers))-1]
		switch a.status {
		case 0:
			panic(http.ErrAbortHandler)
		case -1:
			<-r.Context().Done()
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Request-Id", "request-1")
		for name, value := range a.header {
			w.Header().Set(name, value)
		}
		w.WriteHeader(a.status)
		_, _ = io.WriteString(w, a.body)
	}))
	t.Cleanup(server.Close)
	c.BaseURL, c.ClientID, c.ClientSecret = server.URL+"/2025-10-13", "id", "secret"
	client, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return client, func() []attempt {
		var all []attempt
		for len(received) > 0 {
			all = append(all, <-received)
		}
		return all
	}
}

func TestClient_LostPostIsSentAgainWithItsKey(t *testing.T) {
	t.Parallel()
	// A POST whose response is lost, or late, is sent again with the same key and body.
	client, attempts := clientOf(t, Config{Timeout: 50 * time.Millisecond}, answer{}, answer{status: -1}, answer{status: 201,
		body: `{"id":"Quote:1","exchangeRate":0.1234567890123456789012345678901234,"totalSendingAmount":9000000000000000}`})

	quote, err := client.CreateQuoteWithResponse(t.Context(), nil, api.QuoteRequest{LockedCurrencyAmount: 7})
	if err != nil {
		t.Fatal(err)
	}

	if got := quote.JSON201; got.ID != "Quote:1" || got.ExchangeRate != "0.1234567890123456789012345678901234" ||
		got.TotalSendingAmount != 9_000_000_000_000_000 {
		t.Errorf("the client read %+v", got)
	}
	all := attempts()
	if len(all) != 3 {
		t.Fatalf("%d attempts, want 3", len(all))
	}
	for _, a := range all {
		user, secret, _ := a.BasicAuth()
		if key := a.Header.Get("Idempotency-Key"); len(key) != 36 || key != all[0].Header.Get("Idempotency-Key") || a.body != all[0].body ||
			!strings.Contains(a.body, `"lockedCurrencyAmount":7`) || user != "id" || secret != "secret" {
			t.Errorf("key %q, body %s, credentials %s:%s", key, a.body, user, secret)
		}
	}
}

func TestClient_UsesGivenKey(t *testing.T) {
	t.Parallel()
	// The key of the params is used.
	client, attempts := clientOf(t, Config{}, answer{status: 200, body: "{}"})
	key := "mine"
	if _, err := client.ExecuteQuoteWithResponse(t.Context(), "Quote:1", &api.ExecuteQuoteParams{IdempotencyKey: &key},
		api.ExecuteQuoteJSONRequestBody{}); err != nil {
		t.Fatal(err)
	}
	if got := attempts()[0].Header.Get("Idempotency-Key"); got != key {
		t.Errorf("the key is %q", got)
	}
}

func TestClient_UnkeyedIsNotRepeated(t *testing.T) {
	t.Parallel()
	// What the service does not know as a repetition is not sent again when the response is lost.
	client, attempts := clientOf(t, Config{}, answer{})
	_, redeemed := client.RedeemAgentDeviceCodeWithResponse(t.Context(), "AGENT-1")
	_, deleted := client.DeleteTokenByIDWithResponse(t.Context(), "Token:1")
	var lost *ConnectionError
	if !errors.As(redeemed, &lost) || !errors.As(deleted, &lost) {
		t.Errorf("errors %v and %v", redeemed, deleted)
	}
	if all := attempts(); len(all) != 2 || all[0].Header.Get("Idempotency-Key")+all[1].Header.Get("Idempotency-Key") != "" {
		t.Errorf("%d attempts", len(all))
	}
}

func TestClient_RefusalIsTyped(t *testing.T) {
	t.Parallel()
	// A refusal has everything that the service says, and is not sent again. A proxy's page is an error with its status.
	client, attempts := clientOf(t, Config{}, answer{status: 400, header: map[string]string{"x-should-retry": "false"},
		body: `{"status":400,"code":"INVALID_INPUT","message":"One field.","details":{"max":9000000000000001,
			"errors":[{"field":"limit","message":"is required"}]}}`},
		answer{status: 404, body: "<html>"})

	_, err := client.GetPlatformConfigWithResponse(t.Context())
	var refused *Error
	if !errors.As(err, &refused) || refused.Status != 400 || refused.Code != string(api.Error400CodeINVALIDINPUT) || refused.Retryable ||
		refused.RequestID != "request-1" || len(refused.Fields) != 1 || refused.Fields[0].Field != "limit" ||
		refused.Details["max"] != json.Number("9000000000000001") ||
		err.Error() != "GET /2025-10-13/config: 400 INVALID_INPUT: One field." {
		t.Errorf("error %+v", err)
	}
	_, err = client.GetPlatformConfigWithResponse(t.Context())
	if !errors.As(err, &refused) || refused.Code != "UNKNOWN" || refused.Status != 404 {
		t.Errorf("error %+v", err)
	}
	if n := len(attempts()); n != 2 {
		t.Errorf("%d attempts, want 2", n)
	}
}

func TestClient_RetriesEnd(t *testing.T) {
	t.Parallel()
	// Retries end by their number, when Retry-After is beyond the deadline, and with the context of the caller.
	busy := answer{status: 503, body: `{"code":"SERVICE_UNAVAILABLE"}`, header: map[string]string{"x-should-retry": "true"}}
	client, attempts := clientOf(t, Config{MaxRetries: 1}, busy)
	var refused *Error
	if _, err := client.UpdatePlatformConfigWithResponse(t.Context(), api.PlatformConfigUpdateRequest{}); !errors.As(err, &refused) ||
		!refused.Retryable || len(attempts()) != 2 {
		t.Errorf("error %v", err)
	}

	limited := answer{status: 429, body: `{"code":"RATE_LIMITED"}`, header: map[string]string{"Retry-After": "61"}}
	client, attempts = clientOf(t, Config{}, limited)
	if _, err := client.GetPlatformConfigWithResponse(t.Context()); !errors.As(err, &refused) || len(attempts()) != 1 {
		t.Errorf("error %v", err)
	}

	client, attempts = clientOf(t, Config{}, answer{status: -1})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := client.GetPlatformConfigWithResponse(ctx); !errors.Is(err, context.DeadlineExceeded) || len(attempts()) != 1 {
		t.Errorf("error %v", err)
	}
}

func TestIsRetryable_ServiceDecides(t *testing.T) {
	t.Parallel()
	// The service decides what is sent again, and the status where a proxy answers.
	for _, c := range []struct {
		status     int
		code, said string
		want       bool
	}{
		{409, "IDEMPOTENCY_KEY_IN_USE", "", true}, {429, "RATE_LIMITED", "", true}, {429, "DAILY_VOLUME_LIMIT_EXCEEDED", "false", false},
		{502, "UNKNOWN", "", true}, {503, "UNKNOWN", "", true},
		{409, "CONFLICT", "", false}, {400, "INVALID_INPUT", "", false}, {501, "NOT_IMPLEMENTED", "", false},
		{409, "CONFLICT", "true", true}, {503, "SERVICE_UNAVAILABLE", "false", false},
	} {
		if got := isRetryable(c.status, c.code, c.said); got != c.want {
			t.Errorf("%+v: %t", c, got)
		}
	}
}

func TestBackoff_DoublesUpToEightSeconds(t *testing.T) {
	t.Parallel()
	// The delay doubles up to eight seconds, less up to a half.
	for retry, want := range map[int]time.Duration{0: 500 * time.Millisecond, 1: time.Second, 4: 8 * time.Second, 90: 8 * time.Second} {
		if longest, shortest := backoff(retry, 0), backoff(retry, 1); longest != want || shortest != want/2 {
			t.Errorf("retry %d: %s to %s", retry, shortest, longest)
		}
	}
}

func TestAll_ReadsPagesAsNeeded(t *testing.T) {
	t.Parallel()
	// Pages are read one by one, and no further than the caller goes. An error ends the list.
	second, failure := "second", errors.New("no third page")
	var cursors []string
	list := All(func(cursor *string) ([]int, *string, error) {
		if cursor == nil {
			cursors = append(cursors, "")
			return []int{1, 2}, &second, nil
		}
		cursors = append(cursors, *cursor)
		return nil, nil, failure
	})
	for item, err := range list {
		if item != 1 || err != nil {
			t.Errorf("item %d, %v", item, err)
		}
		break
	}
	if !slices.Equal(cursors, []string{""}) {
		t.Errorf("cursors %q", cursors)
	}
	var items []int
	var last error
	for item, err := range list {
		if last = err; err == nil {
			items = append(items, item)
		}
	}
	if !slices.Equal(items, []int{1, 2}) || !errors.Is(last, failure) || !slices.Equal(cursors, []string{"", "", second}) {
		t.Errorf("items %d, cursors %q, %v", items, cursors, last)
	}
}

func TestNew_NeedsOneKindOfCredentials(t *testing.T) {
	t.Parallel()
	// A client has a token or an access token.
	for _, c := range []Config{{}, {ClientID: "id"}, {ClientID: "id", ClientSecret: "secret", AccessToken: "token"}} {
		if _, err := New(c); err == nil {
			t.Errorf("%+v is accepted", c)
		}
	}
}
