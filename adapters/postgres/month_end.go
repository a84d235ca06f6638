package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"causeway/adapters/postgres/ledgerdb"
	"causeway/core/exchange"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/monthend"
	"causeway/core/period"
	"causeway/ledger"
	"causeway/ports"
)

var _ ports.MonthEndAudit = (*DB)(nil)

const monthEndRunColumns = `month, run, ran_at, token_id, actor, last_seq, previous_month, previous_run, posting_ids,
	proposal_id, approver_token_id, approver`

// These statements use the primary key.
const (
	selectMonthEndRun = `SELECT ` + monthEndRunColumns + ` FROM ledger_month_end_runs
		WHERE platform_id = $1 AND kind = $2 AND month = $3 ORDER BY run DESC LIMIT 1`
	selectMonthEndRunBefore = `SELECT ` + monthEndRunColumns + ` FROM ledger_month_end_runs
		WHERE platform_id = $1 AND kind = $2 AND month < $3 ORDER BY month DESC, run DESC LIMIT 1`
	selectMonthEndRunOf = `SELECT ` + monthEndRunColumns + ` FROM ledger_month_end_runs
		WHERE platform_id = $1 AND kind = $2 AND month = $3 AND run = $4`
	selectMonthEndRuns = `SELECT DISTINCT ON (month) ` + monthEndRunColumns + ` FROM ledger_month_end_runs
		WHERE platform_id = $1 AND kind = $2 ORDER BY month, run DESC`
)

func scanMonthEndRun(rows pgx.Rows, p ident.Platform, kind ledger.Kind) (monthend.Run, error) {
	run := monthend.Run{Platform: p, Kind: kind}
	var month, previous pgtype.Date
	var at pgtype.Timestamptz
	var by, proposal, approver pgtype.UUID
	var approverName string
	var previousRun pgtype.Int4
	var postings []pgtype.UUID
	if err := rows.Scan(&month, &run.Number, &at, &by, &run.By.Actor, &run.LastSeq, &previous, &previousRun, &postings, &proposal, &approver, &approverName); err != nil {
		return run, err
	}
	run.Month, run.At, run.By.Token = period.MonthOf(month.Time), utcTime(at), tokenID(by)
	run.Approval = scanApproval(proposal, approver, approverName)
	if previous.Valid {
		run.Previous = monthend.Ref{Month: period.MonthOf(previous.Time), Number: int(previousRun.Int32)}
	}
	for _, id := range postings {
		run.Postings = append(run.Postings, uuid.UUID(id.Bytes))
	}
	return run, nil
}

// MonthEndRun implements ports.MonthEndReader.
func (db *DB) MonthEndRun(ctx context.Context, p ident.Platform, kind ledger.Kind, m period.Month) (monthend.Run, error) {
	return db.monthEndRun(ctx, selectMonthEndRun, p, kind, m)
}

// MonthEndRunBefore implements ports.MonthEndReader.
func (db *DB) MonthEndRunBefore(ctx context.Context, p ident.Platform, kind ledger.Kind, m period.Month) (monthend.Run, error) {
	return db.monthEndRun(ctx, selectMonthEndRunBefore, p, kind, m)
}

// MonthEndRunOf implements ports.MonthEndResults.
func (db *DB) MonthEndRunOf(ctx context.Context, p ident.Platform, kind ledger.Kind, ref monthend.Ref) (monthend.Run, error) {
	run, err := db.monthEndRun(ctx, selectMonthEndRunOf, p, kind, ref.Month, ref.Number)
	if err == nil && !run.Exists() {
		err = fmt.Errorf("run %d of %s %w", ref.Number, ref.Month, ports.ErrMonthEndMissing)
	}
	return run, err
}

// monthEndRun reads a run; more are further arguments of the statement.
func (db *DB) monthEndRun(ctx context.Context, statement string, p ident.Platform, kind ledger.Kind, m period.Month, more ...any) (run monthend.Run, err error) {
	err = queryRows(ctx, db.readPool, statement, append([]any{pgID(p.UUID()), string(kind), monthDate(m)}, more...), func(rows pgx.Rows) (err error) {
		run, err = scanMonthEndRun(rows, p, kind)
		return err
	})
	return run, err
}

// MonthEndRun implements ports.MonthEndReader.
func (u *unit) MonthEndRun(ctx context.Context, p ident.Platform, kind ledger.Kind, m period.Month) (monthend.Run, error) {
	return u.monthEndRun(ctx, selectMonthEndRun, p, kind, m)
}

// MonthEndRunBefore implements ports.MonthEndReader.
func (u *unit) MonthEndRunBefore(ctx context.Context, p ident.Platform, kind ledger.Kind, m period.Month) (monthend.Run, error) {
	return u.monthEndRun(ctx, selectMonthEndRunBefore, p, kind, m)
}

func (u *unit) monthEndRun(ctx context.Context, statement string, p ident.Platform, kind ledger.Kind, m period.Month) (run monthend.Run, err error) {
	err = u.query(ctx, statement, []any{pgID(p.UUID()), string(kind), monthDate(m)}, func(rows pgx.Rows) (err error) {
		run, err = scanMonthEndRun(rows, p, kind)
		return err
	})
	return run, err
}

// MonthEndRuns implements ports.MonthEndResults.
func (db *DB) MonthEndRuns(ctx context.Context, p ident.Platform, kind ledger.Kind) (runs []monthend.Run, err error) {
	err = queryRows(ctx, db.readPool, selectMonthEndRuns, []any{pgID(p.UUID()), string(kind)}, func(rows pgx.Rows) error {
		run, err := scanMonthEndRun(rows, p, kind)
		runs = append(runs, run)
		return err
	})
	return runs, err
}

// MonthEndPlatforms implements ports.MonthEndAudit.
func (db *DB) MonthEndPlatforms(ctx context.Context) (platforms []ident.Platform, err error) {
	err = queryRows(ctx, db.readPool, `SELECT DISTINCT platform_id FROM ledger_month_end_runs ORDER BY platform_id`, nil, func(rows pgx.Rows) error {
		var id pgtype.UUID
		err := rows.Scan(&id)
		var p ident.Platform
		p.SetUUID(id.Bytes)
		platforms = append(platforms, p)
		return err
	})
	return platforms, err
}

// SaveMonthEndRun implements ports.MonthEndWriter.
func (u *unit) SaveMonthEndRun(_ context.Context, run monthend.Run) error {
	postings := make([]pgtype.UUID, len(run.Postings))
	for i, id := range run.Postings {
		postings[i] = pgID(id)
	}
	previous := pgtype.Date{}
	if !run.Previous.Month.IsZero() {
		previous = monthDate(run.Previous.Month)
	}
	u.queueExec(`INSERT INTO ledger_month_end_runs (platform_id, kind, `+monthEndRunColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
		pgID(run.Platform.UUID()), string(run.Kind), monthDate(run.Month), run.Number, pgTime(run.At), pgID(run.By.Token.UUID()), run.By.Actor, run.LastSeq,
		previous, pgtype.Int4{Int32: int32(run.Previous.Number), Valid: previous.Valid}, postings,
		pgID(run.Approval.Proposal.UUID()), pgID(run.Approval.By.Token.UUID()), run.Approval.By.Actor)
	return nil
}

// selectPostedSince has the postings on the accounts at a path that were recorded after a number and are effective
// before a time. All that were recorded more than ten seconds after that time are backdated
// (ledger_backdated_entries_by_gap); the others are found by their accounts.
const selectPostedSince = `
WITH accounts AS MATERIALIZED (SELECT id FROM ledger_accounts WHERE platform_id = $1 AND path = $2), bound AS MATERIALIZED (
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

// PostedSince implements ports.MonthEndWriter.
func (u *unit) PostedSince(ctx context.Context, p ident.Platform, path string, seq int64, before time.Time) (posted bool, err error) {
	err = u.query(ctx, selectPostedSince, []any{pgID(p.UUID()), path, seq, pgTime(before)}, func(rows pgx.Rows) error { return rows.Scan(&posted) })
	return posted, err
}

// selectPositionPostedSince is selectPostedSince for the accounts of the position: an entry between two own ones changes
// nothing.
var selectPositionPostedSince = `
WITH accounts AS MATERIALIZED (` + ledgerdb.PositionAccounts("$2", "$5", "$6") + `), own AS MATERIALIZED (SELECT id FROM accounts WHERE own), bound AS MATERIALIZED (
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

// PositionPostedSince implements ports.MonthEndWriter.
func (u *unit) PositionPostedSince(ctx context.Context, p ident.Platform, functional money.Currency, seq int64, before time.Time) (posted bool, err error) {
	first, beyond := ledgerdb.PositionRanges()
	err = u.query(ctx, selectPositionPostedSince, []any{pgID(p.UUID()), string(functional), seq, pgTime(before), first, beyond}, func(rows pgx.Rows) error { return rows.Scan(&posted) })
	return posted, err
}

// SaveExchangeResult implements ports.MonthEndWriter.
func (u *unit) SaveExchangeResult(_ context.Context, run monthend.Run, r monthend.ExchangeResult) error {
	key := []any{pgID(run.Platform.UUID()), monthDate(run.Month), run.Number}
	u.queueExec(`INSERT INTO ledger_exchange_results (platform_id, month, run, functional_currency, keep_unrealised, covers_from, rates_kept_at, opening_rates_kept_at,
			opening_result, cash, opening_value, closing_value, rate_changes, translated) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
		append(key, string(r.Functional), r.Keep, pgTime(r.From), pgTime(r.RatesKeptAt), pgTime(r.OpeningRatesKeptAt),
			r.Opening, r.Cash, r.Changes.Opening, r.Changes.Closing, r.Changes.RateChanges, pgtype.Int8{Int64: r.Translated, Valid: r.Translated != 0})...)
	for _, line := range r.Lines {
		rate, rateAt := "", pgtype.Timestamptz{}
		if line.Quantity != 0 {
			rate, rateAt = line.Rate.String(), pgTime(line.RateAt)
		}
		u.queueExec(`INSERT INTO ledger_exchange_positions (platform_id, month, run, currency, quantity, cost, rate, rate_at, rate_source, value, unrealised, carried)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
			append(key, string(line.Currency), line.Quantity, line.Cost, rate, rateAt, line.RateSource, line.Value, line.Unrealised, line.Carried)...)
	}
	for _, t := range r.Translations {
		u.queueExec(`INSERT INTO ledger_exchange_translations (platform_id, month, run, account, currency, quantity, value, postings, remainder) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, nullif($9, '0'))`,
			append(key, t.Account, string(t.Currency), t.Quantity, t.Value, t.Postings, t.Remainder.String())...)
	}
	origins := r.Realised
	for _, origin := range exchange.Origins() {
		if trades := r.Changes.Trades[origin]; trades > 0 {
			origins = append(origins, exchange.Realised{Origin: origin, Amount: r.Changes.ByOrigin[origin], Trades: trades})
		}
	}
	for _, o := range origins {
		u.queueExec(`INSERT INTO ledger_exchange_origins (platform_id, month, run, origin, currency, amount, trades) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
			append(key, string(o.Origin), string(o.Currency), o.Amount, o.Trades)...)
	}
	return nil
}

// ExchangeResult implements ports.MonthEndResults. Uses the primary keys.
func (db *DB) ExchangeResult(ctx context.Context, run monthend.Run) (r monthend.ExchangeResult, err error) {
	key := []any{pgID(run.Platform.UUID()), monthDate(run.Month), run.Number}
	found := false
	err = queryRows(ctx, db.readPool, `SELECT functional_currency, keep_unrealised, covers_from, rates_kept_at, opening_rates_kept_at, opening_result, cash, opening_value, closing_value, rate_changes, coalesce(translated, 0),
			(SELECT n.last_seq FROM ledger_month_end_runs n WHERE n.platform_id = r.platform_id AND n.kind = $4 AND n.month = r.month AND n.run = r.run)
		FROM ledger_exchange_results r WHERE platform_id = $1 AND month = $2 AND run = $3`, append(key, string(ledger.KindRevaluation)), func(rows pgx.Rows) error {
		var from, keptAt, openingKeptAt pgtype.Timestamptz
		err := rows.Scan(&r.Functional, &r.Keep, &from, &keptAt, &openingKeptAt, &r.Opening, &r.Cash, &r.Changes.Opening, &r.Changes.Closing, &r.Changes.RateChanges, &r.Translated, &r.LastSeq)
		r.From, r.RatesKeptAt, r.OpeningRatesKeptAt, found = utcTime(from), utcTime(keptAt), utcTime(openingKeptAt), true
		return err
	})
	if err == nil && !found {
		err = fmt.Errorf("the exchange result of run %d of %s %w", run.Number, run.Month, ports.ErrMonthEndMissing)
	}
	if err != nil {
		return r, err
	}
	err = queryRows(ctx, db.readPool, `SELECT currency, quantity, cost, rate, rate_at, rate_source, value, unrealised, carried
		FROM ledger_exchange_positions WHERE platform_id = $1 AND month = $2 AND run = $3 ORDER BY currency COLLATE "C"`, key, func(rows pgx.Rows) error {
		line, err := scanExchangeLine(rows)
		r.Lines = append(r.Lines, line)
		return err
	})
	if err != nil {
		return r, err
	}
	err = queryRows(ctx, db.readPool, `SELECT account, currency, quantity, value, postings, coalesce(remainder, '0') FROM ledger_exchange_translations
		WHERE platform_id = $1 AND month = $2 AND run = $3 ORDER BY account COLLATE "C", currency COLLATE "C"`, key, func(rows pgx.Rows) error {
		var t exchange.Translation
		var remainder string
		if err := rows.Scan(&t.Account, &t.Currency, &t.Quantity, &t.Value, &t.Postings, &remainder); err != nil {
			return err
		}
		var err error
		t.Remainder, err = money.ParseExact(remainder)
		r.Translations = append(r.Translations, t)
		return err
	})
	if err != nil {
		return r, err
	}
	r.Changes.ByOrigin, r.Changes.Trades = map[exchange.Origin]int64{}, map[exchange.Origin]int64{}
	err = queryRows(ctx, db.readPool, `SELECT origin, currency, amount, trades FROM ledger_exchange_origins
		WHERE platform_id = $1 AND month = $2 AND run = $3 ORDER BY array_position($4::text[], origin), currency COLLATE "C"`, append(key, originNames()), func(rows pgx.Rows) error {
		var o exchange.Realised
		if err := rows.Scan(&o.Origin, &o.Currency, &o.Amount, &o.Trades); err != nil {
			return err
		}
		if o.Currency == "" {
			r.Changes.ByOrigin[o.Origin], r.Changes.Trades[o.Origin] = o.Amount, o.Trades
		} else {
			r.Realised = append(r.Realised, o)
		}
		return nil
	})
	return r, err
}

func originNames() []string {
	var names []string
	for _, origin := range exchange.Origins() {
		names = append(names, string(origin))
	}
	return names
}

func scanExchangeLine(rows pgx.Rows) (line exchange.Line, err error) {
	var rate string
	var rateAt pgtype.Timestamptz
	if err := rows.Scan(&line.Currency, &line.Quantity, &line.Cost, &rate, &rateAt, &line.RateSource, &line.Value, &line.Unrealised, &line.Carried); err != nil {
		return line, err
	}
	if rate == "" {
		return line, nil
	}
	line.RateAt = utcTime(rateAt)
	line.Rate, err = money.ParseRate(rate)
	return line, err
}

// SavePaymentsInTransit implements ports.MonthEndWriter.
func (u *unit) SavePaymentsInTransit(ctx context.Context, run monthend.Run, lines []monthend.InTransit) error {
	const batch = 10_000
	for len(lines) > 0 {
		n := min(len(lines), batch)
		ids, currencies, amounts, fees := make([]pgtype.UUID, n), make([]string, n), make([]int64, n), make([]int64, n)
		for i, l := range lines[:n] {
			ids[i], currencies[i], amounts[i], fees[i] = pgID(l.Transaction.UUID()), string(l.Currency), l.Amount, l.Fee
		}
		u.queueExec(`INSERT INTO ledger_payments_in_transit (platform_id, month, run, transaction_id, currency, amount, fee)
			SELECT $1, $2, $3, * FROM unnest($4::uuid[], $5::text[], $6::bigint[], $7::bigint[])`,
			pgID(run.Platform.UUID()), monthDate(run.Month), run.Number, ids, currencies, amounts, fees)
		if err := u.flush(ctx); err != nil {
			return err
		}
		lines = lines[n:]
	}
	return nil
}

// PaymentsInTransit implements ports.MonthEndResults. It reads pages by primary key.
func (db *DB) PaymentsInTransit(ctx context.Context, run monthend.Run, each func(monthend.InTransit) error) error {
	const page = 5_000
	after, afterCurrency := pgtype.UUID{Valid: true}, ""
	for {
		lines := make([]monthend.InTransit, 0, page)
		err := queryRows(ctx, db.readPool, `SELECT transaction_id, currency, amount, fee FROM ledger_payments_in_transit
			WHERE platform_id = $1 AND month = $2 AND run = $3 AND (transaction_id, currency) > ($4, $5)
			ORDER BY transaction_id, currency LIMIT $6`,
			[]any{pgID(run.Platform.UUID()), monthDate(run.Month), run.Number, after, afterCurrency, page}, func(rows pgx.Rows) error {
				var l monthend.InTransit
				if err := rows.Scan(&after, &l.Currency, &l.Amount, &l.Fee); err != nil {
					return err
				}
				afterCurrency = string(l.Currency)
				l.Transaction.SetUUID(after.Bytes)
				lines = append(lines, l)
				return nil
			})
		if err != nil {
			return err
		}
		for _, l := range lines {
			if err := each(l); err != nil {
				return err
			}
		}
		if len(lines) < page {
			return nil
		}
	}
}
