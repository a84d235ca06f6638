package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/schema"
	"causeway/adapters/postgres/sealed"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/ports"
)

// tokens is the table tokens.
var tokens = schema.New("tokens", keyOfPlatform, func(t *platform.Token) schema.Columns {
	return schema.Columns{
		{Name: "platform_id", Field: &t.Platform}, {Name: "id", Field: &t.ID}, {Name: "name", Field: &t.Name},
		{Name: "permissions", Type: "text[]", Field: schema.Array(&t.Permissions)}, {Name: "client_id", Field: &t.ClientID},
		{Name: "secret_hash", Field: &t.SecretHash}, {Name: "created_at", Field: &t.CreatedAt}, {Name: "updated_at", Field: &t.UpdatedAt},
		{Name: "person_id", Field: &t.Person}, {Name: "creator_id", Field: &t.Creator},
	}
})

var insertToken = tokens.Insert("")

// readTokens uses token_client_id_unique and the primary keys of platforms and people. It
// runs for every request, in batches. A person who is disabled has no tokens.
var readTokens = `SELECT ` + tokens.Names("t") +
	`, p.environment FROM tokens t JOIN platforms p ON p.id = t.platform_id
	WHERE t.client_id = ANY($1) AND p.closed_at IS NULL AND NOT EXISTS (SELECT FROM people h WHERE h.id = t.person_id AND h.status = 'DISABLED')`

// TokensByClientID finds tokens by their client ids.
func (db *DB) TokensByClientID(ctx context.Context, clientIDs []string) (map[string]ports.TokenWithEnvironment, error) {
	found := make(map[string]ports.TokenWithEnvironment, len(clientIDs))
	return found, db.read(ctx, readTokens, []any{clientIDs}, func(rows pgx.Rows) error {
		var t ports.TokenWithEnvironment
		err := sealed.ScanStored(rows, tokens.Columns(&t.Token), &t.Environment)
		found[t.Token.ClientID] = t
		return err
	})
}

// CreateToken inserts one token.
func (u *Unit) CreateToken(ctx context.Context, t platform.Token) error {
	return writeNow(ctx, u, insertToken, t, nil)
}

// LockTokens uses the primary key. Rows are locked in the order of their ids, so
// that two callers cannot deadlock; the second does not see tokens that the first deleted.
func (u *Unit) LockTokens(ctx context.Context, p ident.Platform) ([]platform.Token, error) {
	return selectRows(ctx, u.db, u.query, tokens, `WHERE platform_id = $1 ORDER BY id FOR UPDATE`, p)
}

// DeleteToken uses the primary key.
func (u *Unit) DeleteToken(ctx context.Context, p ident.Platform, id ident.Token) error {
	return u.execOne(ctx, tokenNotFound(id), `DELETE FROM tokens WHERE platform_id = $1 AND id = $2`, p, id)
}

// Token uses the primary key.
func (db *DB) Token(ctx context.Context, p ident.Platform, id ident.Token) (platform.Token, error) {
	return selectExisting(ctx, db, db.read, tokens, tokenNotFound(id), `WHERE platform_id = $1 AND id = $2`, p, id)
}

// Tokens uses the primary key.
func (db *DB) Tokens(ctx context.Context, p ident.Platform, f ports.TokenFilter) (ports.Page[platform.Token], error) {
	l := newList("tokens", p)
	l.whereEqual("name", f.Name)
	l.whereInInterval("created_at", f.Created)
	l.whereInInterval("updated_at", f.Updated)
	return selectPage(ctx, db, l, f.Paging, tokens)
}

func tokenNotFound(id ident.Token) error {
	return fault.New(fault.TokenNotFound, "There is no token %s.", id)
}
