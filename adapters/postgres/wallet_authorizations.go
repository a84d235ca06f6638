package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/schema"
	"causeway/adapters/postgres/sealed"
	"causeway/core/ident"
	"causeway/core/wallet"
	"causeway/ports"
)

// walletAuthorizations is the table wallet_authorizations.
var walletAuthorizations = schema.New("wallet_authorizations", keyOfPlatform, func(a *wallet.Authorization) schema.Columns {
	return schema.Columns{
		{Name: "platform_id", Field: &a.Platform}, {Name: "id", Field: &a.Transaction}, {Name: "account_id", Field: &a.Account},
		sealed.Text(sealed.WalletAuthorizationsPayload, &a.Payload), {Name: "signature", Field: &a.Signature},
		{Name: "session_id", Field: &a.Session}, {Name: "session_key", Field: schema.Optional(&a.SessionKey)},
		{Name: "certificate_statement", Field: schema.Optional(&a.Certificate.Statement)},
		{Name: "certificate_key", Field: schema.Optional(&a.Certificate.Key)},
		{Name: "certificate_signature", Field: &a.Certificate.Signature}, {Name: "signed_at", Field: &a.SignedAt},
	}
})

var insertWalletAuthorizations = walletAuthorizations.InsertAll("")

// SaveWalletAuthorizations stores the evidence of payments from wallets.
func (u *Unit) SaveWalletAuthorizations(ctx context.Context, authorizations []wallet.Authorization) error {
	return writeAll(ctx, u, insertWalletAuthorizations, authorizations)
}

// WalletAuthorization reads the evidence of a payment from a wallet. It uses the primary key.
func (db *DB) WalletAuthorization(ctx context.Context, key ports.TransactionKey) (found wallet.Authorization, exists bool, err error) {
	return selectRow(ctx, db, db.read, walletAuthorizations, `WHERE platform_id = $1 AND id = $2`, key.Platform, key.ID)
}

// readWalletPayments uses the primary keys. The transactions of all platforms are read, because few
// checks need those of wallets alone.
var readWalletPayments = `
	SELECT ` + columnsWithoutInstructions + `, p.environment,
		a.account_id, coalesce(a.payload, ''), coalesce(a.signature, ''), a.session_id, a.session_key, coalesce(a.certificate_statement, ''), a.certificate_key, a.certificate_signature, a.signed_at, k.public_key
	FROM ` + transactionTables + ` JOIN platforms p ON p.id = t.platform_id
	LEFT JOIN wallet_authorizations a ON a.platform_id = t.platform_id AND a.id = t.id
	LEFT JOIN wallet_keys k ON k.platform_id = t.platform_id AND k.id = t.source_internal
	WHERE (t.platform_id, t.id) > ($1, $2) AND t.direction = 'OUTGOING' AND starts_with(t.source_account, 'wallets/') AND t.status NOT IN ('PENDING', 'PENDING_AUTHORIZATION', 'EXPIRED')
		AND t.failure_reason IS DISTINCT FROM 'SCA_NOT_COMPLETED' AND t.platform_id <= $4
	ORDER BY t.platform_id, t.id LIMIT $3`

// EachWalletPayment reads in batches.
func (db *DB) EachWalletPayment(ctx context.Context, of ident.Platform, visit func(ports.WalletPayment) error) error {
	const batchSize = 1000
	last := ports.TransactionKey{Platform: of}
	_, lastPlatform := platformRange(of)
	for {
		n := 0
		err := db.read(ctx, readWalletPayments, []any{last.Platform.UUID(), last.ID.UUID(), batchSize, lastPlatform}, func(rows pgx.Rows) error {
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
	var err error
	p.Transaction, err = scanTransaction(ctx, db, rows, &p.Environment, &a.Account, &a.Payload, &a.Signature,
		&a.Session, &a.SessionKey, &a.Certificate.Statement, &a.Certificate.Key, &a.Certificate.Signature, &a.SignedAt, &p.WalletKey)
	if !a.SignedAt.IsZero() {
		stored := a.Payload
		a.Platform, a.Transaction, a.Payload = p.Transaction.Platform, p.Transaction.ID, ""
		p.Authorization = &a
		if err == nil {
			row := sealed.Row{Platform: a.Platform.UUID(), ID: a.Transaction.UUID()}
			a.Payload, err = db.sealed.OpenText(ctx, row, sealed.WalletAuthorizationsPayload, stored)
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
	case errors.Is(err, sealed.ErrNoCipher), errors.Is(err, ports.ErrNoMasterKey):
		return ports.ErrNoMasterKey
	case errors.Is(err, ports.ErrCannotDecrypt):
		return ports.ErrCannotDecrypt
	default:
		return nil
	}
}
