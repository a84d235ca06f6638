package postgres_test

import (
	"strings"
	"testing"
	"time"

	"causeway/adapters/postgres"
	"causeway/ports"
	"causeway/ports/portstest"
)

func TestPartnerEvents_Port(t *testing.T) {
	t.Parallel()
	portstest.PartnerEvents(t, newEnv(t), noon)
}

func TestPartnerEvents_Retention(t *testing.T) {
	t.Parallel()
	// Events that were received before the time are deleted, in batches; others stay, and numbers go on.
	c := newEnv(t)
	ctx := t.Context()
	save := func(id string, at time.Time) {
		t.Helper()
		if _, err := c.SavePartnerEvents(ctx, "bank", at, []ports.PartnerEvent{{ID: id, Body: []byte(`{}`)}}); err != nil {
			t.Fatal(err)
		}
	}
	save("old", noon)
	save("new", noon.Add(time.Hour))
	if _, err := c.Pool().Exec(
		ctx, `INSERT INTO partner_events SELECT '00000000-0000-0000-0000-000000000000', gen_random_uuid(), 'other', n, 'e' || n, '', $1
		FROM generate_series(1, 2500) n`, noon); err != nil {
		t.Fatal(err)
	}

	deleted := 0
	if err := c.DeleteOld(ctx, postgres.RetentionCutoffs{PartnerEvents: noon.Add(time.Minute)},
		func(_ string, n int) { deleted += n }); err != nil {
		t.Fatal(err)
	}
	save("newest", noon.Add(time.Hour))

	events, err := c.PartnerEvents(ctx, "bank", 0, 10)
	if err != nil || deleted != 2501 || len(events) != 2 || events[0].ID != "new" || events[0].Number != 2 || events[1].Number != 3 {
		t.Errorf("%d deleted, left %+v, %v", deleted, events, err)
	}
}

func TestPartnerEvents_Plans(t *testing.T) {
	t.Parallel()
	// Events are read in the order of an index, without sorting.
	c := newEnv(t)
	ctx := ports.ForAllPlatforms(t.Context())
	if _, err := c.Pool().Exec(
		ctx, `INSERT INTO partner_events SELECT '00000000-0000-0000-0000-000000000000', gen_random_uuid(), 'c' || n % 3, n, 'e' || n, '', $1
		FROM generate_series(1, 20000) n`, noon); err != nil {
		t.Fatal(err)
	}
	if _, err := connect(t, c.url).Exec(ctx, `ANALYZE partner_events`); err != nil {
		t.Fatal(err)
	}
	for query, index := range map[string]string{
		`SELECT event_id, number, body FROM partner_events WHERE connection = 'c1' AND number > 1000 ORDER BY number LIMIT 100`: "partner_event_number_once",
		`SELECT event_id, number, body FROM partner_events WHERE connection = 'c1' AND event_id = ANY(ARRAY['e1', 'e2'])`:       "partner_event_once",
		`SELECT platform_id, id FROM partner_events WHERE received_at < '2001-01-01Z' ORDER BY received_at LIMIT 1000`:          "partner_events_by_received_at",
	} {
		rows, err := c.Pool().Query(ctx, `EXPLAIN `+query)
		if err != nil {
			t.Fatal(err)
		}
		var plan []string
		for rows.Next() {
			var line string
			if err := rows.Scan(&line); err != nil {
				t.Fatal(err)
			}
			plan = append(plan, line)
		}
		if text := strings.Join(plan, "\n"); rows.Err() != nil || !strings.Contains(text, index) || strings.Contains(text, "Sort") {
			t.Errorf("%s: %v\n%s", query, rows.Err(), text)
		}
	}
}
