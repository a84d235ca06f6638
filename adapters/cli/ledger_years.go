package cli

import (
	"context"
	"strconv"

	"causeway/app/accounting"
	"causeway/app/yearend"
	"causeway/core/csvcell"
	"causeway/core/ident"
	"causeway/core/platform"
)

type ledgerYearsCommand struct{ tableFlags }

func (l ledgerYearsCommand) Run(ctx context.Context, env *Env) error {
	return l.on(ctx, env, OnBooks, func(services Services, p ident.Platform) error {
		years, err := services.Years().List(ctx, p)
		if err != nil {
			return err
		}
		return l.printYears(ctx, env, years)
	})
}

func (f outputFlag) printYears(ctx context.Context, env *Env, years []yearend.Year) error {
	t, err := yearsTable(years, env.nameTokens)
	if err != nil {
		return err
	}
	return f.printReport(ctx, env, t, 5, 6, 7)
}

// yearsTable returns a line for each currency of the last closing of each year. name names the tokens of who closed them; it may be nil.
func yearsTable(years []yearend.Year, name func(texts ...*string) error) (accounting.Table, error) {
	t := accounting.Table{Header: []string{"year", "first_month", "last_month", "state", "currency", "income", "expense", "result",
		"changed", "by", "note"}}
	for _, y := range years {
		row := []string{y.Year.String(), y.Year.First().String(), y.Year.Last().String(), "OPEN", "", "", "", "", "", "", ""}
		if len(y.Closings) == 0 {
			t.Rows = append(t.Rows, row)
			continue
		}
		last := y.Closings[len(y.Closings)-1]
		row[3], row[8], row[9], row[10] = "CLOSED", last.At.Format("2006-01-02 15:04:05"),
			string(changeText(last.By, last.Approval)), csvcell.Escape(last.Note)
		if r := last.Reversal; r != nil {
			row[3], row[8], row[9], row[10] = "OPEN", r.At.Format("2006-01-02 15:04:05"),
				string(changeText(r.By, r.Approval)), csvcell.Escape(r.Note)
		}
		if len(last.Results) == 0 || last.Reversal != nil {
			t.Rows = append(t.Rows, row)
			continue
		}
		for _, r := range last.Results {
			line := append([]string(nil), row...)
			line[4], line[5] = string(r.Currency), r.Income.Major(r.Currency)
			line[6], line[7] = r.Expense.Major(r.Currency), r.Net().Major(r.Currency)
			t.Rows = append(t.Rows, line)
		}
	}
	var by []*string
	for _, row := range t.Rows {
		by = append(by, &row[9])
	}
	if name != nil {
		if err := name(by...); err != nil {
			return t, err
		}
	}
	for _, text := range by {
		*text = csvcell.Escape(*text)
	}
	return t, nil
}

// yearCommand holds the arguments of a command that changes a year.
type yearCommand struct {
	changeFlags
	outputFlag
	Year int    `arg:"" help:"Calendar year in which the financial year ends, such as 2026."`
	Note string `required:"" help:"Why. It is recorded."`
}

func (c yearCommand) changeYear(ctx context.Context, env *Env,
	change func(*yearend.Service, ident.Platform, yearend.Change) (yearend.Year, error)) error {
	return c.change(ctx, env, OnBooks, "nothing was changed", func(services Services, p ident.Platform, by platform.Author) error {
		year, err := change(services.Years(), p, yearend.Change{Year: c.Year, By: by, Note: c.Note})
		if err != nil {
			return fieldErrors("nothing was changed", err, argument{"year", strconv.Itoa(c.Year)})
		}
		return c.printYears(ctx, env, []yearend.Year{year})
	})
}

type ledgerCloseYearCommand struct{ yearCommand }

func (l ledgerCloseYearCommand) Run(ctx context.Context, env *Env) error {
	return l.changeYear(ctx, env, func(s *yearend.Service, p ident.Platform, c yearend.Change) (yearend.Year, error) {
		return s.CloseAlone(ctx, p, c)
	})
}

type ledgerReverseYearCommand struct{ yearCommand }

func (l ledgerReverseYearCommand) Run(ctx context.Context, env *Env) error {
	return l.changeYear(ctx, env, func(s *yearend.Service, p ident.Platform, c yearend.Change) (yearend.Year, error) {
		return s.ReverseAlone(ctx, p, c)
	})
}
