package outbox

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

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

// planNode is a node of a plan.
type planNode struct {
	Type     string  `json:"Node Type"`
	Relation string  `json:"Relation Name"`
	Loops    float64 `json:"Actual Loops"`
	Plans    []planNode
}

// collect adds the tables that the node and those below it have read.
func (n planNode) collect(t *testing.T, read map[string]bool) {
	if n.Relation != "" && n.Loops > 0 {
		read[n.Relation] = true
		if n.Type == "Seq Scan" && strings.HasPrefix(n.Relation, "webhook_events") {
			t.Errorf("reads all of %s", n.Relation)
		}
	}
	for _, below := range n.Plans {
		below.collect(t, read)
	}
}
