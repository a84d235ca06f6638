package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/schema"
	"causeway/adapters/postgres/sealed"
	"causeway/adapters/postgres/storage"
	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/ports"
)

// customerImports is the table customer_imports.
var customerImports = schema.New("customer_imports", keyOfPlatform, func(i *customer.Import) schema.Columns {
	return schema.Columns{
		{Name: "platform_id", Field: &i.Platform}, {Name: "id", Field: &i.ID}, {Name: "status", Field: &i.Status},
		{Name: "columns", Type: "text[]", Field: schema.Array(&i.Columns)}, {Name: "total", Field: &i.Total},
		{Name: "successful", Field: &i.Successful}, {Name: "failed", Field: &i.Failed},
		{Name: "created_at", Field: &i.CreatedAt}, {Name: "updated_at", Field: &i.UpdatedAt}, {Name: "completed_at", Field: &i.CompletedAt},
	}
})

// importChunkRow is a row of customer_import_chunks.
type importChunkRow struct {
	ports.ImportChunk
	platform ident.Platform
	of       ident.CustomerImport
}

var importChunks = schema.New("customer_import_chunks", keyOfPlatform, func(c *importChunkRow) schema.Columns {
	return schema.Columns{
		{Name: "platform_id", Field: &c.platform}, {Name: "id", Field: &c.ID}, {Name: "import_id", Field: &c.of},
		{Name: "first_row", Field: &c.FirstRow},
		sealed.JSON(sealed.CustomerImportChunksRows,
			func() []importRowColumn {
				return mapped(c.Rows, func(r ports.ImportRow) importRowColumn { return importRowColumn(r) })
			},
			func(rows []importRowColumn) {
				c.Rows = mapped(rows, func(r importRowColumn) ports.ImportRow { return ports.ImportRow(r) })
			}),
	}
})

// importRowColumn is an element of the column rows.
type importRowColumn struct {
	Line   int      `json:"Line"`
	Values []string `json:"Values"`
}

// importErrorRow is a row of customer_import_errors.
type importErrorRow struct {
	customer.ImportError
	platform ident.Platform
	of       ident.CustomerImport
	position int
}

var keyOfImportErrors = []string{"platform_id", "import_id", "position"}

var importErrors = schema.New("customer_import_errors", keyOfImportErrors, func(e *importErrorRow) schema.Columns {
	return schema.Columns{
		{Name: "platform_id", Field: &e.platform}, {Name: "import_id", Field: &e.of}, {Name: "position", Field: &e.position},
		{Name: "row_number", Field: &e.Row}, {Name: "line", Field: &e.Line}, {Name: "platform_customer_id", Field: &e.PlatformCustomerID},
		{Name: "code", Field: &e.Code}, {Name: "message", Field: &e.Message}, {Name: "reason", Field: &e.Reason},
		{Name: "column_name", Field: &e.Column},
		{Name: "fields", Type: "jsonb", Field: schema.JSON(
			func() []invalidFieldColumn {
				return mapped(append([]fault.Field{}, e.Fields...), func(f fault.Field) invalidFieldColumn { return invalidFieldColumn(f) })
			},
			func(columns []invalidFieldColumn) {
				e.Fields = mapped(columns, func(c invalidFieldColumn) fault.Field { return fault.Field(c) })
			})},
	}
})

// invalidFieldColumn is an element of the column fields.
type invalidFieldColumn struct {
	Field      string         `json:"Field"`
	Message    string         `json:"Message"`
	Constraint map[string]any `json:"Constraint"`
}

var (
	insertCustomerImport = customerImports.Insert("")
	updateCustomerImport = customerImports.Update("status", "columns", "total", "successful", "failed", "updated_at", "completed_at")
	insertImportChunk    = importChunks.Insert("")
	insertImportErrors   = importErrors.InsertAll("")
)

// unfinishedImports uses customer_imports_unfinished, which has a few rows. It makes the imports of a
// platform begin one after the other.
const (
	lockUnfinishedImports  = `SELECT pg_advisory_xact_lock(hashtextextended('customer import ' || $1::uuid, 0))`
	countUnfinishedImports = `SELECT count(*) FROM customer_imports WHERE platform_id = $1 AND completed_at IS NULL AND (status <> 'UPLOADING' OR created_at >= $2)`
)

// CreateCustomerImport inserts one import.
func (u *Unit) CreateCustomerImport(ctx context.Context, i customer.Import, limit ports.UnfinishedImports) error {
	unfinished := 0
	u.queueQuery(lockUnfinishedImports, []any{i.Platform}, ignoreRow)
	if err := u.query(ctx, countUnfinishedImports, []any{i.Platform, limit.UploadsSince}, func(rows pgx.Rows) error {
		return rows.Scan(&unfinished)
	}); err != nil {
		return err
	}
	if unfinished >= limit.Max {
		return &fault.Error{Code: fault.RateLimited, Reason: "Too many imports", RetryAfter: time.Minute,
			Message: "Your platform has too many imports that are not completed. Wait until one is completed."}
	}
	return writeNow(ctx, u, insertCustomerImport, i, nil)
}

// AddImportChunk inserts one row, in the same round trip as the commit.
func (u *Unit) AddImportChunk(ctx context.Context, i customer.Import, chunk ports.ImportChunk) error {
	return write(ctx, u, insertImportChunk, importChunkRow{chunk, i.Platform, i.ID})
}

// LockCustomerImport uses the primary key.
func (u *Unit) LockCustomerImport(ctx context.Context, p ident.Platform, id ident.CustomerImport) (customer.Import, bool, error) {
	return selectRow(ctx, u.db, u.query, customerImports, `WHERE platform_id = $1 AND id = $2 FOR UPDATE`, p, id)
}

// ImportChunk uses customer_import_chunks_by_row.
func (db *DB) ImportChunk(ctx context.Context, p ident.Platform, id ident.CustomerImport, firstRow int) (ports.ImportChunk, error) {
	row, _, err := selectRow(ctx, db, db.read, importChunks, `WHERE platform_id = $1 AND import_id = $2 AND first_row = $3`, p, id, firstRow)
	return row.ImportChunk, err
}

// DeleteImportChunk uses the primary key.
func (u *Unit) DeleteImportChunk(_ context.Context, i customer.Import, chunk ports.ImportChunk) error {
	u.queueExec(`DELETE FROM customer_import_chunks WHERE platform_id = $1 AND id = $2`, i.Platform, chunk.ID)
	return nil
}

// DeleteImportChunks uses customer_import_chunks_by_row.
func (u *Unit) DeleteImportChunks(_ context.Context, i customer.Import) error {
	u.queueExec(`DELETE FROM customer_import_chunks WHERE platform_id = $1 AND import_id = $2`, i.Platform, i.ID)
	return nil
}

// UpdateCustomerImport uses the primary key.
func (u *Unit) UpdateCustomerImport(ctx context.Context, i customer.Import, errors []customer.ImportError) error {
	if err := writeNow(ctx, u, updateCustomerImport, i, nil); err != nil || len(errors) == 0 {
		return err
	}
	rows := make([]importErrorRow, len(errors))
	for n, e := range errors {
		rows[n] = importErrorRow{e, i.Platform, i.ID, max(e.Row, n+1)}
	}
	if err := writeAll(ctx, u, insertImportErrors, rows); err != nil {
		return err
	}
	return u.flush(ctx)
}

// ImportErrors uses the primary key.
func (u *Unit) ImportErrors(ctx context.Context, i customer.Import) ([]customer.ImportError, error) {
	return selectImportErrors(ctx, u.db, u.query, i)
}

func selectImportErrors(ctx context.Context, db *DB, read storage.Reader, i customer.Import) ([]customer.ImportError, error) {
	rows, err := selectRows(ctx, db, read, importErrors, `WHERE platform_id = $1 AND import_id = $2 ORDER BY position LIMIT $3`,
		i.Platform, i.ID, customer.MaxImportErrors)
	errors := make([]customer.ImportError, len(rows))
	for n, row := range rows {
		errors[n] = row.ImportError
	}
	return errors, err
}

// DeleteCustomerUpload uses the primary key.
func (u *Unit) DeleteCustomerUpload(_ context.Context, p ident.Platform, id ident.CustomerImport) error {
	u.queueExec(`DELETE FROM customer_imports WHERE platform_id = $1 AND id = $2 AND status = 'UPLOADING'`, p, id)
	return nil
}

// CustomerImport uses the primary keys.
func (db *DB) CustomerImport(ctx context.Context, p ident.Platform, id ident.CustomerImport) (found customer.ImportWithErrors, err error) {
	none := fault.New(fault.BulkUploadJobNotFound, "There is no import %s.", id)
	found.Import, err = selectExisting(ctx, db, db.read, customerImports, none,
		`WHERE platform_id = $1 AND id = $2 AND status <> 'UPLOADING'`, p, id)
	if err != nil {
		return found, err
	}
	found.Errors, err = selectImportErrors(ctx, db, db.read, found.Import)
	return found, err
}
