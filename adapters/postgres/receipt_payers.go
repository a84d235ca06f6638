package postgres

import (
	"context"
	"encoding/json"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"causeway/core/account"
	"causeway/core/corridor"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/ports"
)

// payerColumn is the account of a payer.
type payerColumn struct {
	Type        string             `json:"type"`
	Currency    string             `json:"currency"`
	Fields      map[string]string  `json:"fields,omitempty"`
	Beneficiary *beneficiaryColumn `json:"beneficiary,omitempty"`
	Rails       []corridor.Rail    `json:"rails,omitempty"`
}

const insertReceiptPayers = `
	INSERT INTO receipt_payers (platform_id, id, customer_id, account)
	SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[])`

// SaveReceiptPayers implements ports.PaymentWriter.
func (u *unit) SaveReceiptPayers(ctx context.Context, payers []ports.ReceiptPayer) error {
	if len(payers) == 0 {
		return nil
	}
	n := len(payers)
	platforms, ids, customers, accounts := make(idArray, n), make(idArray, n), make(idArray, n), make([]string, n)
	for i, p := range payers {
		platforms[i], ids[i], customers[i] = pgID(p.Platform.UUID()), pgID(p.Receipt.UUID()), pgID(p.Customer.UUID())
		text, err := json.Marshal(payerColumn{Type: string(p.Account.Type), Currency: string(p.Account.Currency), Fields: p.Account.Fields,
			Beneficiary: newBeneficiaryColumn(p.Account.Beneficiary), Rails: p.Account.Rails})
		if err != nil {
			return err
		}
		if accounts[i], err = u.db.sealText(ctx, payerRow(p.Platform, p.Receipt.UUID()), receiptPayersAccount, string(text)); err != nil {
			return err
		}
	}
	u.queueExec(insertReceiptPayers, platforms, ids, customers, accounts)
	return nil
}

func payerRow(p ident.Platform, receipt uuid.UUID) sealedRow { return sealedRow{p.UUID(), receipt} }

// ReceiptPayers implements ports.PaymentReader. It uses the primary key.
func (db *DB) ReceiptPayers(ctx context.Context, p ident.Platform, ids []ident.Receipt) (map[ident.Receipt]account.External, error) {
	found := make(map[ident.Receipt]account.External, len(ids))
	if len(ids) == 0 {
		return found, nil
	}
	wanted := make(idArray, len(ids))
	for i, id := range ids {
		wanted[i] = pgID(id.UUID())
	}
	rows, err := db.pool.Query(ctx, `SELECT id, account FROM receipt_payers WHERE platform_id = $1 AND id = ANY($2)`,
		pgx.QueryExecModeCacheStatement, pgID(p.UUID()), wanted)
	if err != nil {
		return nil, err
	}
	return found, forEachRow(rows, func(rows pgx.Rows) error {
		var receipt uuid.UUID
		var stored string
		if err := rows.Scan((*[16]byte)(&receipt), &stored); err != nil {
			return err
		}
		var id ident.Receipt
		id.SetUUID(receipt)
		found[id], err = db.openPayer(ctx, p, receipt, stored)
		return err
	})
}

func (db *DB) openPayer(ctx context.Context, p ident.Platform, receipt uuid.UUID, stored string) (account.External, error) {
	text, err := db.openText(ctx, payerRow(p, receipt), receiptPayersAccount, stored)
	if err != nil {
		return account.External{}, err
	}
	var column payerColumn
	if err := json.Unmarshal([]byte(text), &column); err != nil {
		return account.External{}, err
	}
	return account.External{Platform: p, Type: account.Type(column.Type), Currency: money.Currency(column.Currency), Fields: column.Fields,
		Beneficiary: column.Beneficiary.beneficiary(), Rails: column.Rails}, nil
}

const (
	// assignReceiptPayer sets for whom the money of a receipt was: the customer of the transaction that it paid for, or the
	// owner of the account that was credited. It uses the primary keys.
	assignReceiptPayer = `
	UPDATE receipt_payers SET customer_id = coalesce(
		(SELECT t.customer_id FROM transactions t WHERE t.platform_id = $1 AND t.id = $3),
		(SELECT a.customer_id FROM internal_accounts a WHERE a.platform_id = $1 AND a.id = $4), customer_id)
	WHERE platform_id = $1 AND id = $2`

	// erasePayers and releasePayers use receipt_payers_by_customer. Money that is unmatched still belongs to its payer, so
	// the account is kept as that of nobody's money.
	erasePayers = `
	DELETE FROM receipt_payers p WHERE p.platform_id = $1 AND p.customer_id = $2 AND NOT EXISTS (
		SELECT FROM unmatched_funds f WHERE f.platform_id = p.platform_id AND f.receipt_id = p.id AND f.receipt_id IS NOT NULL
		AND NOT EXISTS (SELECT FROM unmatched_assignments a WHERE a.platform_id = f.platform_id AND a.posting_id = f.posting_id))`
	releasePayers = `UPDATE receipt_payers SET customer_id = NULL WHERE platform_id = $1 AND customer_id = $2`

	// deleteReceiptPayers uses receipt_payers_of_nobody: ids begin with the time of the receipt.
	deleteReceiptPayers = `
	WITH old AS MATERIALIZED (
		SELECT id FROM receipt_payers WHERE platform_id = $1 AND customer_id IS NULL AND id > $3::text::uuid AND id < first_uuid_v7($2)
		ORDER BY id LIMIT $4),
	gone AS (DELETE FROM receipt_payers p USING old WHERE p.platform_id = $1 AND p.id = old.id RETURNING 1)
	SELECT count(*), (SELECT count(*) FROM gone), coalesce(max(id::text), $3::text) FROM old`
)
