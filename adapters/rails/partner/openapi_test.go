package partner_test

import (
	"encoding/json"
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"causeway/adapters/rails/partner"
)

var update = flag.Bool("update", false, "write docs/partner-openapi.json")

const published = "../../../docs/partner-openapi.json"

func TestDescription_IsPublished(t *testing.T) {
	t.Parallel()
	// The file in docs is what the service serves, and is built from the types: rewrite it with -update.
	if *update {
		if err := os.WriteFile(published, partner.Description(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(published)
	if err != nil || string(text) != string(partner.Description()) {
		t.Errorf("%s differs from the types; run the test with -update (%v)", published, err)
	}
	response := httptest.NewRecorder()
	partner.ServeDescription(response, httptest.NewRequest(http.MethodGet, partner.DescriptionPath, nil))
	if response.Body.String() != string(text) || response.Header().Get("Content-Type") != "application/json" {
		t.Errorf("served %d bytes as %s", response.Body.Len(), response.Header().Get("Content-Type"))
	}
}

func TestDescription_HasEveryRequestAndRequiredField(t *testing.T) {
	t.Parallel()
	// Every request of the contract is described, and a field is required if it is always sent or needed.
	var d struct {
		Paths      map[string]map[string]any
		Webhooks   map[string]any
		Components struct {
			Schemas map[string]struct{ Required []string }
		}
	}
	if err := json.Unmarshal(partner.Description(), &d); err != nil {
		t.Fatal(err)
	}
	var requests []string
	for path, methods := range d.Paths {
		for method := range methods {
			requests = append(requests, strings.ToUpper(method)+" "+path)
		}
	}
	slices.Sort(requests)
	want := []string{"GET /balances", "GET /collections/{id}", "GET /events", "GET /health", "GET /payouts/{id}", "GET /refunds/{id}",
		"POST /collections", "POST /payouts", "POST /refunds"}
	if !slices.Equal(requests, want) || len(d.Webhooks) != 1 {
		t.Errorf("%v and %d webhooks, want %v", requests, len(d.Webhooks), want)
	}
	for name, want := range map[string][]string{
		"Payment": {"amount", "endToEndId", "id", "kind", "platformId", "rail"}, "State": {"amount", "id", "status"},
		"Event":  {"at", "id", "type"},
		"Amount": {"currency", "decimals", "minor"}, "EventPage": {"cursor", "events", "more"}, "ReceiptEvent": {"amount", "partnerId", "rail"},
		"Health": {"name"},
	} {
		required := d.Components.Schemas[name].Required
		slices.Sort(required)
		if !slices.Equal(required, want) {
			t.Errorf("%s requires %v, want %v", name, required, want)
		}
	}
}
