package postgres

import (
	"context"
	"time"
)

// deleteBankFiles delete what is older than a time ($1), at most $2 rows, by table. Files for banks stay as long as their orders.
var deleteBankFiles = []struct{ table, sql string }{
	{"bank_files", `DELETE FROM bank_files WHERE (connection, number) IN (SELECT connection, number FROM bank_files f
		WHERE delivered_at < $1 AND NOT EXISTS (SELECT FROM bank_orders o WHERE o.connection = f.connection AND o.file_number = f.number)
		ORDER BY delivered_at LIMIT $2)`},
	{"bank_received_files", `DELETE FROM bank_received_files WHERE (connection, number) IN (SELECT connection, number FROM bank_received_files
		WHERE ended_at < $1 ORDER BY ended_at LIMIT $2)`},
	{"bank_notices", `DELETE FROM bank_notices WHERE (connection, file, place, kind) IN (SELECT connection, file, place, kind FROM bank_notices
		WHERE noticed_at < $1 ORDER BY noticed_at LIMIT $2)`},
	{
		"bank_receipt_names", `DELETE FROM bank_receipt_names WHERE (connection, name, partner_id) IN (SELECT connection, name, partner_id FROM bank_receipt_names
		WHERE received_at < $1 ORDER BY received_at LIMIT $2)`},
}

// deleteOldBankFiles uses bank_files_by_delivery, bank_order_position_unique, bank_received_files_by_end, bank_notices_by_time
// and bank_receipt_names_by_time.
func (db *DB) deleteOldBankFiles(ctx context.Context, before time.Time, deleted func(table string, rows int)) error {
	for _, d := range deleteBankFiles {
		if err := db.deleteInBatches(ctx, d.table, d.sql, before, deleted); err != nil {
			return err
		}
	}
	return nil
}
