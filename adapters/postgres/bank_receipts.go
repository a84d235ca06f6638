package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/storage"
	"causeway/ports"
)

// insertBankReceiptNames uses the primary key.
const insertBankReceiptNames = `INSERT INTO bank_receipt_names (connection, name, partner_id, received_at)
	SELECT $1, name, partner_id, $2 FROM unnest($3::text[], $4::text[]) AS r(name, partner_id) ON CONFLICT DO NOTHING`

// KeepBankReceipts implements ports.BankReceipts.
func (db *DB) KeepBankReceipts(ctx context.Context, lease ports.Lease, receipts []ports.BankReceipt, now time.Time) error {
	var names, partners []string
	for _, r := range receipts {
		for _, name := range r.Names {
			names, partners = append(names, name), append(partners, r.PartnerID)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return db.bankFiles.Hold(ctx, lease, func(tx storage.Tx) error {
		_, err := tx.Exec(ctx, insertBankReceiptNames, lease.Name, now, names, partners)
		return err
	})
}

// bankReceiptsByName uses the primary key.
const bankReceiptsByName = `SELECT n.name, r.partner_id FROM unnest($2::text[]) AS n(name)
	CROSS JOIN LATERAL (SELECT partner_id FROM bank_receipt_names r WHERE r.connection = $1 AND r.name = n.name ORDER BY partner_id LIMIT 2) r`

// BankReceiptsByName implements ports.BankReceipts.
func (db *DB) BankReceiptsByName(ctx context.Context, connection string, names []string) (map[string][]string, error) {
	found := map[string][]string{}
	return found, db.read(ctx, bankReceiptsByName, []any{connection, names}, func(rows pgx.Rows) error {
		var name, partner string
		err := rows.Scan(&name, &partner)
		found[name] = append(found[name], partner)
		return err
	})
}
