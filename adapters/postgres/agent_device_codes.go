package postgres

import (
	"context"
	"crypto/sha256"

	"causeway/adapters/postgres/schema"
	"causeway/core/agent"
	"causeway/core/ident"
)

// deviceCodes is the table agent_device_codes.
var deviceCodes = schema.New("agent_device_codes", []string{"platform_id", "hash"}, func(c *agent.DeviceCode) schema.Columns {
	return schema.Columns{
		{Name: "platform_id", Field: &c.Platform},
		{Name: "hash", Field: schema.Converted(
			func() []byte { return c.Hash[:] },
			func(hash []byte) error {
				copy(c.Hash[:], hash)
				return nil
			})},
		{Name: "agent_id", Field: &c.Agent}, {Name: "created_at", Field: &c.CreatedAt}, {Name: "expires_at", Field: &c.ExpiresAt},
		{Name: "voided_at", Field: &c.VoidedAt}, {Name: "redeemed_at", Field: &c.RedeemedAt},
	}
})

var (
	insertDeviceCode = deviceCodes.Insert("")

	// redeemDeviceCode uses the primary key.
	redeemDeviceCode = deviceCodes.Update("redeemed_at")
)

// DeviceCodeHash implements agents.Store.
func (db *DB) DeviceCodeHash(ctx context.Context, code string) (agent.DeviceCodeHash, error) {
	keyed, err := db.sealed.Fingerprint(ctx, "agent device code "+code)
	return sha256.Sum256([]byte(keyed)), err
}

// DeviceCode uses agent_device_code_hash_unique, and the primary key of platforms.
func (db *DB) DeviceCode(ctx context.Context, hash agent.DeviceCodeHash) (agent.DeviceCode, error) {
	return selectExisting(ctx, db, db.read, deviceCodes, agent.DeviceCodeNotFound(),
		`WHERE hash = $1 AND NOT EXISTS (SELECT FROM platforms o WHERE o.id = platform_id AND o.closed_at IS NOT NULL)`, hash[:])
}

// LockDeviceCode uses the primary key.
func (u *Unit) LockDeviceCode(ctx context.Context, p ident.Platform, hash agent.DeviceCodeHash) (agent.DeviceCode, error) {
	found, err := selectExisting(ctx, u.db, u.query, deviceCodes, agent.DeviceCodeNotFound(),
		`WHERE platform_id = $1 AND hash = $2 FOR UPDATE`, p, hash[:])
	return found, translate(err)
}

// voidDeviceCodes uses agent_device_code_open_unique.
const voidDeviceCodes = `
	UPDATE agent_device_codes SET voided_at = $3 WHERE platform_id = $1 AND agent_id = $2 AND voided_at IS NULL AND redeemed_at IS NULL`

// ReplaceDeviceCode implements agents.Tx.
func (u *Unit) ReplaceDeviceCode(ctx context.Context, c agent.DeviceCode) error {
	u.queueExec(voidDeviceCodes, c.Platform, c.Agent, c.CreatedAt)
	return writeNow(ctx, u, insertDeviceCode, c, nil)
}

// RedeemDeviceCode implements agents.Tx.
func (u *Unit) RedeemDeviceCode(ctx context.Context, c agent.DeviceCode) error {
	return writeNow(ctx, u, redeemDeviceCode, c, agent.DeviceCodeNotFound())
}
