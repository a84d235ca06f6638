package console

import (
	"context"
	"strings"
	"time"

	"causeway/app/treasury"
	"causeway/core/exchange"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/person"
	"causeway/core/platform"
	"causeway/core/safeguarding"
	"causeway/ledger"
	"causeway/ports"
)

// Treasury are the use cases on what is held for customers.
type Treasury interface {
	Coverage(ctx context.Context, p ident.Platform) ([]safeguarding.Figures, error)
	Report(ctx context.Context, p ident.Platform, at time.Time) (safeguarding.Report, error)
	Reports(ctx context.Context, p ident.Platform, f ports.SafeguardingFilter) (ports.SafeguardingPage, error)
	KeptReport(ctx context.Context, p ident.Platform, day safeguarding.Day, version int) (ports.KeptReport, error)
	Acknowledge(ctx context.Context, p ident.Platform, day safeguarding.Day, by platform.Author, note string,
		request *ports.IdempotentRequest) (ports.KeptReport, error)
}

func (c *Console) showSafeguarding(r *request) error {
	query := r.URL.Query()
	before, _ := safeguarding.ParseDay(query.Get("after"))
	found, err := c.Treasury.Reports(r.Context(), r.platform.ID, ports.SafeguardingFilter{Before: before, Limit: r.pageSize(),
		ShortfallOnly: query.Get("shortfall") != ""})
	if err != nil {
		return err
	}
	v := view{page: c.page(r, "Safeguarding", "safeguarding"), Intro: "What is owed to customers, beside what is held for them."}
	v.Filter = &filter{v.Base + "/safeguarding", []field{{Name: "shortfall", Label: "Only days with a shortfall", Kind: "checkbox",
		Value: query.Get("shortfall")}}}
	rows := table{File: "safeguarding-reports", Label: "Reports", Columns: columns("Day", "State", "Made", ">Versions", "Seen by"),
		Empty: "No report is kept yet. One is made after each day."}
	for _, report := range found.Reports {
		seen := make([]string, len(report.Acknowledgements))
		for i, a := range report.Acknowledgements {
			seen[i] = a.By.String()
		}
		rows.Rows = append(rows.Rows, []cell{linked(string(report.Day), v.Base+"/safeguarding/"+string(report.Day)),
			plain(statusesOf(report.Figures)), timed(report.MadeAt), amountCell(itoa(report.Versions)), acted(strings.Join(seen, ", "))})
	}
	if r.lines == nil {
		now, err := c.Treasury.Report(r.Context(), r.platform.ID, time.Time{})
		if err != nil {
			return err
		}
		header, figures := treasury.Table(now)
		v.Sections = []section{{Heading: "Now", Table: linkFigures(reportTable("Now", "Nothing is owed to customers, and nothing held for them.",
			header, figures), figures, 3, v.Base, safeguardingAccount)}}
	}
	v.Sections = append(v.Sections, section{Heading: "Reports of days", Table: &rows})
	v.Older = older(r, found.More, found.Reports, func(k ports.KeptReport) string { return string(k.Day) })
	return c.show(r, v)
}

// safeguardingAccount returns the account, or the group of accounts, of a row of treasury.Table.
func safeguardingAccount(row []string) (string, money.Currency) {
	if row[2] == "total" {
		return "", ""
	}
	return row[2], money.Currency(row[0])
}

// statusesOf returns the status of each currency of a report.
func statusesOf(figures []safeguarding.Figures) string {
	texts := make([]string, len(figures))
	for i, f := range figures {
		texts[i] = string(f.Currency) + " " + lower(f.Status())
	}
	return strings.Join(texts, ", ")
}

func (c *Console) reportIn(r *request) (ports.KeptReport, error) {
	day, err := safeguarding.ParseDay(r.PathValue("day"))
	if err != nil {
		return ports.KeptReport{}, errNotFound
	}
	return c.Treasury.KeptReport(r.Context(), r.platform.ID, day, 0)
}

func (c *Console) showSafeguardingDay(r *request) error {
	report, err := c.reportIn(r)
	if err != nil {
		return err
	}
	v := view{page: c.page(r, "Safeguarding "+string(report.Day), "safeguarding")}
	v.Facts = add(nil, "Status", statusesOf(report.Figures))
	v.Facts = add(v.Facts, "As of", moment(report.AsOf))
	v.Facts = addActor(v.Facts, "Made", moment(report.MadeAt)+" by ", byOrService(report.By, platform.Approval{}))
	v.Facts = add(v.Facts, "Version", itoa(report.Version)+" of "+itoa(report.Versions))
	header, figures := treasury.Table(report.Report)
	seen := table{Label: "Seen by", Columns: columns("Time", "By", "Note"), Empty: "Nobody has acknowledged it yet."}
	for _, a := range report.Acknowledgements {
		seen.Rows = append(seen.Rows, []cell{timed(a.At), acted(a.By.String()), plain(a.Note)})
	}
	v.Sections = []section{{Heading: "Figures", Table: linkFigures(reportTable("Figures", "Nothing was owed or held.", header, figures),
		figures, 3, v.Base, safeguardingAccount)},
		{Heading: "Seen by", Table: &seen}}
	v.Sections[0].Table.File = "safeguarding-" + string(report.Day)
	if v.Person.May(person.KeepBooks, r.platform.ID) {
		v.Actions = []fact{actionLink("Acknowledge", v.Base+"/safeguarding/"+string(report.Day)+"/acknowledge")}
	}
	return c.show(r, v)
}

func (c *Console) acknowledge(r *request) (action, error) {
	report, err := c.reportIn(r)
	if err != nil {
		return action{}, err
	}
	base := basePath(r.platform.ID)
	return action{Title: "Acknowledge", Section: "safeguarding", Does: "It is recorded that you have seen the report of " +
		"" + string(report.Day) +
		", and what was done about it.", Fields: []field{{Name: "note", Label: "What was done", Hint: "It is stored with your name."}},
		Back: base + "/safeguarding/" + string(report.Day),
		do: func(r *request) (string, error) {
			author, err := c.author(r)
			if err != nil {
				return "", err
			}
			_, err = c.Treasury.Acknowledge(r.Context(), r.platform.ID, report.Day, author, r.PostFormValue("note"), nil)
			return "", err
		}}, nil
}

func (c *Console) showFXPosition(r *request) error {
	settings, err := c.Books.Settings(r.Context(), r.platform.ID)
	if err != nil {
		return err
	}
	in := money.Currency(strings.ToUpper(strings.TrimSpace(r.URL.Query().Get("currency"))))
	if in == "" {
		if in = settings.FunctionalCurrency; in == "" {
			in = money.USD
		}
	}
	v := view{page: c.page(r, "FX position", "fx"), Intro: "What the platform has in each currency on its own account, at the market " +
		"rates of now."}
	v.Filter = &filter{v.Base + "/fx-position", []field{{Name: "currency", Label: "Value in", Value: string(in)}}}
	if !in.Known() {
		v.Problems = []string{string(in) + " is not a currency of the service."}
		return c.show(r, v)
	}
	position, err := c.Accounting.FXPosition(r.Context(), r.platform.ID, ports.Cutoff{By: ports.ByRecorded}, in)
	if err != nil {
		return err
	}
	if position.AllValued && len(position.Lines) > 0 {
		v.Facts = add(nil, "Value", position.Value.Major(in)+" "+string(in))
	}
	v.Facts = add(v.Facts, "Rates of", moment(position.RatesKeptAt))
	file := position.Table()
	v.Sections = []section{{Table: linkFigures(reportTable("Position", "There is no position: no payment was converted yet.", file.Header,
		file.Rows), file.Rows, 1, v.Base, func(row []string) (string, money.Currency) {
		return ledger.FXPosition, money.Currency(row[0])
	})}}
	v.Sections[0].Table.File = "fx-position"
	results, err := c.exchangeResults(r, v.Base)
	if err != nil {
		return err
	}
	v.Sections = append(v.Sections, results...)
	return c.show(r, v)
}

// resultMonths is how many months of exchange results the page has.
const resultMonths = 12

// exchangeResults shows what the last months have earned in each currency, and its postings.
func (c *Console) exchangeResults(r *request, base string) ([]section, error) {
	results, err := c.MonthEnd.LastResults(r.Context(), r.platform.ID, resultMonths)
	if err != nil {
		return nil, err
	}
	rows := &table{Label: "Exchange results", Columns: columns("Month", "Currency", ">Realised", ">Unrealised", "In", "Posted", "By"),
		Empty: "No exchange result is posted yet. It is posted at the end of a month."}
	postings := &table{Label: "Postings of exchange results", Columns: columns("Month", "Posting"), Empty: "There are none."}
	for _, found := range results {
		month := linked(found.Run.Month.String(), base+"/months/"+found.Run.Month.String())
		byCurrency, err := found.Result.ByCurrency()
		if err != nil {
			return nil, err
		}
		if len(byCurrency) == 0 {
			byCurrency = make([]exchange.CurrencyResult, 1) // a month without foreign currencies
		}
		for _, of := range byCurrency {
			rows.Rows = append(rows.Rows, []cell{month, plain(string(of.Currency)), minorCell(of.Realised, found.Result.Functional),
				minorCell(of.Unrealised, found.Result.Functional), plain(string(found.Result.Functional)), timed(found.Run.At),
				acted(byOrService(found.Run.By, found.Run.Approval))})
		}
		for _, id := range found.Run.Postings {
			postings.Rows = append(postings.Rows, []cell{month, linked(id.String(), base+"/postings/"+id.String())})
		}
	}
	return []section{{Heading: "Exchange results", Text: "What was measured and posted at the end of each of the last months. " +
		"The unrealised result is without what an earlier month has kept.", Table: rows},
		{Heading: "Postings of exchange results", Table: postings}}, nil
}
