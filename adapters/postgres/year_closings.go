package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/ledgerdb"
	"causeway/core/ident"
	"causeway/core/period"
	"causeway/core/yearend"
	"causeway/ledger"
)

// YearClosings implements ports.YearEndReader.
func (db *DB) YearClosings(ctx context.Context, p ident.Platform) ([]yearend.Closing, error) {
	return ledgerdb.YearClosings(ctx, db.readPool, p)
}

// YearClosings implements ports.YearEndReader.
func (u *unit) YearClosings(ctx context.Context, p ident.Platform) ([]yearend.Closing, error) {
	return ledgerdb.YearClosings(ctx, batchedQuerier{u: u}, p)
}

// ResultBalances implements ports.YearEndWriter.
func (u *unit) ResultBalances(ctx context.Context, p ident.Platform, m period.Month) (balances []ledger.NetBalance, seq int64, err error) {
	for _, setting := range bulkReadSettings {
		u.queueExec(setting)
	}
	err = u.query(ctx, `SELECT seq FROM ledger_clocks WHERE platform_id = $1`, []any{pgID(p.UUID())}, func(rows pgx.Rows) error { return rows.Scan(&seq) })
	if err != nil {
		return nil, 0, err
	}
	err = u.query(ctx, ledgerdb.SelectResultBalances, ledgerdb.ResultBalancesArgs(p, m.Start(), seq), func(rows pgx.Rows) error {
		balance, err := ledgerdb.ScanResultBalance(rows)
		balances = append(balances, balance)
		return err
	})
	return balances, seq, err
}

// SaveYearClosing implements ports.YearEndWriter.
func (u *unit) SaveYearClosing(_ context.Context, c yearend.Closing) error {
	platform := pgID(c.Platform.UUID())
	u.queueExec(`INSERT INTO ledger_year_closings (platform_id, year, number, last_month, closed_at, token_id, actor, note, posting_id, seq, proposal_id, approver_token_id, approver)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
		platform, c.Year.Number(), c.Number, monthDate(c.Year.Last()), pgTime(c.At), pgID(c.By.Token.UUID()), c.By.Actor, c.Note, pgID(c.Posting), c.Seq,
		pgID(c.Approval.Proposal.UUID()), pgID(c.Approval.By.Token.UUID()), c.Approval.By.Actor)
	for _, r := range c.Results {
		u.queueExec(`INSERT INTO ledger_year_results (platform_id, year, number, currency, income, expense) VALUES ($1, $2, $3, $4, $5::text::numeric, $6::text::numeric)`,
			platform, c.Year.Number(), c.Number, string(r.Currency), r.Income.String(), r.Expense.String())
	}
	return nil
}

// SaveYearReversal implements ports.YearEndWriter.
func (u *unit) SaveYearReversal(_ context.Context, c yearend.Closing, r yearend.Reversal) error {
	u.queueExec(`INSERT INTO ledger_year_reversals (platform_id, year, number, reversed_at, token_id, actor, note, posting_id, effective_at, proposal_id, approver_token_id, approver)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
		pgID(c.Platform.UUID()), c.Year.Number(), c.Number, pgTime(r.At), pgID(r.By.Token.UUID()), r.By.Actor, r.Note, pgID(r.Posting), pgTime(r.Effective),
		pgID(r.Approval.Proposal.UUID()), pgID(r.Approval.By.Token.UUID()), r.Approval.By.Actor)
	return nil
}
