package console

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"causeway/app/exports"
	"causeway/app/financials"
	"causeway/core/fault"
	core "causeway/core/financials"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/period"
	"causeway/core/person"
)

type fakeFinancials struct{ *fakeFinance }

// Report has a month with a fee of 1.05 in dollars; there are none before February.
func (f fakeFinancials) Report(ctx context.Context, p ident.Platform, q financials.Query) (r financials.Report, err error) {
	if err := f.read(ctx, p, "statements of %s %s", q.Month, q.Span); err != nil {
		return r, err
	}
	if q.Month.IsZero() {
		q.Month = testMonth
	}
	if q.Month.Before(testMonth) || len(f.reports) == 0 {
		return r, fault.New(fault.Conflict, "The exchange result is not posted.")
	}
	fee, _ := core.LineOf("income/fees")
	cash, _ := core.LineOf("rails/RTP")
	now := core.Column{Period: core.Period{From: q.Month, To: q.Month}, IsKnown: true,
		Earnings: []core.Figure{{Line: fee, Key: core.Key{Path: "income/fees", Currency: "USD"}, Value: 1_05}},
		Closing: core.Position{{Line: cash, Key: core.Key{Path: "rails/RTP", Currency: "USD"}, Quantity: money.TotalOf(1_05), Value: 1_05},
			{Line: core.Line{Code: "customers", Section: core.Liabilities}, Key: core.Key{Path: "customers/", Currency: "USD"}, Value: 7}},
		Cash: core.CashFlows{Flows: []core.Flow{{Line: core.Line{Code: "customers", Section: core.Operating}, IsReceived: true,
			Key: core.Key{Path: "customers/", Currency: "USD"}, Quantity: 7, Value: 7}}}}
	before := core.Column{Period: core.Period{From: q.Month.Previous(), To: q.Month.Previous()}, IsKnown: f.comparable,
		Earnings: []core.Figure{{Line: fee, Key: core.Key{Path: "income/fees", Currency: "USD"}, Value: 90}}}
	return financials.Report{Report: core.NewReport("USD", []core.Column{now, before, before}), Query: q, State: period.SoftClosed}, nil
}

func (f fakeFinancials) CashOfGroup(ctx context.Context, p ident.Platform, group core.Key, e core.Entries) ([]core.AccountFigure, error) {
	return []core.AccountFigure{{Key: core.Key{Path: "customers/ana", Currency: group.Currency}, Quantity: money.TotalOf(7), Entries: &e}},
		f.read(ctx, p, "cash of %s", group.Path)
}

func (f *fakeFinance) FinancialStatements(ctx context.Context, p ident.Platform, r core.Report, isFinal bool) (exports.Document, error) {
	return exports.Document{Name: "statements.pdf", ContentType: "application/pdf", Write: func(_ context.Context, out io.Writer) error {
		_, err := io.WriteString(out, "%PDF "+r.Columns[0].Period.String())
		return err
	}}, f.read(ctx, p, "pdf, final %t", isFinal)
}

func TestFinancials_FiguresLeadToTheirAccounts(t *testing.T) {
	t.Parallel()
	// The statements have their comparatives, and each figure leads to its accounts, each of which leads to its entries, or for a group to the
	// trial balance. A month that is not closed is provisional.
	s := asFinance(t)
	got := s.get(base + "/financial-statements")
	for _, want := range []string{"Balance sheet", "Income statement", "Cash flow statement", "Changes in equity", "2026-01",
		"the month is not closed",
		`href="` + base + `/financial-statements/lines/INCOME_STATEMENT/fees?month=2026-02&amp;span=MONTH">1.05</a>`,
		base + "/financial-statements/file.pdf?month=2026-02&amp;span=MONTH",
		base + "/financial-statements/file.csv?month=2026-02&amp;span=MONTH"} {
		if !strings.Contains(got.body, want) {
			t.Errorf("no %q in %s", want, got.body)
		}
	}
	unknown := `/lines/INCOME_STATEMENT/fees?month=2026-01&amp;span=MONTH"`
	if strings.Contains(got.body, unknown) {
		t.Errorf("a month without figures leads to accounts: %s", got.body)
	}
	s.finance.comparable = true
	if got := s.get(base + "/financial-statements"); !strings.Contains(got.body, unknown+">0.90</a>") {
		t.Errorf("the figure of the month before leads nowhere: %s", got.body)
	}
	got = s.get(base + "/financial-statements/lines/BALANCE_SHEET/cash-at-partners?month=2026-02&span=MONTH")
	if !strings.Contains(got.body, base+"/entries?path=rails%2FRTP&amp;currency=USD&amp;by=effective&amp;from=&amp;to=2026-02") {
		t.Errorf("accounts: %s", got.body)
	}
	got = s.get(base + "/financial-statements/lines/BALANCE_SHEET/customers")
	if !strings.Contains(got.body, base+
		"/trial-balance?by=effective&amp;currency=USD&amp;detail=account&amp;from=&amp;group=customers%2F&amp;to=2026-02") {
		t.Errorf("a group: %s", got.body)
	}
	cash := base + "/financial-statements/lines/CASH_FLOW/customers-received?month=2026-02&span=MONTH"
	group := cash + "&currency=USD&group=customers%2F"
	if got := s.get(cash); !strings.Contains(got.body, strings.ReplaceAll(group, "&", "&amp;")) {
		t.Errorf("the cash flow of a group: %s", got.body)
	}
	if got := s.get(group); !strings.Contains(got.body,
		"/entries?path=customers%2Fana&amp;currency=USD&amp;by=effective&amp;month=2026-02&amp;part=cash-received") {
		t.Errorf("its accounts: %s", got.body)
	}
	for _, bad := range []string{"&group=rails/ACH&currency=USD", "&group=customers/&currency=EUR"} {
		if got := s.get(cash + bad); got.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %d", bad, got.StatusCode)
		}
	}
	for _, path := range []string{"BALANCE_SHEET/nothing", "NOTHING/fees", "INCOME_STATEMENT/result"} {
		if got := s.get(base + "/financial-statements/lines/" + path); got.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %d", path, got.StatusCode)
		}
	}
}

func TestFinancials_Files(t *testing.T) {
	t.Parallel()
	// The files have what the page has.
	s := asFinance(t)
	got := s.get(base + "/financial-statements/file.csv?month=2026-02")
	if !strings.Contains(got.body, "INCOME_STATEMENT,INCOME,fees,Fees,USD,2026-02,1.05,2026-01,") ||
		!strings.Contains(got.Header.Get("Content-Disposition"), "financial-statements-2026-02.csv") {
		t.Errorf("%v %s", got.Header, got.body)
	}
	if got := s.get(base + "/financial-statements/file.pdf?month=2026-02"); got.body != "%PDF 2026-02" ||
		got.Header.Get("Content-Type") != "application/pdf" || !slices.Contains(s.calls.log, "pdf, final false") {
		t.Errorf("%v %s", got.Header, got.body)
	}
}

func TestFinancials_MonthWithout(t *testing.T) {
	t.Parallel()
	// A month without an exchange result says what is missing, and leads to the month end; so does a platform without any.
	s := asFinance(t)
	for path, status := range map[string]int{"?month=2026-01": http.StatusUnprocessableEntity, "?month=x": http.StatusUnprocessableEntity} {
		if got := s.get(base + "/financial-statements" + path); got.StatusCode != status {
			t.Errorf("%s: %d %s", path, got.StatusCode, got.body)
		}
	}
	if got := s.get(base + "/financial-statements?month=2026-01"); !strings.Contains(got.body, "The exchange result is not posted.") ||
		!strings.Contains(got.body, base+"/months") {
		t.Errorf("%s", got.body)
	}
	empty := newSite(t).as(person.Grant{Role: person.Viewer})
	if got := empty.get(base + "/financial-statements"); got.StatusCode != http.StatusOK || !strings.Contains(got.body, "is not posted") {
		t.Errorf("%d %s", got.StatusCode, got.body)
	}
}
