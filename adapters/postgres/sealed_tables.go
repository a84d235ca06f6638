package postgres

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"causeway/adapters/postgres/sealed"
)

// sealedTable is a table with sealed columns, as its rows are read in the order of the primary key.
type sealedTable struct {
	name    string
	key     string // the second column of the primary key
	keyType string
	row     func(platform uuid.UUID, key string) (sealed.Row, error)
	columns []sealed.Column
}

// rowPosition is the primary key of a row.
type rowPosition struct {
	platform uuid.UUID
	key      string
}

// sealedTables returns the tables of the register of encrypted columns.
func sealedTables() []sealedTable {
	var tables []sealedTable
	for _, c := range sealed.Columns() {
		name := c.Table()
		i := slices.IndexFunc(tables, func(t sealedTable) bool { return t.name == name })
		if i < 0 {
			i = len(tables)
			tables = append(tables, newSealedTable(name))
		}
		tables[i].columns = append(tables[i].columns, c)
	}
	return tables
}

// sealedKeys describes the tables whose primary key is not platform_id and id: its second column, and
// the row that a value is bound to.
var sealedKeys = map[string]struct {
	column string
	row    func(platform uuid.UUID, key string) sealed.Row
}{
	"idempotency_keys": {"key", responseRowName},
}

func newSealedTable(name string) sealedTable {
	if key, other := sealedKeys[name]; other {
		return sealedTable{name: name, key: key.column, keyType: "text", row: func(platform uuid.UUID, text string) (sealed.Row, error) {
			return key.row(platform, text), nil
		}}
	}
	return sealedTable{name: name, key: "id", keyType: "uuid", row: func(platform uuid.UUID, text string) (sealed.Row, error) {
		id, err := uuid.Parse(text)
		return sealed.Row{Platform: platform, ID: id}, err
	}}
}

// start is the position before the first row.
func (t sealedTable) start() rowPosition {
	if t.keyType == "uuid" {
		return rowPosition{key: uuid.Nil.String()}
	}
	return rowPosition{}
}

// lastSQL reads the last row of the last platform before $1.
func (t sealedTable) lastSQL() string {
	return fmt.Sprintf(
		`SELECT platform_id, %[1]s::text AS position FROM %[2]s WHERE platform_id < $1 ORDER BY platform_id DESC, %[1]s DESC LIMIT 1`,
		t.key, t.name)
}

// readSQL reads the rows of the platform $2 after the key $3 and up to the key $4, at most $5, by the
// primary key: the values that are not encrypted with the data key $1.
func (t sealedTable) readSQL() string {
	var values strings.Builder
	for _, c := range t.columns {
		fmt.Fprintf(&values, ", CASE WHEN %s <> $1 THEN %s END", c.KeySQL(), c.Name())
	}
	return fmt.Sprintf(
		`SELECT %[1]s::text AS position%[2]s FROM %[3]s WHERE platform_id = $2 AND %[1]s > $3::text::%[4]s AND %[1]s <= $4::text::%[4]s ORDER BY %[1]s LIMIT $5`,
		t.key, values.String(), t.name, t.keyType)
}

// countSQL reads the rows after a position ($1, $2), at most $3, by the primary key: how many there
// are of each key, the last position and the number of rows that were read.
func (t sealedTable) countSQL() string {
	var keys []string
	for _, c := range t.columns {
		keys = append(keys, c.KeySQL())
	}
	return fmt.Sprintf(`
		WITH page AS MATERIALIZED (
			SELECT platform_id, %[1]s, ARRAY[%[2]s] AS used FROM %[3]s
			WHERE (platform_id, %[1]s) > ($1, $2::text::%[4]s) ORDER BY platform_id, %[1]s LIMIT $3),
		last AS (SELECT platform_id, %[1]s FROM page ORDER BY platform_id DESC, %[1]s DESC LIMIT 1)
		SELECT u.used, count(u.used), (SELECT platform_id FROM last), (SELECT %[1]s::text FROM last), (SELECT count(*) FROM page)
		FROM (SELECT NULL::bytea AS used UNION ALL
			SELECT k.used FROM page p CROSS JOIN LATERAL (SELECT DISTINCT unnest(p.used) AS used) k WHERE k.used IS NOT NULL) u GROUP BY u.used`,
		t.key, strings.Join(keys, ", "), t.name, t.keyType)
}

// writeSQL replaces values that are still those that were read. It uses the primary key: the keys are
// converted before the join, because row-level security keeps a join with a conversion from the index.
func (t sealedTable) writeSQL() string {
	set, arrays, names, unchanged := "", "", "", ""
	for i, c := range t.columns {
		name, kind := c.Name(), c.SQLType()
		set += fmt.Sprintf(", %[1]s = CASE WHEN w.new%[2]d IS NULL THEN t.%[1]s ELSE w.new%[2]d END", name, i)
		arrays += fmt.Sprintf(", $%d::%s[], $%d::%s[]", 2*i+3, kind, 2*i+4, kind)
		names += fmt.Sprintf(", old%[1]d, new%[1]d", i)
		unchanged += fmt.Sprintf(" AND (w.new%[2]d IS NULL OR t.%[1]s = w.old%[2]d)", name, i)
	}
	return fmt.Sprintf(
		`UPDATE %s t SET %s FROM unnest($1::uuid[], $2::text[]::%s[]%s) AS w (platform_id, key%s) WHERE t.platform_id = w.platform_id AND t.%s = w.key%s`,
		t.name, set[2:], t.keyType, arrays, names, t.key, unchanged)
}

// writeArgs returns the arguments of writeSQL: columns of values.
func (t sealedTable) writeArgs(rows []staleRow) []any {
	platforms, keys := make([]uuid.UUID, len(rows)), make([]string, len(rows))
	for i, row := range rows {
		platforms[i], keys[i] = row.platform, row.key
	}
	args := []any{platforms, keys}
	for i, column := range t.columns {
		old, encrypted := make([][]byte, len(rows)), make([][]byte, len(rows))
		for n, row := range rows {
			old[n], encrypted[n] = row.old[i], row.encrypted[i]
		}
		if column.SQLType() == "bytea" {
			args = append(args, old, encrypted)
		} else {
			args = append(args, texts(old), texts(encrypted))
		}
	}
	return args
}

// texts returns values as texts; nil stays nil, which is NULL.
func texts(values [][]byte) []*string {
	converted := make([]*string, len(values))
	for i, v := range values {
		if v != nil {
			text := string(v)
			converted[i] = &text
		}
	}
	return converted
}
