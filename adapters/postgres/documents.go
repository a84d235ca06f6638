package postgres

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/schema"
	"causeway/adapters/postgres/sealed"
	"causeway/core/document"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/ports"
)

// documents is the table documents.
var documents = schema.New("documents", keyOfPlatform, func(d *document.Document) schema.Columns {
	return append(schema.Columns{{Name: "platform_id", Field: &d.Platform},
		{Name: "id", Field: &d.ID}}, append(holderColumns(&d.Holder), schema.Columns{
		{Name: "document_type", Field: &d.Type}, {Name: "side", Field: &d.Side}, {Name: "country", Field: &d.Country},
		sealed.JSON(sealed.DocumentsDetails, func() documentDetails { return newDocumentDetails(*d) }, func(c documentDetails) { c.set(d) }),
		{Name: "blob_id", Field: &d.File.Blob}, {Name: "content_type", Field: &d.File.ContentType}, {Name: "size", Field: &d.File.Size},
		{Name: "created_at", Field: &d.CreatedAt}, {Name: "updated_at", Field: &d.UpdatedAt},
		{Name: "submitted_at", Field: &d.SubmittedAt}, {Name: "superseded_by", Field: &d.SupersededBy},
	}...)...)
})

var (
	insertDocument = documents.Insert("")
	updateDocument = documents.Update("document_type", "side", "country", "details", "blob_id", "content_type", "size", "updated_at",
		"submitted_at", "superseded_by")
)

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

// holderColumns are the type and the id of a holder. The type is read first.
func holderColumns(h *document.Holder) schema.Columns {
	ofOwner := false
	return schema.Columns{
		{Name: "holder_type", Field: schema.Converted(
			func() string {
				if h.Owner.IsZero() {
					return customerHolder
				}
				return ownerHolder
			},
			func(kind string) error {
				ofOwner = kind == ownerHolder
				return nil
			})},
		{Name: "holder_id", Field: schema.Converted(
			func() uuid.UUID { return h.UUID() },
			func(id uuid.UUID) error {
				if ofOwner {
					h.Owner.SetUUID(id)
				} else {
					h.Customer.SetUUID(id)
				}
				return nil
			})},
	}
}

func newDocumentDetails(d document.Document) documentDetails {
	return documentDetails{Number: d.Number, IssuingAuthority: d.IssuingAuthority,
		FileName: d.File.Name, SHA256: d.File.SHA256[:], Key: d.File.Key}
}

func (c documentDetails) set(d *document.Document) {
	d.Number, d.IssuingAuthority, d.File.Name, d.File.Key = c.Number, c.IssuingAuthority, c.FileName, c.Key
	copy(d.File.SHA256[:], c.SHA256)
}

// CreateDocument inserts one document.
func (u *Unit) CreateDocument(ctx context.Context, d document.Document) error {
	return writeNow(ctx, u, insertDocument, d, nil)
}

// LockDocumentsOf uses documents_by_holder. The lock is not one of rows, because a holder may have
// none.
func (u *Unit) LockDocumentsOf(ctx context.Context, p ident.Platform, h document.Holder) ([]document.Document, error) {
	u.queueExec(`SELECT pg_advisory_xact_lock(hashtextextended($1, 0))`, "documents of "+p.String()+" "+h.String())
	return selectRows(ctx, u.db, u.query, documents, documentsOfHolders, p, uuids([]document.Holder{h}))
}

// UpdateDocument uses the primary key.
func (u *Unit) UpdateDocument(ctx context.Context, d document.Document) error {
	return writeNow(ctx, u, updateDocument, d, documentNotFound(d.ID))
}

// MarkDocumentsSubmitted uses the primary key.
func (u *Unit) MarkDocumentsSubmitted(_ context.Context, p ident.Platform, ids []ident.Document, at time.Time) error {
	u.queueExec(`UPDATE documents SET submitted_at = $3 WHERE platform_id = $1 AND id = ANY($2) AND submitted_at IS NULL`, p, ids, at)
	return nil
}

// DeleteDocuments uses the primary key.
func (u *Unit) DeleteDocuments(_ context.Context, p ident.Platform, ids []ident.Document) error {
	u.queueExec(`DELETE FROM documents WHERE platform_id = $1 AND id = ANY($2)`, p, ids)
	return nil
}

// Document uses the primary key.
func (db *DB) Document(ctx context.Context, p ident.Platform, id ident.Document) (document.Document, error) {
	return readByID(ctx, db, documents, documentNotFound(id), p, id)
}

// Documents uses documents_by_holder or, for those of all holders, the primary key.
func (db *DB) Documents(ctx context.Context, p ident.Platform, f ports.DocumentFilter) (ports.Page[document.Document], error) {
	l := newList("documents", p)
	if !f.Holder.IsZero() {
		l.byIndex("holder_id = ?", f.Holder.UUID())
	}
	if !f.IncludeReplaced {
		l.where("superseded_by IS NULL")
	}
	return selectPage(ctx, db, l, f.Paging, documents)
}

// DocumentsOf uses documents_by_holder.
func (db *DB) DocumentsOf(ctx context.Context, p ident.Platform, holders ...document.Holder) ([]document.Document, error) {
	if len(holders) == 0 {
		return nil, nil
	}
	return selectRows(ctx, db, db.read, documents, documentsOfHolders, p, uuids(holders))
}

const documentsOfHolders = `WHERE platform_id = $1 AND holder_id = ANY($2) ORDER BY id`

// HasBlob uses document_blob_unique and the primary key of export_parts.
func (db *DB) HasBlob(ctx context.Context, p ident.Platform, blob uuid.UUID) (found bool, err error) {
	err = db.read(ctx, `SELECT EXISTS (SELECT FROM documents WHERE platform_id = $1 AND blob_id = $2
		UNION ALL SELECT FROM export_parts WHERE platform_id = $1 AND id = $2)`, []any{p, blob},
		func(rows pgx.Rows) error {
			return rows.Scan(&found)
		})
	return found, err
}

func documentNotFound(id ident.Document) error {
	return fault.New(fault.DocumentNotFound, "There is no document %s.", id)
}
