package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"causeway/core/bankorder"
	"causeway/ports"
)

// KeepBankNotice implements ports.BankInbox.
func (db *DB) KeepBankNotice(ctx context.Context, lease ports.BankLease, n bankorder.Notice) error {
	return db.underBankLease(ctx, lease, func(tx pgx.Tx) error { return insertBankNotices(ctx, tx, []bankorder.Notice{n}) })
}

func insertBankNotices(ctx context.Context, tx pgx.Tx, notices []bankorder.Notice) error {
	if len(notices) == 0 {
		return nil
	}
	var connections, places, kinds, names, codes []string
	var files []int64
	var times timeArray
	for _, n := range notices {
		connections, places, kinds = append(connections, n.Connection), append(places, n.Place), append(kinds, string(n.Kind))
		names, codes, files, times = append(names, n.Name), append(codes, n.Code), append(files, n.File), append(times, pgTime(n.At))
	}
	_, err := tx.Exec(ctx, `INSERT INTO bank_notices (connection, file, place, kind, name, code, noticed_at)
		SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[], $7::timestamptz[]) ON CONFLICT DO NOTHING`,
		connections, files, places, kinds, names, codes, times)
	return err
}

// bankNotices uses bank_notices_newest, bank_correction_notice_unique and the primary key of bank_received_files.
const bankNotices = `
	SELECT n.file, n.place, n.kind, n.name, n.code, n.noticed_at, c.platform_id, c.id, coalesce(c.details, ''), coalesce(r.name, ''), coalesce(r.problem, '')
	FROM (SELECT * FROM bank_notices WHERE connection = $1 ORDER BY noticed_at DESC, file DESC, place DESC LIMIT $2) n
	LEFT JOIN bank_corrections c ON c.connection = n.connection AND c.file = n.file AND c.place = n.place
	LEFT JOIN bank_received_files r ON r.connection = n.connection AND r.number = n.file
	ORDER BY n.noticed_at DESC, n.file DESC, n.place DESC`

// BankNotices implements ports.BankInbox.
func (db *DB) BankNotices(ctx context.Context, connection string, limit int) ([]ports.BankNotice, error) {
	rows, err := db.pool.Query(ctx, bankNotices, connection, limit)
	if err != nil {
		return nil, err
	}
	var notices []ports.BankNotice
	err = forEachRow(rows, func(rows pgx.Rows) error {
		n := ports.BankNotice{Notice: bankorder.Notice{Connection: connection}}
		var platform, id pgtype.UUID
		var kind, details string
		if err := rows.Scan(&n.File, &n.Place, &kind, &n.Name, &n.Code, &n.At, &platform, &id, &details, &n.FileName, &n.Problem); err != nil {
			return err
		}
		n.Kind, n.At = bankorder.NoticeKind(kind), n.At.UTC()
		if id.Valid {
			if err := db.openJSON(ctx, sealedRow{platform.Bytes, id.Bytes}, bankCorrectionsDetails, []byte(details), &n.Correction); err != nil {
				return err
			}
		}
		notices = append(notices, n)
		return nil
	})
	return notices, err
}
