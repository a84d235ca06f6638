package ledgerdb

import (
	"context"

	"github.com/jackc/pgx/v5"

	"causeway/core/ident"
	"causeway/ports"
)

// Rides on ledger_sealed_pkey.
const auditLog = `SELECT size, partial_tiles FROM ledger_log_state WHERE platform_id = $1`

// Log is as ports.AuditView says.
func (v *auditView) Log(ctx context.Context, p ident.Platform) (size int64, edge []byte, err error) {
	err = queryFreshPlan(ctx, v.tx, auditLog, []any{pgUUID(p.UUID())}, func(rows pgx.Rows) error { return rows.Scan(&size, &edge) })
	return size, edge, wrapError("audit the log", err)
}

// LogCheckpoints is as ports.AuditView says.
func (v *auditView) LogCheckpoints(ctx context.Context, p ident.Platform, above int64, most int) ([]ports.SignedCheckpoint, error) {
	return readCheckpoints(ctx, v.tx, p, ports.CheckpointFilter{Before: above, Ascending: true}, most)
}

// LogTiles is as ports.AuditView says.
func (v *auditView) LogTiles(ctx context.Context, p ident.Platform, places []ports.TileIndex) ([][]byte, error) {
	return readTiles(ctx, v.tx, p, places)
}

// LogKeys is as ports.AuditView says.
func (v *auditView) LogKeys(ctx context.Context) ([]ports.CheckpointKey, error) {
	stored, err := readCheckpointKeys(ctx, v.tx)
	keys := make([]ports.CheckpointKey, len(stored))
	for i, s := range stored {
		keys[i] = s.CheckpointKey
	}
	return keys, err
}

// Rides on ledger_balances_pkey and ledger_accounts_pkey.
const auditOrphanBalances = `
SELECT b.account_id, b.balance
FROM ledger_balances b
WHERE b.platform_id = $1 AND NOT EXISTS (SELECT FROM ledger_accounts a WHERE a.platform_id = b.platform_id AND a.id = b.account_id)
ORDER BY b.account_id`

// OrphanBalances is as ports.AuditView says.
func (v *auditView) OrphanBalances(ctx context.Context, p ident.Platform, each func(number, balance int64) error) error {
	err := queryFreshPlan(ctx, v.tx, auditOrphanBalances, []any{pgUUID(p.UUID())}, func(rows pgx.Rows) error {
		var number, balance int64
		if err := rows.Scan(&number, &balance); err != nil {
			return err
		}
		return each(number, balance)
	})
	return wrapError("audit balances", err)
}
