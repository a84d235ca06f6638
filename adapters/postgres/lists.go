package postgres

import (
	"context"
	"database/sql"
	"encoding/binary"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"causeway/adapters/postgres/ledgerdb"
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

// selectOne returns the row that a query finds, or none.
func selectOne[Row, Item any](ctx context.Context, db *DB, query *bun.SelectQuery, item func(*Row) Item, none error) (Item, error) {
	var row Row
	err := query.Model(&row).Scan(ctx)
	switch {
	case isNoRows(err):
		err = none
	case err == nil:
		err = openRow(ctx, db, &row)
	}
	if err != nil {
		return *new(Item), err
	}
	return item(&row), nil
}

// selectAll returns all rows that a query finds.
func selectAll[Row, Item any](ctx context.Context, db *DB, query *bun.SelectQuery, item func(*Row) Item) ([]Item, error) {
	var rows []Row
	if err := query.Model(&rows).Scan(ctx); err != nil {
		return nil, err
	}
	return openRows(ctx, db, rows, item)
}

func openRows[Row, Item any](ctx context.Context, db *DB, rows []Row, item func(*Row) Item) ([]Item, error) {
	items := slices.Grow([]Item(nil), len(rows))
	for i := range rows {
		if err := openRow(ctx, db, &rows[i]); err != nil {
			return nil, err
		}
		items = append(items, item(&rows[i]))
	}
	return items, nil
}

// maxCandidates is the number of rows that are read to count those that match a filter without
// an index. It limits what a total costs.
const maxCandidates = 30_000

// list selects the rows of a list by an index whose order is that of the ids, and leaves out
// those that do not match the filter.
type list struct {
	query  *bun.SelectQuery
	filter []string
	args   []any
}

// where adds a condition to the filter.
func (l *list) where(condition string, args ...any) {
	l.filter, l.args = append(l.filter, condition), append(l.args, args...)
}

// whereEqual limits the list to rows whose column has the value; the empty value does not limit
// it.
func (l *list) whereEqual(column, value string) {
	if value != "" {
		l.where("? = ?", bun.Ident(column), value)
	}
}

// whereInInterval limits the list to rows whose column is in the interval.
func (l *list) whereInInterval(column string, interval period.Interval) {
	if !interval.From.IsZero() {
		l.where("? >= ?", bun.Ident(column), interval.From)
	}
	if !interval.To.IsZero() {
		l.where("? < ?", bun.Ident(column), interval.To)
	}
}

// createdIn limits the list to rows that were created in the interval, and what is read to ids
// of that time.
func (l *list) createdIn(interval period.Interval) { l.inIntervalByID("created_at", interval) }

// inIntervalByID is createdIn for a table whose column for the time of creation has another name.
func (l *list) inIntervalByID(column string, interval period.Interval) {
	l.whereInInterval(column, interval)
	from, to := idsCreatedIn(interval)
	l.query = l.query.Where("id >= ? AND id <= ?", from, to)
}

// idMargin is more than the time in an id can differ from the recorded time of creation: both are
// read from one clock in one request.
const idMargin = 10 * time.Minute

// idsCreatedIn returns the lowest and the highest id of what was created in an interval: a UUIDv7
// begins with the milliseconds of its time.
func idsCreatedIn(interval period.Interval) (lowest, highest uuid.UUID) {
	highest = uuid.Max
	if !interval.From.IsZero() {
		lowest = idAt(interval.From.Add(-idMargin))
	}
	if !interval.To.IsZero() {
		highest = idAt(interval.To.Add(idMargin))
	}
	return lowest, highest
}

func idAt(at time.Time) (id uuid.UUID) {
	binary.BigEndian.PutUint64(id[:8], uint64(max(0, at.UnixMilli()))<<16)
	return id
}

// setTotal sets the total of a page to the matching rows among those that were read.
func setTotal[T any](page *ports.Page[T], matching, read int64) {
	page.Total, page.TotalIsMinimum = min(matching, ports.MaxTotal), matching > ports.MaxTotal || read > maxCandidates
}

// selectPage reads one page of a list, ordered by id.
func selectPage[Row, Item any](ctx context.Context, db *DB, l list, p ports.Paging, item func(*Row) Item) (ports.Page[Item], error) {
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
	found.Items, err = openRows(ctx, db, rows[:min(len(rows), p.Limit)], item)
	return found, err
}
