package postgres

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"causeway/adapters/pgembed/pgtest"
)

// planEnv is a connection to a new database, to look at the plans of statements.
type planEnv struct {
	t    *testing.T
	conn *pgx.Conn
}

func newPlanEnv(t *testing.T) planEnv {
	t.Helper()
	conn := pgtest.Connect(t, pgtest.New(t))
	return planEnv{t, conn}
}

func (e planEnv) run(statement string) {
	e.t.Helper()
	if _, err := e.conn.Exec(e.t.Context(), statement, pgx.QueryExecModeSimpleProtocol); err != nil {
		e.t.Fatalf("%s: %v", statement, err)
	}
}

// becomeService takes the role and the settings with which the service looks rows up by key.
func (e planEnv) becomeService() {
	e.t.Helper()
	e.run("SET ROLE causeway_service; SET causeway.platform = '*'")
	for name, value := range keyLookupSettings {
		e.run("SET " + name + " = " + value)
	}
}

// explain returns the lines of the plan of a statement whose arguments are NULL.
func (e planEnv) explain(name, statement string, arguments int) []string {
	e.t.Helper()
	e.run("PREPARE " + name + " AS " + statement)
	nulls := ""
	if arguments > 0 {
		nulls = "(" + strings.TrimPrefix(strings.Repeat(", NULL", arguments), ", ") + ")"
	}
	rows, err := e.conn.Query(e.t.Context(), "EXPLAIN EXECUTE "+name+nulls, pgx.QueryExecModeSimpleProtocol)
	if err != nil {
		e.t.Fatal(err)
	}
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		e.t.Fatal(err)
	}
	return lines
}

// countArguments returns the highest number of an argument in a statement.
func countArguments(statement string) (highest int) {
	for _, found := range regexp.MustCompile(`\$([0-9]+)`).FindAllStringSubmatch(statement, -1) {
		n, _ := strconv.Atoi(found[1])
		highest = max(highest, n)
	}
	return highest
}
