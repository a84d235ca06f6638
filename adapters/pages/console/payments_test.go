package console

import (
	"encoding/csv"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"golang.org/x/net/html"

	"causeway/app/accounting"
	"causeway/core/event"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/period"
	"causeway/core/person"
	"causeway/core/transaction"
	"causeway/ports"
)

func TestFilter_OfPayments(t *testing.T) {
	t.Parallel()
	// Every field of the filter selects what it says: times to the minute, of which the last is part, and amounts exactly. An id of
	// the service is told from one of the platform.
	s := newSite(t).as(person.Grant{Role: person.Viewer})
	for query, want := range map[string]ports.TransactionFilter{
		"":                      {},
		"status=FAILED":         {Statuses: []transaction.Status{transaction.Failed}},
		"type=INCOMING":         {Type: transaction.Incoming},
		"from=2026-03-14T09:30": {Created: period.Interval{From: time.Date(2026, 3, 14, 9, 30, 0, 0, time.UTC)}},
		"to=2026-03-14T09:30":   {Created: period.Interval{To: time.Date(2026, 3, 14, 9, 31, 0, 0, time.UTC)}},
		"from=2026-03-14T09:30&to=2026-03-14T09:30": {Created: period.Interval{From: time.Date(2026, 3, 14, 9, 30, 0, 0, time.UTC),
			To: time.Date(2026, 3, 14, 9, 31, 0, 0, time.UTC)}},
		"currency=usd":                       {Amounts: ports.AmountFilter{Currency: "USD"}},
		"currency=USD&min=0.01":              {Amounts: ports.AmountFilter{Currency: "USD", Min: 1}},
		"currency=USD&min=100&max=100.10":    {Amounts: ports.AmountFilter{Currency: "USD", Min: 100_00, Max: 100_10}},
		"currency=JPY&max=7":                 {Amounts: ports.AmountFilter{Currency: "JPY", Max: 7}},
		"currency=BTC&min=0.00000001":        {Amounts: ports.AmountFilter{Currency: "BTC", Min: 1}},
		"currency=USD&min=89999999999999.99": {Amounts: ports.AmountFilter{Currency: "USD", Min: 89999999999999_99}},
		"reference=+CWREF123+":               {Reference: "CWREF123"},
		"account=$ana@bank.example":          {Account: "$ana@bank.example"},
		"customer=" + customerID.String():    {Customer: customerID},
		"customer=customer-7":                {PlatformCustomerID: "customer-7"},
		"status=PENDING&type=OUTGOING&reference=a": {Statuses: []transaction.Status{transaction.Pending}, Type: transaction.Outgoing,
			Reference: "a"},
	} {
		want.Paging = ports.Paging{Limit: pageSize, WithoutTotal: true}
		s.payments.filters = nil
		got := s.get(base + "/payments?" + strings.ReplaceAll(query, "$", "%24"))
		if got.StatusCode != http.StatusOK || len(s.payments.filters) != 1 || !reflect.DeepEqual(s.payments.filters[0], want) {
			t.Errorf("%s: %d, %+v, want %+v", query, got.StatusCode, s.payments.filters, want)
		}
	}
}

func TestFilter_NamesEveryBadField(t *testing.T) {
	t.Parallel()
	// Each field that cannot be read is named, all at once; nothing is listed, and what was entered stays.
	s := newSite(t).fill().as(person.Grant{Role: person.Viewer})
	for query, want := range map[string][]string{
		"status=DONE": {"DONE is not a status."}, "type=UP": {"UP is not a direction."},
		"from=yesterday": {"From must be a date and a time"}, "to=2026-13-01T00:00": {"To must be a date and a time"},
		"from=2026-03-14T09:30&to=2026-03-14T09:29": {"From must not be after To."},
		"currency=XXX":        {"XXX is not a currency"},
		"min=1":               {"An amount needs its currency."},
		"max=1":               {"An amount needs its currency."},
		"currency=USD&min=0":  {"The smallest amount must be between 0.01 and "},
		"currency=USD&min=-1": {"The smallest amount must be between 0.01 and "},
		"currency=USD&max=1.005": {"The largest amount must be between 0.01 and 90000000000000.00 and have at most 2 " +
			"decimals"},
		"currency=JPY&max=1.5": {"The largest amount must be between 1 and 9000000000000000 and have " +
			"at most 0 decimals"},
		"currency=USD&min=1e3":                                     {"The smallest amount"},
		"currency=USD&min=1,5":                                     {"The smallest amount"},
		"currency=USD&min=99999999999999999999":                    {"The smallest amount"},
		"currency=USD&min=2&max=1":                                 {"The smallest amount must not be above the largest."},
		"status=DONE&type=UP&from=a&to=b&currency=USD&min=x&max=y": {"DONE", "UP", "From", "To", "The smallest", "The largest"},
	} {
		s.payments.filters = nil
		got := s.get(base + "/payments?" + query)
		for _, text := range want {
			if !strings.Contains(got.body, text) {
				t.Errorf("%s: no %q in %s", query, text, got.body)
			}
		}
		download := s.get(base + "/payments.csv?" + query)
		if got.StatusCode != http.StatusUnprocessableEntity || download.StatusCode != http.StatusUnprocessableEntity ||
			len(s.payments.filters) > 0 ||
			!strings.Contains(download.body, want[0]) {
			t.Errorf("%s: %d, as a file %d, filters %v\n%s", query, got.StatusCode, download.StatusCode, s.payments.filters, download.body)
		}
	}
	got := s.get(base + "/payments?status=FAILED&currency=usd&min=x&reference=a+b&from=2026-03-14T09:30")
	for _, n := range append(got.elements("input"), got.elements("option")...) {
		value := attribute(n, "value")
		want, known := map[string]string{"currency": "USD", "min": "x", "reference": "a b", "from": "2026-03-14T09:30"}[attribute(n,
			"name")]
		isSelected := slices.ContainsFunc(n.Attr, isSelectedAttribute)
		if known && value != want || n.Data == "option" && isSelected != (value == "FAILED") && value != "" {
			t.Errorf("%s %s has %q, selected %v", n.Data, attribute(n, "name"), value, isSelected)
		}
	}
}

// many returns payments with numbers, newest first.
func many(n int) []transaction.Transaction {
	all := make([]transaction.Transaction, n)
	for i := range all {
		all[i] = newPayment()
		all[i].ID.SetUUID(uuid.UUID{0: 2, 14: byte((n - i) >> 8), 13: byte((n - i) >> 16), 15: byte(n - i)})
		all[i].Reference = "R" + strconv.Itoa(n-i)
	}
	return all
}

func TestPayments_Paging(t *testing.T) {
	t.Parallel()
	// The links to older payments lead through the whole list, each payment once, with the same filter. One that was changed by hand
	// begins with the newest.
	s := newSite(t).as(person.Grant{Role: person.Viewer})
	s.payments.all = many(2*pageSize + 7)
	var seen []string
	for at := base + "/payments?status=FAILED"; at != ""; {
		got := s.get(at)
		at = ""
		for _, n := range got.elements("a") {
			href := attribute(n, "href")
			if strings.HasPrefix(attribute(n, "aria-label"), "Payment ") {
				seen = append(seen, href)
			}
			if strings.Contains(href, "after=") && !strings.Contains(href, ".csv") {
				at = href
			}
			if strings.Contains(href, ".csv") && (strings.Contains(href, "after") || !strings.Contains(href, "status=FAILED")) {
				t.Errorf("the list is downloaded from %s", href)
			}
		}
		if last := s.payments.filters[len(s.payments.filters)-1]; !slices.Equal(last.Statuses, []transaction.Status{transaction.Failed}) {
			t.Errorf("a page has the filter %+v", last)
		}
	}
	if len(seen) != len(s.payments.all) || len(slices.Compact(slices.Clone(seen))) != len(seen) || !strings.Contains(seen[0],
		s.payments.all[0].ID.UUID().String()) {
		t.Errorf("%d links to payments, %d of them different", len(seen), len(slices.Compact(seen)))
	}
	if got := s.get(base + "/payments?after=x"); got.StatusCode != http.StatusOK ||
		s.payments.filters[len(s.payments.filters)-1].After != (uuid.UUID{}) {
		t.Errorf("after=x: %d", got.StatusCode)
	}
}

func TestPayments_DownloadIsTheList(t *testing.T) {
	t.Parallel()
	// The file has every payment of the list, in its order, with exact amounts, and nothing that a spreadsheet takes for a formula.
	// A list that is too long is refused.
	s := newSite(t).as(person.Grant{Role: person.Viewer})
	s.payments.all = append([]transaction.Transaction{newPayment(), newIncoming()}, many(2500)...)
	s.payments.all[0].Reference, s.payments.all[0].PlatformCustomerID = "=1+1", `@a"b`
	got := s.get(base + "/payments.csv?reference=")
	if got.Header.Get("Content-Type") != "text/csv; charset=utf-8" || !strings.Contains(got.Header.Get("Content-Disposition"),
		"attachment") {
		t.Errorf("headers %v", got.Header)
	}
	rows, err := csv.NewReader(strings.NewReader(got.body)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []map[string]string{
		{"id": paymentID.String(), "created_at_utc": "2026-03-14T09:30:15Z", "type": "OUTGOING", "status": "FAILED",
			"refund_status": "PENDING", "sent": "100.50",
			"sent_currency": "USD", "received": "0.00123456", "received_currency": "BTC", "fees": "1.05", "reference": "'=1+1",
			"customer_id":          customerID.String(),
			"platform_customer_id": `'@a"b`, "failure_reason": "LIGHTNING_PAYMENT_FAILED", "settled_at_utc": "2026-03-14T09:31:15Z"},
		{"id": newIncoming().ID.String(), "created_at_utc": "2026-03-14T09:30:15Z", "type": "INCOMING", "status": "COMPLETED",
			"received":          "7.00",
			"received_currency": "USD", "customer_id": ownPlatform.String()},
	} {
		for n, column := range rows[0] {
			if rows[i+1][n] != want[column] {
				t.Errorf("line %d: %s is %q, want %q", i+1, column, rows[i+1][n], want[column])
			}
		}
	}
	for i, payment := range s.payments.all {
		if len(rows) != len(s.payments.all)+1 || rows[i+1][0] != payment.ID.String() {
			t.Fatalf("%d lines; line %d is not payment %s", len(rows), i+1, payment.ID)
		}
	}
	s.payments.all = many(maxDownload)
	if got := s.get(base + "/payments.csv"); got.StatusCode != http.StatusOK || strings.Count(got.body, "\n") != maxDownload+1 {
		t.Errorf("as long as a list may be: %d", got.StatusCode)
	}
	s.payments.all = many(maxDownload + 1)
	if got := s.get(base + "/payments.csv"); got.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(got.body, "too long") {
		t.Errorf("longer: %d", got.StatusCode)
	}
}

func TestPayments_AmountsAreExact(t *testing.T) {
	t.Parallel()
	// Amounts have all decimals of their currency, also such as no float has.
	for minor, want := range map[int64]string{1: "0.01", 90071992547409_93: "90071992547409.93",
		9223372036854775807: "92233720368547758.07"} {
		s := newSite(t).fill().as(person.Grant{Role: person.Viewer})
		s.payments.all[0].Pricing.Sent = usd(minor)
		s.accounting.timeline.Transaction.Pricing.Sent = usd(minor)
		s.accounting.posting.Entries[0].Amount = minor
		s.accounting.balance.Lines[0].Debits = money.TotalOf(minor)
		s.accounting.entries.Entries[0].Amount = minor
		for _, path := range []string{"", "/payments", "/payments/" + paymentID.UUID().String(), "/payments.csv", "/postings/" +
			postingID.String(),
			"/trial-balance", "/entries?path=income/fees&currency=USD"} {
			if got := s.get(base + path); !strings.Contains(got.body, want) {
				t.Errorf("%s: no %s in %s", path, want, got.body)
			}
		}
	}
}

func TestPayments_CountsBesideFilter(t *testing.T) {
	t.Parallel()
	// Each status has the number of payments that the rest of the filter selects, and leads to them; a number that was not counted to
	// the end says so.
	s := newSite(t).fill().as(person.Grant{Role: person.Viewer})
	for query, want := range map[string]string{
		"":                            "*all|pending 0|pending authorization 0|processing 0|completed 1|failed 1|expired 0",
		"status=FAILED&type=OUTGOING": "all|pending 0|pending authorization 0|processing 0|completed 1|*failed 1|expired 0",
		"currency=USD&after=x":        "*all|pending 0+|pending authorization 0+|processing 0+|completed 1+|failed 1+|expired 0+",
	} {
		got := s.get(base + "/payments?" + query)
		var names []string
		for _, list := range got.elements("ul") {
			if attribute(list, "class") != "counts" {
				continue
			}
			for n := range list.Descendants() {
				if n.Type != html.ElementNode || n.Data != "a" {
					continue
				}
				name := n.FirstChild.Data
				if attribute(n, "aria-current") != "" {
					name = "*" + name
				}
				names = append(names, name)
				to := attribute(n, "href")
				if strings.Contains(to, "after=") || query != "" && !strings.Contains(to, strings.Split(query, "&")[0][:4]) {
					t.Errorf("%s: %s leads to %s", query, name, to)
				}
			}
		}
		if strings.Join(names, "|") != want {
			t.Errorf("%s: %q, want %q", query, names, want)
		}
	}
}

func TestPayment_StatesThroughTime(t *testing.T) {
	t.Parallel()
	// The page of a payment has the states that it has come to, whether a webhook was sent or not. Where the events were deleted with age,
	// it has what the payment itself records.
	s := newSite(t).fill().as(person.Grant{Role: person.Support})
	path := base + "/payments/" + paymentID.UUID().String()
	at, sent := newDelivery(), newDelivery()
	at.Name, at.Status = event.OutgoingPaymentProcessing, event.Unsent
	s.accounting.timeline.Events = nil
	for _, d := range []ports.Delivery{at, sent} {
		s.accounting.timeline.Events = append(s.accounting.timeline.Events, accounting.TimelineEvent{At: d.Created,
			Type: accounting.TimelineWebhookEvent, Delivery: &d})
	}
	states := func() (texts []string) {
		_, list, _ := strings.Cut(s.get(path).body, `<ol class="states"`)
		list, _, _ = strings.Cut(list, "</ol>")
		for _, item := range strings.Split(list, `<span class="state `)[1:] {
			status, _, _ := strings.Cut(item, `"`)
			texts = append(texts, status)
		}
		return texts
	}
	if got := states(); !slices.Equal(got, []string{"PROCESSING", "FAILED"}) {
		t.Errorf("states %q", got)
	}
	for _, want := range []string{"The payment is processing", "not sent: the platform had no webhook endpoint", "The payment is failed"} {
		if got := s.get(path); !strings.Contains(got.body, want) || strings.Contains(got.body, "UNSENT") {
			t.Errorf("no %q in %s", want, got.body)
		}
	}
	s.accounting.timeline.Events = nil
	if got := states(); !slices.Equal(got, []string{"REQUESTED", "FAILED"}) {
		t.Errorf("without events: %q", got)
	}
}

func TestPayments_QuickerWithScript(t *testing.T) {
	t.Parallel()
	// A list runs htmx, which evaluates nothing and keeps no page. Its counts are read again for an hour from when it was loaded, and a
	// request of htmx that cannot be answered makes the browser ask for the whole page, which says why.
	s := newSite(t).fill().as(person.Grant{Role: person.Viewer})
	live := func(got response) string {
		t.Helper()
		for _, n := range got.elements("ul") {
			if attribute(n, "id") == "counts" {
				return attribute(n, "hx-get")
			}
		}
		t.Fatalf("no counts in %s", got.body)
		return ""
	}
	got := s.get(base + "/payments?status=FAILED")
	until := "until=" + strconv.FormatInt(now.Add(watchTime).Unix(), 10)
	to := base + "/payments?status=FAILED&" + until
	if live(got) != to || live(s.get(to)) != to {
		t.Errorf("the counts are read from %q", live(got))
	}
	if strings.Contains(s.get(to).body, "until=") && strings.Count(s.get(to).body, "until=") != 1 {
		t.Error("links of the page have the time until which it is read again")
	}
	for _, past := range []time.Time{now, now.Add(2 * watchTime)} {
		if to := live(s.get(base + "/payments?until=" + strconv.FormatInt(past.Unix(), 10))); to != "" {
			t.Errorf("until %s: read again from %s", past, to)
		}
	}
	admin := newSite(t).fill().as(person.Grant{Role: person.Administrator})
	for path, query := range map[string]string{"": "", "/state": "", "/exports": "", "/jobs?state=dead": "state=dead&"} {
		got := admin.get(base + path)
		path, _, _ := strings.Cut(path, "?")
		want := html.EscapeString(base + path + "?" + query + until)
		if !strings.Contains(got.body, `<div id="live" data-refresh hx-get="`+want+`"`) || !strings.Contains(got.body, "refresh.js") {
			t.Errorf("%s is not read again: %s", path, got.body)
		}
		if got := admin.get(base + path + "?until=0").body; strings.Contains(got, "hx-get") || !strings.Contains(got, `<div id="live">`) {
			t.Errorf("%s is read again after an hour: %s", path, got)
		}
	}
	for _, want := range []string{`"allowEval":false`, `"historyCacheSize":0`, `"includeIndicatorStyles":false`} {
		if !strings.Contains(html.UnescapeString(got.body), want) {
			t.Errorf("no %s", want)
		}
	}
	if got := s.get(base + "/exports"); strings.Contains(got.body, "hx-boost") {
		t.Error("a form that downloads a file is one of htmx")
	}
	s.secret, s.cookies = "", map[string]*http.Cookie{}
	request := httptest.NewRequest(http.MethodGet, base+"/payments", nil)
	request.Header.Set("HX-Request", "true")
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, request)
	if w.Code != http.StatusNoContent || w.Header().Get("HX-Redirect") != base+"/payments" {
		t.Errorf("without a session: %d %v", w.Code, w.Header())
	}
}

func TestPayment_WhoDidWhatAndItsRequests(t *testing.T) {
	t.Parallel()
	// Who may see the audit sees on the page of a payment what people have done to it. The requests that have made and changed it or its
	// quote are listed, and those that read it are found by its path.
	for role, shows := range map[person.Role]bool{person.Finance: true, person.Compliance: true, person.Viewer: false} {
		s := newSite(t).fill().as(person.Grant{Role: role})
		got := s.get(base + "/payments/" + paymentID.UUID().String())
		if strings.Contains(got.body, "Who did what") != shows || slices.Contains(s.calls.log, "activity") != shows ||
			shows && s.activity.filter.SubjectID != paymentID.UUID() {
			t.Errorf("%s: shows %t: %q", role, !shows, s.calls.log)
		}
		if want := []uuid.UUID{paymentID.UUID(), numbered(ident.Quote{}, 14).UUID()}; !slices.Equal(s.developers.filter.Subjects, want) {
			t.Errorf("%s: requests about %v, want %v", role, s.developers.filter.Subjects, want)
		}
		for _, want := range []string{"/requests?path=%2Ftransactions%2F" + url.QueryEscape(paymentID.String()),
			"/requests/" + requestID.UUID().String()} {
			if !strings.Contains(html.UnescapeString(got.body), want) {
				t.Errorf("%s: no %s in %s", role, want, got.body)
			}
		}
	}
}
