package ledgerdb

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"causeway/adapters/postgres/schema"
	"causeway/adapters/postgres/storage"
	"causeway/core/ident"
	"causeway/core/period"
	"causeway/core/yearend"
	"causeway/ledger"
	"causeway/ports"
)

// YearClosingTable has the closings of years without their results and reversals.
var YearClosingTable = schema.New("ledger_year_closings", keyOfYearClosing, func(c *yearend.Closing) schema.Columns {
	return slices.Concat(closingKeyColumns(&c.Platform, &c.Year, &c.Number), schema.Columns{
		{Name: "last_month", Field: schema.Converted(
			func() period.Month { return c.Year.Last() },
			func(last period.Month) error {
				c.Year = yearend.OfNumber(c.Year.Number(), last.Start().Month())
				return nil
			})},
		{Name: "closed_at", Field: &c.At}, {Name: "note", Field: &c.Note}, {Name: "posting_id", Field: schema.Optional(&c.Posting)},
		{Name: "seq", Field: &c.Seq},
	}, schema.AuthorColumns(&c.By), schema.ApprovalColumns(&c.Approval))
})

var keyOfYearClosing = []string{"platform_id", "year", "number"}

func closingKeyColumns(p *ident.Platform, year *yearend.Year, number *int) schema.Columns {
	return schema.Columns{{Name: "platform_id", Field: p}, {Name: "number", Field: number}, {Name: "year", Field: schema.Converted(
		func() int { return year.Number() },
		func(n int) error {
			*year = yearend.OfNumber(n, time.December)
			return nil
		})}}
}

// YearResult is what the closing of a year closed in a currency.
type YearResult struct {
	Platform ident.Platform
	Year     yearend.Year
	Number   int
	yearend.Result
}

// YearResultTable has the results of closings.
var YearResultTable = schema.New("ledger_year_results", append(keyOfYearClosing, "currency"), func(r *YearResult) schema.Columns {
	return append(closingKeyColumns(&r.Platform, &r.Year, &r.Number), schema.Columns{
		{Name: "currency", Field: &r.Currency}, {Name: "income", Field: &r.Income}, {Name: "expense", Field: &r.Expense},
	}...)
})

// YearReversal is the reversal of the closing of a year.
type YearReversal struct {
	Platform ident.Platform
	Year     yearend.Year
	Number   int
	yearend.Reversal
}

// YearReversalTable has the reversals of closings.
var YearReversalTable = schema.New("ledger_year_reversals", keyOfYearClosing, func(r *YearReversal) schema.Columns {
	return slices.Concat(closingKeyColumns(&r.Platform, &r.Year, &r.Number), schema.Columns{
		{Name: "reversed_at", Field: &r.At}, {Name: "note", Field: &r.Note}, {Name: "posting_id", Field: schema.Optional(&r.Posting)},
		{Name: "effective_at", Field: &r.Effective},
	}, schema.AuthorColumns(&r.By), schema.ApprovalColumns(&r.Approval))
})

// A row for each closing and currency. Uses the primary keys.
var selectYearClosings = `
SELECT ` + YearClosingTable.Names("c") + `, ` + YearReversalTable.Names("r") + `, ` + YearResultTable.Names("s") + `
FROM ledger_year_closings c
LEFT JOIN ledger_year_reversals r ON r.platform_id = c.platform_id AND r.year = c.year AND r.number = c.number
LEFT JOIN ledger_year_results s ON s.platform_id = c.platform_id AND s.year = c.year AND s.number = c.number
WHERE c.platform_id = $1
ORDER BY c.year, c.number, s.currency COLLATE "C"`

// YearClosings returns all closings of years of a platform, with their reversals, by year and number.
func YearClosings(ctx context.Context, q interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}, p ident.Platform) (closings []yearend.Closing, err error) {
	rows, err := q.Query(ctx, selectYearClosings, pgx.QueryExecModeCacheDescribe, p)
	if err != nil {
		return nil, storage.ReadError(err)
	}
	err = storage.ForEachRow(rows, func(rows pgx.Rows) error {
		var c yearend.Closing
		var reversal YearReversal
		var result YearResult
		columns := slices.Concat(YearClosingTable.Columns(&c), YearReversalTable.Columns(&reversal).Joined(),
			YearResultTable.Columns(&result).Joined())
		if err := rows.Scan(columns.Targets(rows.RawValues())...); err != nil {
			return err
		}
		if n := len(closings); n == 0 || closings[n-1].Year != c.Year || closings[n-1].Number != c.Number {
			if !reversal.At.IsZero() {
				c.Reversal = &reversal.Reversal
			}
			closings = append(closings, c)
		}
		if last := &closings[len(closings)-1]; result.Currency != "" {
			last.Results = append(last.Results, result.Result)
		}
		return nil
	})
	return closings, storage.ReadError(err)
}

// YearClosings implements ports.AuditView.
func (v *auditView) YearClosings(ctx context.Context, p ident.Platform, each func(ports.AuditYearClosing) error) error {
	closings, err := YearClosings(ctx, v.tx, p)
	if err != nil {
		return wrapError("audit years", err)
	}
	for _, c := range closings {
		audited := ports.AuditYearClosing{Closing: c}
		posting, reversal := postingKey{p, c.Posting}, postingKey{platform: p}
		if c.Reversal != nil {
			reversal.id = c.Reversal.Posting
		}
		stored, err := v.store.postings(ctx, v.tx, []postingKey{posting, reversal})
		if err != nil {
			return wrapError("audit years", err)
		}
		audited.ClosingPosting, audited.ReversalPosting = stored[posting], stored[reversal]
		err = queryFreshPlan(ctx, v.tx, SelectResultBalances, ResultBalancesArgs(p, c.Year.Last().Start(), c.Seq), func(rows pgx.Rows) error {
			balance, err := ScanResultBalance(rows)
			audited.Balances = append(audited.Balances, balance)
			return err
		})
		if err != nil {
			return wrapError("audit years", err)
		}
		if err := each(audited); err != nil {
			return err
		}
	}
	return nil
}

// YearEndPostings implements ports.AuditView. Uses ledger_postings_by_rare_kind.
func (v *auditView) YearEndPostings(ctx context.Context, p ident.Platform, each func(ports.NumberedPosting) error) error {
	var found []ports.NumberedPosting
	err := queryFreshPlan(ctx, v.tx, `SELECT p.seq, p.id FROM ledger_postings p WHERE p.platform_id = $1 AND p.kind = 'year_end' AND `+
		RareKindsCondition+` ORDER BY p.seq`,
		[]any{p}, func(rows pgx.Rows) error {
			n := ports.NumberedPosting{Posting: ledger.Posting{Platform: p, Kind: ledger.KindYearEnd}}
			err := rows.Scan(&n.Seq, &n.Posting.ID)
			found = append(found, n)
			return err
		})
	if err != nil {
		return wrapError("audit years", err)
	}
	for _, n := range found {
		if err := each(n); err != nil {
			return err
		}
	}
	return nil
}

// ResultBalancesArgs returns the arguments of SelectResultBalances for the month that starts at a time.
func ResultBalancesArgs(p ident.Platform, month time.Time, seq int64) []any {
	return []any{p, pgtype.Date{Time: month.AddDate(0, -1, 0), Valid: true}, month, month.AddDate(0, 1, 0), seq}
}
