package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"causeway/core/ident"
	"causeway/core/treasury"
	"causeway/ports"
)

// AuditedReports implements audit.TreasuryAudit. It sorts the reports of the platform: a few for each day.
func (db *DB) AuditedReports(ctx context.Context, p ident.Platform, skip, limit int) (reports []ports.KeptReport, err error) {
	err = db.inSnapshot(ctx, func(tx pgx.Tx) (err error) {
		reports, err = readReports(ctx, db, tx, `r.platform_id = $1 ORDER BY r.seq, r.day, r.version LIMIT $2 OFFSET $3`, p, limit, skip)
		return err
	})
	return reports, err
}

// AuditedMovements uses primary keys.
func (db *DB) AuditedMovements(ctx context.Context, p ident.Platform) (movements []treasury.Movement, err error) {
	err = db.queryRows(ctx, selectMovements+`ORDER BY m.id`, []any{p}, func(rows pgx.Rows) error {
		m, err := scanMovement(rows)
		movements = append(movements, m)
		return err
	})
	return movements, err
}
