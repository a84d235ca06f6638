package postgres

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"causeway/adapters/pgembed/pgtest"
)

func TestReadParties_LooksUpByWholeKeyWhileTablesAreSmall(t *testing.T) {
	t.Parallel()
	// A plan that is made while there are few customers, and kept when there are many, looks each
	// customer and account up by platform and id. An import adds many faster than statistics change.
	conn, err := pgx.Connect(t.Context(), pgtest.New(t))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	settings := "SET ROLE causeway_service; SET causeway.platform = '*';"
	for name, value := range keyLookupSettings {
		settings += "SET " + name + " = " + value + ";"
	}
	for _, statement := range []string{
		`INSERT INTO platforms (id, name, environment, regulated, uma_domain, uma_subdomain, webhook_endpoint, currencies, created_at, updated_at)
			VALUES ('019542f5-b3e7-7d02-8000-000000000001', 'Acme', 'SANDBOX', true, 'uma.test', '', '', '[]', now(), now())`,
		`INSERT INTO customers (platform_id, id, platform_customer_id, customer_type, uma_address, status, details, created_at, updated_at)
			SELECT p.id, gen_random_uuid(), n::text, 'INDIVIDUAL', n::text, 'APPROVED', '{}', now(), now() FROM platforms p, generate_series(1, 3) n`,
		settings, "PREPARE parties AS " + readParties,
	} {
		if _, err := conn.Exec(t.Context(), statement, pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}

	rows, err := conn.Query(t.Context(), "EXPLAIN EXECUTE parties(NULL, NULL, NULL, NULL, NULL, NULL)", pgx.QueryExecModeSimpleProtocol)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	scans := 0
	for i, line := range lines {
		if !strings.Contains(line, "Scan") || strings.Contains(line, "Function Scan") {
			continue
		}
		scans++
		if !strings.Contains(line, "_pkey") || !strings.Contains(lines[i+1], "Index Cond: ((platform_id = k.platform_id) AND (id = ") {
			t.Errorf("%s\n%s", line, lines[i+1])
		}
	}
	if scans != 6 {
		t.Errorf("%d tables are read, want 6:\n%s", scans, strings.Join(lines, "\n"))
	}
}
