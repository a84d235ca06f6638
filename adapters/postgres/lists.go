package postgres

import (
	"context"
	"encoding/binary"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/uptrace/bun"

	"causeway/adapters/postgres/schema"
	"causeway/adapters/postgres/sealed"
	"causeway/adapters/postgres/storage"
	"causeway/core/ident"
	"causeway/core/period"
	"causeway/ports"
)

// maxCandidates is the number of rows that are read to count those that match a filter without
// an index. It limits what a total costs.
const maxCandidates = 30_000

// list selects the rows of a list by an index whose order is that of the ids, and leaves out
// those that do not match the filter. Conditions are those of bun, with ? for arguments.
type list struct {
	from  string // the table, and what is joined to it
	alias string // of the table with a point, such as "r."; may be empty
	index []condition
	// alternatives are conditions with an index each, whose order is that of the ids too: the list has the rows of all
	// of them. No row matches two. If there are none, the list has all rows.
	alternatives []condition
	filter       []condition

	// owners selects rows o that the alternatives refer to, unless it is empty: they are read for each of these.
	owners condition
	// row is joined to from where more is read of a row than its id, if from is an index of the rows t.
	row string
	// details is joined to the rows t of a page, after it is cut.
	details string
}

type condition struct {
	text string
	args []any
}

// and returns a condition with a further one.
func (c condition) and(text string, args ...any) condition {
	return condition{c.text + " AND " + text, slices.Concat(c.args, formattable(args))}
}

// joined returns one condition of several, joined by AND or OR.
func joined(conditions []condition, operator string) (all condition) {
	texts := make([]string, len(conditions))
	for i, c := range conditions {
		texts[i] = c.text
		all.args = append(all.args, c.args...)
	}
	all.text = "(" + strings.Join(texts, operator) + ")"
	return all
}

// newList returns the list of a platform's rows of a table.
func newList(table string, p ident.Platform) list {
	l := list{from: table}
	l.byIndex("platform_id = ?", p)
	return l
}

// newJoinedList is newList for a query with joins, whose table has an alias.
func newJoinedList(from, alias string, p ident.Platform) list {
	l := list{from: from, alias: alias + "."}
	l.byIndex(l.alias+"platform_id = ?", p)
	return l
}

func (l *list) id() string { return l.alias + "id" }

// byIndex adds a condition that an index finds.
func (l *list) byIndex(text string, args ...any) {
	l.index = append(l.index, condition{text, formattable(args)})
}

// where adds a condition to the filter.
func (l *list) where(text string, args ...any) {
	l.filter = append(l.filter, condition{text, formattable(args)})
}

// formattable returns arguments as bun formats them.
func formattable(args []any) []any {
	for i, arg := range args {
		if id, isID := arg.(interface{ UUID() uuid.UUID }); isID {
			args[i] = id.UUID()
		}
	}
	return args
}

// whereEqual limits the list to rows whose column has the value; the empty value does not limit
// it.
func (l *list) whereEqual(column, value string) {
	if value != "" {
		l.where("? = ?", bun.Ident(l.alias+column), value)
	}
}

// whereInInterval limits the list to rows whose column is in the interval.
func (l *list) whereInInterval(column string, interval period.Interval) {
	if !interval.From.IsZero() {
		l.where("? >= ?", bun.Ident(l.alias+column), interval.From)
	}
	if !interval.To.IsZero() {
		l.where("? < ?", bun.Ident(l.alias+column), interval.To)
	}
}

// createdIn limits the list to rows that were created in the interval, and what is read to ids
// of that time.
func (l *list) createdIn(interval period.Interval) { l.inIntervalByID("created_at", interval) }

// inIntervalByID is createdIn for a table whose column for the time of creation has another name.
func (l *list) inIntervalByID(column string, interval period.Interval) {
	l.whereInInterval(column, interval)
	from, to := idsCreatedIn(interval)
	l.byIndex("? >= ? AND ? <= ?", bun.Ident(l.id()), from, bun.Ident(l.id()), to)
}

// candidates is what is read of a list, alike of each of its alternatives.
type candidates struct {
	columns condition
	where   []condition // beside the index
	order   string      // of the ids: "ASC" or "DESC"; any if empty
	limit   int64
	rows    bool // more is read than the ids
}

// query returns the query of candidates.
func (l *list) query(db *DB, c candidates) *bun.SelectQuery {
	from := l.from
	if c.rows {
		from += l.row
	}
	each := make([]any, 0, 1)
	for _, alternative := range l.orAll() {
		query := db.bun.NewSelect().TableExpr(from).ColumnExpr(c.columns.text, c.columns.args...).Limit(c.limit)
		for _, w := range slices.Concat(l.index, []condition{alternative}, c.where) {
			query = query.Where(w.text, w.args...)
		}
		if c.order != "" {
			query = query.OrderExpr("? "+c.order, bun.Ident(l.id()))
		}
		each = append(each, query)
	}
	if len(each) == 1 && l.owners.text == "" {
		return each[0].(*bun.SelectQuery)
	}
	all := "(" + strings.Repeat("(?) UNION ALL ", len(each)-1) + "(?)) AS t"
	if l.owners.text == "" {
		return db.bun.NewSelect().ColumnExpr("t.*").TableExpr(all, each...)
	}
	owners := db.bun.NewSelect().ColumnExpr("t.*").TableExpr("("+l.owners.text+") AS o", l.owners.args...)
	return owners.Join("CROSS JOIN LATERAL "+all, each...)
}

// orAll returns the alternatives, or one that every row matches.
func (l *list) orAll() []condition {
	if len(l.alternatives) == 0 {
		return []condition{{text: "true"}}
	}
	return l.alternatives
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

// count returns how many rows match, and how many were read to count them, up to a limit each.
func (l *list) count(ctx context.Context, db *DB) (matching, read int64, err error) {
	c := candidates{columns: condition{text: "true AS matches"}, limit: ports.MaxTotal + 1}
	if len(l.filter) > 0 {
		matches := joined(l.filter, " AND ")
		c = candidates{columns: condition{matches.text + " AS matches", matches.args}, order: "DESC", limit: maxCandidates + 1, rows: true}
	}
	query := db.bun.NewSelect().TableExpr("(?) AS candidates", l.query(db, c)).ColumnExpr("count(*) FILTER (WHERE matches), count(*)")
	err = db.readQuery(ctx, query, func(rows pgx.Rows) error { return rows.Scan(&matching, &read) })
	return matching, read, err
}

// readQuery runs a query of a list.
func (db *DB) readQuery(ctx context.Context, query *bun.SelectQuery, scan func(pgx.Rows) error) error {
	text, err := query.AppendQuery(db.bun.QueryGen(), nil)
	if err != nil {
		return err
	}
	rows, err := db.readPool.Query(ctx, string(text))
	if err != nil {
		return storage.ReadError(err)
	}
	return storage.ReadError(storage.ForEachRow(rows, scan))
}

// selectPage reads one page of a list of the rows of a table.
func selectPage[T any](ctx context.Context, db *DB, l list, p ports.Paging, t *schema.Table[T]) (found ports.Page[T], err error) {
	read, err := selectPageOf(ctx, db, l, p, t.Names(strings.TrimSuffix(l.alias, ".")), func(rows pgx.Rows) (sealed.Scanned[T], error) {
		return sealed.ScanRow(rows, t)
	})
	if err != nil {
		return found, err
	}
	opened, err := sealed.OpenRows(ctx, db.sealed, read.Items)
	return ports.PageOf(opened, read), err
}

// selectPageOf reads one page of a list, ordered by id: the columns that scan reads. It holds a connection of readPool
// meanwhile. If many lists may be read at once, scan opens encrypted columns only where readPool is not pool, from which
// data keys are read.
func selectPageOf[T any](ctx context.Context, db *DB, l list, p ports.Paging, columns string,
	scan func(pgx.Rows) (T, error)) (found ports.Page[T], err error) {
	var matching, read int64
	if !p.WithoutTotal {
		if matching, read, err = l.count(ctx, db); err != nil {
			return found, err
		}
	}
	var readTo uuid.UUID
	if p.MaxRead > 0 && len(l.filter) > 0 {
		if readTo, err = l.readTo(ctx, db, p); err != nil {
			return found, err
		}
		l.byIndex("? >= ?", bun.Ident(l.id()), readTo)
	}
	err = db.readQuery(ctx, l.page(db, p, columns), func(rows pgx.Rows) error {
		item, err := scan(rows)
		if found.More = len(found.Items) == p.Limit; !found.More {
			found.Items = append(found.Items, item)
		}
		return err
	})
	if !found.More {
		found.ReadTo = readTo
	}
	setTotal(&found, matching, read)
	return found, err
}

// readTo returns the id of the last of p.MaxRead rows of a list in descending order, without alternatives: those that its index finds,
// before they are filtered. It is zero if there are fewer.
func (l *list) readTo(ctx context.Context, db *DB, p ports.Paging) (id uuid.UUID, err error) {
	c := candidates{columns: condition{text: l.id()}, order: "DESC", limit: 1}
	c.startAfter(l, p)
	err = db.readQuery(ctx, l.query(db, c).Offset(int64(p.MaxRead-1)), func(rows pgx.Rows) error { return rows.Scan(&id) })
	return id, err
}

// startAfter limits candidates to those after the page before.
func (c *candidates) startAfter(l *list, p ports.Paging) {
	id := bun.Ident(l.id())
	switch {
	case p.Ascending:
		c.order = "ASC"
		c.where = append(slices.Clip(c.where), condition{"? > ?", []any{id, p.After}})
	case p.After != uuid.Nil:
		c.where = append(slices.Clip(c.where), condition{"? < ?", []any{id, p.After}})
	}
}

// page returns the query of one page and a row more, if there is one.
func (l *list) page(db *DB, p ports.Paging, columns string) *bun.SelectQuery {
	c := candidates{columns: condition{text: columns}, where: l.filter, order: "DESC", limit: int64(p.Limit) + 1, rows: true}
	c.startAfter(l, p)
	if l.details == "" && len(l.alternatives) < 2 {
		return l.query(db, c)
	}
	c.columns.text = "t.*"
	cut := db.bun.NewSelect().ColumnExpr("*").TableExpr("(?) AS t", l.query(db, c)).OrderExpr("t.id " + c.order).Limit(c.limit)
	return db.bun.NewSelect().ColumnExpr(columns).TableExpr("(?) AS t", cut).Join(l.details).OrderExpr("t.id " + c.order)
}
