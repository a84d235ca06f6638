package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/treasury"
	"causeway/ledger"
	"causeway/ports"
)

// CreateMovement implements ports.TreasuryWriter.
func (u *unit) CreateMovement(ctx context.Context, m treasury.Movement) error {
	bought := pgtype.Int8{Int64: m.Bought.Minor, Valid: m.Kind == treasury.Settlement}
	u.queueExec(`
		INSERT INTO treasury_movements (platform_id, id, kind, from_account, to_account, currency, amount, bought_currency, bought_amount, in_transit, allow_overdraft, note,
			effective_at, posting_id, created_at, token_id, actor, proposal_id, approver_token_id, approver)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20)`,
		pgID(m.Platform.UUID()), pgID(m.ID.UUID()), string(m.Kind), m.From, m.To, string(m.Amount.Currency), m.Amount.Minor,
		pgtype.Text{String: string(m.Bought.Currency), Valid: bought.Valid}, bought, m.InTransit, m.AllowOverdraft, m.Note,
		pgTime(m.Effective), pgID(m.Posting), pgTime(m.At), pgID(m.By.Token.UUID()), m.By.Actor,
		pgID(m.Approval.Proposal.UUID()), pgID(m.Approval.By.Token.UUID()), m.Approval.By.Actor)
	return u.flush(ctx)
}

// LockMovement implements ports.TreasuryWriter. The lock is that of LockSafeguarding.
func (u *unit) LockMovement(ctx context.Context, p ident.Platform, id ident.Movement) (m treasury.Movement, found bool, err error) {
	if err := u.LockSafeguarding(ctx, p); err != nil {
		return m, false, err
	}
	err = u.query(ctx, `SELECT `+movementColumns+fromMovements+` AND m.id = $2`, []any{pgID(p.UUID()), pgID(id.UUID())}, func(rows pgx.Rows) (err error) {
		found = true
		m, err = scanMovement(p, rows)
		return err
	})
	return m, found, err
}

// RecordArrival implements ports.TreasuryWriter.
func (u *unit) RecordArrival(ctx context.Context, m treasury.Movement) error {
	a := m.Arrival
	u.queueExec(`
		INSERT INTO treasury_arrivals (platform_id, movement_id, posting_id, effective_at, arrived_at, token_id, actor, proposal_id, approver_token_id, approver)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
		pgID(m.Platform.UUID()), pgID(m.ID.UUID()), pgID(a.Posting), pgTime(a.Effective), pgTime(a.At), pgID(a.By.Token.UUID()), a.By.Actor,
		pgID(a.Approval.Proposal.UUID()), pgID(a.Approval.By.Token.UUID()), a.Approval.By.Actor)
	return u.flush(ctx)
}

// SaveOverdrafts implements ports.TreasuryWriter.
func (u *unit) SaveOverdrafts(ctx context.Context, overdrafts []treasury.Overdraft) error {
	for _, o := range overdrafts {
		u.queueExec(`
			INSERT INTO ledger_overdrafts (platform_id, account, currency, overdrawn, since, balance, notified_at) VALUES ($1, $2, $3, $4, $5, $6::text::numeric, $7)
			ON CONFLICT (platform_id, account, currency) DO UPDATE SET overdrawn = EXCLUDED.overdrawn, since = EXCLUDED.since, balance = EXCLUDED.balance, notified_at = EXCLUDED.notified_at`,
			pgID(o.Account.Platform.UUID()), o.Account.Path, string(o.Account.Currency), o.Overdrawn, pgTime(o.Since), o.Balance.String(), pgTime(o.NotifiedAt))
	}
	return u.flush(ctx)
}

const (
	movementColumns = `m.id, m.kind, m.from_account, m.to_account, m.currency, m.amount, coalesce(m.bought_currency, ''), coalesce(m.bought_amount, 0), m.in_transit, m.allow_overdraft, m.note,
	m.effective_at, m.posting_id, m.created_at, m.token_id, m.actor, m.proposal_id, m.approver_token_id, m.approver,
	a.posting_id, a.effective_at, a.arrived_at, a.token_id, coalesce(a.actor, ''), a.proposal_id, a.approver_token_id, coalesce(a.approver, '')`
	// The movements of a platform with their arrivals, by primary keys.
	fromMovements = ` FROM treasury_movements m LEFT JOIN treasury_arrivals a ON a.platform_id = m.platform_id AND a.movement_id = m.id WHERE m.platform_id = $1`
)

func scanMovement(p ident.Platform, rows pgx.Rows) (treasury.Movement, error) {
	m := treasury.Movement{Platform: p}
	var id, posting, token, proposed, approver, arrivalPosting, arrivalToken, arrivalProposed, arrivalApprover pgtype.UUID
	var effective, created, arrivalEffective, arrived pgtype.Timestamptz
	var actor, approverName, arrivalActor, arrivalApproverName string
	err := rows.Scan(&id, &m.Kind, &m.From, &m.To, &m.Amount.Currency, &m.Amount.Minor, &m.Bought.Currency, &m.Bought.Minor, &m.InTransit, &m.AllowOverdraft, &m.Note,
		&effective, &posting, &created, &token, &actor, &proposed, &approver, &approverName,
		&arrivalPosting, &arrivalEffective, &arrived, &arrivalToken, &arrivalActor, &arrivalProposed, &arrivalApprover, &arrivalApproverName)
	m.ID.SetUUID(id.Bytes)
	m.Effective, m.Posting, m.At, m.By = utcTime(effective), posting.Bytes, utcTime(created), authorOf(token, actor)
	m.Approval = scanApproval(proposed, approver, approverName)
	if arrivalPosting.Valid {
		m.Arrival = &treasury.Arrival{Posting: arrivalPosting.Bytes, Effective: utcTime(arrivalEffective), At: utcTime(arrived), By: authorOf(arrivalToken, arrivalActor),
			Approval: scanApproval(arrivalProposed, arrivalApprover, arrivalApproverName)}
	}
	return m, err
}

// Movement uses primary keys.
func (db *DB) Movement(ctx context.Context, p ident.Platform, id ident.Movement) (m treasury.Movement, found bool, err error) {
	err = db.queryRows(ctx, `SELECT `+movementColumns+fromMovements+` AND m.id = $2`, []any{pgID(p.UUID()), pgID(id.UUID())}, func(rows pgx.Rows) (err error) {
		found = true
		m, err = scanMovement(p, rows)
		return err
	})
	return m, found, err
}

// Movements uses primary keys.
func (db *DB) Movements(ctx context.Context, p ident.Platform, f ports.MovementFilter) (ports.Page[treasury.Movement], error) {
	return queryPage(ctx, db, movementColumns, fromMovements+` AND $2 IN ('', m.kind) AND (NOT $3 OR m.in_transit AND a.movement_id IS NULL)`, "m.id",
		[]any{pgID(p.UUID()), string(f.Kind), f.Open}, f.Paging, func(rows pgx.Rows) (treasury.Movement, error) { return scanMovement(p, rows) })
}

// Overdrafts uses the primary key.
func (db *DB) Overdrafts(ctx context.Context, p ident.Platform) (overdrafts []treasury.Overdraft, err error) {
	err = db.queryRows(ctx, `SELECT account, currency, overdrawn, since, balance::text, notified_at FROM ledger_overdrafts WHERE platform_id = $1 ORDER BY account, currency`,
		[]any{pgID(p.UUID())}, func(rows pgx.Rows) error {
			o := treasury.Overdraft{Account: ledger.Account{Platform: p}}
			var balance string
			var since, notified pgtype.Timestamptz
			if err := rows.Scan(&o.Account.Path, &o.Account.Currency, &o.Overdrawn, &since, &balance, &notified); err != nil {
				return err
			}
			o.Since, o.NotifiedAt = utcTime(since), utcTime(notified)
			var err error
			o.Balance, err = money.ParseTotal(balance)
			overdrafts = append(overdrafts, o)
			return err
		})
	return overdrafts, err
}
