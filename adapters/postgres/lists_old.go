package postgres

import (
	"context"
	"strings"

	"github.com/uptrace/bun"

	"causeway/adapters/postgres/ledgerdb"
	"causeway/core/period"
	"causeway/ports"
)

// bunList selects the rows of a list by an index whose order is that of the ids, and leaves out
// those that do not match the filter.
type bunList struct {
	query  *bun.SelectQuery
	filter []string
	args   []any
}

// where adds a condition to the filter.
func (l *bunList) where(condition string, args ...any) {
	l.filter, l.args = append(l.filter, condition), append(l.args, args...)
}

// whereEqual limits the list to rows whose column has the value; the empty value does not limit
// it.
func (l *bunList) whereEqual(column, value string) {
	if value != "" {
		l.where("? = ?", bun.Ident(column), value)
	}
}

// whereInInterval limits the list to rows whose column is in the interval.
func (l *bunList) whereInInterval(column string, interval period.Interval) {
	if !interval.From.IsZero() {
		l.where("? >= ?", bun.Ident(column), interval.From)
	}
	if !interval.To.IsZero() {
		l.where("? < ?", bun.Ident(column), interval.To)
	}
}

// createdIn limits the list to rows that were created in the interval, and what is read to ids
// of that time.
func (l *bunList) createdIn(interval period.Interval) { l.inIntervalByID("created_at", interval) }

// inIntervalByID is createdIn for a table whose column for the time of creation has another name.
func (l *bunList) inIntervalByID(column string, interval period.Interval) {
	l.whereInInterval(column, interval)
	from, to := idsCreatedIn(interval)
	l.query = l.query.Where("id >= ? AND id <= ?", from, to)
}

// selectPage reads one page of a list, ordered by id.
func selectBunPage[Row, Item any](ctx context.Context, db *DB, l bunList, p ports.Paging, item func(*Row) Item) (ports.Page[Item], error) {
	var found ports.Page[Item]
	candidates := l.query.Clone().Model((*Row)(nil)).ColumnExpr("true AS matches").Limit(ports.MaxTotal + 1)
	if len(l.filter) > 0 {
		candidates = l.query.Clone().Model((*Row)(nil)).ColumnExpr("("+strings.Join(l.filter, " AND ")+") AS matches", l.args...).
			OrderExpr("id DESC").Limit(maxCandidates + 1)
	}
	var matching, read int64
	err := db.readBun.NewSelect().TableExpr("(?) AS candidates", candidates).ColumnExpr("count(*) FILTER (WHERE matches), count(*)").Scan(ctx, &matching, &read)
	if err != nil {
		return found, ledgerdb.ReadError(err)
	}
	var rows []Row
	query := l.query.Model(&rows).Limit(int64(p.Limit) + 1)
	if len(l.filter) > 0 {
		query = query.Where(strings.Join(l.filter, " AND "), l.args...)
	}
	if p.Ascending {
		query = query.Where("id > ?", p.After).OrderExpr("id ASC")
	} else {
		query = query.OrderExpr("id DESC")
		if p.After != (ports.Paging{}).After {
			query = query.Where("id < ?", p.After)
		}
	}
	if err := query.Scan(ctx); err != nil {
		return found, ledgerdb.ReadError(err)
	}
	setTotal(&found, matching, read)
	found.More = len(rows) > p.Limit
	found.Items, err = openBunRows(ctx, db, rows[:min(len(rows), p.Limit)], item)
	return found, err
}
