package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"causeway/core/ident"
	"causeway/core/transaction"
)

// insertReceiptReversal uses the primary key.
const insertReceiptReversal = `
	INSERT INTO receipt_reversals (platform_id, receipt_id, partner_id, code, note, reversed_at, recorded_at)
	VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (platform_id, receipt_id) DO NOTHING RETURNING receipt_id`

// SaveReceiptReversal implements payments.Tx.
func (u *Unit) SaveReceiptReversal(ctx context.Context, r transaction.ReceiptReversal) (isNew bool, err error) {
	err = u.query(ctx, insertReceiptReversal, []any{pgID(r.Receipt.Platform.UUID()), pgID(r.Receipt.ID.UUID()), r.PartnerID, r.Code, r.Note,
		pgTime(r.At), pgTime(r.RecordedAt)},
		func(pgx.Rows) error {
			isNew = true
			return nil
		})
	return isNew, err
}

// IsReceiptReversed implements payments.Tx and accounting.Tx. It uses the primary key.
func (u *Unit) IsReceiptReversed(ctx context.Context, p ident.Platform, receipt ident.Receipt) (reversed bool, err error) {
	err = u.query(ctx, `SELECT FROM receipt_reversals WHERE platform_id = $1 AND receipt_id = $2`, []any{pgID(p.UUID()), pgID(receipt.UUID())},
		func(pgx.Rows) error {
			reversed = true
			return nil
		})
	return reversed, err
}
