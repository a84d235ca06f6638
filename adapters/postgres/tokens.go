package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/schema"
	"causeway/adapters/postgres/sealed"
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

var (
	insertToken = tokens.Insert("")
	updateToken = tokens.Update("creator_id", "updated_at")
)

// readTokens uses token_client_id_unique and the primary keys of platforms and people. It
// runs for requests, in batches. A person who is disabled has no tokens. What takes a row away from it sets Unit.revokes.
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

// UpdateToken uses the primary key.
func (u *Unit) UpdateToken(ctx context.Context, t platform.Token) error {
	return writeNow(ctx, u, updateToken, t, platform.TokenNotFound(t.ID))
}

// TokensOfNobody counts the tokens of production platforms with four eyes for which no person answers. It reads the latest settings of
// every platform, and their tokens, by the primary keys.
func (db *DB) TokensOfNobody(ctx context.Context) (count int64, err error) {
	counted, err := queryValues[int64](ctx, db.read, `
		SELECT count(*) FROM (SELECT DISTINCT ON (platform_id) platform_id, four_eyes FROM ledger_settings ORDER BY platform_id, version DESC) s
		JOIN platforms p ON p.id = s.platform_id AND p.environment = 'PRODUCTION'
		JOIN tokens t ON t.platform_id = s.platform_id AND t.person_id IS NULL AND t.creator_id IS NULL
		WHERE cardinality(s.four_eyes) > 0`)
	if err == nil {
		count = counted[0]
	}
	return count, err
}

// LockTokens uses the primary key. Rows are locked in the order of their ids, so
// that two callers cannot deadlock; the second does not see tokens that the first deleted.
func (u *Unit) LockTokens(ctx context.Context, p ident.Platform) ([]platform.Token, error) {
	return selectRows(ctx, u.db, u.query, tokens, `WHERE platform_id = $1 ORDER BY id FOR UPDATE`, p)
}

// LockTokenCount implements platforms.Tx. It uses the primary key. The rows are not locked: who deletes one waits for nothing.
func (u *Unit) LockTokenCount(ctx context.Context, p ident.Platform, ofPeople bool) (int, error) {
	u.queueExec(`SELECT pg_advisory_xact_lock(hashtextextended('tokens ' || $1::uuid, 0))`, p)
	counted, err := queryValues[int](ctx, u.query, `SELECT count(*) FROM tokens WHERE platform_id = $1 AND (person_id IS NOT NULL) = $2`,
		p, ofPeople)
	if err != nil {
		return 0, err
	}
	return counted[0], nil
}

// DeleteToken uses the primary key. The unit of work ends when no process uses the token any more.
func (u *Unit) DeleteToken(ctx context.Context, p ident.Platform, id ident.Token) error {
	u.revokes = true
	return u.execOne(ctx, platform.TokenNotFound(id), `DELETE FROM tokens WHERE platform_id = $1 AND id = $2`, p, id)
}

// Token uses the primary key.
func (db *DB) Token(ctx context.Context, p ident.Platform, id ident.Token) (platform.Token, error) {
	return readByID(ctx, db, tokens, platform.TokenNotFound(id), p, id)
}

// Tokens uses the primary key.
func (db *DB) Tokens(ctx context.Context, p ident.Platform, f ports.TokenFilter) (ports.Page[platform.Token], error) {
	l := newList("tokens", p)
	if !f.ID.IsZero() {
		l.where("id = ?", f.ID)
	}
	l.whereEqual("name", f.Name)
	l.whereInInterval("created_at", f.Created)
	l.whereInInterval("updated_at", f.Updated)
	return selectPage(ctx, db, l, f.Paging, tokens)
}

// readTokenNames uses the primary keys. Of a token that was deleted, the record of that has the name and the person; it is found with
// operator_actions_by_subject.
const readTokenNames = `
	SELECT k.id, coalesce(t.name, d.name), coalesce(h.email, '')
	FROM unnest($2::uuid[]) AS k(id)
	LEFT JOIN tokens t ON t.platform_id = $1 AND t.id = k.id
	LEFT JOIN LATERAL (
		SELECT (SELECT f->>'before' FROM jsonb_array_elements(a.changes) f WHERE f->>'field' = 'name') AS name,
			(SELECT nullif(split_part(f->>'before', ':', 2), '')::uuid FROM jsonb_array_elements(a.changes) f WHERE f->>'field' = 'person') AS person_id
		FROM operator_actions a WHERE a.platform_id = $1 AND a.subject_id = k.id AND a.action = 'DELETE_TOKEN' ORDER BY a.id LIMIT 1
	) d ON t.id IS NULL
	LEFT JOIN people h ON h.id = greatest(t.person_id, d.person_id)
	WHERE coalesce(t.name, d.name) IS NOT NULL`

// NameTokens implements platforms.Store.
func (db *DB) NameTokens(ctx context.Context, p ident.Platform, texts ...*string) error {
	var ids []ident.Token
	for _, text := range texts {
		ids = append(ids, platform.TokensIn(*text)...)
	}
	if len(ids) == 0 {
		return nil
	}
	names := map[ident.Token]platform.TokenName{}
	err := db.read(ctx, readTokenNames, []any{p, ids}, func(rows pgx.Rows) error {
		var id ident.Token
		var name platform.TokenName
		err := rows.Scan(&id, &name.Name, &name.Person)
		names[id] = name
		return err
	})
	for _, text := range texts {
		*text = platform.NameTokens(*text, names)
	}
	return err
}
