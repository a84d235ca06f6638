package api_test

import (
	"context"
	"encoding/csv"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	httpapi "causeway/adapters/http"
	"causeway/adapters/http/api"
	"causeway/adapters/pgembed/pgtest"
	"causeway/adapters/postgres"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/ledger"
)

// newFundedCustomer returns a client whose customer Zoë has 12.34 USD, from a deposit of
// 20.00 on the 10th and a withdrawal on the 12th.
func newFundedCustomer(t *testing.T) (c *client, customer, account string) {
	t.Helper()
	var store *postgres.DB
	c = newTestServer(t, pgtest.New(t), func(_ *api.Deps, db *postgres.DB) { store = db }).createPlatform(t, platform.Sandbox)
	customer = c.must(201, "POST", "/customers",
		`{"customerType": "INDIVIDUAL", "fullName": "Zoë O'Hara", "birthDate": "1990-01-31", "nationality": "US",
		"address": {"line1": "1 A", "city": "B", "state": "CA", "postalCode": "94105", "country": "US"}}`).stringAt("id")
	account = c.must(200, "GET", "/customers/internal-accounts?currency=USD&customerId="+customer, "").dataStrings("id")[0]
	id, err := ident.ParseInternalAccount(account)
	if err != nil {
		t.Fatal(err)
	}
	header := func(day int, memo string) ledger.Header {
		return ledger.Header{ID: idGenerator.New(noon), Platform: c.tenant.Platform.ID, Effective: time.Date(2026, 3, day, 9, 0, 0, 0, time.UTC),
			Memo: memo}
	}
	err = store.Do(t.Context(), func(ctx context.Context, tx *postgres.Unit) error {
		return tx.Post(ctx, []ledger.Posting{
			ledger.Deposit(header(10, "<script>alert(1)</script>"), ledger.IncomingFunds{Partner: "rails/ACH", To: ledger.CustomerAccount(id),
				Amount: money.Amount{Minor: 2000, Currency: money.USD}}),
			ledger.TransferOut(header(12, "rent"), ledger.OutgoingFunds{From: ledger.CustomerAccount(id),
				Amount: money.Amount{Minor: 700, Currency: money.USD}, Fees: 66}),
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return c, customer, account
}

// fetch returns a file.
func (c *client) fetch(path string) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(c.t.Context(), "GET", httpapi.BasePath+path, nil)
	r.SetBasicAuth(c.user, c.password)
	w := httptest.NewRecorder()
	c.ServeHTTP(w, r)
	return w
}

func TestExportLedger_Formats(t *testing.T) {
	t.Parallel()
	// Every format has its content type, and filters apply.
	c, _, account := newFundedCustomer(t)
	for format, want := range map[string][3]string{
		"csv":       {"text/csv; charset=utf-8; header=present", "ledger-export.csv", "posting_number,"},
		"hledger":   {"text/plain; charset=utf-8", "ledger-export.journal", "; Ledger of " + c.tenant.Platform.ID.String()},
		"ledger":    {"text/plain; charset=utf-8", "ledger-export.ledger", "; Ledger of "},
		"beancount": {"text/plain; charset=utf-8", "ledger-export.beancount", "; Ledger of "},
		"camt053":   {"application/xml", "ledger-export.xml", "<?xml"},
	} {
		got := c.fetch("/ledger/export?format=" + format)
		if got.Code != 200 || got.Header().Get("Content-Type") != want[0] || got.Header().Get("Content-Disposition") != "attachment; filename="+
			want[1] || !strings.HasPrefix(got.Body.String(), want[2]) {
			t.Errorf("%s: %d %v %.80s", format, got.Code, got.Header(), got.Body)
		}
	}
	for query, lines := range map[string]int{
		"": 3, "&account=rails/ACH": 1, "&account=income/fees&currency=USD": 1, "&account=customers/" + account: 3, "&to=2026-03-11T00:00:00Z": 1,
		"&from=2026-03-11T00:00:00Z": 2, "&asOf=2026-03-14T12:00:00Z": 1, "&currency=BTC": 0,
	} {
		rows, err := csv.NewReader(c.fetch("/ledger/export?format=csv" + query).Body).ReadAll()
		if err != nil || len(rows) != lines+1 {
			t.Errorf("%s: %d lines, want %d (%v)", query, len(rows)-1, lines, err)
		}
	}
}

func TestExport_ListsAllInvalidParameters(t *testing.T) {
	t.Parallel()
	// All invalid parameters are listed.
	c, customer, account := newFundedCustomer(t)
	for path, fields := range map[string][]string{
		"/ledger/export": {"format"},
		"/ledger/export?format=xls&from=yesterday&currency=usd": {"currency",
			"format", "from"},
		"/ledger/export?format=csv&asOf=2030-01-01T00:00:00Z&from=2026-03-02T00:00:00Z&to=2026-03-01T00:00:00Z&account=x": {"account",
			"asOf", "to"},
		"/ledger/export?format=csv&account=rails/FEDNOW": {"account"},
		"/customers/" + customer + "/statement":          {"accountId"},
		"/customers/" + customer + "/statement?format=doc&accountId=x": {"accountId",
			"format"},
		"/customers/" + customer + "/statement?currency=USD&from=2026-03-02T00:00:00Z&to=2026-03-01T00:00:00Z": {"to"},
		"/customers/" + customer + "/statement?currency=USD&from=2030-01-01T00:00:00Z&to=2030-02-01T00:00:00Z": {"from", "to"},
		"/customers/" + customer + "/statement?currency=BTC&accountId=" + account:                              {"currency"},
	} {
		if got := c.must(400, "GET", path, "").invalidFields(); !slices.Equal(got, fields) {
			t.Errorf("%s: bad are %v, want %v", path, got, fields)
		}
	}
	other := c.createPlatform(t, platform.Sandbox)
	unknown := customer[:len(customer)-4] + "0000"
	for path, code := range map[string]string{
		"/customers/" + unknown + "/statement?currency=USD":                                "USER_NOT_FOUND",
		"/customers/" + customer + "/statement?currency=EUR":                               "INTERNAL_ACCOUNT_NOT_FOUND",
		"/customers/" + customer + "/statement?accountId=" + account[:40] + "000000000000": "INTERNAL_ACCOUNT_NOT_FOUND",
	} {
		if got := c.must(404, "GET", path, ""); got.stringAt("code") != code {
			t.Errorf("%s: %s", path, got.rawBody)
		}
	}
	if got := other.must(404, "GET", "/customers/"+customer+"/statement?currency=USD", ""); got.stringAt("code") != "USER_NOT_FOUND" {
		t.Error(got.rawBody)
	}
	blind := c.withPermissions(platform.Manage)
	blind.must(403, "GET", "/ledger/export?format=csv", "")
	blind.must(403, "GET", "/customers/"+customer+"/statement?currency=USD", "")
}

func TestCustomerStatement(t *testing.T) {
	t.Parallel()
	// The page has the opening and closing balance and every transaction with the
	// resulting balance; text is escaped, and the policy allows no scripts.
	c, customer, account := newFundedCustomer(t)

	page := c.fetch("/customers/" + customer + "/statement?currency=USD&from=2026-03-01T00:00:00Z")
	text := page.Body.String()
	if page.Code != 200 || page.Header().Get("Content-Type") != "text/html; charset=utf-8" ||
		!strings.HasPrefix(page.Header().Get("Content-Security-Policy"), "default-src 'none'; style-src 'sha256-") ||
		page.Header().Get("Content-Disposition") != "inline; filename=statement-USD-2026-03-14.html" {
		t.Errorf("%d %v", page.Code, page.Header())
	}
	for _, want := range []string{
		"Zoë O&#39;Hara", account, "1 Mar 2026 – 14 Mar 2026", "&lt;script&gt;alert(1)&lt;/script&gt;",
		">Deposit<", "&#43;20.00", ">20.00<", ">Transfer out<", ">-7.00<", ">13.00<", ">Fee<", ">-0.66<", ">12.34<", "12.34 USD",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page has no %s", want)
		}
	}
	if strings.Contains(text, "<script") {
		t.Error("the page has a script")
	}

	part := c.fetch("/customers/" + customer + "/statement?accountId=" + account +
		"&from=2026-03-11T00:00:00Z&to=2026-03-12T00:00:00Z").Body.String()
	if !strings.Contains(part, "11 Mar 2026") || !strings.Contains(part, "20.00 USD") || strings.Contains(part, "Deposit") ||
		strings.Contains(part, "Transfer") {
		t.Errorf("a day without movements: %s", part)
	}

	pdf := c.fetch("/customers/" + customer + "/statement?currency=USD&format=pdf")
	if pdf.Code != 200 || pdf.Header().Get("Content-Type") != "application/pdf" || !strings.HasPrefix(pdf.Body.String(), "%PDF-") ||
		pdf.Header().Get("Content-Security-Policy") != "" {
		t.Errorf("%d %v", pdf.Code, pdf.Header())
	}
}
