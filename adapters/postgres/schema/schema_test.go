package schema_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"causeway/adapters/pgembed/pgtest"
	"causeway/adapters/postgres/schema"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/period"
	"causeway/core/reconcile"
)

type color string

type address struct {
	City string `json:"city"`
}

// item has a field of each kind of column.
type item struct {
	Platform ident.Platform
	ID       ident.Customer
	Owner    ident.Customer
	Posting  uuid.UUID
	Color    color
	Colors   []color
	Amount   money.Amount
	Count    int
	On       bool
	At, Done time.Time
	Rate     money.Rate
	Fee      money.Rate
	Day      color
	Note     string
	Number   int64
	Body     []byte
	Address  address
	Home     string
	Digits   int
	Month    period.Month
	Booked   reconcile.Day
	Total    money.Total
	Wei, Tip *big.Int
	Hash     [32]byte
	Height   uint64
	Token    ident.Token
	Until    time.Time
	Key      []byte
	Work     *address
	Seal     [32]byte
}

var items = schema.New("items", []string{"platform_id", "id"}, func(i *item) schema.Columns {
	return schema.Columns{
		{Name: "platform_id", Field: &i.Platform}, {Name: "id", Field: &i.ID}, {Name: "owner_id", Field: &i.Owner},
		{Name: "posting_id", Field: &i.Posting}, {Name: "color", Field: &i.Color},
		{Name: "colors", Field: schema.Array(&i.Colors), Type: "text[]"},
		{Name: "currency", Field: &i.Amount.Currency}, {Name: "amount", Field: &i.Amount.Minor}, {Name: "n", Field: &i.Count},
		{Name: "is_on", Field: &i.On}, {Name: "at", Field: &i.At}, {Name: "done_at", Field: &i.Done},
		{Name: "rate", Field: schema.Rate(&i.Rate)}, {Name: "fee", Field: schema.Fraction(&i.Fee)},
		{Name: "day", Field: schema.Day(&i.Day), Type: "date"}, {Name: "note", Field: schema.Optional(&i.Note)},
		{Name: "number", Field: schema.Optional(&i.Number)}, {Name: "body", Field: &i.Body},
		{Name: "month", Field: &i.Month}, {Name: "booked", Field: &i.Booked}, {Name: "total", Field: &i.Total},
		{Name: "address", Field: &i.Address, Type: "jsonb"},
		{Name: "home", Field: schema.JSON(func() address { return address{i.Home} }, func(a address) { i.Home = a.City }), Type: "jsonb"},
		{Name: "seal", Field: schema.Optional(&i.Seal)},
		{Name: "work", Field: schema.JSON(func() *address { return i.Work }, func(a *address) { i.Work = a }), Type: "jsonb"},
		{Name: "digits", Field: schema.Converted(
			func() string { return strings.Repeat("x", i.Digits) },
			func(text string) error {
				if i.Digits = len(text); i.Digits > 9 {
					return errors.New("too many digits")
				}
				return nil
			})},
		{Name: "wei", Field: &i.Wei}, {Name: "tip", Field: &i.Tip}, {Name: "hash", Field: &i.Hash}, {Name: "height", Field: &i.Height},
		{Name: "token_id", Field: schema.ID(&i.Token)}, {Name: "until_at", Field: schema.Time(&i.Until)},
		{Name: "key", Field: schema.Bytes(&i.Key)},
	}
})

const createItems = `CREATE TABLE items (platform_id uuid NOT NULL, id uuid NOT NULL, owner_id uuid, posting_id uuid NOT NULL, color text NOT NULL,
	colors text[] NOT NULL DEFAULT '{}', currency text NOT NULL, amount bigint NOT NULL, n integer NOT NULL, is_on boolean NOT NULL, at timestamptz NOT NULL,
	done_at timestamptz, rate text NOT NULL, fee text NOT NULL, day date, note text, number bigint, body bytea, address jsonb NOT NULL, home jsonb NOT NULL, digits text NOT NULL,
	month date, booked date, total numeric NOT NULL, wei numeric NOT NULL, tip numeric, hash bytea NOT NULL, height bigint NOT NULL,
	token_id uuid NOT NULL, until_at timestamptz NOT NULL, key bytea NOT NULL, seal bytea, work jsonb,
	PRIMARY KEY (platform_id, id))`

func newItems(t *testing.T) *pgxpool.Pool {
	t.Helper()
	config, err := pgxpool.ParseConfig(pgtest.NewEmpty(t))
	if err != nil {
		t.Fatal(err)
	}
	config.MaxConns = 2
	config.AfterConnect = func(_ context.Context, conn *pgx.Conn) error {
		schema.RegisterCodecs(conn.TypeMap())
		return nil
	}
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	if _, err := pool.Exec(t.Context(), createItems); err != nil {
		t.Fatal(err)
	}
	return pool
}

func exec(t *testing.T, pool *pgxpool.Pool, s schema.Statement[item], columns schema.Columns) {
	t.Helper()
	if _, err := pool.Exec(t.Context(), s.SQL, append([]any{pgx.QueryExecModeCacheStatement}, s.Of(columns).Fields()...)...); err != nil {
		t.Fatal(err)
	}
}

func newItem(n byte) item {
	i := item{Posting: uuid.UUID{n}, Color: "red", Amount: money.Amount{Minor: 5, Currency: "USD"}, Count: int(n),
		At: time.Date(2026, 3, 14, 1, 2, 3, 4000, time.UTC), Rate: money.MustRate("151.5"), Address: address{"Oslo"}, Home: "Bergen", Digits: 3,
		Total: money.TotalOf(0),
		Wei:   big.NewInt(5000), Hash: [32]byte{n}, Height: 8, Key: []byte{}}
	i.Platform.SetUUID(uuid.UUID{1})
	i.ID.SetUUID(uuid.UUID{2, n})
	return i
}

func fullItem() item {
	i := newItem(9)
	i.Owner.SetUUID(uuid.UUID{3})
	i.Colors, i.On, i.Done, i.Day, i.Note, i.Number = []color{"blue", `"gr\een", {}`}, true, i.At.Add(time.Hour), "2026-03-14", "seen", 7
	i.Month, i.Booked, i.Total = period.MonthOf(i.At), reconcile.DayOf(i.At), money.TotalOf(-700).Add(money.TotalOf(math.MinInt64))
	i.Fee, i.Body = money.MustRate("0.5"), []byte{0, 1}
	i.Tip = new(big.Int).Lsh(big.NewInt(3), 250)
	i.Seal, i.Work = [32]byte{7}, &address{"Rome"}
	i.Until, i.Key = i.At, []byte("key")
	i.Token.SetUUID(uuid.UUID{4})
	return i
}

func readItems(ctx context.Context, pool *pgxpool.Pool, mode pgx.QueryExecMode) (found []item, err error) {
	rows, err := pool.Query(ctx, "SELECT "+items.Names("i")+" FROM items i ORDER BY id", mode)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (i item, err error) {
		err = row.Scan(items.Columns(&i).Fields()...)
		return i, err
	})
}

// The modes in which the service runs statements: prepared, and in text without a description.
var modes = []pgx.QueryExecMode{pgx.QueryExecModeCacheStatement, pgx.QueryExecModeExec}

func TestTable_RowsRoundTrip(t *testing.T) {
	t.Parallel()
	// A row is read as it was written, alone or among many, in both formats of the protocol: zero ids, times and days are
	// NULL, and an empty list is not.
	pool := newItems(t)
	want := []item{newItem(1), newItem(2), fullItem()}
	exec(t, pool, items.Insert(""), items.Columns(&want[2]))
	insertAll := items.InsertAll("ON CONFLICT DO NOTHING")
	many := schema.ArraysOf([]schema.Columns{items.Columns(&want[0]), items.Columns(&want[1]), items.Columns(&want[2])})
	if _, err := pool.Exec(t.Context(), insertAll.SQL, append([]any{pgx.QueryExecModeCacheStatement}, many...)...); err != nil {
		t.Fatal(err)
	}

	for _, mode := range modes {
		t.Run(fmt.Sprint(mode), func(t *testing.T) {
			found, err := readItems(t.Context(), pool, mode)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(found, want) {
				t.Errorf("read %+v\nwant %+v", found, want)
			}
		})
	}
	var nulls int
	if err := pool.QueryRow(
		t.Context(), `SELECT num_nulls(owner_id, done_at, day, note, number, body, month, booked, tip, seal, work) FROM items ORDER BY id LIMIT 1`).Scan(&nulls); err != nil || nulls != 11 {
		t.Errorf("%d columns are NULL, want 11 (%v)", nulls, err)
	}
}

func TestTable_UpdatesWriteTheNamedColumns(t *testing.T) {
	t.Parallel()
	// An update of one row or of many writes the named columns of the rows with their keys, and no other.
	pool := newItems(t)
	first, second, third := newItem(1), newItem(2), newItem(3)
	for _, i := range []*item{&first, &second, &third} {
		exec(t, pool, items.Insert(""), items.Columns(i))
	}
	changed := []item{first, second, third}
	for i := range changed {
		changed[i].Note, changed[i].Done, changed[i].Count = fmt.Sprint("note ", i), first.At, 70+i
	}

	exec(t, pool, items.Update("note", "done_at"), items.Columns(&changed[0]))
	all := items.UpdateAll("n", "note")
	args := schema.ArraysOf([]schema.Columns{all.Of(items.Columns(&changed[1])), all.Of(items.Columns(&changed[2]))})
	if _, err := pool.Exec(t.Context(), all.SQL, append([]any{pgx.QueryExecModeCacheStatement}, args...)...); err != nil {
		t.Fatal(err)
	}

	changed[0].Count, changed[1].Done, changed[2].Done = first.Count, time.Time{}, time.Time{}
	if found, err := readItems(t.Context(), pool, modes[0]); err != nil || !reflect.DeepEqual(found, changed) {
		t.Errorf("read %+v\nwant %+v (%v)", found, changed, err)
	}
}

func TestTable_DamagedValuesAreErrors(t *testing.T) {
	t.Parallel()
	// A value that its field cannot hold is an error that names the column: a rate of zero, a time without end, a text that a
	// conversion refuses, NULL where there must be a value.
	pool := newItems(t)
	i := newItem(1)
	exec(t, pool, items.Insert(""), items.Columns(&i))
	for column, value := range map[string]string{"rate": "'0'", "fee": "'1.5'", "at": "'infinity'", "digits": "'xxxxxxxxxx'",
		"total": "1.5", "wei": "0.5", "hash": "'x'", "height": "-1"} {
		if _, err := pool.Exec(t.Context(), "UPDATE items SET "+column+" = "+value); err != nil {
			t.Fatal(err)
		}
		if _, err := readItems(t.Context(), pool, modes[0]); err == nil || !strings.Contains(err.Error(), column) {
			t.Errorf("%s of %s: %v", column, value, err)
		}
		exec(t, pool, items.Update(column), items.Columns(&i))
	}
	if _, err := readItems(t.Context(), pool, modes[0]); err != nil {
		t.Error(err)
	}
}

func TestCodecs_ArgumentsOfTheDomain(t *testing.T) {
	t.Parallel()
	// An id, a time and a list of ids are arguments as they are. The zero id and the zero time are NULL; the zero UUID is not.
	pool := newItems(t)
	i := newItem(1)
	for _, c := range []struct {
		expression string
		args       []any
	}{
		{"$1::uuid = '02010000-0000-0000-0000-000000000000'", []any{i.ID}},
		{"$1::uuid = '02010000-0000-0000-0000-000000000000'", []any{&i.ID}},
		{"$1::uuid IS NULL", []any{ident.Customer{}}},
		{"$1::uuid = '00000000-0000-0000-0000-000000000000'", []any{ident.Customer{}.UUID()}},
		{"'02010000-0000-0000-0000-000000000000' = ANY($1::uuid[]) AND cardinality($1::uuid[]) = 2", []any{[]ident.Customer{{}, i.ID}}},
		{"$1::timestamptz IS NULL", []any{time.Time{}}},
		{"$1::timestamptz = '2026-03-14 01:02:03.000004Z'", []any{i.At}},
		{"$1::date = '2026-03-14'", []any{i.At}},
		{"$1::text = 'USD'", []any{i.Amount.Currency}},
		{"$1::date = '2026-03-01'", []any{period.MonthOf(i.At)}},
		{"$1::date IS NULL", []any{period.Month{}}},
		{"$1::date = '2026-03-14'", []any{reconcile.DayOf(i.At)}},
		{"'2026-03-14' = ANY($1::date[])", []any{[]reconcile.Day{reconcile.DayOf(i.At)}}},
		{"$1::numeric = 12300", []any{money.TotalOf(12300)}},
		{"$1::text[] = '{red,blue}'", []any{[]color{"red", "blue"}}},
		{"$1::numeric = -3", []any{big.NewInt(-3)}},
		{"$1::numeric IS NULL", []any{(*big.Int)(nil)}},
		{"$1::bytea = '\\x0102'", []any{[2]byte{1, 2}}},
		{"'\\x0102' = ANY($1::bytea[])", []any{[][2]byte{{}, {1, 2}}}},
	} {
		for _, mode := range modes {
			if mode == pgx.QueryExecModeExec && reflect.TypeOf(c.args[0]).Kind() == reflect.Slice {
				continue // only the server knows the type of its elements
			}
			var holds bool
			if err := pool.QueryRow(t.Context(), "SELECT "+c.expression, append([]any{mode}, c.args...)...).Scan(&holds); err != nil || !holds {
				t.Errorf("%s of %v (%v): %v, %v", c.expression, c.args, mode, holds, err)
			}
		}
	}
}

func TestArrays_ColumnsOfRows(t *testing.T) {
	t.Parallel()
	// The fields of many rows are arrays for unnest, which keep the order of the rows; no rows are empty arrays.
	pool := newItems(t)
	read := func(rows []item) (found []item, err error) {
		args := schema.Arrays(rows, func(i *item) []any { return []any{&i.ID, &i.Color, &i.At, &i.Hash} })
		queried, err := pool.Query(t.Context(), "SELECT * FROM unnest($1::uuid[], $2::text[], $3::timestamptz[], $4::bytea[])",
			append([]any{pgx.QueryExecModeCacheStatement}, args...)...)
		if err != nil {
			return nil, err
		}
		return pgx.CollectRows(queried, func(row pgx.CollectableRow) (i item, err error) {
			err = row.Scan(&i.ID, &i.Color, &i.At, &i.Hash)
			return i, err
		})
	}

	want := []item{{ID: newItem(2).ID, Color: "red", Hash: [32]byte{1}}, {Color: "blue", At: newItem(1).At}}
	if found, err := read(want); err != nil || !reflect.DeepEqual(found, want) {
		t.Errorf("read %+v (%v)", found, err)
	}
	if found, err := read(nil); err != nil || len(found) != 0 {
		t.Errorf("of none: %+v (%v)", found, err)
	}
}
