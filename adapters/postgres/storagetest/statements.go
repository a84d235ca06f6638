package storagetest

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
)

// AcrossPlatforms are statements that read rows of a table without naming their platform, and why. On tables that are distributed by
// platform they are sent to every server.
type AcrossPlatforms struct {
	Why string
	// Statements are texts that identify a statement each, behind the tables and a colon.
	Statements []string
}

// Statements checks the statements that the tests of a package send: in each one, every table of platforms is restricted to a platform
// or joined on it, unless it is listed.
type Statements struct {
	across []AcrossPlatforms
	// least is how many are expected of a run of all tests.
	least int

	mu   sync.Mutex
	seen map[string]bool // by shortened text
	used map[string]bool // of those that are listed
	// unexplained are those that could not be explained, because the test had changed the schema, until another test sends them.
	unexplained map[string]error
}

// NewStatements returns a check of the statements of a package, for its TestMain.
func NewStatements(least int, across ...AcrossPlatforms) *Statements {
	return &Statements{across: across, least: least, seen: map[string]bool{}, used: map[string]bool{}, unexplained: map[string]error{}}
}

// Main runs the tests. If all of them ran, what is listed must have been sent.
func (s *Statements) Main(m *testing.M) (code int) {
	code = m.Run()
	if code != 0 || testing.Short() || flag.Lookup("test.run").Value.String() != "" || flag.Lookup("test.skip").Value.String() != "" {
		return code
	}
	if len(s.seen) < s.least {
		fmt.Fprintf(os.Stderr, "only %d statements were checked\n", len(s.seen))
		code = 1
	}
	for statement, err := range s.unexplained {
		fmt.Fprintf(os.Stderr, "explain %s: %v\n", statement, err)
		code = 1
	}
	for _, group := range s.across {
		for _, listed := range group.Statements {
			if !s.used[listed] {
				fmt.Fprintf(os.Stderr, "no test sends a statement across platforms with the text %q: remove it from the list\n", listed)
				code = 1
			}
		}
	}
	return code
}

// Trace returns a tracer of the statements of a test, which are checked at its end on its own database. url is of the owner.
func (s *Statements) Trace(t testing.TB, url string) pgx.QueryTracer {
	tracer := &statementTracer{all: s}
	t.Cleanup(func() { tracer.check(t, url) })
	return tracer
}

// statementTracer keeps the statements that were not seen before.
type statementTracer struct {
	all  *Statements
	mine []string
}

func (s *statementTracer) add(sql string) {
	if !statementOfRows.MatchString(sql) {
		return
	}
	short := shortened(sql)
	s.all.mu.Lock()
	defer s.all.mu.Unlock()
	if !s.all.seen[short] {
		s.all.seen[short] = true
		s.mine = append(s.mine, sql)
	}
}

// TraceQueryStart implements pgx.QueryTracer.
func (s *statementTracer) TraceQueryStart(ctx context.Context, _ *pgx.Conn, q pgx.TraceQueryStartData) context.Context {
	s.add(q.SQL)
	return ctx
}

// TraceQueryEnd implements pgx.QueryTracer.
func (s *statementTracer) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// TracePrepareStart implements pgx.PrepareTracer.
func (s *statementTracer) TracePrepareStart(ctx context.Context, _ *pgx.Conn, p pgx.TracePrepareStartData) context.Context {
	s.add(p.SQL)
	return ctx
}

// TracePrepareEnd implements pgx.PrepareTracer.
func (s *statementTracer) TracePrepareEnd(context.Context, *pgx.Conn, pgx.TracePrepareEndData) {}

var (
	statementOfRows = regexp.MustCompile(`(?i)^\s*(SELECT|WITH|INSERT|UPDATE|DELETE|MERGE)\b`)
	textValue       = regexp.MustCompile(`'(?:[^']|'')*'`)
	numberValue     = regexp.MustCompile(`([ (,=])[0-9]+\b`)
	whitespace      = regexp.MustCompile(`\s+`)
)

// shortened returns a statement on one line, without values: statements of lists differ in those.
func shortened(sql string) string {
	sql = strings.TrimSpace(whitespace.ReplaceAllString(sql, " "))
	return numberValue.ReplaceAllString(textValue.ReplaceAllString(sql, "?"), "${1}0")
}

// tablesOfPlatforms are the tables with a platform in each row, and their partitions with the name of their table.
const tablesOfPlatforms = `
	SELECT c.oid::regclass::text, coalesce(pg_partition_root(c.oid), c.oid)::regclass::text
	FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'platform_id' AND a.attnotnull
	WHERE c.relkind IN ('r', 'p') AND c.relnamespace = 'public'::regnamespace`

// The plan must follow from the statement alone: neither from values, nor from the security of rows, which owners are exempt from. A
// table without partitions has an empty plan.
const planByText = `SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off;
	SELECT ledger_create_month_partitions(now())`

// check explains the statements, and reports those that are not listed.
func (s *statementTracer) check(t testing.TB, url string) {
	s.all.mu.Lock()
	statements := slices.Clone(s.mine)
	s.all.mu.Unlock()
	if t.Failed() || len(statements) == 0 {
		return
	}
	ctx := context.Background()
	planner, err := newPlanner(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = planner.conn.Close(ctx) }()
	for _, sql := range statements {
		across, err := planner.acrossPlatforms(ctx, sql)
		if s.all.explained(shortened(sql), err); err == nil && len(across) > 0 && !s.all.lists(across, shortened(sql)) {
			t.Errorf("a statement does not name the platform of rows of %s: add a condition on platform_id, or list it with the reason why it "+
				"reads all platforms:\n%s", strings.Join(across, " and "), shortened(sql))
		}
	}
}

// explained notes the outcome for a statement. Another test explains it again after an error.
func (s *Statements) explained(short string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.unexplained, short)
	if err != nil {
		s.unexplained[short] = err
		delete(s.seen, short)
	}
}

// lists reports whether a statement is listed.
func (s *Statements) lists(tables []string, sql string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, group := range s.across {
		for _, listed := range group.Statements {
			if of, text, _ := strings.Cut(listed, ": "); of == strings.Join(tables, " ") && strings.Contains(sql, text) {
				s.used[listed] = true
				return true
			}
		}
	}
	return false
}

// planNode is a node of a plan. Its conditions have the names of columns behind those of tables, if there are several tables.
type planNode struct {
	Type        string `json:"Node Type"`
	Table       string `json:"Relation Name"`
	Alias       string
	IndexCond   string `json:"Index Cond"`
	RecheckCond string `json:"Recheck Cond"`
	Filter      string
	JoinFilter  string `json:"Join Filter"`
	MergeCond   string `json:"Merge Cond"`
	HashCond    string `json:"Hash Cond"`
	Plans       []planNode
}

// planner plans statements without executing them.
type planner struct {
	conn   *pgx.Conn
	tables map[string]string
}

func newPlanner(ctx context.Context, url string) (planner, error) {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return planner{}, err
	}
	p := planner{conn, map[string]string{}}
	if _, err = conn.Exec(ctx, planByText, pgx.QueryExecModeSimpleProtocol); err == nil {
		rows, _ := conn.Query(ctx, tablesOfPlatforms) // ForEachRow returns its error
		var name, root string
		_, err = pgx.ForEachRow(rows, []any{&name, &root}, func() error { p.tables[name] = root; return nil })
	}
	if err != nil {
		return planner{}, errors.Join(err, conn.Close(ctx))
	}
	return p, nil
}

// acrossPlatforms returns the tables of platforms that a statement reads without naming the platform of their rows, in order.
func (p planner) acrossPlatforms(ctx context.Context, sql string) ([]string, error) {
	prepared, err := p.conn.Prepare(ctx, "explained", sql)
	if err != nil {
		return nil, err
	}
	defer func() { _ = p.conn.Deallocate(ctx, "explained") }()
	arguments := ""
	if n := len(prepared.ParamOIDs); n > 0 {
		arguments = "(" + strings.TrimPrefix(strings.Repeat(", NULL", n), ", ") + ")"
	}
	var text string
	explain := "EXPLAIN (FORMAT JSON) EXECUTE explained" + arguments
	if err := p.conn.QueryRow(ctx, explain, pgx.QueryExecModeSimpleProtocol).Scan(&text); err != nil {
		return nil, err
	}
	var plans []struct{ Plan planNode }
	if err := json.Unmarshal([]byte(text), &plans); err != nil {
		return nil, err
	}
	var across []string
	for _, plan := range plans {
		across = append(across, plan.Plan.acrossPlatforms(p.tables, "")...)
	}
	slices.Sort(across)
	return slices.Compact(across), nil
}

var platformEquals = regexp.MustCompile(`\bplatform_id = |= (\w+\.)?platform_id\b`)

// acrossPlatforms returns the tables that are read without an equality of their platform_id, in the node or in a join above it.
func (n planNode) acrossPlatforms(tables map[string]string, joins string) (across []string) {
	if table := tables[n.Table]; table != "" && n.Type != "ModifyTable" && !platformEquals.MatchString(n.IndexCond+n.RecheckCond+n.Filter) {
		alias := regexp.QuoteMeta(n.Alias)
		if !regexp.MustCompile(`\b` + alias + `\.platform_id = |= ` + alias + `\.platform_id\b`).MatchString(joins) {
			across = append(across, table)
		}
	}
	joins += " " + n.JoinFilter + " " + n.MergeCond + " " + n.HashCond
	for _, child := range n.Plans {
		across = append(across, child.acrossPlatforms(tables, joins)...)
	}
	return across
}
