package e2e

import (
	"encoding/csv"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// listedPayments are payments of three in each minute, as rows alone, which are deleted before the ledger is checked.
const listedPayments = `
INSERT INTO transactions (platform_id, id, customer_id, direction, status, refund_status, stage, failure_reason, source_rail, source_account, destination_rail,
	destination_account, sent_currency, sent_minor, received_currency, received_minor, created_at, updated_at, source_uma, destination_uma, reference, details)
SELECT $1::uuid, (lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0') || '70008000' || lpad(to_hex(n), 12, '0'))::uuid, $2::uuid, 'OUTGOING',
	(ARRAY['COMPLETED', 'FAILED', 'EXPIRED', 'PROCESSING'])[1 + n % 4], '', '', '', 'ACH', '', 'ACH', '', CASE n % 3 WHEN 0 THEN 'EUR' ELSE 'USD' END, 100 + n,
	'USD', 100 + n, at, at, '', '', 'LISTED-' || n, ''
FROM (SELECT n, timestamptz '2026-03-10 12:00:00Z' + n * interval '20 seconds' AS at FROM generate_series(0, 179) n) listed`

var (
	linkedRow    = regexp.MustCompile(`aria-label="Payment ([0-9a-f-]{36})"`)
	olderPattern = regexp.MustCompile(`<a class="button" id="older" href="([^"]+)"[^>]*>Older payments`)
	countPattern = regexp.MustCompile(`<li><a href="[^"]*status=[A-Z]+[^"]*"[^>]*>([a-z]+) ([0-9]+)</a>`)
	filePattern  = regexp.MustCompile(`<a href="([^"]+)">Download as CSV`)
	savedPattern = regexp.MustCompile(`<a href="([^"]*/payments\?[^"]*)"[^>]*>Minutes of March`)
)

// readList returns the payments of all pages of a list, and its first page.
func (p *person) readList(path string) (ids []string, first string) {
	p.t.Helper()
	first = p.page(http.MethodGet, path, nil)
	for page := first; ; {
		for _, row := range linkedRow.FindAllStringSubmatch(page, -1) {
			ids = append(ids, row[1])
		}
		older := olderPattern.FindStringSubmatch(page)
		if older == nil {
			return ids, first
		}
		page = p.page(http.MethodGet, html.UnescapeString(older[1]), nil)
	}
}

func TestListOfPayments_FileAndCountsAreThoseOfTheList(t *testing.T) {
	t.Parallel()
	// With any filter, also one to the minute, the pages of the list, its file and its counts are of the same payments: those that the
	// database has. A saved filter leads to the same list.
	h := newTestEnv(t)
	platform := uuidOf(h.platformID)
	h.exec(listedPayments, platform, uuidOf(h.createCustomer()))
	t.Cleanup(func() { h.exec("DELETE FROM transactions WHERE reference LIKE 'LISTED-%'") })
	ana, base := h.invite("Ana", "VIEWER"), "/console/platforms/"+platform
	const minutes = "from=2026-03-10T12:07&to=2026-03-10T12:48"
	for query, where := range map[string]string{
		"": "true",
		"from=2026-03-10T12:07&to=2026-03-10T12:07": "created_at >= '2026-03-10T12:07Z' AND created_at < '2026-03-10T12:08Z'",
		minutes:                         "created_at >= '2026-03-10T12:07Z' AND created_at < '2026-03-10T12:49Z'",
		"to=2026-03-10T12:00":           "created_at < '2026-03-10T12:01Z'",
		"status=FAILED&" + minutes:      "status = 'FAILED' AND created_at >= '2026-03-10T12:07Z' AND created_at < '2026-03-10T12:49Z'",
		"currency=EUR&min=1.5&max=2.00": "sent_currency = 'EUR' AND sent_minor BETWEEN 150 AND 200",
		"reference=LISTED-7":            "reference = 'LISTED-7'",
		"from=2027-01-01T00:00":         "false",
	} {
		listed, first := ana.readList(base + "/payments?" + query)
		if n := h.queryInt("SELECT count(*) FROM transactions WHERE platform_id = $1 AND "+where, platform); n != int64(len(listed)) {
			t.Errorf("%q: %d payments are listed, and there are %d", query, len(listed), n)
		}
		for _, counted := range countPattern.FindAllStringSubmatch(first, -1) {
			rest := strings.TrimPrefix(where, "status = 'FAILED' AND ")
			n := h.queryInt("SELECT count(*) FROM transactions WHERE platform_id = $1 AND status = $2 AND "+rest, platform,
				strings.ToUpper(counted[1]))
			if counted[2] != strconv.FormatInt(n, 10) {
				t.Errorf("%q: %s %s are counted, and there are %d", query, counted[2], counted[1], n)
			}
		}
		if len(listed) == 0 {
			continue
		}
		file := html.UnescapeString(ana.find(filePattern, first))
		rows, err := csv.NewReader(strings.NewReader(ana.page(http.MethodGet, file, nil))).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		var filed []string
		for _, row := range rows[1:] {
			filed = append(filed, uuidOf(row[0]))
		}
		if !slices.Equal(filed, listed) {
			t.Errorf("%q: the file has %d payments %q\nand the list %d %q", query, len(filed), filed, len(listed), listed)
		}
	}

	page := ana.page(http.MethodGet, base+"/payments?"+minutes, nil)
	saved := ana.page(http.MethodPost, base+"/filters", url.Values{"csrf": {ana.find(tokenPattern, page)}, "name": {"Minutes of March"},
		"query": {minutes}})
	want, _ := ana.readList(base + "/payments?" + minutes)
	if got, _ := ana.readList(html.UnescapeString(ana.find(savedPattern, saved))); !slices.Equal(got, want) {
		t.Errorf("the saved filter lists %q, want %q", got, want)
	}
}
