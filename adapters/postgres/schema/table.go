package schema

import (
	"fmt"
	"math/big"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgtype"

	"causeway/core/money"
	"causeway/core/period"
	"causeway/core/platform"
	"causeway/core/reconcile"
)

// Column is a column and the field that holds its value.
type Column struct {
	Name  string
	Field any // a pointer, or one of the types of this package such as Day
	// Type is that of the column in Postgres; if it is empty, it follows from Field.
	Type string
	// Joined: a NULL of a row that a join has not found leaves the field.
	Joined bool
}

// Columns are columns of one row.
type Columns []Column

// Names returns the names with a table's alias in front, such as "t.id, t.status".
func (c Columns) Names(alias string) string {
	names := make([]string, len(c))
	for i, column := range c {
		names[i] = column.Name
		if alias != "" {
			names[i] = alias + "." + column.Name
		}
	}
	return strings.Join(names, ", ")
}

// Fields returns what the columns are scanned into, and the arguments that hold them.
func (c Columns) Fields() []any {
	fields := make([]any, len(c))
	for i, column := range c {
		fields[i] = column.Field
	}
	return fields
}

// Targets returns what a row with these values is scanned into. Columns of a row that a join has not found are left out.
func (c Columns) Targets(values [][]byte) []any {
	targets := c.Fields()
	for i, column := range c {
		if column.Joined && values[i] == nil {
			targets[i] = nil
		}
	}
	return targets
}

// Without returns the columns but those of some names.
func (c Columns) Without(names ...string) Columns {
	return slices.DeleteFunc(slices.Clone(c), func(column Column) bool { return slices.Contains(names, column.Name) })
}

// Field returns the field of a column; nil if there is no column of the name.
func (c Columns) Field(name string) any {
	for _, column := range c {
		if column.Name == name {
			return column.Field
		}
	}
	return nil
}

// Only returns the named columns. It panics if there is none of a name.
func (c Columns) Only(names ...string) Columns {
	some := make(Columns, len(names))
	for i, name := range names {
		some[i] = c[c.position("read", name)]
	}
	return some
}

// Joined returns the columns for a row that a join may not find.
func (c Columns) Joined() Columns {
	joined := slices.Clone(c)
	for i := range joined {
		joined[i].Joined = true
	}
	return joined
}

// position returns the index of a column. It panics if there is none of the name.
func (c Columns) position(table, name string) int {
	i := slices.IndexFunc(c, func(column Column) bool { return column.Name == name })
	if i < 0 {
		panic(fmt.Sprintf("the table %s has no column %s", table, name))
	}
	return i
}

// AuthorColumns are the columns of who made a change.
func AuthorColumns(by *platform.Author) Columns {
	return Columns{{Name: "token_id", Field: &by.Token}, {Name: "actor", Field: &by.Actor}, {Name: "person_id", Field: &by.Person}}
}

// ApprovalColumns are the columns of a second person's approval of a change.
func ApprovalColumns(a *platform.Approval) Columns {
	return Columns{
		{Name: "proposal_id", Field: &a.Proposal}, {Name: "approver_token_id", Field: &a.By.Token}, {Name: "approver", Field: &a.By.Actor},
	}
}

// Table is a table whose rows are values of T.
type Table[T any] struct {
	layout
	columns func(*T) Columns
}

// layout is what does not depend on the type of the rows, and so is compiled once.
type layout struct {
	Name string
	key  []string
	all  Columns // of no row
}

// New returns a table. columns returns the columns of a row; it must return the same for every row. key names the
// columns of the primary key.
func New[T any](name string, key []string, columns func(*T) Columns) *Table[T] {
	return &Table[T]{layout{name, key, columns(new(T))}, columns}
}

// Only returns the table with the named columns only, of which the key need not be part.
func (t *Table[T]) Only(names ...string) *Table[T] {
	positions := t.positions(t.named(names))
	return New(t.Name, t.key, func(row *T) Columns { return t.columns(row).at(positions) })
}

// From returns the columns of the table as another source has them: a function, or a subquery with its alias.
func (t *Table[T]) From(source string) *Table[T] { return New(source, t.key, t.columns) }

// Columns returns the columns of a row.
func (t *Table[T]) Columns(row *T) Columns { return t.columns(row) }

// Names returns the names of the columns with an alias of the table in front, unless it is empty.
func (t *layout) Names(alias string) string { return t.all.Names(alias) }

// Statement writes rows of a table.
type Statement[T any] struct {
	SQL       string
	Table     *Table[T]
	positions []int // of the columns that are arguments
}

// And returns the statement with one more condition, whose arguments follow those of the statement.
func (s Statement[T]) And(condition string) Statement[T] {
	s.SQL += " AND " + condition
	return s
}

// Of returns those of the columns of a row that the statement has as arguments: their fields, which must not change until
// it has run, or ArraysOf them.
func (s Statement[T]) Of(columns Columns) Columns {
	return columns.at(s.positions)
}

// at returns the columns at these positions.
func (c Columns) at(positions []int) Columns {
	picked := make(Columns, len(positions))
	for i, position := range positions {
		picked[i] = c[position]
	}
	return picked
}

// ArraysOf returns an array for each column of many rows, which must be alike.
func ArraysOf(rows []Columns) []any {
	fields := make([][]any, len(rows))
	for i, columns := range rows {
		fields[i] = columns.Fields()
	}
	return arraysOf(fields, len(rows[0]))
}

// Arrays returns arguments for unnest: an array of each field of many rows. The fields point into the rows.
func Arrays[T any](rows []T, fields func(row *T) []any) []any {
	all := make([][]any, len(rows))
	for i := range rows {
		all[i] = fields(&rows[i])
	}
	return arraysOf(all, len(fields(new(T))))
}

func arraysOf(rows [][]any, n int) []any {
	arrays := make([]any, n)
	for i := range arrays {
		arrays[i] = arrayOf(rows, i)
	}
	return arrays
}

// arrayOf returns the array of one of the fields. Those of the usual types are encoded faster than others.
func arrayOf(rows [][]any, i int) any {
	if len(rows) == 0 {
		return values{}
	}
	switch rows[0][i].(type) {
	case convertedValue:
	case identifierTarget:
		return collect(rows, i, func(id identifierTarget) pgtype.UUID { return idArgument(id) })
	case *time.Time:
		return collect(rows, i, func(at *time.Time) pgtype.Timestamptz { return timeArgument(*at).Timestamptz })
	case *string:
		return collect(rows, i, func(text *string) string { return *text })
	case *int64:
		return collect(rows, i, func(n *int64) int64 { return *n })
	}
	if field := reflect.ValueOf(rows[0][i]); field.Kind() == reflect.Pointer && field.Elem().Kind() == reflect.String {
		return collect(rows, i, func(text any) string { return reflect.ValueOf(text).Elem().String() })
	}
	fields := make(values, len(rows))
	for r := range rows {
		fields[r] = rows[r][i]
		if list, isList := fields[r].(arrayValue); isList {
			fields[r] = list.text()
		}
	}
	return fields
}

func collect[F, V any](rows [][]any, i int, value func(F) V) pgtype.FlatArray[V] {
	array := make(pgtype.FlatArray[V], len(rows))
	for r := range rows {
		array[r] = value(rows[r][i].(F))
	}
	return array
}

// Insert returns the statement that inserts one row. What follows VALUES, such as ON CONFLICT, is in suffix.
func (t *Table[T]) Insert(suffix string) Statement[T] { return t.statement(t.insert(suffix)) }

func (t *layout) insert(suffix string) (sql string, positions []int) {
	placeholders := make([]string, len(t.all))
	for i := range t.all {
		placeholders[i] = fmt.Sprintf("$%d", i+1)
	}
	sql = fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s) %s", t.Name, t.all.Names(""), strings.Join(placeholders, ", "), suffix)
	return sql, t.positions(t.all)
}

// InsertAll returns the statement that inserts many rows.
func (t *Table[T]) InsertAll(suffix string) Statement[T] { return t.statement(t.insertAll(suffix)) }

func (t *layout) insertAll(suffix string) (sql string, positions []int) {
	selected := make([]string, len(t.all))
	for i, column := range t.all {
		selected[i] = column.Name
		if _, isList := column.Field.(arrayValue); isList {
			selected[i] += "::" + column.Type
		}
	}
	sql = fmt.Sprintf("INSERT INTO %s (%s) SELECT %s FROM %s AS n(%s) %s",
		t.Name, t.all.Names(""), strings.Join(selected, ", "), t.unnest(t.all), t.all.Names(""), suffix)
	return sql, t.positions(t.all)
}

// Update returns the statement that writes the named columns of one row, which it finds by its key.
func (t *Table[T]) Update(names ...string) Statement[T] { return t.statement(t.update(names)) }

func (t *layout) update(names []string) (sql string, positions []int) {
	columns := t.keyAnd(names)
	set := make([]string, len(names))
	for i, name := range names {
		set[i] = fmt.Sprintf("%s = $%d", name, len(t.key)+i+1)
	}
	where := make([]string, len(t.key))
	for i, name := range t.key {
		where[i] = fmt.Sprintf("%s = $%d", name, i+1)
	}
	sql = fmt.Sprintf("UPDATE %s SET %s WHERE %s", t.Name, strings.Join(set, ", "), strings.Join(where, " AND "))
	return sql, t.positions(columns)
}

// UpdateAll returns the statement that writes the named columns of many rows, which it finds by their keys.
func (t *Table[T]) UpdateAll(names ...string) Statement[T] { return t.statement(t.updateAll(names)) }

func (t *layout) updateAll(names []string) (sql string, positions []int) {
	columns := t.keyAnd(names)
	set := make([]string, len(names))
	for i, name := range names {
		set[i] = fmt.Sprintf("%[1]s = n.%[1]s", name)
	}
	where := make([]string, len(t.key))
	for i, name := range t.key {
		where[i] = fmt.Sprintf("t.%[1]s = n.%[1]s", name)
	}
	sql = fmt.Sprintf("UPDATE %s t SET %s FROM %s AS n(%s) WHERE %s",
		t.Name, strings.Join(set, ", "), t.unnest(columns), columns.Names(""), strings.Join(where, " AND "))
	return sql, t.positions(columns)
}

// statement returns the statement with arguments of the columns at these positions.
func (t *Table[T]) statement(sql string, positions []int) Statement[T] {
	return Statement[T]{sql, t, positions}
}

func (t *layout) keyAnd(names []string) Columns {
	return t.named(append(slices.Clone(t.key), names...))
}

func (t *layout) named(names []string) Columns {
	columns := make(Columns, len(names))
	for i, name := range names {
		columns[i] = t.all[t.all.position(t.Name, name)]
	}
	return columns
}

func (t *layout) positions(columns Columns) []int {
	positions := make([]int, len(columns))
	for i, column := range columns {
		positions[i] = t.all.position(t.Name, column.Name)
	}
	return positions
}

// unnest returns the function that makes rows of an array for each column.
func (t *layout) unnest(columns Columns) string {
	arrays := make([]string, len(columns))
	for i, column := range columns {
		arrays[i] = fmt.Sprintf("$%d::%s[]", i+1, column.sqlType())
	}
	return "unnest(" + strings.Join(arrays, ", ") + ")"
}

// sqlType returns the type of the column in arrays. An assignment converts bigint to any type of integers.
func (c Column) sqlType() string {
	if _, isList := c.Field.(arrayValue); isList {
		return "text" // as arrays of arrays have no unnest
	}
	if c.Type != "" {
		return c.Type
	}
	field := c.Field
	switch f := field.(type) {
	case optionalValue:
		field = f.pointer()
	case convertedValue:
		field = f.target()
	}
	switch field.(type) {
	case *time.Time, *pgtype.Timestamptz:
		return "timestamptz"
	case *uuid.UUID, identifierTarget:
		return "uuid"
	case *number:
		return "text"
	case *[]byte:
		return "bytea"
	case *money.Total, **big.Int:
		return "numeric"
	case *period.Month, *reconcile.Day:
		return "date"
	}
	element := reflect.TypeOf(field).Elem()
	if isByteArray(element) {
		return "bytea"
	}
	switch element.Kind() {
	case reflect.String:
		return "text"
	case reflect.Bool:
		return "boolean"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "bigint"
	default: // has no type that follows from it
	}
	panic(fmt.Sprintf("the column %s needs a Type to be written in arrays", c.Name))
}
