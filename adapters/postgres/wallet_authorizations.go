package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"causeway/core/ident"
	"causeway/core/wallet"
	"causeway/ports"
)

const insertWalletAuthorizations = `
	INSERT INTO wallet_authorizations (platform_id, id, account_id, payload, signature, session_id, session_key,
		certificate_statement, certificate_key, certificate_signature, signed_at)
	SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $5::text[], $6::uuid[], $7::bytea[],
		$8::text[], $9::bytea[], $10::bytea[], $11::timestamptz[])`

// SaveWalletAuthorizations stores the evidence of payments from wallets.
func (u *unit) SaveWalletAuthorizations(ctx context.Context, authorizations []wallet.Authorization) error {
	n := len(authorizations)
	if n == 0 {
		return nil
	}
	platforms, ids, accounts, sessions := make(idArray, n), make(idArray, n), make(idArray, n), make(idArray, n)
	payloads, signatures, statements := make([]string, n), make([]string, n), make([]*string, n)
	sessionKeys, walletKeys, certificates, signed := make([][]byte, n), make([][]byte, n), make([][]byte, n), make(timeArray, n)
	for i := range authorizations {
		a := &authorizations[i]
		var err error
		if payloads[i], err = u.db.sealText(ctx, sealedRow{a.Platform.UUID(), a.Transaction.UUID()}, walletAuthorizationsPayload, a.Payload); err != nil {
			return err
		}
		platforms[i], ids[i], accounts[i] = pgID(a.Platform.UUID()), pgID(a.Transaction.UUID()), pgID(a.Account.UUID())
		signatures[i], sessions[i], signed[i] = a.Signature, pgID(a.Session.UUID()), pgTime(a.SignedAt)
		if !a.Session.IsZero() {
			statements[i], sessionKeys[i] = &a.Certificate.Statement, a.SessionKey[:]
			walletKeys[i], certificates[i] = a.Certificate.Key[:], a.Certificate.Signature
		}
	}
	u.queueExec(insertWalletAuthorizations, platforms, ids, accounts, payloads, signatures, sessions, sessionKeys, statements, walletKeys, certificates, signed)
	return nil
}

const walletAuthorizationColumns = `platform_id, id, account_id, payload, signature, session_id, session_key,
	coalesce(certificate_statement, ''), certificate_key, certificate_signature, signed_at`

// readWalletAuthorization uses the primary key.
const readWalletAuthorization = `SELECT ` + walletAuthorizationColumns + ` FROM wallet_authorizations WHERE platform_id = $1 AND id = $2`

// WalletAuthorization reads the evidence of a payment from a wallet.
func (db *DB) WalletAuthorization(ctx context.Context, key ports.TransactionKey) (found wallet.Authorization, exists bool, err error) {
	rows, err := db.pool.Query(ctx, readWalletAuthorization, pgx.QueryExecModeCacheStatement, key.Platform.UUID(), key.ID.UUID())
	if err == nil {
		err = forEachRow(rows, func(rows pgx.Rows) error {
			exists = true
			found, err = db.scanWalletAuthorization(ctx, rows)
			return err
		})
	}
	return found, exists, err
}

func (db *DB) scanWalletAuthorization(ctx context.Context, rows pgx.Rows) (wallet.Authorization, error) {
	var a wallet.Authorization
	var platform, id, account, session pgtype.UUID
	var sessionKey, walletKey []byte
	if err := rows.Scan(&platform, &id, &account, &a.Payload, &a.Signature, &session, &sessionKey,
		&a.Certificate.Statement, &walletKey, &a.Certificate.Signature, &a.SignedAt); err != nil {
		return a, err
	}
	a.Platform.SetUUID(platform.Bytes)
	a.Transaction.SetUUID(id.Bytes)
	a.Account.SetUUID(account.Bytes)
	a.Session.SetUUID(session.Bytes)
	copy(a.SessionKey[:], sessionKey)
	copy(a.Certificate.Key[:], walletKey)
	a.SignedAt = a.SignedAt.UTC()
	var err error
	a.Payload, err = db.openText(ctx, sealedRow{platform.Bytes, id.Bytes}, walletAuthorizationsPayload, a.Payload)
	return a, err
}

// readWalletPayments uses the primary keys. The transactions of all platforms are read, because few
// checks need those of wallets alone.
var readWalletPayments = `
	SELECT ` + columnsWithoutInstructions + `, p.environment,
		a.account_id, a.payload, a.signature, a.session_id, a.session_key, coalesce(a.certificate_statement, ''), a.certificate_key, a.certificate_signature, a.signed_at, k.public_key
	FROM ` + transactionTables + ` JOIN platforms p ON p.id = t.platform_id
	LEFT JOIN wallet_authorizations a ON a.platform_id = t.platform_id AND a.id = t.id
	LEFT JOIN wallet_keys k ON k.platform_id = t.platform_id AND k.id = t.source_internal
	WHERE (t.platform_id, t.id) > ($1, $2) AND t.direction = 'OUTGOING' AND starts_with(t.source_account, 'wallets/') AND t.status NOT IN ('PENDING', 'EXPIRED') AND t.platform_id <= $4
	ORDER BY t.platform_id, t.id LIMIT $3`

// EachWalletPayment reads in batches.
func (db *DB) EachWalletPayment(ctx context.Context, of ident.Platform, visit func(ports.WalletPayment) error) error {
	const batchSize = 1000
	last := ports.TransactionKey{Platform: of}
	_, lastPlatform := platformRange(of)
	for {
		n := 0
		rows, err := db.pool.Query(ctx, readWalletPayments, pgx.QueryExecModeCacheStatement, last.Platform.UUID(), last.ID.UUID(), batchSize, lastPlatform)
		if err != nil {
			return err
		}
		err = forEachRow(rows, func(rows pgx.Rows) error {
			n++
			p, err := db.scanWalletPayment(ctx, rows)
			last = ports.TransactionKey{Platform: p.Transaction.Platform, ID: p.Transaction.ID}
			if err != nil {
				return err
			}
			return visit(p)
		})
		if err != nil || n < batchSize {
			return err
		}
	}
}

func (db *DB) scanWalletPayment(ctx context.Context, rows pgx.Rows) (ports.WalletPayment, error) {
	var p ports.WalletPayment
	var a wallet.Authorization
	var account, session pgtype.UUID
	var payload, signature *string
	var sessionKey, certificateKey, walletKey []byte
	var signedAt *time.Time
	var err error
	p.Transaction, err = scanTransaction(ctx, db, rows, &p.Environment,
		&account, &payload, &signature, &session, &sessionKey, &a.Certificate.Statement, &certificateKey, &a.Certificate.Signature, &signedAt, &walletKey)
	t := &p.Transaction
	copy(p.WalletKey[:], walletKey)
	if signedAt != nil {
		a.Platform, a.Transaction, a.Signature, a.SignedAt = t.Platform, t.ID, *signature, signedAt.UTC()
		a.Account.SetUUID(account.Bytes)
		a.Session.SetUUID(session.Bytes)
		copy(a.SessionKey[:], sessionKey)
		copy(a.Certificate.Key[:], certificateKey)
		p.Authorization = &a
		if err == nil {
			a.Payload, err = db.openText(ctx, sealedRow{t.Platform.UUID(), t.ID.UUID()}, walletAuthorizationsPayload, *payload)
		}
	}
	if p.Unreadable = unreadable(err); p.Unreadable != nil {
		err = nil
	}
	return p, err
}

// unreadable returns why a value cannot be decrypted; nil if that was not tried, as after a failed read.
func unreadable(err error) error {
	switch {
	case errors.Is(err, errNoCipher), errors.Is(err, ports.ErrNoMasterKey):
		return ports.ErrNoMasterKey
	case errors.Is(err, ports.ErrCannotDecrypt):
		return ports.ErrCannotDecrypt
	default:
		return nil
	}
}
