package bankfile

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/schema"
	"causeway/adapters/postgres/sealed"
	"causeway/adapters/postgres/storage"
	"causeway/core/bankorder"
	"causeway/ports"
)

// KeepNotice keeps a notice, once.
func (s *Store) KeepNotice(ctx context.Context, lease ports.Lease, n bankorder.Notice) error {
	return s.files.Hold(ctx, lease, func(tx storage.Tx) error { return insertNoticeRows(ctx, tx, []bankorder.Notice{n}) })
}

// insertNotices inserts rows of bank_notices.
var insertNotices = schema.New("bank_notices", nil, func(n *bankorder.Notice) schema.Columns {
	return schema.Columns{
		{Name: "connection", Field: &n.Connection}, {Name: "file", Field: &n.File}, {Name: "place", Field: &n.Place},
		{Name: "kind", Field: &n.Kind},
		{Name: "name", Field: &n.Name}, {Name: "code", Field: &n.Code}, {Name: "noticed_at", Field: &n.At},
	}
}).InsertAll("ON CONFLICT DO NOTHING")

func insertNoticeRows(ctx context.Context, tx storage.Tx, notices []bankorder.Notice) error {
	if len(notices) == 0 {
		return nil
	}
	_, err := tx.Exec(ctx, insertNotices.SQL, schema.Arrays(notices,
		func(n *bankorder.Notice) []any { return insertNotices.Table.Columns(n).Fields() })...)
	return err
}

// newestNotices uses bank_notices_newest, bank_correction_notice_unique and the primary key of bank_received_files.
const newestNotices = `
	SELECT n.file, n.place, n.kind, n.name, n.code, n.noticed_at, c.platform_id, c.id, coalesce(c.details, ''), coalesce(r.name, ''), coalesce(r.problem, '')
	FROM (SELECT * FROM bank_notices WHERE connection = $1 ORDER BY noticed_at DESC, file DESC, place DESC LIMIT $2) n
	LEFT JOIN bank_corrections c ON c.connection = n.connection AND c.file = n.file AND c.place = n.place
	LEFT JOIN bank_received_files r ON r.connection = n.connection AND r.number = n.file
	ORDER BY n.noticed_at DESC, n.file DESC, n.place DESC`

// Notices returns the newest notices of a connection, newest first.
func (s *Store) Notices(ctx context.Context, connection string, limit int) ([]bankorder.KeptNotice, error) {
	type stored struct {
		row     sealed.Row
		details []byte
	}
	var corrections []stored
	notices, err := storage.Collect(ctx, s.db.Read, newestNotices, []any{connection, limit},
		func(rows pgx.Rows, n *bankorder.KeptNotice) error {
			n.Connection = connection
			var c stored
			err := rows.Scan(&n.File, &n.Place, &n.Kind, &n.Name, &n.Code, &n.At, &c.row.Platform, &c.row.ID, &c.details, &n.FileName, &n.Problem)
			corrections = append(corrections, c)
			return err
		})
	for i, c := range corrections {
		if err == nil && c.row.ID != uuid.Nil {
			err = s.sealed.OpenJSON(ctx, c.row, sealed.BankCorrectionsDetails, c.details, &notices[i].Correction)
		}
	}
	return notices, err
}

// NoticeCount is the number of notices of a connection and kind.
type NoticeCount struct {
	Connection string
	Kind       bankorder.NoticeKind
	Count      int
}

// countNotices uses bank_notices_by_time.
const countNotices = `
	SELECT connection, kind, count(*) FROM (
		SELECT connection, kind FROM bank_notices WHERE noticed_at > $1 ORDER BY noticed_at DESC LIMIT $2) AS noticed
	GROUP BY connection, kind`

// CountNotices counts the notices since a time, for metrics: the newest up to a limit.
func (s *Store) CountNotices(ctx context.Context, since time.Time, limit int) ([]NoticeCount, error) {
	return storage.Collect(ctx, s.db.Read, countNotices, []any{since, limit},
		func(rows pgx.Rows, n *NoticeCount) error { return rows.Scan(&n.Connection, &n.Kind, &n.Count) })
}
