package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"causeway/adapters/pgembed/pgtest"
	"causeway/adapters/postgres"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/ports"
	"causeway/ports/portstest"
)

// tenantTables are the tables whose rows belong to platforms, and whether each is a partition.
const tenantTables = `
	SELECT c.oid::regclass::text, c.relispartition, c.relrowsecurity, EXISTS (SELECT FROM pg_policy p WHERE p.polrelid = c.oid)
	FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND (a.attname = 'platform_id' OR c.relname = 'platforms' AND a.attname = 'id') AND NOT a.attisdropped
	WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') ORDER BY 1`

func TestRowLevelSecurity_CoversEveryTenantTable(t *testing.T) {
	t.Parallel()
	// Every table with a platform_id has row-level security with a policy; a partition, also one
	// created later, shows nothing when it is read directly. The role of the service owns none.
	owner := connect(t, pgtest.New(t))
	exec(t, owner, "SELECT ledger_create_month_partitions('2031-05-06')")
	exec(t, owner, "SELECT create_webhook_partitions(60)")
	rows, err := owner.Query(t.Context(), tenantTables)
	if err != nil {
		t.Fatal(err)
	}
	var name string
	var partition, enabled, policy bool
	tables := 0

	_, err = pgx.ForEachRow(rows, []any{&name, &partition, &enabled, &policy}, func() error {
		if tables++; !enabled || policy == partition {
			t.Errorf("%s: row-level security %t, policy %t; call isolate_platforms in its migration", name, enabled, policy)
		}
		return nil
	})

	if err != nil || tables < 40 {
		t.Errorf("%d tables, %v", tables, err)
	}
	var owned int
	if err := owner.QueryRow(t.Context(), `SELECT count(*) FROM pg_class WHERE pg_get_userbyid(relowner) = 'causeway_service'`).Scan(
		&owned); err != nil || owned != 0 {
		t.Errorf("the service owns %d tables, %v", owned, err)
	}
}

func TestRowLevelSecurity_HidesOtherPlatformsWithoutCondition(t *testing.T) {
	t.Parallel()
	// In every tenant table, statements without any condition see and change the rows of the
	// session's platform only: none without a setting, and all with the setting for all platforms.
	url := pgtest.New(t)
	one, other := uuid.New(), uuid.New()
	tables := fillTenantTables(t, url, one, other)
	service := connect(t, url)
	exec(t, service, "SET ROLE causeway_service")
	for setting, want := range map[string]int{"": 0, one.String(): 1, other.String(): 1, uuid.NewString(): 0, "*": 2} {
		exec(t, service, "SELECT set_config('causeway.platform', $1, false)", setting)
		for _, table := range tables {
			var found int
			if err := service.QueryRow(t.Context(), "SELECT count(*) FROM "+table).Scan(&found); err != nil || found != want {
				t.Errorf("%s with the setting %q: %d rows, %v; want %d", table, setting, found, err, want)
			}
		}
	}

	// The same holds for writes. Where the role may not write at all, nothing is to be shown.
	exec(t, service, "SELECT set_config('causeway.platform', $1, false)", one.String())
	for _, table := range tables {
		column := "platform_id"
		if table == "platforms" {
			column = "id"
		}
		for privilege, statement := range map[string]string{
			"UPDATE": fmt.Sprintf("UPDATE %[1]s SET %[2]s = %[2]s", table, column),
			"DELETE": "DELETE FROM " + table,
		} {
			var may bool
			if err := service.QueryRow(t.Context(), "SELECT has_table_privilege($1, $2)", table, privilege).Scan(&may); err != nil {
				t.Fatal(err)
			}
			if !may {
				continue
			}
			tx, err := service.Begin(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if tag, err := tx.Exec(t.Context(), statement); err == nil && tag.RowsAffected() != 1 {
				t.Errorf("%s: %d rows", statement, tag.RowsAffected())
			}
			if err := tx.Rollback(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	_, err := service.Exec(t.Context(), "INSERT INTO ledger_clocks (platform_id) VALUES ($1)", uuid.New())
	if err == nil || !strings.Contains(err.Error(), "row-level security") {
		t.Errorf("a row of another platform was inserted: %v", err)
	}
}

func TestDB_ScopeDecidesWhatIsVisible(t *testing.T) {
	t.Parallel()
	// Whatever ran on the only connection before, and however it ended, a call sees the rows of
	// the platform of its context, even if it asks for another one. Without one it sees nothing.
	c := newEnv(t)
	ana, ben := newCustomer(c.platform, "ana"), newCustomer(c.otherPlatform, "ben")
	c.createCustomers(t, ana, ben)
	tokens := map[ident.Platform]platform.Token{}
	for _, p := range []platform.Platform{c.platform, c.otherPlatform} {
		tokens[p.ID], _ = newToken(t, p, "token", platform.View)
		c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error { return tx.CreateToken(ctx, tokens[p.ID]) })
	}
	db := openWith(t, postgres.Options{URL: c.url, MaxConnections: 1, Clock: portstest.NewFakeClock(noon), IDs: generator})
	scopes := map[string]struct {
		ctx      context.Context
		ana, ben bool
	}{
		"none":      {t.Context(), false, false},
		"one":       {ports.ForPlatform(t.Context(), c.platform.ID), true, false},
		"the other": {ports.ForPlatform(t.Context(), c.otherPlatform.ID), false, true},
		"all":       {ports.ForAllPlatforms(t.Context()), true, true},
		"no id":     {ports.ForPlatform(t.Context(), ident.Platform{}), false, false},
	}
	var names []string
	for name := range scopes {
		names = append(names, name)
	}
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 0))
	aborted := errors.New("aborted")

	for range 300 {
		name := names[random.IntN(len(names))]
		scope := scopes[name]
		var how string
		var sees func(p ident.Platform, id ident.Customer) bool
		switch random.IntN(4) {
		case 0:
			how = "a read by bun"
			sees = func(p ident.Platform, id ident.Customer) bool {
				_, err := db.Customer(scope.ctx, p, id)
				return err == nil
			}
		case 1:
			how = "a prepared read"
			sees = func(p ident.Platform, _ ident.Customer) bool {
				found, err := db.TokensByClientID(scope.ctx, []string{tokens[p].ClientID})
				return err == nil && len(found) == 1
			}
		default:
			how = "a unit of work"
			commit := random.IntN(2) == 0
			sees = func(p ident.Platform, _ ident.Customer) (visible bool) {
				err := db.Do(scope.ctx, func(ctx context.Context, tx *postgres.Unit) error {
					_, err := tx.LockPlatform(ctx, p)
					if visible = err == nil; !visible && !fault.Is(err, fault.NotFound) {
						return err
					}
					if !commit {
						return aborted
					}
					return nil
				})
				if err != nil && !errors.Is(err, aborted) {
					t.Fatal(err)
				}
				return visible
			}
		}
		if sees(c.platform.ID, ana.ID) != scope.ana || sees(c.otherPlatform.ID, ben.ID) != scope.ben {
			t.Fatalf("seed %d: %s with the scope %q does not see the right rows", seed, how, name)
		}
	}
}

func TestRowLevelSecurity_ConditionsCanUseIndexes(t *testing.T) {
	t.Parallel()
	// Under row-level security Postgres uses an index for conditions that cannot leak a row only.
	// coalesce is not among them; greatest and CASE are.
	used := regexp.MustCompile(`(?i)([a-z0-9_]+\.[a-z_]+ *(=|<|>|<=|>=) *coalesce\(|coalesce\(([a-z]\.)?customer_id)`)
	for _, pattern := range []string{"*.go", "ledgerdb/*.go", "outbox/*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if found := used.FindString(string(text)); found != "" && !strings.HasSuffix(file, "_test.go") && file != "ledgerdb/log.go" {
				t.Errorf("%s: %s", file, found)
			}
		}
	}
	service := connect(t, pgtest.New(t))
	var leaky int
	if err := service.QueryRow(t.Context(), `SELECT count(*) FROM pg_proc WHERE NOT proleakproof
		AND proname IN ('uuid_eq', 'btint8cmp', 'texteq', 'text_lt', 'text_gt', 'timestamptz_cmp', 'timestamptz_le', 'timestamptz_gt', 'int8gt', 'int24eq', 'date_le')`).Scan(&leaky); err != nil || leaky > 0 {
		t.Errorf("%d operators of the conditions may leak rows, %v", leaky, err)
	}
}

// fillTenantTables writes one row of each platform into every tenant table, and returns the
// tables. Constraints that a made-up row would violate are dropped.
func fillTenantTables(t *testing.T, url string, platforms ...uuid.UUID) (tables []string) {
	t.Helper()
	pgtest.ExecAsSuperuser(t, url, "SELECT ledger_create_month_partitions(now())")
	pgtest.ExecAsSuperuser(t, url, `
		DO $$ DECLARE c record; BEGIN
			FOR c IN SELECT conrelid::regclass AS t, conname FROM pg_constraint WHERE contype IN ('c', 'f') AND connamespace = 'public'::regnamespace AND conparentid = 0 AND coninhcount = 0 LOOP
				EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', c.t, c.conname);
			END LOOP;
		END $$`)
	owner := connect(t, url)
	rows, err := owner.Query(t.Context(), tenantTables)
	if err != nil {
		t.Fatal(err)
	}
	var name string
	var partition bool
	if _, err := pgx.ForEachRow(rows, []any{&name, &partition, nil, nil}, func() error {
		if !partition {
			tables = append(tables, name)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for _, table := range tables {
		for _, p := range platforms {
			insertMadeUpRow(t, owner, url, table, p)
		}
	}
	return tables
}

// insertMadeUpRow inserts a row with a value of its type in every column without a default.
func insertMadeUpRow(t *testing.T, owner *pgx.Conn, url, table string, p uuid.UUID) {
	t.Helper()
	rows, err := owner.Query(t.Context(), `
		SELECT attname, CASE
			WHEN attname = 'platform_id' OR attrelid = 'platforms'::regclass AND attname = 'id' THEN quote_literal($2) || '::uuid'
			WHEN atttypid = 'uuid'::regtype THEN 'gen_random_uuid()'
			WHEN atttypid IN ('timestamptz'::regtype, 'date'::regtype) THEN 'now()'
			WHEN atttypid IN ('bytea'::regtype) THEN quote_literal('\x00') || '::bytea || uuid_send(gen_random_uuid())'
			WHEN typcategory = 'N' THEN '1'
			WHEN typcategory = 'B' THEN 'false'
			WHEN typcategory = 'A' THEN quote_literal('{}')
			WHEN atttypid IN ('jsonb'::regtype) THEN quote_literal('{}')
			ELSE quote_literal(gen_random_uuid()::text) END
		FROM pg_attribute JOIN pg_type ON pg_type.oid = atttypid
		WHERE attrelid = $1::text::regclass AND attnum > 0 AND NOT attisdropped AND NOT atthasdef AND attidentity = '' AND attnotnull OR attrelid = $1::text::regclass AND attname = 'platform_id'`,
		table, p.String())
	if err != nil {
		t.Fatal(err)
	}
	var columns, values []string
	var column, value string
	if _, err := pgx.ForEachRow(rows, []any{&column, &value}, func() error {
		columns, values = append(columns, column), append(values, value)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	pgtest.ExecAsSuperuser(t, url, fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)", table, strings.Join(columns, ", "),
		strings.Join(values, ", ")))
}

func connect(t testing.TB, url string) *pgx.Conn {
	t.Helper()
	return pgtest.Connect(t, url)
}

func exec(t testing.TB, conn *pgx.Conn, statement string, args ...any) {
	t.Helper()
	if _, err := conn.Exec(t.Context(), statement, args...); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}
