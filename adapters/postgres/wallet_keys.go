package postgres

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"causeway/core/wallet"
	"causeway/ports"
)

// walletKeyRow is a row of wallet_keys.
type walletKeyRow struct {
	bun.BaseModel `bun:"table:wallet_keys"`

	PlatformID uuid.UUID `bun:"platform_id,pk"`
	ID         uuid.UUID `bun:"id,pk"`
	Entropy    []byte    `bun:"entropy"` // encrypted
	PublicKey  []byte    `bun:"public_key"`
	CreatedAt  time.Time `bun:"created_at"`
}

var _ ports.WalletKeyStore = (*DB)(nil)

// WalletKey uses the primary key.
func (db *DB) WalletKey(ctx context.Context, w ports.WalletID) (wallet.Key, error) {
	row, err := db.walletKey(ctx, w, "public_key")
	if err != nil || row == nil {
		return wallet.Key{}, err
	}
	return wallet.Key(row.PublicKey), nil
}

// WalletEntropy uses the primary key.
func (db *DB) WalletEntropy(ctx context.Context, w ports.WalletID) ([]byte, wallet.Key, error) {
	row, err := db.walletKey(ctx, w, "entropy", "public_key")
	if err != nil || row == nil {
		return nil, wallet.Key{}, err
	}
	entropy, err := db.openSecret(ctx, sealedRow{w.Platform.UUID(), w.Account.UUID()}, walletKeysEntropy, row.Entropy)
	return entropy, wallet.Key(row.PublicKey), err
}

// AddWalletKey reads the key after it did not insert one: the transaction that did has been committed.
func (db *DB) AddWalletKey(ctx context.Context, w ports.WalletID, key wallet.Key, entropy []byte) (wallet.Key, error) {
	sealed, err := db.sealSecret(ctx, sealedRow{w.Platform.UUID(), w.Account.UUID()}, walletKeysEntropy, entropy)
	if err != nil {
		return wallet.Key{}, err
	}
	row := &walletKeyRow{PlatformID: w.Platform.UUID(), ID: w.Account.UUID(), Entropy: sealed, PublicKey: key[:], CreatedAt: db.clock.Now()}
	if _, err := db.bun.NewInsert().Model(row).On("CONFLICT DO NOTHING").Exec(ctx); err != nil {
		return wallet.Key{}, err
	}
	return db.WalletKey(ctx, w)
}

// walletKey reads some columns of a row; nil if there is none.
func (db *DB) walletKey(ctx context.Context, w ports.WalletID, columns ...string) (*walletKeyRow, error) {
	row := new(walletKeyRow)
	err := db.bun.NewSelect().Model(row).Column(columns...).Where("platform_id = ?", w.Platform.UUID()).Where("id = ?", w.Account.UUID()).Scan(ctx)
	if isNoRows(err) {
		return nil, nil
	}
	return row, err
}
