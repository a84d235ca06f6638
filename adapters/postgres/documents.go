package postgres

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"causeway/core/document"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/ports"
)

// documentRow is a row of documents.
type documentRow struct {
	bun.BaseModel `bun:"table:documents"`

	PlatformID    uuid.UUID       `bun:"platform_id,pk"`
	ID            uuid.UUID       `bun:"id,pk"`
	HolderType    string          `bun:"holder_type"`
	HolderID      uuid.UUID       `bun:"holder_id"`
	Type          string          `bun:"document_type"`
	Side          string          `bun:"side"`
	Country       string          `bun:"country"`
	StoredDetails json.RawMessage `bun:"details,type:jsonb"`
	BlobID        uuid.UUID       `bun:"blob_id"`
	ContentType   string          `bun:"content_type"`
	Size          int64           `bun:"size"`
	CreatedAt     time.Time       `bun:"created_at"`
	UpdatedAt     time.Time       `bun:"updated_at"`
	SubmittedAt   *time.Time      `bun:"submitted_at"`
	SupersededBy  uuid.NullUUID   `bun:"superseded_by"`

	Details documentDetails `bun:"-"`
}

// documentDetails is the details column.
type documentDetails struct {
	Number           string `json:"number,omitempty"`
	IssuingAuthority string `json:"issuingAuthority,omitempty"`
	FileName         string `json:"fileName"`
	SHA256           []byte `json:"sha256"`
	Key              []byte `json:"key"` // opens the stored file
}

// The holder types.
const (
	customerHolder = "CUSTOMER"
	ownerHolder    = "BENEFICIAL_OWNER"
)

func newDocumentRow(d document.Document) *documentRow {
	row := &documentRow{
		PlatformID: d.Platform.UUID(), ID: d.ID.UUID(), HolderType: customerHolder, HolderID: d.Holder.UUID(),
		Type: string(d.Type), Side: string(d.Side), Country: d.Country,
		BlobID: d.File.Blob, ContentType: string(d.File.ContentType), Size: d.File.Size,
		CreatedAt: d.CreatedAt, UpdatedAt: d.UpdatedAt, SubmittedAt: nullTime(d.SubmittedAt),
		SupersededBy: uuid.NullUUID{UUID: d.SupersededBy.UUID(), Valid: !d.SupersededBy.IsZero()},
		Details: documentDetails{Number: d.Number, IssuingAuthority: d.IssuingAuthority,
			FileName: d.File.Name, SHA256: d.File.SHA256[:], Key: d.File.Key},
	}
	if !d.Holder.Owner.IsZero() {
		row.HolderType = ownerHolder
	}
	return row
}

func (row *documentRow) sealedRow() sealedRow { return sealedRow{row.PlatformID, row.ID} }

// seal sets the column that is encrypted.
func (row *documentRow) seal(ctx context.Context, db *DB) (err error) {
	row.StoredDetails, err = db.sealJSON(ctx, row.sealedRow(), documentsDetails, row.Details)
	return err
}

func (row *documentRow) open(ctx context.Context, db *DB) error {
	return db.openJSON(ctx, row.sealedRow(), documentsDetails, row.StoredDetails, &row.Details)
}

// CreateDocument inserts one document.
func (u *unit) CreateDocument(ctx context.Context, d document.Document) error {
	row := newDocumentRow(d)
	if err := row.seal(ctx, u.db); err != nil {
		return err
	}
	return u.insert(ctx, row)
}

// LockDocumentsOf uses documents_by_holder. The lock is not one of rows, because a holder may have
// none.
func (u *unit) LockDocumentsOf(ctx context.Context, p ident.Platform, h document.Holder) ([]document.Document, error) {
	u.queueExec(`SELECT pg_advisory_xact_lock(hashtextextended($1, 0))`, "documents of "+p.String()+" "+h.String())
	if err := u.flush(ctx); err != nil {
		return nil, err
	}
	return readDocumentsOf(ctx, u.db, u.db.bun.NewSelect().Conn(u.sqlConn), p, h)
}

// UpdateDocument uses the primary key.
func (u *unit) UpdateDocument(ctx context.Context, d document.Document) error {
	row := newDocumentRow(d)
	if err := row.seal(ctx, u.db); err != nil {
		return err
	}
	if err := u.flush(ctx); err != nil {
		return err
	}
	result, err := u.db.bun.NewUpdate().Conn(u.sqlConn).Model(row).ExcludeColumn("holder_type", "holder_id", "created_at").WherePK().Exec(ctx)
	return checkRowChanged(result, err, documentNotFound(d.ID))
}

// MarkDocumentsSubmitted uses the primary key.
func (u *unit) MarkDocumentsSubmitted(_ context.Context, p ident.Platform, ids []ident.Document, at time.Time) error {
	u.queueExec(`UPDATE documents SET submitted_at = $3 WHERE platform_id = $1 AND id = ANY($2) AND submitted_at IS NULL`,
		pgID(p.UUID()), documentUUIDs(ids), at)
	return nil
}

// DeleteDocuments uses the primary key.
func (u *unit) DeleteDocuments(_ context.Context, p ident.Platform, ids []ident.Document) error {
	u.queueExec(`DELETE FROM documents WHERE platform_id = $1 AND id = ANY($2)`, pgID(p.UUID()), documentUUIDs(ids))
	return nil
}

func documentUUIDs(ids []ident.Document) idArray {
	list := make([]uuid.UUID, len(ids))
	for i, id := range ids {
		list[i] = id.UUID()
	}
	return pgIDs(list)
}

// Document uses the primary key.
func (db *DB) Document(ctx context.Context, p ident.Platform, id ident.Document) (document.Document, error) {
	query := db.bun.NewSelect().Where("platform_id = ? AND id = ?", p.UUID(), id.UUID())
	return selectOne(ctx, db, query, (*documentRow).document, documentNotFound(id))
}

// Documents uses documents_by_holder or, for those of all holders, the primary key.
func (db *DB) Documents(ctx context.Context, p ident.Platform, f ports.DocumentFilter) (ports.Page[document.Document], error) {
	l := bunList{query: db.readBun.NewSelect().Where("platform_id = ?", p.UUID())}
	if !f.Holder.IsZero() {
		l.query = l.query.Where("holder_id = ?", f.Holder.UUID())
	}
	l.where("superseded_by IS NULL")
	return selectBunPage(ctx, db, l, f.Paging, (*documentRow).document)
}

// DocumentsOf uses documents_by_holder.
func (db *DB) DocumentsOf(ctx context.Context, p ident.Platform, holders ...document.Holder) ([]document.Document, error) {
	return readDocumentsOf(ctx, db, db.bun.NewSelect(), p, holders...)
}

func readDocumentsOf(ctx context.Context, db *DB, query *bun.SelectQuery, p ident.Platform, holders ...document.Holder) ([]document.Document, error) {
	if len(holders) == 0 {
		return nil, nil
	}
	ids := make([]uuid.UUID, len(holders))
	for i, h := range holders {
		ids[i] = h.UUID()
	}
	query = query.Where("platform_id = ? AND holder_id IN (?)", p.UUID(), bun.List(ids)).OrderExpr("id")
	return selectAll(ctx, db, query, (*documentRow).document)
}

// HasBlob uses document_blob_unique.
func (db *DB) HasBlob(ctx context.Context, p ident.Platform, blob uuid.UUID) (bool, error) {
	return db.bun.NewSelect().Model((*documentRow)(nil)).Where("platform_id = ? AND blob_id = ?", p.UUID(), blob).Exists(ctx)
}

func documentNotFound(id ident.Document) error {
	return fault.New(fault.DocumentNotFound, "There is no document %s.", id)
}

func (row *documentRow) document() document.Document {
	d := document.Document{
		Details: document.Details{Type: document.Type(row.Type), Side: document.Side(row.Side), Country: row.Country,
			Number: row.Details.Number, IssuingAuthority: row.Details.IssuingAuthority},
		File: document.File{Name: row.Details.FileName, ContentType: document.ContentType(row.ContentType), Size: row.Size,
			Blob: row.BlobID, Key: row.Details.Key},
		CreatedAt: row.CreatedAt.UTC(), UpdatedAt: row.UpdatedAt.UTC(), SubmittedAt: timeOrZero(row.SubmittedAt),
	}
	copy(d.File.SHA256[:], row.Details.SHA256)
	d.ID.SetUUID(row.ID)
	d.Platform.SetUUID(row.PlatformID)
	if row.HolderType == ownerHolder {
		d.Holder.Owner.SetUUID(row.HolderID)
	} else {
		d.Holder.Customer.SetUUID(row.HolderID)
	}
	d.SupersededBy.SetUUID(row.SupersededBy.UUID)
	return d
}
