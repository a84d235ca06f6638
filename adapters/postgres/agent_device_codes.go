package postgres

import (
	"context"
	"crypto/sha256"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"causeway/core/agent"
	"causeway/core/ident"
)

// deviceCodeRow is a row of agent_device_codes.
type deviceCodeRow struct {
	bun.BaseModel `bun:"table:agent_device_codes"`

	PlatformID uuid.UUID  `bun:"platform_id,pk"`
	Hash       []byte     `bun:"hash,pk"`
	AgentID    uuid.UUID  `bun:"agent_id"`
	CreatedAt  time.Time  `bun:"created_at"`
	ExpiresAt  time.Time  `bun:"expires_at"`
	VoidedAt   *time.Time `bun:"voided_at"`
	RedeemedAt *time.Time `bun:"redeemed_at"`
}

// DeviceCodeHash implements ports.AgentReader.
func (db *DB) DeviceCodeHash(ctx context.Context, code string) (agent.DeviceCodeHash, error) {
	keyed, err := db.fingerprint(ctx, "agent device code "+code)
	return sha256.Sum256([]byte(keyed)), err
}

// DeviceCode uses agent_device_code_hash_unique.
func (db *DB) DeviceCode(ctx context.Context, hash agent.DeviceCodeHash) (agent.DeviceCode, error) {
	return selectOne(ctx, db, db.bun.NewSelect().Where("hash = ?", hash[:]), (*deviceCodeRow).code, agent.DeviceCodeNotFound())
}

// LockDeviceCode uses the primary key.
func (u *unit) LockDeviceCode(ctx context.Context, p ident.Platform, hash agent.DeviceCodeHash) (agent.DeviceCode, error) {
	if err := u.flush(ctx); err != nil {
		return agent.DeviceCode{}, err
	}
	query := u.db.bun.NewSelect().Conn(u.sqlConn).Where("platform_id = ? AND hash = ?", p.UUID(), hash[:]).For("UPDATE")
	found, err := selectOne(ctx, u.db, query, (*deviceCodeRow).code, agent.DeviceCodeNotFound())
	return found, translate(err)
}

// voidDeviceCodes uses agent_device_code_open_unique.
const voidDeviceCodes = `
	UPDATE agent_device_codes SET voided_at = $3 WHERE platform_id = $1 AND agent_id = $2 AND voided_at IS NULL AND redeemed_at IS NULL`

// ReplaceDeviceCode implements ports.AgentWriter.
func (u *unit) ReplaceDeviceCode(ctx context.Context, c agent.DeviceCode) error {
	u.queueExec(voidDeviceCodes, pgID(c.Platform.UUID()), pgID(c.Agent.UUID()), pgTime(c.CreatedAt))
	return u.insert(ctx, &deviceCodeRow{PlatformID: c.Platform.UUID(), Hash: c.Hash[:], AgentID: c.Agent.UUID(), CreatedAt: c.CreatedAt, ExpiresAt: c.ExpiresAt})
}

// RedeemDeviceCode uses the primary key.
func (u *unit) RedeemDeviceCode(ctx context.Context, c agent.DeviceCode) error {
	if err := u.flush(ctx); err != nil {
		return err
	}
	row := &deviceCodeRow{PlatformID: c.Platform.UUID(), Hash: c.Hash[:], RedeemedAt: nullTime(c.RedeemedAt)}
	result, err := u.db.bun.NewUpdate().Conn(u.sqlConn).Model(row).Column("redeemed_at").WherePK().Exec(ctx)
	return checkRowChanged(result, err, agent.DeviceCodeNotFound())
}

func (row *deviceCodeRow) code() agent.DeviceCode {
	c := agent.DeviceCode{CreatedAt: row.CreatedAt.UTC(), ExpiresAt: row.ExpiresAt.UTC(), VoidedAt: timeOrZero(row.VoidedAt), RedeemedAt: timeOrZero(row.RedeemedAt)}
	c.Platform.SetUUID(row.PlatformID)
	c.Agent.SetUUID(row.AgentID)
	copy(c.Hash[:], row.Hash)
	return c
}
