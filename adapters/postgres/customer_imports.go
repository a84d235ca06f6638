package postgres

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/uptrace/bun"

	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/ports"
)

// customerImportRow is a row of customer_imports.
type customerImportRow struct {
	bun.BaseModel `bun:"table:customer_imports"`

	PlatformID  uuid.UUID  `bun:"platform_id,pk"`
	ID          uuid.UUID  `bun:"id,pk"`
	Status      string     `bun:"status"`
	Columns     []string   `bun:"columns,array"`
	Total       int        `bun:"total"`
	Successful  int        `bun:"successful"`
	Failed      int        `bun:"failed"`
	CreatedAt   time.Time  `bun:"created_at"`
	UpdatedAt   time.Time  `bun:"updated_at"`
	CompletedAt *time.Time `bun:"completed_at"`
}

func newCustomerImportRow(i customer.Import) *customerImportRow {
	return &customerImportRow{PlatformID: i.Platform.UUID(), ID: i.ID.UUID(), Status: string(i.Status), Columns: append([]string{}, i.Columns...),
		Total: i.Total, Successful: i.Successful, Failed: i.Failed, CreatedAt: i.CreatedAt, UpdatedAt: i.UpdatedAt, CompletedAt: nullTime(i.CompletedAt)}
}

func (row *customerImportRow) customerImport() customer.Import {
	i := customer.Import{Status: customer.ImportStatus(row.Status), Columns: row.Columns, Total: row.Total, Successful: row.Successful, Failed: row.Failed,
		CreatedAt: row.CreatedAt.UTC(), UpdatedAt: row.UpdatedAt.UTC(), CompletedAt: timeOrZero(row.CompletedAt)}
	i.Platform.SetUUID(row.PlatformID)
	i.ID.SetUUID(row.ID)
	return i
}

// importErrorRow is a row of customer_import_errors.
type importErrorRow struct {
	bun.BaseModel `bun:"table:customer_import_errors"`

	PlatformID         uuid.UUID     `bun:"platform_id,pk"`
	ImportID           uuid.UUID     `bun:"import_id,pk"`
	Position           int           `bun:"position,pk"`
	Row                int           `bun:"row_number"`
	Line               int           `bun:"line"`
	PlatformCustomerID string        `bun:"platform_customer_id"`
	Code               string        `bun:"code"`
	Message            string        `bun:"message"`
	Reason             string        `bun:"reason"`
	Column             string        `bun:"column_name"`
	Fields             []fault.Field `bun:"fields,type:jsonb"`
}

func (row *importErrorRow) importError() customer.ImportError {
	return customer.ImportError{Row: row.Row, Line: row.Line, PlatformCustomerID: row.PlatformCustomerID, Code: fault.Code(row.Code),
		Message: row.Message, Reason: row.Reason, Column: row.Column, Fields: row.Fields}
}

// unfinishedImports uses customer_imports_unfinished, which has a few rows. It makes the imports of a
// platform begin one after the other.
const (
	lockUnfinishedImports  = `SELECT pg_advisory_xact_lock(hashtextextended('customer import ' || $1::uuid, 0))`
	countUnfinishedImports = `SELECT count(*) FROM customer_imports WHERE platform_id = $1 AND completed_at IS NULL AND (status <> 'UPLOADING' OR created_at >= $2)`
)

// CreateCustomerImport inserts one import.
func (u *unit) CreateCustomerImport(ctx context.Context, i customer.Import, limit ports.UnfinishedImports) error {
	unfinished := 0
	u.queueQuery(lockUnfinishedImports, []any{pgID(i.Platform.UUID())}, ignoreRow)
	if err := u.query(ctx, countUnfinishedImports, []any{pgID(i.Platform.UUID()), limit.UploadsSince}, func(rows pgx.Rows) error {
		return rows.Scan(&unfinished)
	}); err != nil {
		return err
	}
	if unfinished >= limit.Max {
		return &fault.Error{Code: fault.RateLimited, Reason: "Too many imports", RetryAfter: time.Minute,
			Message: "Your platform has too many imports that are not completed. Wait until one is completed."}
	}
	return u.insert(ctx, newCustomerImportRow(i))
}

const insertImportChunk = `INSERT INTO customer_import_chunks (platform_id, id, import_id, first_row, rows) VALUES ($1, $2, $3, $4, $5)`

// AddImportChunk inserts one row, in the same round trip as the commit.
func (u *unit) AddImportChunk(ctx context.Context, i customer.Import, chunk ports.ImportChunk) error {
	plain, err := json.Marshal(chunk.Rows)
	if err != nil {
		return err
	}
	row := sealedRow{i.Platform.UUID(), chunk.ID}
	stored, err := u.db.seal(ctx, row, customerImportChunksRows, plain)
	if err != nil {
		return err
	}
	u.queueExec(insertImportChunk, pgID(row.platform), pgID(row.id), pgID(i.ID.UUID()), int32(chunk.FirstRow), stored)
	return nil
}

// LockCustomerImport uses the primary key.
func (u *unit) LockCustomerImport(ctx context.Context, p ident.Platform, id ident.CustomerImport) (customer.Import, bool, error) {
	if err := u.flush(ctx); err != nil {
		return customer.Import{}, false, err
	}
	var row customerImportRow
	err := u.db.bun.NewSelect().Conn(u.sqlConn).Model(&row).Where("platform_id = ? AND id = ?", p.UUID(), id.UUID()).For("UPDATE").Scan(ctx)
	if isNoRows(err) {
		return customer.Import{}, false, nil
	}
	return row.customerImport(), err == nil, err
}

// selectImportChunk uses customer_import_chunks_by_row.
const selectImportChunk = `SELECT id, first_row, rows FROM customer_import_chunks WHERE platform_id = $1 AND import_id = $2 AND first_row = $3`

// ImportChunk reads one row.
func (db *DB) ImportChunk(ctx context.Context, p ident.Platform, id ident.CustomerImport, firstRow int) (chunk ports.ImportChunk, err error) {
	var stored []byte
	err = db.pool.QueryRow(ctx, selectImportChunk, pgx.QueryExecModeCacheStatement, pgID(p.UUID()), pgID(id.UUID()), int32(firstRow)).
		Scan((*[16]byte)(&chunk.ID), &chunk.FirstRow, &stored)
	if isNoRows(err) {
		return ports.ImportChunk{}, nil
	}
	if err != nil {
		return chunk, err
	}
	plain, err := db.open(ctx, sealedRow{p.UUID(), chunk.ID}, customerImportChunksRows, stored)
	if err != nil {
		return chunk, err
	}
	return chunk, json.Unmarshal(plain, &chunk.Rows)
}

// DeleteImportChunk uses the primary key.
func (u *unit) DeleteImportChunk(_ context.Context, i customer.Import, chunk ports.ImportChunk) error {
	u.queueExec(`DELETE FROM customer_import_chunks WHERE platform_id = $1 AND id = $2`, pgID(i.Platform.UUID()), pgID(chunk.ID))
	return nil
}

// DeleteImportChunks uses customer_import_chunks_by_row.
func (u *unit) DeleteImportChunks(_ context.Context, i customer.Import) error {
	u.queueExec(`DELETE FROM customer_import_chunks WHERE platform_id = $1 AND import_id = $2`, pgID(i.Platform.UUID()), pgID(i.ID.UUID()))
	return nil
}

// UpdateCustomerImport uses the primary key.
func (u *unit) UpdateCustomerImport(ctx context.Context, i customer.Import, errors []customer.ImportError) error {
	if err := u.flush(ctx); err != nil {
		return err
	}
	if _, err := u.db.bun.NewUpdate().Conn(u.sqlConn).Model(newCustomerImportRow(i)).ExcludeColumn("created_at").WherePK().Exec(ctx); err != nil || len(errors) == 0 {
		return err
	}
	rows := make([]importErrorRow, len(errors))
	for n, e := range errors {
		rows[n] = importErrorRow{PlatformID: i.Platform.UUID(), ImportID: i.ID.UUID(), Position: max(e.Row, n+1), Row: e.Row, Line: e.Line,
			PlatformCustomerID: e.PlatformCustomerID, Code: string(e.Code), Message: e.Message, Reason: e.Reason, Column: e.Column, Fields: append([]fault.Field{}, e.Fields...)}
	}
	_, err := u.db.bun.NewInsert().Conn(u.sqlConn).Model(&rows).Exec(ctx)
	return err
}

// ImportErrors uses the primary key.
func (u *unit) ImportErrors(ctx context.Context, i customer.Import) ([]customer.ImportError, error) {
	if err := u.flush(ctx); err != nil {
		return nil, err
	}
	return selectImportErrors(ctx, u.db.bun.NewSelect().Conn(u.sqlConn), i)
}

func selectImportErrors(ctx context.Context, query *bun.SelectQuery, i customer.Import) ([]customer.ImportError, error) {
	var rows []importErrorRow
	if err := query.Model(&rows).Where("platform_id = ? AND import_id = ?", i.Platform.UUID(), i.ID.UUID()).OrderExpr("position").
		Limit(customer.MaxImportErrors).Scan(ctx); err != nil {
		return nil, err
	}
	errors := make([]customer.ImportError, len(rows))
	for n := range rows {
		errors[n] = rows[n].importError()
	}
	return errors, nil
}

// DeleteCustomerUpload uses the primary key.
func (u *unit) DeleteCustomerUpload(_ context.Context, p ident.Platform, id ident.CustomerImport) error {
	u.queueExec(`DELETE FROM customer_imports WHERE platform_id = $1 AND id = $2 AND status = 'UPLOADING'`, pgID(p.UUID()), pgID(id.UUID()))
	return nil
}

// CustomerImport uses the primary keys.
func (db *DB) CustomerImport(ctx context.Context, p ident.Platform, id ident.CustomerImport) (found customer.ImportWithErrors, err error) {
	var row customerImportRow
	err = db.bun.NewSelect().Model(&row).Where("platform_id = ? AND id = ? AND status <> 'UPLOADING'", p.UUID(), id.UUID()).Scan(ctx)
	if isNoRows(err) {
		return found, fault.New(fault.BulkUploadJobNotFound, "There is no import %s.", id)
	}
	if err != nil {
		return found, err
	}
	found.Import = row.customerImport()
	found.Errors, err = selectImportErrors(ctx, db.bun.NewSelect(), found.Import)
	return found, err
}
