package monthend

import (
	"context"
	"strconv"

	"causeway/app/internal/report"
	"causeway/core/exchange"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/monthend"
	"causeway/ledger"
)

// Table is a report as rows of text.
type Table = report.Table

// Table returns the result of a month: the position in each currency, the realised result, income, expense and own
// funds at the rates of their times, and what changed the value of the position. Values are in the functional currency; amounts and rates
// are in major units.
func (r Revaluation) Table() report.Table {
	in := r.Result.Functional
	t := report.Table{Header: []string{"item", "currency", "quantity", "cost", "rate", "rate_source", "value", "result"}}
	t.Rows = append(t.Rows, []string{"position", string(in), major(r.Result.Cash, in), "", "", "", major(r.Result.Cash, in), ""})
	for _, l := range r.Result.Lines {
		rate := ""
		if rateInMajor, err := money.RateToMajor(l.Rate, l.Currency, in); err == nil && l.Quantity != 0 {
			rate = rateInMajor.String()
		}
		t.Rows = append(t.Rows, []string{"position", string(l.Currency), major(l.Quantity, l.Currency), major(l.Cost, in), rate, l.RateSource,
			major(l.Value, in), major(l.Unrealised, in)})
	}
	for _, o := range r.Result.Realised {
		t.Rows = append(t.Rows, []string{"realised " + string(o.Origin), string(o.Currency), "", "", "", "", "", major(o.Amount, in)})
	}
	for _, o := range r.Result.Translations {
		t.Rows = append(t.Rows, []string{"translated " + o.Account, string(o.Currency), major(o.Quantity, o.Currency), "", "", "",
			major(o.Value, in), ""})
	}
	return report.Table{Header: t.Header, Rows: append(t.Rows, changeRows(r.Result.Changes, in, func(item, value string) []string {
		return []string{item, string(in), "", "", "", "", value, ""}
	})...)}
}

// changeRows returns the parts of a change of the position's value.
func changeRows(c monthend.Changes, in money.Currency, row func(item, value string) []string) [][]string {
	rows := [][]string{row("opening value", major(c.Opening, in))}
	for _, origin := range exchange.Origins() {
		rows = append(rows, row("change by "+string(origin), major(c.ByOrigin[origin], in)))
	}
	return append(rows, row("change by market rates", major(c.RateChanges, in)), row("closing value", major(c.Closing, in)))
}

// Table returns the parts of the change.
func (c PositionChanges) Table() report.Table {
	return report.Table{Header: []string{"item", "currency", "value"},
		Rows: changeRows(c.Changes, c.Currency, func(item, value string) []string {
			return []string{item, string(c.Currency), value}
		})}
}

// rowsAtOnce is the number of rows that a table of any length has in memory.
const rowsAtOnce = 1000

// MeasuredTable returns every posting on the position of a month with its result, a line for each account and
// currency. The column result adds up to the realised result of the month and, with the origin OPENING, to what came
// from earlier books.
func (s *Service) MeasuredTable(r Revaluation) report.Table {
	in := r.Result.Functional
	return report.Table{
		Header: []string{"effective_at", "posting", "posting_number", "transaction", "origin", "account", "currency", "quantity",
			"value_currency", "value", "result"},
		Pages: func(ctx context.Context, write func([][]string) error) error {
			var rows [][]string
			err := s.EachMeasured(ctx, r, func(m MeasuredPosting) error {
				if len(rows) >= rowsAtOnce {
					if err := write(rows); err != nil {
						return err
					}
					rows = rows[:0]
				}
				rows = append(rows, measuredRows(m, in)...)
				return nil
			})
			if err != nil {
				return err
			}
			return write(rows)
		},
	}
}

func measuredRows(m MeasuredPosting, in money.Currency) [][]string {
	var posting ident.Posting
	posting.SetUUID(m.ID)
	transaction := ""
	if !m.Transaction.IsZero() {
		transaction = m.Transaction.String()
	}
	var rows [][]string
	add := func(origin exchange.Origin, account string, leg exchange.Leg, value, result int64) {
		rows = append(rows, []string{report.Time(m.Effective), posting.String(), strconv.FormatInt(m.Seq, 10), transaction, string(origin),
			account, string(leg.Currency), major(leg.Quantity, leg.Currency), string(in), major(value, in), major(result, in)})
	}
	difference := m.Currency(in)
	for _, leg := range m.Measured.Legs {
		result := leg.Realised
		if leg.Currency == difference {
			result += m.Difference
		}
		add(m.Origin, ledger.FXPosition, leg.Leg, leg.Value, result)
	}
	for _, leg := range m.Measured.Own {
		add(leg.Origin, leg.Account, leg.Leg, leg.Value, leg.Realised)
	}
	return rows
}

// Table returns the deferred fees.
func (d FeeDeferral) Table() report.Table {
	t := report.Table{Header: []string{"currency", "deferred_fees"}}
	for _, fee := range d.Fees {
		t.Rows = append(t.Rows, []string{string(fee.Currency), major(fee.Minor, fee.Currency)})
	}
	return t
}

// InTransitTable returns every payment in transit at the end of a month, a line for each currency.
func (s *Service) InTransitTable(d FeeDeferral) report.Table {
	return report.Table{
		Header: []string{"transaction", "currency", "in_transit", "deferred_fee"},
		Pages: func(ctx context.Context, write func([][]string) error) error {
			var rows [][]string
			err := s.Results.PaymentsInTransit(ctx, d.Run, func(l monthend.InTransit) error {
				if len(rows) >= rowsAtOnce {
					if err := write(rows); err != nil {
						return err
					}
					rows = rows[:0]
				}
				rows = append(rows, []string{l.Transaction.String(), string(l.Currency), major(l.Amount, l.Currency), major(l.Fee, l.Currency)})
				return nil
			})
			if err != nil {
				return err
			}
			return write(rows)
		},
	}
}

func major(minor int64, currency money.Currency) string { return money.TotalOf(minor).Major(currency) }
