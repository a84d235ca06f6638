package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/schema"
	"causeway/core/ident"
	"causeway/core/safeguarding"
	"causeway/ports"
)

// AccountPurposes uses the primary key.
func (db *DB) AccountPurposes(ctx context.Context, p ident.Platform) (purposes []ports.AccountPurpose, err error) {
	rows, err := selectRows(ctx, db, db.queryRows, accountPurposes, `WHERE platform_id = $1 ORDER BY account, version`, p)
	for _, row := range rows {
		purposes = append(purposes, row.value)
	}
	return purposes, err
}

// LastSafeguardingDay uses the primary key.
func (db *DB) LastSafeguardingDay(ctx context.Context, p ident.Platform) (day safeguarding.Day, err error) {
	err = db.queryRows(ctx, `SELECT max(day) FROM safeguarding_reports WHERE platform_id = $1`, []any{p}, func(rows pgx.Rows) error {
		return rows.Scan(schema.Day(&day))
	})
	return day, err
}

// selectReports has reports r with the number of versions of their days. Uses the primary key.
var selectReports = `SELECT ` + safeguardingReports.Names("r") + `,
	(SELECT max(v.version) FROM safeguarding_reports v WHERE v.platform_id = r.platform_id AND v.day = r.day)
	FROM safeguarding_reports r WHERE `

// readReports reads reports with their details.
func readReports(ctx context.Context, db *DB, tx pgx.Tx, condition string, args ...any) (reports []ports.KeptReport, err error) {
	err = queryRows(ctx, tx, selectReports+condition, args, func(rows pgx.Rows) error {
		var r ports.KeptReport
		err := db.sealed.Scan(ctx, rows, safeguardingReports.Columns(&r), &r.Versions)
		reports = append(reports, r)
		return err
	})
	if err != nil || len(reports) == 0 {
		return nil, err
	}
	return reports, addReportDetails(ctx, db, tx, reports)
}

// SafeguardingReport implements treasury.Store. It reads one snapshot.
func (db *DB) SafeguardingReport(
	ctx context.Context, p ident.Platform, day safeguarding.Day, version int,
) (report ports.KeptReport, found bool, err error) {
	err = db.inSnapshot(ctx, func(tx pgx.Tx) error {
		const ofVersion = `r.platform_id = $1 AND r.day = $2 AND $3 IN (0, r.version) ORDER BY r.version DESC LIMIT 1`
		reports, err := readReports(ctx, db, tx, ofVersion, p, schema.Day(&day), version)
		if found = len(reports) > 0; found {
			report = reports[0]
		}
		return err
	})
	return report, found, err
}

// lastReports has the last versions of the reports before a day.
const lastReports = `r.platform_id = $1 AND ($2::date IS NULL OR r.day < $2) AND (NOT $3 OR cardinality(r.shortfalls) > 0)
	AND r.version = (SELECT max(v.version) FROM safeguarding_reports v WHERE v.platform_id = r.platform_id AND v.day = r.day)
	ORDER BY r.day DESC LIMIT $4`

// SafeguardingReports implements treasury.Store. It reads one snapshot.
func (db *DB) SafeguardingReports(
	ctx context.Context, p ident.Platform, f ports.SafeguardingFilter,
) (page ports.SafeguardingPage, err error) {
	err = db.inSnapshot(ctx, func(tx pgx.Tx) error {
		reports, err := readReports(ctx, db, tx, lastReports, p, schema.Day(&f.Before), f.ShortfallOnly, f.Limit+1)
		page.Reports, page.More = firstOf(reports, f.Limit)
		return err
	})
	return page, err
}

// reportKey names a version of a report of a platform.
type reportKey struct {
	day     safeguarding.Day
	version int
}

// selectOfReports has the rows of a table for versions of reports: compare is = or, with those of the versions before, <=.
func selectOfReports[T any](t *schema.Table[T], compare string) string {
	return `SELECT ` + t.Names("d") + ` FROM unnest($2::text[]::date[], $3::integer[]) AS w (day, version)
	JOIN ` + t.Name + ` d ON d.platform_id = $1 AND d.day = w.day AND d.version ` + compare + ` w.version`
}

// selectAcknowledgements has the acknowledgements of versions of reports, and of the versions before them.
var selectAcknowledgements = selectOfReports(acknowledgements, "<=") + ` ORDER BY d.id`

// addReportDetails reads the lines, statements and acknowledgements of reports of a platform. Uses primary keys.
func addReportDetails(ctx context.Context, db *DB, tx pgx.Tx, reports []ports.KeptReport) error {
	index := map[reportKey]int{}
	days, versions := make([]string, len(reports)), make([]int, len(reports))
	for i, r := range reports {
		index[reportKey{r.Day, r.Version}] = i
		days[i], versions[i] = string(r.Day), r.Version
	}
	args := []any{reports[0].Platform, days, versions}
	figures, err := readFigures(ctx, db, tx, args)
	if err != nil {
		return err
	}
	for key, i := range index {
		reports[i].Figures = figures[key]
	}
	byAccount := selectOfReports(reportStatements, "=") + ` ORDER BY d.path COLLATE "C", d.currency COLLATE "C"`
	statements, err := queryTable(ctx, db, readOn(tx), reportStatements, byAccount, args...)
	if err != nil {
		return err
	}
	for _, row := range statements {
		r := &reports[index[reportKey{row.day, row.version}]]
		r.Statements = append(r.Statements, row.value)
	}
	return addAcknowledgements(ctx, db, tx, reports, args)
}

// readFigures reads the figures of versions of reports. Uses the primary key.
func readFigures(ctx context.Context, db *DB, tx pgx.Tx, args []any) (map[reportKey][]safeguarding.Figures, error) {
	rows, err := queryTable(ctx, db, readOn(tx), reportLines, selectOfReports(reportLines, "="), args...)
	lines, figures := map[reportKey][]safeguarding.Line{}, map[reportKey][]safeguarding.Figures{}
	for _, row := range rows {
		key := reportKey{row.day, row.version}
		lines[key] = append(lines[key], row.value)
	}
	for key, of := range lines {
		figures[key] = safeguarding.FiguresOf(of)
	}
	return figures, err
}

// addAcknowledgements reads the acknowledgements of reports, and adds those of earlier versions that hold for them. Uses primary keys.
func addAcknowledgements(ctx context.Context, db *DB, tx pgx.Tx, reports []ports.KeptReport, args []any) error {
	found, err := queryTable(ctx, db, readOn(tx), acknowledgements, selectAcknowledgements, args...)
	if err != nil || len(found) == 0 {
		return err
	}
	first := map[safeguarding.Day]int{}
	for _, row := range found {
		if a := row.value; first[a.Day] == 0 || a.Version < first[a.Day] {
			first[a.Day] = a.Version
		}
	}
	var days []string
	var versions []int
	for _, r := range reports {
		if from := first[r.Day]; from > 0 {
			for v := from; v <= r.Version; v++ {
				days, versions = append(days, string(r.Day)), append(versions, v)
			}
		}
	}
	figures, err := readFigures(ctx, db, tx, []any{reports[0].Platform, days, versions})
	for i := range reports {
		r := &reports[i]
		for _, row := range found {
			a := row.value
			var since []safeguarding.Report
			for v := a.Version; v <= r.Version; v++ {
				since = append(since, safeguarding.Report{Figures: figures[reportKey{r.Day, v}]})
			}
			if a.Day == r.Day && a.Version <= r.Version && safeguarding.StillAcknowledged(since) {
				r.Acknowledgements = append(r.Acknowledgements, a)
			}
		}
	}
	return err
}

// LastStatements reads the last statement of each account. Uses reconciliation_file_unique, and
// reconciliation_breaks_by_reconciliation.
func (db *DB) LastStatements(ctx context.Context, p ident.Platform, by safeguarding.Day) (statements []safeguarding.Statement, err error) {
	err = db.queryRows(ctx, `
		SELECT DISTINCT ON (r.account, r.currency) r.account, r.currency, r.id, r.last_day, coalesce(r.closing, 0)::numeric, r.closing IS NOT NULL,
			(SELECT count(*) FROM reconciliation_breaks b
			 LEFT JOIN reconciliation_resolutions d ON d.platform_id = b.platform_id AND d.break_id = b.id
			 WHERE b.platform_id = r.platform_id AND b.reconciliation_id = r.id AND d.break_id IS NULL)
		FROM reconciliations r WHERE r.platform_id = $1 AND r.last_day <= $2
		ORDER BY r.account, r.currency, r.last_day DESC, r.id DESC`, []any{p, schema.Day(&by)}, func(rows pgx.Rows) error {
		var s safeguarding.Statement
		err := rows.Scan(&s.Path, &s.Currency, &s.Reconciliation, schema.Day(&s.Day), &s.Closing, &s.HasClosing, &s.OpenBreaks)
		statements = append(statements, s)
		return err
	})
	return statements, err
}
