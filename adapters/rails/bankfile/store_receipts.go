package bankfile

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/storage"
	"causeway/ports"
)

// insertReceiptNames uses the primary key.
const insertReceiptNames = `INSERT INTO bank_receipt_names (connection, name, partner_id, received_at)
	SELECT $1, name, partner_id, $2 FROM unnest($3::text[], $4::text[]) AS r(name, partner_id) ON CONFLICT DO NOTHING`

// KeepReceipts keeps names of receipts, each once.
func (s *Store) KeepReceipts(ctx context.Context, lease ports.Lease, receipts []Receipt, now time.Time) error {
	var names, partners []string
	for _, r := range receipts {
		for _, name := range r.Names {
			names, partners = append(names, name), append(partners, r.PartnerID)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return s.files.Hold(ctx, lease, func(tx storage.Tx) error {
		_, err := tx.Exec(ctx, insertReceiptNames, lease.Name, now, names, partners)
		return err
	})
}

// receiptsByName uses the primary key.
const receiptsByName = `SELECT n.name, r.partner_id FROM unnest($2::text[]) AS n(name)
	CROSS JOIN LATERAL (SELECT partner_id FROM bank_receipt_names r WHERE r.connection = $1 AND r.name = n.name ORDER BY partner_id LIMIT 2) r`

// ReceiptsByName returns the bank's ids of the receipts with each name, at most two of a name.
func (s *Store) ReceiptsByName(ctx context.Context, connection string, names []string) (map[string][]string, error) {
	found := map[string][]string{}
	return found, s.db.Read(ctx, receiptsByName, []any{connection, names}, func(rows pgx.Rows) error {
		var name, partner string
		err := rows.Scan(&name, &partner)
		found[name] = append(found[name], partner)
		return err
	})
}
