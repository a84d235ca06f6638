package postgres

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/ledgerdb"
	"causeway/adapters/postgres/schema"
	"causeway/core/exchange"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/monthend"
	"causeway/core/period"
	"causeway/ledger"
	"causeway/ports"
)

var _ ports.MonthEndAudit = (*DB)(nil)

// columnsOfRun name the month-end run of a row.
func columnsOfRun(run *monthend.Run) schema.Columns {
	return schema.Columns{{Name: "platform_id", Field: &run.Platform}, {Name: "month", Field: &run.Month}, {Name: "run", Field: &run.Number}}
}

var (
	keyOfRun         = []string{"platform_id", "month", "run"}
	keyOfPosition    = append(keyOfRun, "currency")
	keyOfTranslation = append(keyOfRun, "account", "currency")
	keyOfOrigin      = append(keyOfRun, "origin", "currency")
	keyOfInTransit   = append(keyOfRun, "transaction_id", "currency")
)

var monthEndRuns = schema.New("ledger_month_end_runs", append(keyOfRun, "kind"), func(run *monthend.Run) schema.Columns {
	return slices.Concat(columnsOfRun(run), schema.Columns{
		{Name: "kind", Field: &run.Kind}, {Name: "ran_at", Field: &run.At}, {Name: "last_seq", Field: &run.LastSeq},
		{Name: "previous_month", Field: &run.Previous.Month}, {Name: "previous_run", Field: schema.Optional(&run.Previous.Number)},
		{Name: "posting_ids", Field: schema.Array(&run.Postings)},
	}, schema.AuthorColumns(&run.By), schema.ApprovalColumns(&run.Approval))
})

var insertMonthEndRun = monthEndRuns.Insert("")

// These conditions use the primary key.
const (
	monthEndRun       = `WHERE platform_id = $1 AND kind = $2 AND month = $3 ORDER BY run DESC LIMIT 1`
	monthEndRunBefore = `WHERE platform_id = $1 AND kind = $2 AND month < $3 ORDER BY month DESC, run DESC LIMIT 1`
	monthEndRunOf     = `WHERE platform_id = $1 AND kind = $2 AND month = $3 AND run = $4`
)

// MonthEndRun implements monthend.Store.
func (db *DB) MonthEndRun(ctx context.Context, p ident.Platform, kind ledger.Kind, m period.Month) (monthend.Run, error) {
	run, _, err := selectRow(ctx, db, db.queryRows, monthEndRuns, monthEndRun, p, kind, m)
	return run, err
}

// MonthEndRunBefore implements monthend.Store.
func (db *DB) MonthEndRunBefore(ctx context.Context, p ident.Platform, kind ledger.Kind, m period.Month) (monthend.Run, error) {
	run, _, err := selectRow(ctx, db, db.queryRows, monthEndRuns, monthEndRunBefore, p, kind, m)
	return run, err
}

// MonthEndRunOf implements ports.MonthEndResults.
func (db *DB) MonthEndRunOf(ctx context.Context, p ident.Platform, kind ledger.Kind, ref monthend.Ref) (monthend.Run, error) {
	none := fmt.Errorf("run %d of %s %w", ref.Number, ref.Month, ports.ErrMonthEndMissing)
	return selectExisting(ctx, db, db.queryRows, monthEndRuns, none, monthEndRunOf, p, kind, ref.Month, ref.Number)
}

// MonthEndRun implements accounting.Tx.
func (u *Unit) MonthEndRun(ctx context.Context, p ident.Platform, kind ledger.Kind, m period.Month) (monthend.Run, error) {
	run, _, err := selectRow(ctx, u.db, u.query, monthEndRuns, monthEndRun, p, kind, m)
	return run, err
}

// MonthEndRunBefore implements accounting.Tx.
func (u *Unit) MonthEndRunBefore(ctx context.Context, p ident.Platform, kind ledger.Kind, m period.Month) (monthend.Run, error) {
	run, _, err := selectRow(ctx, u.db, u.query, monthEndRuns, monthEndRunBefore, p, kind, m)
	return run, err
}

// lastMonthEndRuns uses the primary key.
var lastMonthEndRuns = `SELECT DISTINCT ON (month) ` + monthEndRuns.Names("") + ` FROM ledger_month_end_runs
	WHERE platform_id = $1 AND kind = $2 ORDER BY month, run DESC`

// MonthEndRuns implements ports.MonthEndResults.
func (db *DB) MonthEndRuns(ctx context.Context, p ident.Platform, kind ledger.Kind) (runs []monthend.Run, err error) {
	return queryTable(ctx, db, db.queryRows, monthEndRuns, lastMonthEndRuns, p, kind)
}

// MonthEndPlatforms implements ports.MonthEndAudit.
func (db *DB) MonthEndPlatforms(ctx context.Context) ([]ident.Platform, error) {
	return queryValues[ident.Platform](ctx, db.queryRows, `SELECT DISTINCT platform_id FROM ledger_month_end_runs ORDER BY platform_id`)
}

// SaveMonthEndRun implements monthend.Tx.
func (u *Unit) SaveMonthEndRun(ctx context.Context, run monthend.Run) error {
	return write(ctx, u, insertMonthEndRun, run)
}

// selectPostedSince has the postings on the accounts in a range of paths ($2 and $5) that were recorded after a number and are effective
// before a time. All that were recorded more than ten seconds after that time are backdated
// (ledger_backdated_entries_by_gap); the others are found by their accounts.
const selectPostedSince = `
WITH accounts AS MATERIALIZED (SELECT id FROM ledger_accounts
	WHERE platform_id = $1 AND path IS NOT NULL AND path COLLATE "C" >= $2 AND path COLLATE "C" < $5), bound AS MATERIALIZED (
	SELECT ledger_seq_at($1, $4::timestamptz + interval '10 seconds') AS seq
)
SELECT EXISTS (
	SELECT FROM ledger_entries_spanning($1, $4::timestamptz - interval '1 microsecond') y, accounts a
	WHERE y.seq > $3 AND y.effective_at < $4 AND a.id IN (y.debit_account_id, y.credit_account_id)
) OR EXISTS (
	SELECT FROM accounts a, bound, LATERAL (
		SELECT e.seq, e.recorded_at FROM ledger_entries e WHERE e.platform_id = $1 AND e.debit_account_id = a.id AND e.seq > $3 AND e.seq <= bound.seq
		UNION ALL
		SELECT e.seq, e.recorded_at FROM ledger_entries e WHERE e.platform_id = $1 AND e.credit_account_id = a.id AND e.seq > $3 AND e.seq <= bound.seq
	) e
	JOIN ledger_postings p ON p.platform_id = $1 AND p.seq = e.seq AND p.recorded_at = e.recorded_at
	WHERE bound.seq > $3 AND p.effective_at < $4
)`

// PostedSince implements monthend.Tx.
func (u *Unit) PostedSince(ctx context.Context, p ident.Platform, path string, seq int64, before time.Time) (posted bool, err error) {
	args := []any{p, path, seq, before, ledgerdb.PathBeyond(path)}
	err = u.query(ctx, selectPostedSince, args, func(rows pgx.Rows) error { return rows.Scan(&posted) })
	return posted, err
}

// selectPositionPostedSince is selectPostedSince for the accounts of the position: an entry between two own ones changes
// nothing.
var selectPositionPostedSince = `
WITH accounts AS MATERIALIZED (` + ledgerdb.PositionAccounts("$2", "$5", "$6") +
	`), own AS MATERIALIZED (SELECT id FROM accounts WHERE own), bound AS MATERIALIZED (
	SELECT ledger_seq_at($1, $4::timestamptz + interval '10 seconds') AS seq
)
SELECT EXISTS (
	SELECT FROM ledger_entries_spanning($1, $4::timestamptz - interval '1 microsecond') y
	WHERE y.seq > $3 AND y.effective_at < $4
	  AND (y.debit_account_id IN (SELECT id FROM accounts) OR y.credit_account_id IN (SELECT id FROM accounts))
	  AND NOT (y.debit_account_id IN (SELECT id FROM own) AND y.credit_account_id IN (SELECT id FROM own))
) OR EXISTS (
	SELECT FROM accounts a, bound, LATERAL (
		SELECT e.seq, e.recorded_at FROM ledger_entries e
		WHERE e.platform_id = $1 AND e.debit_account_id = a.id AND e.seq > $3 AND e.seq <= bound.seq AND NOT (a.own AND e.credit_account_id IN (SELECT id FROM own))
		UNION ALL
		SELECT e.seq, e.recorded_at FROM ledger_entries e
		WHERE e.platform_id = $1 AND e.credit_account_id = a.id AND e.seq > $3 AND e.seq <= bound.seq AND NOT (a.own AND e.debit_account_id IN (SELECT id FROM own))
	) e
	JOIN ledger_postings p ON p.platform_id = $1 AND p.seq = e.seq AND p.recorded_at = e.recorded_at
	WHERE bound.seq > $3 AND p.effective_at < $4
)`

// PositionPostedSince implements monthend.Tx.
func (u *Unit) PositionPostedSince(
	ctx context.Context, p ident.Platform, functional money.Currency, seq int64, before time.Time,
) (posted bool, err error) {
	first, beyond := ledgerdb.PositionRanges()
	args := []any{p, functional, seq, before, first, beyond}
	err = u.query(ctx, selectPositionPostedSince, args, func(rows pgx.Rows) error { return rows.Scan(&posted) })
	return posted, err
}

// ofRun is a row of what a month-end run has found.
type ofRun[T any] struct {
	run   monthend.Run
	value T
}

// rowsOfRun returns a row for each value.
func rowsOfRun[T any](run monthend.Run, values []T) []ofRun[T] {
	rows := make([]ofRun[T], len(values))
	for i, value := range values {
		rows[i] = ofRun[T]{run, value}
	}
	return rows
}

var exchangeResults = schema.New("ledger_exchange_results", keyOfRun, func(row *ofRun[monthend.ExchangeResult]) schema.Columns {
	r := &row.value
	return slices.Concat(columnsOfRun(&row.run), schema.Columns{
		{Name: "functional_currency", Field: &r.Functional}, {Name: "keep_unrealised", Field: &r.Keep}, {Name: "covers_from", Field: &r.From},
		{Name: "rates_kept_at", Field: &r.RatesKeptAt}, {Name: "opening_rates_kept_at", Field: &r.OpeningRatesKeptAt},
		{Name: "opening_result", Field: &r.Opening}, {Name: "cash", Field: &r.Cash}, {Name: "opening_value", Field: &r.Changes.Opening},
		{Name: "closing_value", Field: &r.Changes.Closing}, {Name: "rate_changes", Field: &r.Changes.RateChanges},
		{Name: "translated", Field: schema.Optional(&r.Translated)},
	})
})

var exchangePositions = schema.New("ledger_exchange_positions", keyOfPosition, func(row *ofRun[exchange.Line]) schema.Columns {
	line := &row.value
	return slices.Concat(columnsOfRun(&row.run), schema.Columns{
		{Name: "currency", Field: &line.Currency}, {Name: "quantity", Field: &line.Quantity}, {Name: "cost", Field: &line.Cost},
		{Name: "rate", Field: schema.Converted(
			func() string {
				if line.Quantity == 0 {
					return ""
				}
				return line.Rate.String()
			},
			func(text string) (err error) {
				if text != "" {
					line.Rate, err = money.ParseRate(text)
				}
				return err
			})},
		{Name: "rate_at", Field: &line.RateAt}, {Name: "rate_source", Field: &line.RateSource}, {Name: "value", Field: &line.Value},
		{Name: "unrealised", Field: &line.Unrealised}, {Name: "carried", Field: &line.Carried},
	})
})

// exchangeTranslations has NULL for a remainder of zero.
var exchangeTranslations = schema.New("ledger_exchange_translations", keyOfTranslation,
	func(row *ofRun[exchange.Translation]) schema.Columns {
		t := &row.value
		return slices.Concat(columnsOfRun(&row.run), schema.Columns{
			{Name: "account", Field: &t.Account}, {Name: "currency", Field: &t.Currency}, {Name: "quantity", Field: &t.Quantity},
			{Name: "value", Field: &t.Value}, {Name: "postings", Field: &t.Postings},
			{Name: "remainder", Type: "text", Field: schema.Converted(
				func() *string {
					text := t.Remainder.String()
					if text == "0" {
						return nil
					}
					return &text
				},
				func(text *string) (err error) {
					if text != nil {
						t.Remainder, err = money.ParseExact(*text)
					}
					return err
				})},
		})
	})

var exchangeOrigins = schema.New("ledger_exchange_origins", keyOfOrigin, func(row *ofRun[exchange.Realised]) schema.Columns {
	o := &row.value
	return slices.Concat(columnsOfRun(&row.run), schema.Columns{
		{Name: "origin", Field: &o.Origin}, {Name: "currency", Field: &o.Currency},
		{Name: "amount", Field: &o.Amount}, {Name: "trades", Field: &o.Trades},
	})
})

var (
	insertExchangeResult       = exchangeResults.Insert("")
	insertExchangePositions    = exchangePositions.InsertAll("")
	insertExchangeTranslations = exchangeTranslations.InsertAll("")
	insertExchangeOrigins      = exchangeOrigins.InsertAll("")
)

// SaveExchangeResult implements monthend.Tx.
func (u *Unit) SaveExchangeResult(ctx context.Context, run monthend.Run, r monthend.ExchangeResult) error {
	origins := r.Realised
	for _, origin := range exchange.Origins() {
		if trades := r.Changes.Trades[origin]; trades > 0 {
			origins = append(origins, exchange.Realised{Origin: origin, Amount: r.Changes.ByOrigin[origin], Trades: trades})
		}
	}
	if err := write(ctx, u, insertExchangeResult, ofRun[monthend.ExchangeResult]{run, r}); err != nil {
		return err
	}
	if err := writeAll(ctx, u, insertExchangePositions, rowsOfRun(run, r.Lines)); err != nil {
		return err
	}
	if err := writeAll(ctx, u, insertExchangeTranslations, rowsOfRun(run, r.Translations)); err != nil {
		return err
	}
	return writeAll(ctx, u, insertExchangeOrigins, rowsOfRun(run, origins))
}

// selectOfRun returns the values of a run, in an order of SQL. Uses the primary key.
func selectOfRun[T any](
	ctx context.Context, db *DB, t *schema.Table[ofRun[T]], run monthend.Run, order string, more ...any,
) (values []T, err error) {
	args := append([]any{run.Platform, run.Month, run.Number}, more...)
	rows, err := selectRows(ctx, db, db.queryRows, t, `WHERE platform_id = $1 AND month = $2 AND run = $3 ORDER BY `+order, args...)
	for _, row := range rows {
		values = append(values, row.value)
	}
	return values, err
}

// selectLastSeq uses the primary key.
const selectLastSeq = `SELECT last_seq FROM ledger_month_end_runs WHERE platform_id = $1 AND month = $2 AND run = $3 AND kind = $4`

// ExchangeResult implements ports.MonthEndResults.
func (db *DB) ExchangeResult(ctx context.Context, run monthend.Run) (r monthend.ExchangeResult, err error) {
	results, err := selectOfRun(ctx, db, exchangeResults, run, "run")
	switch {
	case err != nil:
		return r, err
	case len(results) == 0:
		return r, fmt.Errorf("the exchange result of run %d of %s %w", run.Number, run.Month, ports.ErrMonthEndMissing)
	}
	r = results[0]
	args := []any{run.Platform, run.Month, run.Number, ledger.KindRevaluation}
	if err := db.queryRows(ctx, selectLastSeq, args, func(rows pgx.Rows) error { return rows.Scan(&r.LastSeq) }); err != nil {
		return r, err
	}
	if r.Lines, err = selectOfRun(ctx, db, exchangePositions, run, `currency COLLATE "C"`); err != nil {
		return r, err
	}
	if r.Translations, err = selectOfRun(ctx, db, exchangeTranslations, run, `account COLLATE "C", currency COLLATE "C"`); err != nil {
		return r, err
	}
	origins, err := selectOfRun(ctx, db, exchangeOrigins, run, `array_position($4::text[], origin), currency COLLATE "C"`, exchange.Origins())
	r.Changes.ByOrigin, r.Changes.Trades = map[exchange.Origin]int64{}, map[exchange.Origin]int64{}
	for _, o := range origins {
		if o.Currency == "" {
			r.Changes.ByOrigin[o.Origin], r.Changes.Trades[o.Origin] = o.Amount, o.Trades
		} else {
			r.Realised = append(r.Realised, o)
		}
	}
	return r, err
}

var paymentsInTransit = schema.New("ledger_payments_in_transit", keyOfInTransit,
	func(row *ofRun[monthend.InTransit]) schema.Columns {
		l := &row.value
		return slices.Concat(columnsOfRun(&row.run), schema.Columns{
			{Name: "transaction_id", Field: &l.Transaction}, {Name: "currency", Field: &l.Currency},
			{Name: "amount", Field: &l.Amount}, {Name: "fee", Field: &l.Fee},
		})
	})

var insertPaymentsInTransit = paymentsInTransit.InsertAll("")

// SavePaymentsInTransit implements monthend.Tx.
func (u *Unit) SavePaymentsInTransit(ctx context.Context, run monthend.Run, lines []monthend.InTransit) error {
	const batch = 10_000
	for some := range slices.Chunk(lines, batch) {
		if err := writeAll(ctx, u, insertPaymentsInTransit, rowsOfRun(run, some)); err != nil {
			return err
		}
		if err := u.flush(ctx); err != nil {
			return err
		}
	}
	return nil
}

// PaymentsInTransit implements ports.MonthEndResults. It reads pages by primary key.
func (db *DB) PaymentsInTransit(ctx context.Context, run monthend.Run, each func(monthend.InTransit) error) error {
	const page = 5_000
	const after = `WHERE platform_id = $1 AND month = $2 AND run = $3 AND (transaction_id, currency) > ($4, $5) ORDER BY transaction_id, currency LIMIT $6`
	var last monthend.InTransit
	for {
		args := []any{run.Platform, run.Month, run.Number, last.Transaction.UUID(), last.Currency, page}
		lines, err := selectRows(ctx, db, db.queryRows, paymentsInTransit, after, args...)
		if err != nil {
			return err
		}
		for _, line := range lines {
			if err := each(line.value); err != nil {
				return err
			}
		}
		if len(lines) < page {
			return nil
		}
		last = lines[len(lines)-1].value
	}
}
