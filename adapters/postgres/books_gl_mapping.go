package postgres

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/schema"
	"causeway/adapters/postgres/storage"
	"causeway/core/books"
	"causeway/core/ident"
	"causeway/ports"
)

type glMappingRow = ofPlatform[books.MappingVersion]

// glMappings are the versions of mappings without their lines.
var glMappings = schema.New("ledger_gl_mappings", []string{"platform_id", "version"}, func(row *glMappingRow) schema.Columns {
	v := &row.value
	return slices.Concat(schema.Columns{
		{Name: "platform_id", Field: &row.platform}, {Name: "version", Field: &v.Version},
		{Name: "changed_at", Field: &v.At}, {Name: "note", Field: &v.Note},
	}, schema.AuthorColumns(&v.By), schema.ApprovalColumns(&v.Approval))
})

var keyOfMappingLine = []string{"platform_id", "version", "path", "currency"}

type mappingLineRow struct {
	platform ident.Platform
	version  int
	books.MappingLine
}

// glMappingLines are the lines of mappings. A version has at most books.MaxMappingLines.
var glMappingLines = schema.New("ledger_gl_mapping_lines", keyOfMappingLine, func(l *mappingLineRow) schema.Columns {
	return schema.Columns{
		{Name: "platform_id", Field: &l.platform}, {Name: "version", Field: &l.version}, {Name: "path", Field: &l.Path},
		{Name: "currency", Field: &l.Currency}, {Name: "code", Field: &l.Code}, {Name: "name", Field: &l.Name},
	}
})

var (
	insertGLMapping      = glMappings.Insert("")
	insertGLMappingLines = glMappingLines.InsertAll("")
	// selectGLMapping uses the primary keys.
	selectGLMapping = `SELECT ` + glMappings.Names("v") + `, ` + glMappingLines.Names("l") + `
	FROM (SELECT * FROM ledger_gl_mappings
		WHERE platform_id = $1 AND ($2 = 0 OR version = $2) AND changed_at <= coalesce($3, 'infinity'::timestamptz) ORDER BY version DESC LIMIT 1) v
	JOIN ledger_gl_mapping_lines l ON l.platform_id = $1 AND l.version = v.version`
)

// readGLMapping reads the mapping with a version, or the last one of a moment if that is zero; without a moment, the last one
// of all. It returns version 0 if there is none.
func readGLMapping(
	ctx context.Context, db *DB, read storage.Reader, p ident.Platform, version int, moment time.Time,
) (books.MappingVersion, error) {
	found := glMappingRow{value: books.MappingVersion{Mapping: books.DefaultMapping()}}
	var lines []books.MappingLine
	err := read(ctx, selectGLMapping, []any{p, version, moment}, func(rows pgx.Rows) error {
		var line mappingLineRow
		err := db.sealed.Scan(ctx, rows, slices.Concat(glMappings.Columns(&found), glMappingLines.Columns(&line)))
		lines = append(lines, line.MappingLine)
		return err
	})
	v := found.value
	if v.Version > 0 {
		v.Mapping = books.StoredMapping(lines)
	}
	return v, err
}

// GLMapping implements accounting.Store.
func (db *DB) GLMapping(ctx context.Context, p ident.Platform, moment time.Time) (books.MappingVersion, error) {
	return readGLMapping(ctx, db, db.read, p, 0, moment)
}

// GLMapping implements books.Tx.
func (u *Unit) GLMapping(ctx context.Context, p ident.Platform, moment time.Time) (books.MappingVersion, error) {
	return readGLMapping(ctx, u.db, u.query, p, 0, moment)
}

// GLMappingVersion implements books.Store.
func (db *DB) GLMappingVersion(ctx context.Context, p ident.Platform, version int) (books.MappingVersion, bool, error) {
	if version == 0 {
		return books.MappingVersion{Mapping: books.DefaultMapping()}, true, nil
	}
	v, err := readGLMapping(ctx, db, db.read, p, version, time.Time{})
	return v, v.Version > 0, err
}

// GLMappingVersions implements books.Store. Uses the primary key.
func (db *DB) GLMappingVersions(
	ctx context.Context, p ident.Platform, f ports.VersionFilter,
) (ports.VersionPage[books.MappingVersion], error) {
	return selectVersions(ctx, db, glMappings, p, f)
}

// selectVersions reads a page of the versions of what a platform has one of, newest first.
func selectVersions[T any](
	ctx context.Context, db *DB, t *schema.Table[ofPlatform[T]], p ident.Platform, f ports.VersionFilter,
) (page ports.VersionPage[T], err error) {
	const newest = `WHERE platform_id = $1 AND ($2 = 0 OR version < $2) ORDER BY version DESC LIMIT $3`
	rows, err := selectRows(ctx, db, db.read, t, newest, p, f.Before, f.Limit+1)
	rows, page.More = firstOf(rows, f.Limit)
	for _, row := range rows {
		page.Versions = append(page.Versions, row.value)
	}
	return page, err
}

// SaveGLMapping implements books.Tx.
func (u *Unit) SaveGLMapping(ctx context.Context, p ident.Platform, v books.MappingVersion) error {
	var lines []mappingLineRow
	for _, l := range v.Lines() {
		lines = append(lines, mappingLineRow{p, v.Version, l})
	}
	if err := write(ctx, u, insertGLMapping, glMappingRow{p, v}); err != nil {
		return err
	}
	return writeAll(ctx, u, insertGLMappingLines, lines)
}
