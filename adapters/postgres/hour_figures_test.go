package postgres

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/core/ident"
	"causeway/ports"
)

// fillAttempts writes two attempts for the event of each second, the first of which was refused or, of every fourth event, not answered.
const fillAttempts = `
INSERT INTO webhook_attempts (platform_id, event_id, attempted_at, attempt_no, duration_ms, status_code, given_up, outcome, error, response)
SELECT '00000000-0000-7000-8001-000000000000', (lpad(to_hex((1773489600000 + n * 1000)::bigint), 12, '0') || '70008001' || lpad(to_hex(n), 12, '0'))::uuid,
	to_timestamp(1773489600 + n), a, 20 * a, CASE WHEN a = 2 THEN 200 WHEN n % 4 = 0 THEN 0 ELSE 500 END, false,
	CASE a WHEN 2 THEN 'ACCEPTED' ELSE 'RETRY' END, '', ''
FROM generate_series(1, 20000) n, generate_series(1, 2) a;
ANALYZE webhook_attempts;`

func TestHourFigures_ReadsTheLatestOfEachHour(t *testing.T) {
	t.Parallel()
	// Figures are made of the latest requests and attempts of each hour, however many there are, and an hour without any has none.
	const few = 300
	db, trace := newListEnv(t, fillRequestLog+fillAttempts)
	var p ident.Platform
	p.SetUUID(uuid.MustParse("00000000-0000-7000-8001-000000000000"))
	ctx := ports.ForPlatform(t.Context(), p)
	first := time.Unix(1773489600, 0)
	hours := []time.Time{first.Add(-time.Hour), first, first.Add(time.Hour), first.Add(20 * time.Hour)}
	trace.statements = nil

	got, err := db.HourFigures(ctx, p, hours)

	if err != nil || len(got) != len(hours) {
		t.Fatalf("%+v, %v", got, err)
	}
	for i, h := range got {
		r, a := h.Requests, h.Attempts
		if isEmpty := i == 0 || i == 3; isEmpty {
			if r != (ports.Figures{}) || a != (ports.Figures{}) {
				t.Errorf("an hour without any: %+v", h)
			}
			continue
		}
		// Of 250 requests, five were refused; of 250 attempts, each second one was accepted, and one in eight not answered.
		if !h.From.Equal(hours[i]) || r != (ports.Figures{Done: 245, Refused: 5, P95: time.Microsecond}) ||
			a.Done != 125 || a.Refused+a.Failed != 125 || a.Failed < 31 || a.Failed > 32 || a.P95 != 40*time.Millisecond {
			t.Errorf("%+v", h)
		}
	}
	for _, sent := range trace.statements {
		plan := explain(ctx, t, db.readPool, sent)["its plan"]
		var plans []struct{ Plan planNode }
		if err := json.Unmarshal([]byte(plan), &plans); err != nil {
			t.Fatal(err)
		}
		if read, faults := plans[0].Plan.check(few); len(faults) > 0 || read > 4*ports.MaxSampled+few {
			t.Errorf("reads %.0f rows, %q\n%s", read, faults, plan)
		}
	}
}
