package postgres

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/schema"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/safeguarding"
	"causeway/ports"
)

// lockSafeguarding is an advisory lock of a platform, beside those of its periods and its clock.
const lockSafeguarding = `SELECT pg_advisory_xact_lock(uuid_hash_extended($1::uuid, 11))`

// LockSafeguarding implements treasury.Tx.
func (u *Unit) LockSafeguarding(ctx context.Context, p ident.Platform) error {
	u.queueExec(lockSafeguarding, p)
	return u.flush(ctx)
}

var keyOfPurpose = []string{"platform_id", "account", "version"}

var accountPurposes = schema.New("safeguarding_purposes", keyOfPurpose, func(row *accountPurposeRow) schema.Columns {
	c := &row.value
	return slices.Concat(schema.Columns{
		{Name: "platform_id", Field: &row.platform}, {Name: "account", Field: &c.Path}, {Name: "version", Field: &c.Version},
		{Name: "purpose", Field: &c.Purpose}, {Name: "changed_at", Field: &c.At}, {Name: "note", Field: &c.Note},
	}, schema.AuthorColumns(&c.By), schema.ApprovalColumns(&c.Approval))
})

type accountPurposeRow = ofPlatform[ports.AccountPurpose]

// insertPurpose gives a purpose the next version of its account.
const insertPurpose = `
	INSERT INTO safeguarding_purposes (platform_id, account, version, purpose, changed_at, token_id, actor, note, proposal_id, approver_token_id, approver, person_id)
	SELECT $1, $2, 1 + coalesce(max(version), 0), $3, $4, $5, $6, $7, $8, $9, $10, $11 FROM safeguarding_purposes WHERE platform_id = $1 AND account = $2
	RETURNING version`

// SetAccountPurpose implements treasury.Tx.
func (u *Unit) SetAccountPurpose(ctx context.Context, p ident.Platform, c ports.AccountPurpose) (ports.AccountPurpose, error) {
	args := []any{p, c.Path, c.Purpose, c.At, c.By.Token, c.By.Actor, c.Note, c.Approval.Proposal, c.Approval.By.Token, c.Approval.By.Actor,
		c.By.Person}
	err := u.query(ctx, insertPurpose, args, func(rows pgx.Rows) error { return rows.Scan(&c.Version) })
	return c, err
}

// safeguardingReports are reports without their lines, statements and acknowledgements. The currencies with a shortfall are
// stored to find reports by them.
var safeguardingReports = schema.New("safeguarding_reports", keyOfReport, func(r *ports.KeptReport) schema.Columns {
	return slices.Concat(schema.Columns{
		{Name: "platform_id", Field: &r.Platform}, {Name: "day", Field: schema.Day(&r.Day)}, {Name: "version", Field: &r.Version},
		{Name: "as_of", Field: &r.AsOf}, {Name: "made_at", Field: &r.MadeAt}, {Name: "seq", Field: &r.Seq},
		{Name: "posting_digest", Field: &r.PostingDigest}, {Name: "log_checkpoint", Field: schema.Optional(&r.Checkpoint)},
		{Name: "shortfalls", Field: schema.Converted(
			func() []money.Currency { return append([]money.Currency{}, r.Shortfalls()...) },
			func([]money.Currency) error { return nil })},
		{Name: "value_currency", Field: &r.Valuation.Currency}, {Name: "rates_kept_at", Field: &r.Valuation.RatesKeptAt},
		{Name: "value_missing", Field: schema.Array(&r.Valuation.Missing)}, {Name: "requirement_value", Field: &r.Valuation.Requirement},
		{Name: "resource_value", Field: &r.Valuation.Resource}, {Name: "digest", Field: &r.Digest},
	}, schema.AuthorColumns(&r.By))
})

// ofReport is a row of a version of a report.
type ofReport[T any] struct {
	platform ident.Platform
	day      safeguarding.Day
	version  int
	value    T
}

func columnsOfReport[T any](row *ofReport[T]) schema.Columns {
	return schema.Columns{
		{Name: "platform_id", Field: &row.platform},
		{Name: "day", Field: schema.Day(&row.day), Type: "date"}, {Name: "version", Field: &row.version},
	}
}

func rowsOfReport[T any](r safeguarding.Report, values []T) []ofReport[T] {
	rows := make([]ofReport[T], len(values))
	for i, value := range values {
		rows[i] = ofReport[T]{r.Platform, r.Day, r.Version, value}
	}
	return rows
}

var (
	keyOfReport          = []string{"platform_id", "day", "version"}
	keyOfReportLine      = append(keyOfReport, "section", "path", "currency")
	keyOfReportStatement = append(keyOfReport, "path", "currency")
)

// reportLines have NULL for what was not confirmed.
var reportLines = schema.New("safeguarding_report_lines", keyOfReportLine, func(row *ofReport[safeguarding.Line]) schema.Columns {
	l := &row.value
	return slices.Concat(columnsOfReport(row), schema.Columns{
		{Name: "section", Field: &l.Section}, {Name: "path", Field: &l.Path}, {Name: "currency", Field: &l.Currency},
		{Name: "amount", Field: &l.Amount}, {Name: "confirmation", Field: schema.Optional(&l.Confirmation)},
		optionalTotal("manual", &l.Manual, func() bool { return l.Confirmation != "" }, func() {}),
		{Name: "manual_since", Field: schema.Day(&l.ManualSince), Type: "date"},
	})
})

type statementRow = ofReport[safeguarding.Statement]

// reportStatements have NULL for the balances of a statement without one.
var reportStatements = schema.New("safeguarding_report_statements", keyOfReportStatement, func(row *statementRow) schema.Columns {
	s := &row.value
	return slices.Concat(columnsOfReport(row), schema.Columns{
		{Name: "path", Field: &s.Path}, {Name: "currency", Field: &s.Currency}, {Name: "reconciliation_id", Field: &s.Reconciliation},
		{Name: "statement_date", Field: schema.Day(&s.Day), Type: "date"},
		optionalTotal("closing", &s.Closing, func() bool { return s.HasClosing }, func() { s.HasClosing = true }),
		optionalTotal("difference", &s.Difference, func() bool { return s.HasClosing }, func() {}),
		{Name: "open_breaks", Field: &s.OpenBreaks},
	})
})

// optionalTotal is a column of a sum that is NULL unless it is known. found is called when it is read and not NULL.
func optionalTotal(name string, total *money.Total, known func() bool, found func()) schema.Column {
	return schema.Column{Name: name, Type: "numeric", Field: schema.Converted(
		func() *money.Total {
			if !known() {
				return nil
			}
			return total
		},
		func(stored *money.Total) error {
			if stored != nil {
				*total = *stored
				found()
			}
			return nil
		})}
}

type acknowledgementRow = ofPlatform[safeguarding.Acknowledgement]

// acknowledgements have no id here: the database gives it.
var acknowledgements = schema.New("safeguarding_acknowledgements", keyOfReport, func(row *acknowledgementRow) schema.Columns {
	a := &row.value
	return slices.Concat(schema.Columns{
		{Name: "platform_id", Field: &row.platform}, {Name: "day", Field: schema.Day(&a.Day)}, {Name: "version", Field: &a.Version},
		{Name: "acknowledged_at", Field: &a.At}, {Name: "note", Field: &a.Note},
	}, schema.AuthorColumns(&a.By))
})

var (
	insertReport           = safeguardingReports.Insert("")
	insertReportLines      = reportLines.InsertAll("")
	insertReportStatements = reportStatements.InsertAll("")
	insertAcknowledgement  = acknowledgements.Insert("")
)

// SaveSafeguardingReport implements treasury.Tx.
func (u *Unit) SaveSafeguardingReport(ctx context.Context, r safeguarding.Report) error {
	digest := r.Digest()
	if err := write(ctx, u, insertReport, ports.KeptReport{Report: r, Digest: digest[:]}); err != nil {
		return err
	}
	for _, f := range r.Figures {
		if err := writeAll(ctx, u, insertReportLines, rowsOfReport(r, f.Lines)); err != nil {
			return err
		}
	}
	if err := writeAll(ctx, u, insertReportStatements, rowsOfReport(r, r.Statements)); err != nil {
		return err
	}
	return u.flush(ctx)
}

// AcknowledgeSafeguardingReport implements treasury.Tx.
func (u *Unit) AcknowledgeSafeguardingReport(ctx context.Context, p ident.Platform, a safeguarding.Acknowledgement) error {
	if err := write(ctx, u, insertAcknowledgement, acknowledgementRow{p, a}); err != nil {
		return err
	}
	return u.flush(ctx)
}
