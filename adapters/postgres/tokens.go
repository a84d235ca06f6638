package postgres

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/uptrace/bun"

	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/ports"
)

// readTokens uses token_client_id_unique and the primary key of platforms. It
// runs for every request, in batches.
const readTokens = `
	SELECT t.platform_id, t.id, t.name, t.permissions, t.client_id, t.secret_hash, t.created_at, t.updated_at, p.environment
	FROM tokens t JOIN platforms p ON p.id = t.platform_id
	WHERE t.client_id = ANY($1)`

// TokensByClientID finds tokens by their client ids.
func (db *DB) TokensByClientID(ctx context.Context, clientIDs []string) (map[string]ports.TokenWithEnvironment, error) {
	rows, err := db.pool.Query(ctx, readTokens, pgx.QueryExecModeCacheStatement, clientIDs)
	if err != nil {
		return nil, err
	}
	found := make(map[string]ports.TokenWithEnvironment, len(clientIDs))
	return found, forEachRow(rows, func(rows pgx.Rows) error {
		var row tokenRow
		var environment string
		if err := rows.Scan(&row.PlatformID, &row.ID, &row.Name, &row.Permissions, &row.ClientID, &row.SecretHash,
			&row.CreatedAt, &row.UpdatedAt, &environment); err != nil {
			return err
		}
		found[row.ClientID] = ports.TokenWithEnvironment{Token: row.token(), Environment: platform.Environment(environment)}
		return nil
	})
}

// tokenRow is a row of tokens.
type tokenRow struct {
	bun.BaseModel `bun:"table:tokens"`

	PlatformID  uuid.UUID `bun:"platform_id,pk"`
	ID          uuid.UUID `bun:"id,pk"`
	Name        string    `bun:"name"`
	Permissions []string  `bun:"permissions,array"`
	ClientID    string    `bun:"client_id"`
	SecretHash  []byte    `bun:"secret_hash"`
	CreatedAt   time.Time `bun:"created_at"`
	UpdatedAt   time.Time `bun:"updated_at"`
}

// CreateToken inserts one token.
func (u *unit) CreateToken(ctx context.Context, t platform.Token) error {
	row := &tokenRow{
		PlatformID: t.Platform.UUID(), ID: t.ID.UUID(), Name: t.Name, ClientID: t.ClientID,
		SecretHash: t.SecretHash[:], CreatedAt: t.CreatedAt, UpdatedAt: t.UpdatedAt,
	}
	for _, permission := range t.Permissions {
		row.Permissions = append(row.Permissions, string(permission))
	}
	return u.insert(ctx, row)
}

// LockTokens uses the primary key. Rows are locked in the order of their ids, so
// that two callers cannot deadlock; the second does not see tokens that the first deleted.
func (u *unit) LockTokens(ctx context.Context, p ident.Platform) ([]platform.Token, error) {
	if err := u.flush(ctx); err != nil {
		return nil, err
	}
	var rows []tokenRow
	if err := u.db.bun.NewSelect().Conn(u.sqlConn).Model(&rows).Where("platform_id = ?", p.UUID()).
		OrderExpr("id").For("UPDATE").Scan(ctx); err != nil {
		return nil, err
	}
	tokens := make([]platform.Token, len(rows))
	for i := range rows {
		tokens[i] = rows[i].token()
	}
	return tokens, nil
}

// DeleteToken uses the primary key.
func (u *unit) DeleteToken(ctx context.Context, p ident.Platform, id ident.Token) error {
	if err := u.flush(ctx); err != nil {
		return err
	}
	result, err := u.db.bun.NewDelete().Conn(u.sqlConn).Model((*tokenRow)(nil)).
		Where("platform_id = ? AND id = ?", p.UUID(), id.UUID()).Exec(ctx)
	return checkRowChanged(result, err, tokenNotFound(id))
}

// Token uses the primary key.
func (db *DB) Token(ctx context.Context, p ident.Platform, id ident.Token) (platform.Token, error) {
	var row tokenRow
	err := db.bun.NewSelect().Model(&row).Where("platform_id = ? AND id = ?", p.UUID(), id.UUID()).Scan(ctx)
	if isNoRows(err) {
		return platform.Token{}, tokenNotFound(id)
	}
	if err != nil {
		return platform.Token{}, err
	}
	return row.token(), nil
}

// Tokens uses the primary key.
func (db *DB) Tokens(ctx context.Context, p ident.Platform, f ports.TokenFilter) (ports.Page[platform.Token], error) {
	l := bunList{query: db.readBun.NewSelect().Where("platform_id = ?", p.UUID())}
	l.whereEqual("name", f.Name)
	l.whereInInterval("created_at", f.Created)
	l.whereInInterval("updated_at", f.Updated)
	return selectBunPage(ctx, db, l, f.Paging, (*tokenRow).token)
}

func tokenNotFound(id ident.Token) error {
	return fault.New(fault.TokenNotFound, "There is no token %s.", id)
}

func (row *tokenRow) token() platform.Token {
	t := platform.Token{Name: row.Name, ClientID: row.ClientID, CreatedAt: row.CreatedAt.UTC(), UpdatedAt: row.UpdatedAt.UTC()}
	t.Platform.SetUUID(row.PlatformID)
	t.ID.SetUUID(row.ID)
	copy(t.SecretHash[:], row.SecretHash)
	for _, permission := range row.Permissions {
		t.Permissions = append(t.Permissions, platform.Permission(permission))
	}
	return t
}
