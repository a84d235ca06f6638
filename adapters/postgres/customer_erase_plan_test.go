package postgres

import (
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"causeway/adapters/pgembed/pgtest"
)

func TestEraseWebhooks_FindsEventsBySubject(t *testing.T) {
	t.Parallel()
	// The events of a customer and of transactions are looked up by platform and subject, and updated by
	// platform and id, in every partition.
	conn, err := pgx.Connect(t.Context(), pgtest.New(t))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	run := func(statement string) {
		t.Helper()
		if _, err := conn.Exec(t.Context(), statement, pgx.QueryExecModeSimpleProtocol); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	run("SET ROLE causeway_service; SET causeway.platform = '*'")
	for name, value := range keyLookupSettings {
		run("SET " + name + " = " + value)
	}
	scan := regexp.MustCompile(`Scan.* on webhook_(events|attempts)`)
	for name, c := range map[string]struct {
		statement, column string
		arguments         int
	}{
		"transactions": {eventsOfTransactions, "subject_id", 2}, "customer": {eventsOfCustomer, "subject_id", 4},
		"bodies": {eraseEventBodies, "id", 3}, "responses": {eraseResponses, "event_id", 2},
	} {
		run("PREPARE " + name + " AS " + c.statement)
		rows, err := conn.Query(t.Context(), "EXPLAIN EXECUTE "+name+"("+strings.TrimPrefix(strings.Repeat(", NULL", c.arguments), ", ")+")", pgx.QueryExecModeSimpleProtocol)
		if err != nil {
			t.Fatal(err)
		}
		lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatal(err)
		}
		condition := regexp.MustCompile(`Index Cond: \(\(platform_id = .+ AND \(` + c.column + ` = `)
		scans := 0
		for i, line := range lines {
			if scan.MatchString(line) {
				scans++
				if i+1 == len(lines) || !condition.MatchString(lines[i+1]) {
					t.Errorf("%s: %s\n%s", name, line, strings.Join(lines, "\n"))
					break
				}
			}
		}
		if scans == 0 {
			t.Errorf("%s reads no events:\n%s", name, strings.Join(lines, "\n"))
		}
	}
}
