package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"causeway/core/books"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/ports"
)

// These use the primary keys. A version has at most books.MaxMappingLines lines.
const (
	selectGLMappingHeader = `SELECT version, changed_at, token_id, actor, note, proposal_id, approver_token_id, approver FROM ledger_gl_mappings`
	selectGLMapping       = `
	SELECT v.*, l.path, l.currency, l.code, l.name
	FROM (` + selectGLMappingHeader + ` WHERE platform_id = $1 AND ($2 = 0 OR version = $2) AND changed_at <= $3 ORDER BY version DESC LIMIT 1) v
	JOIN ledger_gl_mapping_lines l ON l.platform_id = $1 AND l.version = v.version`
)

// readGLMapping reads the mapping with a version, or the last one of a moment if that is zero. It returns
// version 0 if there is none.
func readGLMapping(ctx context.Context, read reader, p ident.Platform, version int, moment time.Time) (books.MappingVersion, error) {
	until := pgtype.Timestamptz{InfinityModifier: pgtype.Infinity, Valid: true}
	if !moment.IsZero() {
		until = pgTime(moment)
	}
	v := books.MappingVersion{Mapping: books.DefaultMapping()}
	var lines []books.MappingLine
	err := read(ctx, selectGLMapping, []any{pgID(p.UUID()), version, until}, func(rows pgx.Rows) (err error) {
		var line books.MappingLine
		var currency string
		v, err = scanGLMapping(rows, &line.Path, &currency, &line.Code, &line.Name)
		line.Currency = money.Currency(currency)
		lines = append(lines, line)
		return err
	})
	if v.Version > 0 {
		v.Mapping = books.StoredMapping(lines)
	}
	return v, err
}

// scanGLMapping reads the columns of a version, and then those of more.
func scanGLMapping(rows pgx.Rows, more ...any) (v books.MappingVersion, err error) {
	var at pgtype.Timestamptz
	var by, proposed, approver pgtype.UUID
	err = rows.Scan(append([]any{&v.Version, &at, &by, &v.By.Actor, &v.Note, &proposed, &approver, &v.Approval.By.Actor}, more...)...)
	v.At, v.By.Token, v.Approval = utcTime(at), tokenID(by), scanApproval(proposed, approver, v.Approval.By.Actor)
	return v, err
}

// GLMapping implements ports.BooksReader.
func (db *DB) GLMapping(ctx context.Context, p ident.Platform, moment time.Time) (books.MappingVersion, error) {
	return readGLMapping(ctx, db.read, p, 0, moment)
}

// GLMapping implements ports.BooksReader.
func (u *unit) GLMapping(ctx context.Context, p ident.Platform, moment time.Time) (books.MappingVersion, error) {
	return readGLMapping(ctx, u.query, p, 0, moment)
}

// GLMappingVersion implements ports.BooksHistory.
func (db *DB) GLMappingVersion(ctx context.Context, p ident.Platform, version int) (books.MappingVersion, bool, error) {
	if version == 0 {
		return books.MappingVersion{Mapping: books.DefaultMapping()}, true, nil
	}
	v, err := readGLMapping(ctx, db.read, p, version, time.Time{})
	return v, v.Version > 0, err
}

// GLMappingVersions implements ports.BooksHistory.
func (db *DB) GLMappingVersions(ctx context.Context, p ident.Platform, f ports.VersionFilter) (page ports.VersionPage[books.MappingVersion], err error) {
	err = db.read(ctx, selectGLMappingHeader+` WHERE platform_id = $1 AND ($2 = 0 OR version < $2) ORDER BY version DESC LIMIT $3`,
		[]any{pgID(p.UUID()), f.Before, f.Limit + 1}, func(rows pgx.Rows) error {
			v, err := scanGLMapping(rows)
			page.Versions = append(page.Versions, v)
			return err
		})
	if page.More = len(page.Versions) > f.Limit; page.More {
		page.Versions = page.Versions[:f.Limit]
	}
	return page, err
}

// SaveGLMapping implements ports.BooksWriter.
func (u *unit) SaveGLMapping(_ context.Context, p ident.Platform, v books.MappingVersion) error {
	var paths, currencies, codes, names []string
	for _, l := range v.Lines() {
		paths, currencies, codes, names = append(paths, l.Path), append(currencies, string(l.Currency)), append(codes, l.Code), append(names, l.Name)
	}
	u.queueExec(`INSERT INTO ledger_gl_mappings (platform_id, version, changed_at, token_id, actor, note, proposal_id, approver_token_id, approver)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
		pgID(p.UUID()), v.Version, pgTime(v.At), pgID(v.By.Token.UUID()), v.By.Actor, v.Note,
		pgID(v.Approval.Proposal.UUID()), pgID(v.Approval.By.Token.UUID()), v.Approval.By.Actor)
	u.queueExec(`INSERT INTO ledger_gl_mapping_lines (platform_id, version, path, currency, code, name)
		SELECT $1, $2, * FROM unnest($3::text[], $4::text[], $5::text[], $6::text[])`, pgID(p.UUID()), v.Version, paths, currencies, codes, names)
	return nil
}
