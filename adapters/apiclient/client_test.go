package apiclient

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestClient_SendsAndReads(t *testing.T) {
	t.Parallel()
	// A request has credentials, key and body; a response is decoded; a status that is not
	// 2xx is an error with code and message; a body that breaks off is an error.
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id, secret, _ := r.BasicAuth()
		body, _ := io.ReadAll(r.Body)
		switch {
		case id+secret != "idsecret":
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = w.Write([]byte(`{"code":"UNAUTHORIZED","message":"Unknown client id."}`))
		case r.URL.Path == "/broken":
			w.Header().Set("Content-Length", "100")
			_, _ = w.Write([]byte("a,b\n"))
		case r.URL.Path == "/file":
			_, _ = w.Write([]byte(r.Header.Get("Content-Type") + r.Header.Get("Idempotency-Key") + string(body)))
		case r.Method == http.MethodPost && r.Header.Get("Content-Type") == "application/json":
			_, _ = w.Write(body)
		default:
			http.Error(w, "no such thing", http.StatusBadRequest)
		}
	}))
	defer service.Close()
	c := &Client{BaseURL: service.URL, ClientID: "id", ClientSecret: "secret"}

	var result struct{ Name string }
	if err := c.Call(t.Context(), "POST", "/x", map[string]any{"name": "Ada"}, &result); err != nil || result.Name != "Ada" {
		t.Errorf("%v, %v", result, err)
	}
	sent, err := c.Do(t.Context(), Request{Method: "POST", Path: "/file", Body: []byte("x"), ContentType: "text/csv", IdempotencyKey: "-key-"})
	if err != nil || sent.Status != 200 || string(sent.Body) != "text/csv-key-x" || sent.Duration <= 0 {
		t.Errorf("%+v, %v", sent, err)
	}
	if _, err := c.Do(t.Context(), Request{Method: "GET", Path: "/broken"}); err == nil {
		t.Error("a body that breaks off is no error")
	}
	if err := c.Call(t.Context(), "GET", "/x", nil, nil); err == nil || !strings.Contains(err.Error(), "no such thing") {
		t.Errorf("got %v; want the response", err)
	}
	var refused *Error
	if err := (&Client{BaseURL: service.URL}).Call(t.Context(), "GET", "/x", nil, nil); !errors.As(err, &refused) || refused.Status != 401 ||
		refused.Code != "UNAUTHORIZED" {
		t.Errorf("got %v", err)
	}
}

func TestText_Paths(t *testing.T) {
	t.Parallel()
	// A path leads through names and positions; numbers stay as they were written.
	document, err := ParseJSON([]byte(`{"data":[{"id":"a","rate":10.00000000001,"on":true}]}`))
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"data.0.id": "a", "data.0.rate": "10.00000000001", "data.0.on": "true", "data": "", "data.1.id": "", "data.x": "",
		"data.0.id.x": "", "none": "",
	} {
		if got := Text(document, path); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}
