package api_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
)

func TestLedgerLists_RejectOtherCursors(t *testing.T) {
	t.Parallel()
	// Each list of the ledger accepts its own cursors and refuses those of other lists and
	// times in the future.
	a := newAuditor(t)
	for range 2 {
		a.postDeposits(2)
		a.seal()
	}
	lists := []string{"/ledger/accounts?limit=1", "/ledger/accounts/rails%2FACH/entries?currency=USD&limit=1", "/ledger/postings?limit=1",
		"/ledger/log/checkpoints?limit=1"}
	cursors := map[string]string{}
	for _, list := range lists {
		if cursors[list] = a.must(200, "GET", list, "").stringAt("nextCursor"); cursors[list] == "" {
			t.Fatalf("%s has one page", list)
		}
	}

	for _, list := range lists {
		for of, cursor := range cursors {
			want := 400
			if of == list {
				want = 200
			}
			got := a.send(http.MethodGet, list+"&cursor="+url.QueryEscape(cursor), "")
			if got.status != want || want == 400 && !strings.Contains(got.rawBody, `"field":"cursor"`) {
				t.Errorf("%s with the cursor of %s: %d %s, want %d", list, of, got.status, got.rawBody, want)
			}
		}
	}
	a.must(400, "GET", "/ledger/periods/2026-02?cursor="+cursors["/ledger/postings?limit=1"], "")
	for _, list := range lists[1:3] {
		bad := a.must(400, "GET", list+"&by=x&sortOrder=up&from=2026-03-14T00:00:00Z&to=2026-03-13T00:00:00Z", "").invalidFields()
		slices.Sort(bad)
		if want := []string{"by", "sortOrder", "to"}; !slices.Equal(bad, want) {
			t.Errorf("%s: bad fields %v, want %v", list, bad, want)
		}
		got := a.send(http.MethodGet, list+"&from=2026-03-14T12:00:01Z&to=2026-03-15T00:00:00Z", "")
		if got.status != 400 || strings.Count(got.rawBody, "must not be in the future") != 2 {
			t.Errorf("%s of the future: %d %s", list, got.status, got.rawBody)
		}
	}
}

func TestLedgerLists_TimeRangeIsHalfOpen(t *testing.T) {
	t.Parallel()
	// A range includes its start and excludes its end, so that consecutive ranges have every posting
	// once.
	a := newAuditor(t)
	a.postDeposits(2) // effective at noon
	const before, at, after = "from=2026-03-14T11:00:00Z&to=2026-03-14T11:59:59.999Z", "from=2026-03-14T11:00:00Z&to=2026-03-14T12:00:00Z",
		"from=2026-03-14T12:00:00Z&to=2026-03-14T12:00:00.001Z"
	for _, list := range []string{"/ledger/accounts/rails%2FACH/entries?currency=USD&by=effective&", "/ledger/postings?by=effective&"} {
		for span, want := range map[string]int{before: 0, at: 0, after: 2} {
			if got := strings.Count(a.must(200, "GET", list+span, "").rawBody, `"kind":"deposit"`); got != want {
				t.Errorf("%s%s: %d items, want %d", list, span, got, want)
			}
		}
	}
	for span, want := range map[string]bool{at: false, after: true} {
		report := a.must(200, "GET", "/ledger/trial-balance?by=effective&"+span, "")
		if got := strings.Contains(report.rawBody, `"debits":200`); got != want {
			t.Errorf("trial balance of %s: %s", span, report.rawBody)
		}
	}
	if end := a.must(200, "GET", "/ledger/trial-balance?by=effective&"+at, "").stringAt("to"); end != "2026-03-14T12:00:00.000Z" {
		t.Errorf("the report ends at %s", end)
	}
	for _, list := range []string{"/ledger/postings?", "/ledger/trial-balance?"} {
		a.must(400, "GET", list+"from=2026-03-14T12:00:00Z&to=2026-03-14T12:00:00Z", "")
	}
}
