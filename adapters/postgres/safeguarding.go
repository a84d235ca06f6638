package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/safeguarding"
	"causeway/ports"
)

// lockSafeguarding is an advisory lock of a platform, beside those of its periods and its clock.
const lockSafeguarding = `SELECT pg_advisory_xact_lock(uuid_hash_extended($1::uuid, 11))`

// LockSafeguarding implements ports.SafeguardingWriter.
func (u *unit) LockSafeguarding(ctx context.Context, p ident.Platform) error {
	u.queueExec(lockSafeguarding, pgID(p.UUID()))
	return u.flush(ctx)
}

// SetAccountPurpose implements ports.SafeguardingWriter.
func (u *unit) SetAccountPurpose(ctx context.Context, p ident.Platform, c ports.AccountPurpose) (ports.AccountPurpose, error) {
	err := u.query(ctx, `
		INSERT INTO safeguarding_purposes (platform_id, account, version, purpose, changed_at, token_id, actor, note, proposal_id, approver_token_id, approver)
		SELECT $1, $2, 1 + coalesce(max(version), 0), $3, $4, $5, $6, $7, $8, $9, $10 FROM safeguarding_purposes WHERE platform_id = $1 AND account = $2
		RETURNING version`,
		[]any{pgID(p.UUID()), c.Path, string(c.Purpose), pgTime(c.At), pgID(c.By.Token.UUID()), c.By.Actor, c.Note,
			pgID(c.Approval.Proposal.UUID()), pgID(c.Approval.By.Token.UUID()), c.Approval.By.Actor}, func(rows pgx.Rows) error { return rows.Scan(&c.Version) })
	return c, err
}

// SaveSafeguardingReport implements ports.SafeguardingWriter.
func (u *unit) SaveSafeguardingReport(ctx context.Context, r safeguarding.Report) error {
	platform, day, digest := pgID(r.Platform.UUID()), pgDay(string(r.Day)), r.Digest()
	u.queueExec(`
		INSERT INTO safeguarding_reports (platform_id, day, version, as_of, made_at, token_id, actor, seq, posting_digest, log_checkpoint, shortfalls,
			value_currency, rates_kept_at, value_missing, requirement_value, resource_value, digest)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15::text::numeric, $16::text::numeric, $17)`,
		platform, day, r.Version, pgTime(r.AsOf), pgTime(r.MadeAt), pgID(r.By.Token.UUID()), r.By.Actor, r.Seq, r.PostingDigest,
		pgtype.Text{String: r.Checkpoint, Valid: r.Checkpoint != ""}, namesOf(r.Shortfalls()), string(r.Valuation.Currency), pgTime(r.Valuation.RatesKeptAt),
		namesOf(r.Valuation.Missing), r.Valuation.Requirement.String(), r.Valuation.Resource.String(), digest[:])
	for _, f := range r.Figures {
		for _, l := range f.Lines {
			known := l.Confirmation != ""
			u.queueExec(`INSERT INTO safeguarding_report_lines (platform_id, day, version, section, path, currency, amount, confirmation, manual, manual_since)
				VALUES ($1, $2, $3, $4, $5, $6, $7::text::numeric, $8, $9::text::numeric, $10)`,
				platform, day, r.Version, string(l.Section), l.Path, string(l.Currency), l.Amount.String(),
				pgtype.Text{String: string(l.Confirmation), Valid: known}, pgtype.Text{String: l.Manual.String(), Valid: known}, pgDay(string(l.ManualSince)))
		}
	}
	for _, s := range r.Statements {
		closing, difference := pgtype.Text{String: s.Closing.String(), Valid: s.HasClosing}, pgtype.Text{String: s.Difference.String(), Valid: s.HasClosing}
		u.queueExec(`INSERT INTO safeguarding_report_statements (platform_id, day, version, path, currency, reconciliation_id, statement_date, closing, difference, open_breaks)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8::text::numeric, $9::text::numeric, $10)`,
			platform, day, r.Version, s.Path, string(s.Currency), pgID(s.Reconciliation.UUID()), pgDay(string(s.Day)), closing, difference, s.OpenBreaks)
	}
	return u.flush(ctx)
}

// AcknowledgeSafeguardingReport implements ports.SafeguardingWriter.
func (u *unit) AcknowledgeSafeguardingReport(ctx context.Context, p ident.Platform, a safeguarding.Acknowledgement) error {
	u.queueExec(`INSERT INTO safeguarding_acknowledgements (platform_id, day, version, acknowledged_at, token_id, actor, note) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
		pgID(p.UUID()), pgDay(string(a.Day)), a.Version, pgTime(a.At), pgID(a.By.Token.UUID()), a.By.Actor, a.Note)
	return u.flush(ctx)
}

// namesOf returns texts of any type as an array that is never NULL.
func namesOf[T ~string](list []T) []string {
	array := make([]string, len(list))
	for i, item := range list {
		array[i] = string(item)
	}
	return array
}

// dayOf returns a stored day.
func dayOf(d pgtype.Date) safeguarding.Day {
	if !d.Valid {
		return ""
	}
	return safeguarding.Day(d.Time.Format(time.DateOnly))
}

func authorOf(token pgtype.UUID, actor string) platform.Author {
	return platform.Author{Token: tokenID(token), Actor: actor}
}
