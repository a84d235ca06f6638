package postgres

import (
	"context"
	"database/sql"

	"github.com/uptrace/bun"

	"causeway/core/period"
	"causeway/ports"
)

// insert sends the queued statements and then inserts one row.
func (u *unit) insert(ctx context.Context, row any) error {
	if err := u.flush(ctx); err != nil {
		return err
	}
	_, err := u.db.bun.NewInsert().Conn(u.sqlConn).Model(row).Exec(ctx)
	return translate(err)
}

// checkRowChanged returns none if a statement that should change one row changed no row.
func checkRowChanged(result sql.Result, err, none error) error {
	if err != nil {
		return translate(err)
	}
	if n, err := result.RowsAffected(); err != nil || n > 0 {
		return err
	}
	return none
}

// selectPage reads one page of the list that query selects, ordered by id. The query is
// limited to one platform, so it uses an index that begins with (platform_id, id), whatever
// the length of the list.
func selectPage[Row, Item any](ctx context.Context, query *bun.SelectQuery, p ports.Paging, item func(*Row) Item) (ports.Page[Item], error) {
	total, err := query.Clone().Model((*Row)(nil)).Count(ctx)
	if err != nil {
		return ports.Page[Item]{}, err
	}
	var rows []Row
	query = query.Model(&rows).Limit(int64(p.Limit) + 1)
	if p.Ascending {
		query = query.Where("id > ?", p.After).OrderExpr("id ASC")
	} else {
		query = query.OrderExpr("id DESC")
		if p.After != (ports.Paging{}).After {
			query = query.Where("id < ?", p.After)
		}
	}
	if err := query.Scan(ctx); err != nil {
		return ports.Page[Item]{}, err
	}
	found := ports.Page[Item]{Total: total, More: len(rows) > p.Limit}
	for i := range rows[:min(len(rows), p.Limit)] {
		found.Items = append(found.Items, item(&rows[i]))
	}
	return found, nil
}

// whereInInterval limits a query to rows whose column is in the interval.
func whereInInterval(query *bun.SelectQuery, column string, interval period.Interval) *bun.SelectQuery {
	if !interval.From.IsZero() {
		query = query.Where("? >= ?", bun.Ident(column), interval.From)
	}
	if !interval.To.IsZero() {
		query = query.Where("? < ?", bun.Ident(column), interval.To)
	}
	return query
}

// whereEqual limits a query to rows whose column has the value; the empty value does not limit
// it.
func whereEqual(query *bun.SelectQuery, column, value string) *bun.SelectQuery {
	if value == "" {
		return query
	}
	return query.Where("? = ?", bun.Ident(column), value)
}
