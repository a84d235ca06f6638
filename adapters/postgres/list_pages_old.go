package postgres

import (
	"context"
	"fmt"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"causeway/ports"
)

// queryPage reads one page of a list. query is its FROM and WHERE clauses, and id the column
// that orders it.
func queryPage[Item any](ctx context.Context, db *DB, columns, query, id string, args []any, p ports.Paging, scan func(pgx.Rows) (Item, error)) (ports.Page[Item], error) {
	var found ports.Page[Item]
	from := query[strings.Index(query, "FROM"):]
	matching := int64(0)
	count := fmt.Sprintf("SELECT count(*) FROM (SELECT %s LIMIT %d) items", from, ports.MaxTotal+1)
	if err := db.queryRows(ctx, count, args, func(rows pgx.Rows) error { return rows.Scan(&matching) }); err != nil {
		return found, err
	}
	order, beyond := "DESC", "<"
	if p.Ascending {
		order, beyond = "ASC", ">"
	}
	if p.After != uuid.Nil {
		args = append(args, pgID(p.After))
		query += fmt.Sprintf(" AND %s %s $%d", id, beyond, len(args))
	}
	query = fmt.Sprintf("SELECT %s %s ORDER BY %s %s LIMIT %d", columns, query, id, order, p.Limit+1)
	err := db.queryRows(ctx, query, args, func(rows pgx.Rows) error {
		item, err := scan(rows)
		if found.More = len(found.Items) == p.Limit; !found.More {
			found.Items = append(found.Items, item)
		}
		return err
	})
	setTotal(&found, matching, 0)
	return found, err
}
