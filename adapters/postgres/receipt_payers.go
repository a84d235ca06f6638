package postgres

import (
	"context"

	"causeway/adapters/postgres/schema"
	"causeway/adapters/postgres/sealed"
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

// receiptPayers is the table receipt_payers.
var receiptPayers = schema.New("receipt_payers", keyOfPlatform, func(p *ports.ReceiptPayer) schema.Columns {
	return schema.Columns{
		{Name: "platform_id", Field: &p.Platform}, {Name: "id", Field: &p.Receipt}, {Name: "customer_id", Field: &p.Customer},
		sealed.JSON(sealed.ReceiptPayersAccount,
			func() payerColumn {
				a := &p.Account
				return payerColumn{Type: string(a.Type), Currency: string(a.Currency), Fields: a.Fields,
					Beneficiary: newBeneficiaryColumn(a.Beneficiary), Rails: a.Rails}
			},
			func(c payerColumn) {
				p.Account = account.External{Platform: p.Platform, Type: account.Type(c.Type), Currency: money.Currency(c.Currency), Fields: c.Fields,
					Beneficiary: c.Beneficiary.beneficiary(), Rails: c.Rails}
			}),
	}
})

var insertReceiptPayers = receiptPayers.InsertAll("")

// SaveReceiptPayers implements payments.Tx.
func (u *Unit) SaveReceiptPayers(ctx context.Context, payers []ports.ReceiptPayer) error {
	return writeAll(ctx, u, insertReceiptPayers, payers)
}

// ReceiptPayers implements payments.Store. It uses the primary key.
func (db *DB) ReceiptPayers(ctx context.Context, p ident.Platform, ids []ident.Receipt) (map[ident.Receipt]account.External, error) {
	found := make(map[ident.Receipt]account.External, len(ids))
	if len(ids) == 0 {
		return found, nil
	}
	rows, err := selectRows(ctx, db, db.read, receiptPayers, `WHERE platform_id = $1 AND id = ANY($2::uuid[])`, p, ids)
	for _, payer := range rows {
		found[payer.Receipt] = payer.Account
	}
	return found, err
}

const (
	// assignReceiptPayer sets for whom the money of a receipt was: the customer of the transaction that it paid for, or the
	// owner of the account that was credited. It uses the primary keys.
	assignReceiptPayer = `
	UPDATE receipt_payers SET customer_id = coalesce(
		(SELECT t.customer_id FROM transactions t WHERE t.platform_id = $1 AND t.id = $3),
		(SELECT a.customer_id FROM internal_accounts a WHERE a.platform_id = $1 AND a.id = $4), customer_id)
	WHERE platform_id = $1 AND id = $2`

	// owesFailedRefund is whether the refund of a transaction t failed and its payer may still get the money: nobody has assigned it, or it
	// is being sent again, or that has failed as well. It reads the assignments, which are few.
	owesFailedRefund = `t.refund_status = 'FAILED' AND coalesce(t.refund_again = 'PENDING'
		OR NOT EXISTS (SELECT FROM unmatched_assignments a WHERE a.platform_id = t.platform_id AND a.receipt_id = t.id)
		OR t.refund_again = 'FAILED' AND EXISTS (
			SELECT FROM unmatched_funds f WHERE f.platform_id = t.platform_id AND f.receipt_id = t.receipt_id AND f.receipt_id IS NOT NULL
			AND NOT EXISTS (SELECT FROM unmatched_assignments a WHERE a.platform_id = f.platform_id AND a.posting_id = f.posting_id)), false)`

	// erasePayers and releasePayers use receipt_payers_by_customer and transactions_by_customer. Money that is unmatched, and that of a
	// refund that failed, still belongs to its payer, so the account is kept as that of nobody's money.
	erasePayers = `
	DELETE FROM receipt_payers p WHERE p.platform_id = $1 AND p.customer_id = $2 AND NOT EXISTS (
		SELECT FROM unmatched_funds f WHERE f.platform_id = p.platform_id AND f.receipt_id = p.id AND f.receipt_id IS NOT NULL
		AND NOT EXISTS (SELECT FROM unmatched_assignments a WHERE a.platform_id = f.platform_id AND a.posting_id = f.posting_id))
		AND NOT EXISTS (SELECT FROM transactions t WHERE t.platform_id = $1 AND t.customer_id = $2 AND t.receipt_id = p.id AND ` + owesFailedRefund + `)`
	releasePayers = `UPDATE receipt_payers SET customer_id = NULL WHERE platform_id = $1 AND customer_id = $2`

	// deleteReceiptPayers uses receipt_payers_of_nobody: ids begin with the time of the receipt.
	deleteReceiptPayers = `
	WITH old AS MATERIALIZED (
		SELECT id FROM receipt_payers WHERE platform_id = $1 AND customer_id IS NULL AND id > $3::text::uuid AND id < first_uuid_v7($2)
		ORDER BY id LIMIT $4),
	gone AS (DELETE FROM receipt_payers p USING old WHERE p.platform_id = $1 AND p.id = old.id RETURNING 1)
	SELECT count(*), (SELECT count(*) FROM gone), coalesce(max(id::text), $3::text) FROM old`
)
