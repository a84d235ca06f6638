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
	lists := []string{"/ledger/accounts?limit=1", "/ledger/accounts/rails%2FACH/entries?currency=USD&limit=1", "/ledger/postings?limit=1", "/ledger/log/checkpoints?limit=1"}
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
