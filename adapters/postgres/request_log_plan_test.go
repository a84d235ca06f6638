package postgres

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/core/ident"
	"causeway/core/period"
	"causeway/core/requestlog"
	"causeway/ports"
)

// fillRequestLog writes requests of one second each of a platform. Few are of the operation rare, have its path, or failed.
const fillRequestLog = `
INSERT INTO request_log (platform_id, id, token_id, arrived_at, duration_us, method, operation, route, path, query, status, code, message, request_id,
	idempotency_key, replayed, request_type, request_size, request_body, request_cut, response_type, response_size, response_body, response_cut, lost_before, subject_id)
SELECT '00000000-0000-7000-8001-000000000000', (lpad(to_hex((1773489600000 + n * 1000)::bigint), 12, '0') || '70008001' || lpad(to_hex(n), 12, '0'))::uuid,
	gen_random_uuid(), to_timestamp(1773489600 + n), 1, 'POST', CASE n % 10000 WHEN 1 THEN 'rare' ELSE 'createQuote' END, '',
	CASE n % 10000 WHEN 1 THEN '/rare' ELSE '/quotes' END, '', CASE n % 10000 WHEN 2 THEN 503 ELSE CASE n % 50 WHEN 3 THEN 409 ELSE 201 END END, '', '',
	gen_random_uuid(), 'key-' || n, false, '', 0, '', false, '', 0, '', false, 0,
	(lpad(to_hex(n % 10000), 8, '0') || '-0000-7000-8001-000000000000')::uuid
FROM generate_series(1, 40000) n;
ANALYZE request_log;`

func TestRequestLog_ReadsLittleOfMany(t *testing.T) {
	t.Parallel()
	// Among many requests, a page of each filter reads little: its own rows by an index, or as many as it may look through.
	const maxRead, few = 2000, 300
	db, trace := newListEnv(t, fillRequestLog)
	var p ident.Platform
	p.SetUUID(uuid.MustParse("00000000-0000-7000-8001-000000000000"))
	ctx := ports.ForPlatform(t.Context(), p)
	statuses := func(class int) []requestlog.StatusRange {
		return []requestlog.StatusRange{{From: class * 100, To: class*100 + 99}}
	}
	for name, c := range map[string]struct {
		filter ports.RequestLogFilter
		found  int
		reads  float64
	}{
		"all":                      {ports.RequestLogFilter{}, 50, few},
		"of a rare operation":      {ports.RequestLogFilter{Operation: "rare"}, 4, few},
		"of a usual operation":     {ports.RequestLogFilter{Operation: "createQuote"}, 50, few},
		"failures of the service":  {ports.RequestLogFilter{Statuses: statuses(5)}, 4, few},
		"refused":                  {ports.RequestLogFilter{Statuses: statuses(4)}, 50, maxRead},
		"failures of an operation": {ports.RequestLogFilter{Statuses: statuses(5), Operation: "createQuote"}, 4, few},
		"of two things": {ports.RequestLogFilter{Subjects: []uuid.UUID{uuid.MustParse("00000001-0000-7000-8001-000000000000"),
			uuid.MustParse("00000002-0000-7000-8001-000000000000")}}, 8, few},
		"with a key":         {ports.RequestLogFilter{IdempotencyKey: "key-7"}, 1, few},
		"with a rare path":   {ports.RequestLogFilter{PathPrefixes: []string{"/v/rare", "/rare"}}, 0, 2 * maxRead},
		"with a rare method": {ports.RequestLogFilter{Method: "GET"}, 0, 2 * maxRead},
		"of an hour of the past": {ports.RequestLogFilter{Method: "GET", Arrived: period.Interval{From: time.Unix(1773489600+3600, 0),
			To: time.Unix(1773489600+7200, 0)}}, 0, 2 * maxRead},
	} {
		c.filter.Paging = ports.Paging{Limit: 50, WithoutTotal: true, MaxRead: maxRead}
		trace.statements = nil
		page, err := db.RequestLog(ctx, p, c.filter)
		if err != nil || len(page.Items) != c.found {
			t.Fatalf("%s: %d requests, %v; want %d", name, len(page.Items), err, c.found)
		}
		all := 0.0
		for _, sent := range trace.statements {
			plan := explain(ctx, t, db.readPool, sent)["its plan"]
			var plans []struct{ Plan planNode }
			if err := json.Unmarshal([]byte(plan), &plans); err != nil {
				t.Fatal(err)
			}
			read, faults := plans[0].Plan.check(few)
			if all += read; len(faults) > 0 || all > c.reads {
				t.Errorf("%s reads %.0f rows, want at most %.0f; %q\n%s\n%s", name, all, c.reads, faults, sent.SQL, plan)
			}
		}
	}
}
