package console

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"causeway/app/exports/statement"
	"causeway/app/financials"
	"causeway/core/fault"
	core "causeway/core/financials"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/period"
	"causeway/core/person"
)

// Financials are the use cases on financial statements.
type Financials interface {
	Report(ctx context.Context, p ident.Platform, q financials.Query) (financials.Report, error)
	CashOfGroup(ctx context.Context, p ident.Platform, group core.Key, e core.Entries) ([]core.AccountFigure, error)
}

func (c *Console) financialsRoutes() []platformRoute {
	return []platformRoute{
		{"GET", "/financial-statements", person.View, c.showFinancials},
		{"GET", "/financial-statements/lines/{statement}/{line}", person.View, c.showFinancialLine},
		{"GET", "/financial-statements/file.csv", person.View, c.downloadFinancials},
		{"GET", "/financial-statements/file.pdf", person.View, c.downloadFinancialsPDF},
	}
}

// financialsQuery returns the statements that a request names: by default those of the last month that has any.
func (c *Console) financialsQuery(r *request) (financials.Query, error) {
	q := financials.Query{Span: core.Span(r.URL.Query().Get("span"))}
	if text := r.URL.Query().Get("month"); text != "" {
		var err error
		if q.Month, err = period.ParseMonth(text); err != nil {
			return q, &problem{http.StatusUnprocessableEntity, "This cannot be shown", "The month must be written as in 2026-03."}
		}
	}
	if q.Span == "" {
		q.Span = core.OneMonth
	}
	return q, nil
}

func financialsLink(base string, q financials.Query) string {
	return base + "?" + url.Values{"month": {q.Month.String()}, "span": {string(q.Span)}}.Encode()
}

func (c *Console) showFinancials(r *request) error {
	q, err := c.financialsQuery(r)
	if err != nil {
		return err
	}
	v := view{page: c.page(r, "Financial statements", "financials"), Intro: "In the functional currency, at the rates of the end " +
		"of each month. A figure leads to its accounts."}
	path := v.Base + "/financial-statements"
	options := make([]option, len(core.Spans()))
	for i, s := range core.Spans() {
		options[i] = option{string(s), capital(lower(s))}
	}
	report, err := c.Financials.Report(r.Context(), r.platform.ID, q)
	refused, isFault := fault.As(err)
	if isFault = isFault && refused.Code == fault.Conflict; err != nil && !isFault {
		return err
	}
	month := r.URL.Query().Get("month")
	switch {
	case err == nil:
		q.Month, month = report.Month, report.Month.String()
		v.Title += " " + month
	case month != "":
		v.Problems = []string{refused.Message}
	default:
		v.Intro = refused.Message
	}
	v.Filter = &filter{path, []field{{Name: "month", Label: "Month", Kind: "month", Value: month},
		{Name: "span", Label: "Period", Kind: "select", Options: options, Value: string(q.Span),
			Hint: "Quarters and years are those of the financial year."}}}
	if err != nil {
		v.Actions = []fact{actionLink("Month end", v.Base+"/months")}
		return c.show(r, v)
	}
	v.State = string(report.State)
	v.Facts = add(nil, "Currency", string(report.Functional))
	if report.State != period.Closed {
		v.Facts = add(v.Facts, "Final", "no: the month is not closed")
	}
	for _, s := range core.Statements() {
		v.Sections = append(v.Sections, section{Heading: statement.TitleOf(s), Table: statementTable(report, s, path)})
	}
	v.Actions = []fact{actionLink("PDF", financialsLink(path+"/file.pdf", q)),
		actionLink("Trial balance of the month", v.Base+"/trial-balance?by=effective&month="+q.Month.String())}
	v.Download = financialsLink(path+"/file.csv", q)
	return c.show(r, v)
}

// statementTable is one statement, whose figures lead to their accounts.
func statementTable(report financials.Report, s core.Statement, path string) *table {
	t := &table{Label: statement.TitleOf(s), Columns: columns("Line")}
	for _, column := range report.Columns {
		t.Columns = append(t.Columns, columns(">"+column.Period.String())...)
	}
	for _, row := range report.Of(s) {
		cells := []cell{plain(row.Name)}
		for i := range report.Columns {
			amount := amountCell(report.Amount(row, i))
			// The periods beside it have the same span.
			if of := report.Columns[i]; of.IsKnown && row.HasEntries(i) {
				q := report.Query
				q.Month = of.To
				amount.Link = financialsLink(path+"/lines/"+string(s)+"/"+row.Code, q)
			}
			cells = append(cells, amount)
		}
		if row.IsTotal {
			for i := range cells {
				cells[i].Class = strings.TrimSpace(cells[i].Class + " total")
			}
		}
		t.Rows = append(t.Rows, cells)
	}
	return t
}

// showFinancialLine shows the accounts of a line.
func (c *Console) showFinancialLine(r *request) error {
	q, err := c.financialsQuery(r)
	if err != nil {
		return err
	}
	report, err := c.Financials.Report(r.Context(), r.platform.ID, q)
	if err != nil {
		return err
	}
	name := core.Statement(r.PathValue("statement"))
	for _, row := range report.Of(name) {
		if row.Code != r.PathValue("line") || row.Code == "" || row.IsTotal {
			continue
		}
		if group := r.URL.Query().Get("group"); group != "" {
			return c.showCashOfGroup(r, row, core.Key{Path: group, Currency: money.Currency(r.URL.Query().Get("currency"))})
		}
		v := view{page: c.page(r, row.Name, "financials"), Intro: "What each account adds to this line of the " + lower(string(
			name)) + ", in its own " +
			"currency and in " + string(report.Functional) + "."}
		v.Facts = add(nil, "Period", report.Columns[0].Period.String(), financialsLink(v.Base+"/financial-statements", report.Query))
		v.Facts = add(v.Facts, "Amount", report.Amount(row, 0)+" "+string(report.Functional))
		v.Sections = []section{{Heading: "Accounts", Table: figureAccounts(v.Base, financialsLink(r.URL.Path, report.Query),
			row.Accounts, report.Functional)}}
		return c.show(r, v)
	}
	return errNotFound
}

// figureAccounts leads from each account to the entries that add up to its balance, or from a group to its accounts; link is that of the
// page.
func figureAccounts(base, link string, accounts []core.AccountFigure, functional money.Currency) *table {
	t := &table{Label: "Accounts", Empty: "No account adds to it in this period.",
		Columns: columns("Account", ">Balance", "Currency", ">Amount in "+string(functional))}
	for _, a := range accounts {
		account, quantity := plain(a.Path), amountCell(a.Quantity.Major(a.Currency))
		switch {
		case a.Entries != nil && isGroup(a.Path) && a.Entries.Part.IsCash():
			account.Link = link + "&" + url.Values{"group": {a.Path}, "currency": {string(a.Currency)}}.Encode()
		case a.Entries != nil:
			account.Link = figureLink(base, a.Path, a.Currency, *a.Entries, "effective")
		}
		quantity.Link = account.Link
		t.Rows = append(t.Rows, []cell{account, quantity, plain(string(a.Currency)), minorCell(a.Value, functional)})
	}
	return t
}

// showCashOfGroup shows the accounts of a group of a line of the cash flow statement.
func (c *Console) showCashOfGroup(r *request, row core.Row, group core.Key) error {
	i := slices.IndexFunc(row.Accounts, func(a core.AccountFigure) bool {
		return a.Key == group && a.Entries != nil && a.Entries.Part.IsCash()
	})
	if i < 0 || !isGroup(group.Path) {
		return errNotFound
	}
	accounts, err := c.Financials.CashOfGroup(r.Context(), r.platform.ID, group, *row.Accounts[i].Entries)
	if err != nil {
		return err
	}
	v := view{page: c.page(r, row.Name+": "+group.Path, "financials"), Intro: "What each account adds to this line of the cash flow " +
		"statement."}
	v.Facts = add(nil, "Period", monthsText(row.Accounts[i].Entries.Period))
	v.Facts = add(v.Facts, "Sum", row.Accounts[i].Quantity.Major(group.Currency)+" "+string(group.Currency))
	rows := &table{Label: "Accounts", Empty: "None of its accounts has any in this period.",
		Columns: columns("Account", ">Amount", "Currency")}
	for _, a := range accounts {
		amount := amountCell(a.Quantity.Major(a.Currency))
		amount.Link = figureLink(v.Base, a.Path, a.Currency, *a.Entries, "effective")
		rows.Rows = append(rows.Rows, []cell{linked(a.Path, amount.Link), amount, plain(string(a.Currency))})
	}
	v.Sections = []section{{Heading: "Accounts", Table: rows}}
	return c.show(r, v)
}

func (c *Console) downloadFinancials(r *request) error {
	q, err := c.financialsQuery(r)
	if err != nil {
		return err
	}
	report, err := c.Financials.Report(r.Context(), r.platform.ID, q)
	if err != nil {
		return err
	}
	file := report.Table()
	return writeCSV(r, "financial-statements-"+report.Month.String()+".csv", file.Header, file.Rows)
}

func (c *Console) downloadFinancialsPDF(r *request) error {
	q, err := c.financialsQuery(r)
	if err != nil {
		return err
	}
	report, err := c.Financials.Report(r.Context(), r.platform.ID, q)
	if err != nil {
		return err
	}
	document, err := c.Exports.FinancialStatements(r.Context(), r.platform.ID, report.Report, report.State == period.Closed)
	if err != nil {
		return err
	}
	return download(r, document)
}
