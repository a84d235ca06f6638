package postgres

import (
	"context"
	"crypto/sha256"
	"time"

	"causeway/adapters/postgres/sealed"
	"causeway/adapters/postgres/storage"
	"causeway/core/wallet"
	"causeway/ports"
)

var _ ports.WalletKeyStore = (*DB)(nil)

// WalletKey uses the primary key.
func (db *DB) WalletKey(ctx context.Context, w ports.WalletID) (key wallet.Key, err error) {
	_, err = storage.ReadRow(ctx, db.read, `SELECT public_key FROM wallet_keys WHERE platform_id = $1 AND id = $2`,
		[]any{w.Platform, w.Account}, &key)
	return key, err
}

// WalletEntropy uses the primary key.
func (db *DB) WalletEntropy(ctx context.Context, w ports.WalletID) (entropy []byte, key wallet.Key, err error) {
	var stored []byte
	found, err := storage.ReadRow(ctx, db.read, `SELECT entropy, public_key FROM wallet_keys WHERE platform_id = $1 AND id = $2`,
		[]any{w.Platform, w.Account}, &stored, &key)
	if err != nil || !found {
		return nil, key, err
	}
	entropy, err = db.sealed.OpenSecret(ctx, walletRow(w), sealed.WalletKeysEntropy, stored)
	return entropy, key, err
}

func walletRow(w ports.WalletID) sealed.Row {
	return sealed.Row{Platform: w.Platform.UUID(), ID: w.Account.UUID()}
}

// AddWalletKey reads the key after it did not insert one: the transaction that did has been committed.
func (db *DB) AddWalletKey(ctx context.Context, w ports.WalletID, key wallet.Key, entropy []byte) (wallet.Key, error) {
	stored, err := db.sealed.SealSecret(ctx, walletRow(w), sealed.WalletKeysEntropy, entropy)
	if err != nil {
		return wallet.Key{}, err
	}
	if _, err := db.exec(
		ctx, `INSERT INTO wallet_keys (platform_id, id, entropy, public_key, created_at) VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING`,
		w.Platform, w.Account, stored, key, db.clock.Now()); err != nil {
		return wallet.Key{}, err
	}
	return db.WalletKey(ctx, w)
}

// FixTransferNonce reads the nonce after it did not insert one: the transaction that did has been committed. It uses the primary key.
func (db *DB) FixTransferNonce(ctx context.Context, w ports.WalletID, payload [sha256.Size]byte, nonce uint64,
	end time.Time) (fixed uint64, err error) {
	if now := db.clock.Now(); now.Before(end) {
		if _, err := db.exec(ctx, `INSERT INTO wallet_transfer_nonces (platform_id, account_id, payload_sha256, nonce, created_at)
		VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING`, w.Platform, w.Account, payload[:], nonce, now); err != nil {
			return 0, err
		}
	}
	found, err := storage.ReadRow(ctx, db.read,
		`SELECT nonce FROM wallet_transfer_nonces WHERE platform_id = $1 AND account_id = $2 AND payload_sha256 = $3`,
		[]any{w.Platform, w.Account, payload[:]}, &fixed)
	if err == nil && !found {
		err = wallet.ErrTooLate
	}
	return fixed, err
}
