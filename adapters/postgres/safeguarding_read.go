package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"causeway/adapters/postgres/ledgerdb"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/safeguarding"
	"causeway/ports"
)

// AccountPurposes uses the primary key.
func (db *DB) AccountPurposes(ctx context.Context, p ident.Platform) (purposes []ports.AccountPurpose, err error) {
	err = db.queryRows(ctx, `SELECT account, version, purpose, changed_at, token_id, actor, note, proposal_id, approver_token_id, approver
		FROM safeguarding_purposes WHERE platform_id = $1 ORDER BY account, version`, []any{pgID(p.UUID())}, func(rows pgx.Rows) error {
		var a ports.AccountPurpose
		var changedAt pgtype.Timestamptz
		var token, proposed, approver pgtype.UUID
		var actor string
		err := rows.Scan(&a.Path, &a.Version, &a.Purpose, &changedAt, &token, &actor, &a.Note, &proposed, &approver, &a.Approval.By.Actor)
		a.At, a.By = utcTime(changedAt), authorOf(token, actor)
		a.Approval = scanApproval(proposed, approver, a.Approval.By.Actor)
		purposes = append(purposes, a)
		return err
	})
	return purposes, err
}

// LastSafeguardingDay uses the primary key.
func (db *DB) LastSafeguardingDay(ctx context.Context, p ident.Platform) (day safeguarding.Day, err error) {
	err = db.queryRows(ctx, `SELECT max(day) FROM safeguarding_reports WHERE platform_id = $1`, []any{pgID(p.UUID())}, func(rows pgx.Rows) error {
		var last pgtype.Date
		err := rows.Scan(&last)
		day = dayOf(last)
		return err
	})
	return day, err
}

// reportColumns are the columns of a report r.
const reportColumns = `r.day, r.version, r.as_of, r.made_at, r.token_id, r.actor, r.seq, r.posting_digest, coalesce(r.log_checkpoint, ''), r.value_currency, r.rates_kept_at,
	r.value_missing, r.requirement_value::text, r.resource_value::text, r.digest, (SELECT max(v.version) FROM safeguarding_reports v WHERE v.platform_id = r.platform_id AND v.day = r.day)`

func scanReport(p ident.Platform, rows pgx.Rows) (ports.KeptReport, error) {
	r := ports.KeptReport{Report: safeguarding.Report{Platform: p}}
	var day pgtype.Date
	var asOf, madeAt, keptAt pgtype.Timestamptz
	var token pgtype.UUID
	var actor, requirement, resource string
	var missing []string
	if err := rows.Scan(&day, &r.Version, &asOf, &madeAt, &token, &actor, &r.Seq, &r.PostingDigest, &r.Checkpoint, &r.Valuation.Currency, &keptAt,
		&missing, &requirement, &resource, &r.Digest, &r.Versions); err != nil {
		return r, err
	}
	r.Day, r.AsOf, r.MadeAt, r.By = dayOf(day), utcTime(asOf), utcTime(madeAt), authorOf(token, actor)
	if keptAt.Valid {
		r.Valuation.RatesKeptAt = utcTime(keptAt)
	}
	for _, currency := range missing {
		r.Valuation.Missing = append(r.Valuation.Missing, money.Currency(currency))
	}
	var err error
	if r.Valuation.Requirement, err = money.ParseTotal(requirement); err != nil {
		return r, err
	}
	r.Valuation.Resource, err = money.ParseTotal(resource)
	return r, err
}

// SafeguardingReport uses primary keys. It reads one snapshot.
func (db *DB) SafeguardingReport(ctx context.Context, p ident.Platform, day safeguarding.Day, version int) (report ports.KeptReport, found bool, err error) {
	err = db.inSnapshot(ctx, func(tx pgx.Tx) error {
		err := queryTx(ctx, tx, `SELECT `+reportColumns+` FROM safeguarding_reports r WHERE r.platform_id = $1 AND r.day = $2 AND $3 IN (0, r.version) ORDER BY r.version DESC LIMIT 1`,
			[]any{pgID(p.UUID()), pgDay(string(day)), version}, func(rows pgx.Rows) (err error) {
				found = true
				report, err = scanReport(p, rows)
				return err
			})
		if err != nil || !found {
			return err
		}
		reports := []ports.KeptReport{report}
		if err := addReportDetails(ctx, tx, p, reports); err != nil {
			return err
		}
		report = reports[0]
		return nil
	})
	return report, found, err
}

// SafeguardingReports uses the primary key.
func (db *DB) SafeguardingReports(ctx context.Context, p ident.Platform, f ports.SafeguardingFilter) (page ports.SafeguardingPage, err error) {
	err = db.inSnapshot(ctx, func(tx pgx.Tx) error {
		err := queryTx(ctx, tx, `
			SELECT `+reportColumns+` FROM safeguarding_reports r
			WHERE r.platform_id = $1 AND ($2::date IS NULL OR r.day < $2) AND (NOT $3 OR cardinality(r.shortfalls) > 0)
			  AND r.version = (SELECT max(v.version) FROM safeguarding_reports v WHERE v.platform_id = r.platform_id AND v.day = r.day)
			ORDER BY r.day DESC LIMIT $4`, []any{pgID(p.UUID()), pgDay(string(f.Before)), f.ShortfallOnly, f.Limit + 1}, func(rows pgx.Rows) error {
			r, err := scanReport(p, rows)
			page.Reports = append(page.Reports, r)
			return err
		})
		if err != nil {
			return err
		}
		if page.More = len(page.Reports) > f.Limit; page.More {
			page.Reports = page.Reports[:f.Limit]
		}
		return addReportDetails(ctx, tx, p, page.Reports)
	})
	return page, err
}

// addReportDetails reads the lines, statements and acknowledgements of reports. Uses primary keys.
func addReportDetails(ctx context.Context, tx pgx.Tx, p ident.Platform, reports []ports.KeptReport) error {
	type key struct {
		day     safeguarding.Day
		version int
	}
	index := map[key]int{}
	days, versions := make(dayArray, len(reports)), make([]int32, len(reports))
	for i, r := range reports {
		index[key{r.Day, r.Version}] = i
		days[i], versions[i] = pgDay(string(r.Day)), int32(r.Version)
	}
	args := []any{pgID(p.UUID()), days, versions}
	const joinReports = ` FROM unnest($2::date[], $3::integer[]) AS w (day, version) JOIN `
	var day pgtype.Date
	var version int

	lines := make([][]safeguarding.Line, len(reports))
	err := queryTx(ctx, tx, `SELECT d.day, d.version, d.section, d.path, d.currency, d.amount::text, coalesce(d.confirmation, ''), coalesce(d.manual, 0)::text, d.manual_since`+
		joinReports+`safeguarding_report_lines d
		ON d.platform_id = $1 AND d.day = w.day AND d.version = w.version`, args, func(rows pgx.Rows) error {
		var l safeguarding.Line
		var amount, manual string
		var since pgtype.Date
		if err := rows.Scan(&day, &version, &l.Section, &l.Path, &l.Currency, &amount, &l.Confirmation, &manual, &since); err != nil {
			return err
		}
		l.ManualSince = dayOf(since)
		var err error
		if l.Amount, err = money.ParseTotal(amount); err != nil {
			return err
		}
		l.Manual, err = money.ParseTotal(manual)
		i := index[key{dayOf(day), version}]
		lines[i] = append(lines[i], l)
		return err
	})
	if err != nil {
		return err
	}
	for i := range reports {
		reports[i].Figures = safeguarding.FiguresOf(lines[i])
	}
	err = queryTx(ctx, tx, `SELECT d.day, d.version, d.path, d.currency, d.reconciliation_id, d.statement_date, coalesce(d.closing, 0)::text, coalesce(d.difference, 0)::text, d.closing IS NOT NULL, d.open_breaks`+
		joinReports+`safeguarding_report_statements d ON d.platform_id = $1 AND d.day = w.day AND d.version = w.version
		ORDER BY d.path COLLATE "C", d.currency COLLATE "C"`, args, func(rows pgx.Rows) error {
		var s safeguarding.Statement
		var id pgtype.UUID
		var statementDay pgtype.Date
		var closing, difference string
		if err := rows.Scan(&day, &version, &s.Path, &s.Currency, &id, &statementDay, &closing, &difference, &s.HasClosing, &s.OpenBreaks); err != nil {
			return err
		}
		s.Reconciliation.SetUUID(id.Bytes)
		s.Day = dayOf(statementDay)
		var err error
		if s.Closing, err = money.ParseTotal(closing); err != nil {
			return err
		}
		s.Difference, err = money.ParseTotal(difference)
		r := &reports[index[key{dayOf(day), version}]]
		r.Statements = append(r.Statements, s)
		return err
	})
	if err != nil {
		return err
	}
	return queryTx(ctx, tx, `SELECT d.day, d.version, d.acknowledged_at, d.token_id, d.actor, d.note`+joinReports+`safeguarding_acknowledgements d
		ON d.platform_id = $1 AND d.day = w.day AND d.version = w.version ORDER BY d.id`, args, func(rows pgx.Rows) error {
		var a safeguarding.Acknowledgement
		var at pgtype.Timestamptz
		var token pgtype.UUID
		var actor string
		if err := rows.Scan(&day, &version, &at, &token, &actor, &a.Note); err != nil {
			return err
		}
		a.Day, a.Version, a.At, a.By = dayOf(day), version, utcTime(at), authorOf(token, actor)
		r := &reports[index[key{dayOf(day), version}]]
		r.Acknowledgements = append(r.Acknowledgements, a)
		return nil
	})
}

// LastStatements reads the last statement of each account. Uses reconciliation_file_unique, and
// reconciliation_breaks_by_reconciliation.
func (db *DB) LastStatements(ctx context.Context, p ident.Platform, by safeguarding.Day) (statements []safeguarding.Statement, err error) {
	err = db.queryRows(ctx, `
		SELECT DISTINCT ON (r.account, r.currency) r.account, r.currency, r.id, r.last_day, coalesce(r.closing, 0)::text, r.closing IS NOT NULL,
			(SELECT count(*) FROM reconciliation_breaks b
			 LEFT JOIN reconciliation_resolutions d ON d.platform_id = b.platform_id AND d.break_id = b.id
			 WHERE b.platform_id = r.platform_id AND b.reconciliation_id = r.id AND d.break_id IS NULL)
		FROM reconciliations r WHERE r.platform_id = $1 AND r.last_day <= $2
		ORDER BY r.account, r.currency, r.last_day DESC, r.id DESC`, []any{pgID(p.UUID()), pgDay(string(by))}, func(rows pgx.Rows) error {
		var s safeguarding.Statement
		var id pgtype.UUID
		var last pgtype.Date
		var closing string
		if err := rows.Scan(&s.Path, &s.Currency, &id, &last, &closing, &s.HasClosing, &s.OpenBreaks); err != nil {
			return err
		}
		s.Reconciliation.SetUUID(id.Bytes)
		s.Day = dayOf(last)
		var err error
		s.Closing, err = money.ParseTotal(closing)
		statements = append(statements, s)
		return err
	})
	return statements, err
}

// inSnapshot calls fn with a read-only transaction that reads one snapshot.
func (db *DB) inSnapshot(ctx context.Context, fn func(pgx.Tx) error) error {
	return ledgerdb.ReadError(pgx.BeginTxFunc(ctx, db.readPool, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, fn))
}

// queryTx runs a query in a transaction and calls scan for each row.
func queryTx(ctx context.Context, tx pgx.Tx, query string, args []any, scan func(pgx.Rows) error) error {
	rows, err := tx.Query(ctx, query, append([]any{pgx.QueryExecModeCacheDescribe}, args...)...)
	if err != nil {
		return err
	}
	return forEachRow(rows, scan)
}
