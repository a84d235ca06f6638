package postgres

import (
	"context"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/postgres/schema"
	"causeway/adapters/postgres/sealed"
	"causeway/core/export"
	"causeway/core/fault"
	"causeway/core/ident"
)

// exports is the table exports.
var exports = schema.New("exports", keyOfPlatform, func(e *export.Export) schema.Columns {
	return schema.Columns{
		{Name: "platform_id", Field: &e.Platform}, {Name: "id", Field: &e.ID}, {Name: "person_id", Field: &e.By},
		{Name: "actor", Field: &e.Actor}, {Name: "format", Field: &e.Format}, {Name: "from_at", Field: &e.Interval.From},
		{Name: "to_at", Field: &e.Interval.To}, {Name: "account", Field: &e.Account}, {Name: "currency", Field: &e.Currency},
		{Name: "file_name", Field: &e.FileName}, {Name: "content_type", Field: &e.ContentType}, {Name: "state", Field: &e.State},
		{Name: "run", Field: &e.Run}, {Name: "done", Field: &e.Done}, {Name: "total", Field: &e.Total}, {Name: "size", Field: &e.Size},
		{Name: "problem", Field: &e.Problem}, {Name: "created_at", Field: &e.CreatedAt}, {Name: "updated_at", Field: &e.UpdatedAt},
		{Name: "ended_at", Field: &e.EndedAt},
	}
})

var exportParts = schema.New("export_parts", keyOfPlatform, func(p *export.Part) schema.Columns {
	return schema.Columns{
		{Name: "platform_id", Field: &p.Platform}, {Name: "id", Field: &p.Blob}, {Name: "export_id", Field: &p.Export},
		{Name: "number", Field: &p.Number}, {Name: "size", Field: &p.Size}, sealed.Bytes(sealed.ExportPartsKey, &p.Key),
	}
})

var (
	insertExport     = exports.Insert("")
	updateExport     = exports.Update("state", "run", "done", "total", "size", "problem", "updated_at", "ended_at")
	insertExportPart = exportParts.Insert("")
)

func noExport(id uuid.UUID) error {
	return fault.New(fault.NotFound, "There is no export %s, or it was deleted because of its age.", id)
}

// Exports uses exports_by_created_at.
func (db *DB) Exports(ctx context.Context, p ident.Platform, limit int) ([]export.Export, error) {
	return selectRows(ctx, db, db.read, exports, `WHERE platform_id = $1 ORDER BY created_at DESC, id DESC LIMIT $2`, p, limit)
}

// LedgerExport uses the primary key.
func (db *DB) LedgerExport(ctx context.Context, p ident.Platform, id uuid.UUID) (export.Export, error) {
	return readByID(ctx, db, exports, noExport(id), p, id)
}

// ExportParts uses export_part_once.
func (db *DB) ExportParts(ctx context.Context, p ident.Platform, id uuid.UUID) ([]export.Part, error) {
	return selectRows(ctx, db, db.read, exportParts, `WHERE platform_id = $1 AND export_id = $2 ORDER BY number`, p, id)
}

// LockUnfinishedExports also keeps other units of work from adding one. It uses exports_by_created_at.
func (u *Unit) LockUnfinishedExports(ctx context.Context, p ident.Platform) ([]export.Export, error) {
	u.queueExec(`SELECT pg_advisory_xact_lock(hashtextextended('exports ' || $1::uuid, 0))`, p)
	return selectRows(ctx, u.db, u.query, exports, `WHERE platform_id = $1 AND ended_at IS NULL ORDER BY created_at, id FOR UPDATE`, p)
}

// LockExport uses the primary key.
func (u *Unit) LockExport(ctx context.Context, p ident.Platform, id uuid.UUID) (export.Export, error) {
	return lockByID(ctx, u, exports, noExport(id), p, id)
}

// CreateExport inserts one export.
func (u *Unit) CreateExport(ctx context.Context, e export.Export) error {
	return writeNow(ctx, u, insertExport, e, nil)
}

// UpdateExport uses the primary key.
func (u *Unit) UpdateExport(ctx context.Context, e export.Export) error {
	return writeNow(ctx, u, updateExport, e, noExport(e.ID))
}

// AddExportPart inserts one part.
func (u *Unit) AddExportPart(ctx context.Context, p export.Part) error {
	return write(ctx, u, insertExportPart, p)
}

// DeleteExportParts uses export_part_once.
func (u *Unit) DeleteExportParts(ctx context.Context, p ident.Platform, id uuid.UUID) (blobs []uuid.UUID, err error) {
	return queryValues[uuid.UUID](ctx, u.query, `DELETE FROM export_parts WHERE platform_id = $1 AND export_id = $2 RETURNING id`, p, id)
}

// DeleteExport uses the primary key.
func (u *Unit) DeleteExport(_ context.Context, e export.Export) error {
	u.queueExec(`DELETE FROM exports WHERE platform_id = $1 AND id = $2`, e.Platform, e.ID)
	return nil
}

// LockOldExports reads the whole table: it has no more than the exports of some days.
func (u *Unit) LockOldExports(ctx context.Context, before time.Time, limit int) ([]export.Export, error) {
	return selectRows(ctx, u.db, u.query, exports, `WHERE created_at < $1 ORDER BY created_at LIMIT $2 FOR UPDATE SKIP LOCKED`, before, limit)
}
