package api_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"causeway/adapters/http/api"
	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
)

func TestEvents_BulkUploadIsBounded(t *testing.T) {
	t.Parallel()
	// The body of an event has the first errors that fit into 256 kB, and the number of all. One with
	// few errors has them all.
	const limit = 256_000
	for _, c := range []struct {
		errors, fields int
		complete       bool
	}{{2, 3, true}, {1000, 1, true}, {1000, 10, false}} {
		i := customer.ImportWithErrors{Import: customer.Import{
			ID: ident.NewCustomerImport(idGenerator.New, noon), Platform: ident.NewPlatform(idGenerator.New, noon), Status: customer.ImportCompleted,
			Columns: []string{"city"}, Total: 5000, Successful: 5000 - c.errors, Failed: c.errors, CreatedAt: noon, CompletedAt: noon}}
		for n := range c.errors {
			refused := customer.ImportError{Row: n + 1, Line: n + 2, PlatformCustomerID: fmt.Sprint("<user>-", n), Code: fault.InvalidInput,
				Message: "The row is not valid."}
			for range c.fields {
				refused.Fields = append(refused.Fields, fault.Field{Field: "city", Message: "must be \"quoted\" & short"})
			}
			i.Errors = append(i.Errors, refused)
		}

		rendered, err := api.Events.Render(i.Event(ident.NewWebhook(idGenerator.New, noon)))

		var body struct {
			BulkUpload struct {
				Progress struct{ Failed int }
				Errors   []json.RawMessage
			}
		}
		if err != nil || json.Unmarshal(rendered.Body, &body) != nil {
			t.Fatalf("%.300s, %v", rendered.Body, err)
		}
		got := body.BulkUpload
		if len(rendered.Body) > limit || got.Progress.Failed != c.errors || (len(got.Errors) == c.errors) != c.complete {
			t.Errorf("%d errors: a body of %d bytes with %d of them, %d counted", c.errors, len(rendered.Body), len(got.Errors), got.Progress.Failed)
		}
		for n, e := range got.Errors {
			if !strings.Contains(string(e), fmt.Sprintf(`"row":%d,`, n+1)) {
				t.Fatalf("error %d: %s", n, e)
			}
		}
		if left := limit - len(rendered.Body); !c.complete && (len(got.Errors) == 0 || left > len(got.Errors[0])+100) {
			t.Errorf("%d errors: %d bytes are left for another one", c.errors, left)
		}
	}
}
