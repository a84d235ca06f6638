package outbox

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"causeway/core/event"
	"causeway/core/ident"
	"causeway/core/period"
	"causeway/ports"
)

// splitPartitions gives events and attempts ten partitions of a day each, of which the sixth is that of
// the test's time.
func (h *testEnv) splitPartitions() {
	h.t.Helper()
	conn := h.connectOwner()
	start := h.now.Truncate(24*time.Hour).AddDate(0, 0, -5)
	for _, parent := range []string{"webhook_events", "webhook_attempts"} {
		statements := fmt.Sprintf(
			`ALTER TABLE %[1]s DETACH PARTITION %[1]s_first; ALTER TABLE %[1]s ATTACH PARTITION %[1]s_first FOR VALUES FROM (MINVALUE) TO ('%[2]s');`,
			parent, minUUIDv7(start))
		for n := range 10 {
			statements += fmt.Sprintf("CREATE TABLE %[1]s_day_%[2]d PARTITION OF %[1]s FOR VALUES FROM ('%[3]s') TO ('%[4]s');",
				parent, n, minUUIDv7(start.AddDate(0, 0, n)), minUUIDv7(start.AddDate(0, 0, n+1)))
		}
		if _, err := conn.Exec(context.Background(), statements); err != nil {
			h.t.Fatal(err)
		}
	}
}

func TestPartitions_EachStatementReadsThoseOfItsEvents(t *testing.T) {
	t.Parallel()
	// Whatever partitions there are, the statements of a session, with their generic plans, and the
	// reads of single events look into the one that an event is in, by an index.
	env := newTestEnv(t)
	env.splitPartitions()
	p, conn := env.createPlatform("https://example.com/"), env.connectPlain()
	rows := env.newRows(p, 300, 3, 100)
	if err := Append(t.Context(), env.connect(), rows); err != nil {
		t.Fatal(err)
	}
	for _, setting := range strings.Split(sessionSQL, "; ") {
		if _, err := conn.Exec(t.Context(), setting); err != nil {
			t.Fatal(err)
		}
	}
	platform, id := "'"+p.UUID().String()+"'", "'"+rows[0].ID.UUID().String()+"'"
	if _, err := conn.Exec(
		t.Context(), `INSERT INTO webhook_backlog SELECT platform_id, subject_id, seq, event_id, $1, $1, 1, 1 FROM webhook_queue ORDER BY seq LIMIT 3`, env.now); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), `DELETE FROM webhook_queue WHERE seq IN (SELECT seq FROM webhook_backlog)`); err != nil {
		t.Fatal(err)
	}
	var seq int64
	if err := conn.QueryRow(t.Context(), `SELECT min(seq) FROM webhook_backlog`).Scan(&seq); err != nil {
		t.Fatal(err)
	}
	result := fmt.Sprintf(`, '{%d}', '{2026-05-06}', '{1}', '{200}', '{f}', '{ACCEPTED}', '{""}', '{""}'`, seq)
	list, arguments := listSQL(p, ports.DeliveryFilter{Created: period.Interval{From: env.now.Add(-time.Minute), To: env.now.Add(time.Minute)},
		Limit: 10})
	quotedArguments := make([]string, len(arguments))
	for i, argument := range arguments {
		quotedArguments[i] = quoted(argument)
	}
	for name, statement := range map[string]struct {
		sql, arguments string
		events, reads  int // the partitions of events and attempts that are read
	}{
		"new events":         {newEventsSQL, platform + ", 0, '{}', 100, false", 1, 0},
		"retries":            {retriesSQL, platform + ", '2026-05-07', '{}', 100", 1, 0},
		"settled":            {settleBacklogSQL, platform + result, 0, 1},
		"postponed":          {postponeSQL, platform + result + ", '{2026-05-06}'", 0, 1},
		"a delivery":         {selectDelivery + fromEvents + joinState + ` WHERE e.platform_id = $1 AND e.id = $2`, platform + ", " + id, 1, 1},
		"deliveries of time": {list, strings.Join(quotedArguments, ", "), 1, 1},
	} {
		tx, err := conn.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tx.Exec(t.Context(), "PREPARE s AS "+statement.sql); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var text string
		if err := tx.QueryRow(t.Context(), "EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE s ("+statement.arguments+")").Scan(&text); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if _, err := conn.Exec(t.Context(), "DEALLOCATE s"); err != nil {
			t.Fatal(err)
		}
		if err := tx.Rollback(t.Context()); err != nil {
			t.Fatal(err)
		}
		var plans []struct{ Plan planNode }
		if err := json.Unmarshal([]byte(text), &plans); err != nil {
			t.Fatal(err)
		}
		read := map[string]bool{}
		plans[0].Plan.collect(t, read)
		events, attempts := 0, 0
		for relation := range read {
			events += strings.Count(relation, "webhook_events_")
			attempts += strings.Count(relation, "webhook_attempts_")
		}
		if events != statement.events || attempts != statement.reads {
			t.Errorf("%s: reads %d partitions of events and %d of attempts, want %d and %d\n%s", name, events, attempts, statement.events,
				statement.reads, text)
		}
	}
}

func quoted(argument any) string {
	switch a := argument.(type) {
	case time.Time:
		argument = a.Format(time.RFC3339Nano)
	case interface{ UUID() uuid.UUID }:
		argument = a.UUID()
	}
	return fmt.Sprintf("'%v'", argument)
}

func TestAppend_ReadsTheSubjectsOfItsEventsOnly(t *testing.T) {
	t.Parallel()
	// The plan of the first execution is kept. Also if it was made when the tables had many pages, few events and statistics of them, the
	// events that wait later are read by their subject only, and of an account, whose events may be many, none is.
	env := newTestEnv(t)
	owner, conn := env.connectOwner(), env.connectPlain()
	exec := func(conn *pgx.Conn, statement string, args ...any) {
		t.Helper()
		if _, err := conn.Exec(t.Context(), statement, args...); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	const toBacklog = `INSERT INTO webhook_backlog SELECT platform_id, subject_id, seq, event_id, $1, $1, 1, 1 FROM webhook_queue
		ON CONFLICT DO NOTHING`
	var p ident.Platform
	for range 20 {
		p = env.createPlatform("https://example.com/")
		if err := Append(t.Context(), env.connect(), env.newRows(p, 200, 2, 1)); err != nil {
			t.Fatal(err)
		}
	}
	exec(owner, toBacklog, env.now)
	for _, table := range []string{"webhook_queue", "webhook_backlog"} {
		exec(owner, "DELETE FROM "+table+" WHERE seq % 400 <> 0")
		exec(owner, "ANALYZE "+table)
	}
	for _, setting := range strings.Split(sessionSQL+"; SET random_page_cost = 1.1", "; ") {
		exec(conn, setting)
	}
	exec(conn, "PREPARE append AS "+appendSQL)
	execute := func(rows []event.Rendered) (scans []planNode) {
		t.Helper()
		var columns [8]string
		for _, r := range rows {
			for i, value := range []string{r.Platform.UUID().String(), r.ID.UUID().String(), r.Subject.String(), env.now.Format(time.RFC3339),
				string(r.Type), r.Name, "body", "NULL"} {
				columns[i] += "," + value
			}
		}
		arguments := make([]string, len(columns))
		for i, values := range columns {
			arguments[i] = "'{" + values[1:] + "}'"
		}
		exec(conn, "BEGIN")
		var text string
		explain := "EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE append (" + strings.Join(arguments, ", ") + ")"
		if err := conn.QueryRow(t.Context(), explain).Scan(&text); err != nil {
			t.Fatal(err)
		}
		exec(conn, "ROLLBACK")
		var plans []struct{ Plan planNode }
		if err := json.Unmarshal([]byte(text), &plans); err != nil {
			t.Fatal(err)
		}
		plans[0].Plan.each(func(n planNode) {
			if strings.HasSuffix(n.Type, "Scan") && strings.HasPrefix(n.Relation+n.Index, "webhook_") {
				scans = append(scans, n)
			}
		})
		return scans
	}
	execute(env.newRows(p, 1, 1, 1))

	if err := Append(t.Context(), env.connect(), env.newRows(p, 20_000, 2, 1)); err != nil {
		t.Fatal(err)
	}
	exec(owner, toBacklog, env.now)
	events, accounts := env.newRows(p, 30, 2, 1), env.newRows(p, 30, 2, 1)
	for i := range accounts {
		accounts[i].Type = event.InternalAccountStatus
	}
	for name, test := range map[string]struct {
		rows  []event.Rendered
		loops float64
	}{"payments": {events, 30}, "accounts": {accounts, 0}} {
		scans := execute(test.rows)
		if len(scans) < 2 {
			t.Errorf("%s: scans %+v", name, scans)
		}
		for _, n := range scans {
			if n.Index != "" && !strings.HasSuffix(n.Index, "_subject") || n.Loops != test.loops || n.Filtered > 0 {
				t.Errorf("%s: reads %+v", name, n)
			}
		}
	}
}

// planNode is a node of a plan.
type planNode struct {
	Type     string  `json:"Node Type"`
	Relation string  `json:"Relation Name"`
	Index    string  `json:"Index Name"`
	Loops    float64 `json:"Actual Loops"`
	Filtered float64 `json:"Rows Removed by Filter"`
	Plans    []planNode
}

// each calls f for the node and those below it.
func (n planNode) each(f func(planNode)) {
	f(n)
	for _, below := range n.Plans {
		below.each(f)
	}
}

// collect adds the tables that the node and those below it have read.
func (n planNode) collect(t *testing.T, read map[string]bool) {
	n.each(func(n planNode) {
		if n.Relation != "" && n.Loops > 0 {
			read[n.Relation] = true
			if n.Type == "Seq Scan" && strings.HasPrefix(n.Relation, "webhook_events") {
				t.Errorf("reads all of %s", n.Relation)
			}
		}
	})
}
