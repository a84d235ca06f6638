package postgres_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"causeway/adapters/pgembed/pgtest"
	"causeway/adapters/postgres"
	"causeway/core/ident"
	"causeway/core/transaction"
	"causeway/ports"
	"causeway/ports/portstest"
)

// fillQueues writes what waits on the platforms a and b.
var fillQueues = []string{
	`INSERT INTO platforms (id, name, environment, regulated, uma_domain, currencies, created_at, updated_at)
		SELECT p::uuid, p, 'PRODUCTION', false, p, '[]', now(), now() FROM unnest(ARRAY[` + platformA + `, ` + platformB + `, ` + platformC + `]) p`,
	`INSERT INTO jobs (platform_id, id, step, due_at, subjects) SELECT platform::uuid, gen_random_uuid(), step, due::timestamptz, '{}' FROM (VALUES
		(` + platformA + `, 'deliver', '2026-03-01 11:59:59Z'), (` + platformA + `, 'deliver', '2026-03-01 11:00Z'), (` + platformA + `, 'refund', '2026-03-01 11:45Z'),
		(` + platformA + `, 'refund', 'infinity'), (` + platformA + `, 'deliver', '2026-03-01 13:00Z'), (` + platformB + `, 'deliver', 'infinity'),
		(` + platformC + `, 'expire', '2026-03-01 13:00Z')) AS j(platform, step, due)`,
	`INSERT INTO webhook_events (platform_id, id, subject_id, created_at, type, name, body)
		VALUES (` + platformB + `, '55555555-5555-4555-8555-555555555555', gen_random_uuid(), '2026-03-01 11:58Z', 'TEST', 'TEST', '')`,
	`INSERT INTO webhook_queue VALUES (` + platformB + `, 1, gen_random_uuid(), '55555555-5555-4555-8555-555555555555')`,
	`INSERT INTO webhook_backlog SELECT ` + platformB + `::uuid, gen_random_uuid(), n, gen_random_uuid(), NULL, '2026-03-01 10:00Z', 3, 3 FROM generate_series(2, 3) n`,
	`INSERT INTO rail_accounts (connection, currency) VALUES ('bank', 'EUR'), ('bank', 'USD'), ('other', 'EUR')`,
	`INSERT INTO rail_payments (platform_id, id, kind, rail, country, connection, currency, amount, state, wait, reason, recorded_at, handed_over_at, sent_at)
		SELECT platform::uuid, gen_random_uuid(), 'PAYOUT', 'SEPA', 'DE', connection, currency, 1, state, CASE WHEN state IN ('QUEUED', 'REVIEW') THEN 'FUNDS' ELSE '' END, '',
			now(), CASE WHEN state IN ('HANDED_OVER', 'SENT') THEN now() END, CASE state WHEN 'SENT' THEN now() END FROM (VALUES
		(` + platformA + `, 'bank', 'EUR', 'HANDED_OVER'), (` + platformA + `, 'bank', 'USD', 'HANDED_OVER'), (` + platformA + `, 'bank', 'EUR', 'QUEUED'),
		(` + platformA + `, 'bank', 'EUR', 'SENT'), (` + platformA + `, 'other', 'EUR', 'SENT'), (` + platformB + `, 'bank', 'EUR', 'REVIEW'),
		(` + platformB + `, '', 'EUR', 'QUEUED')) AS p(platform, connection, currency, state)`,
}

const (
	platformA = "'aaaaaaaa-1111-4111-8111-111111111111'"
	platformB = "'bbbbbbbb-1111-4111-8111-111111111111'"
	platformC = "'cccccccc-1111-4111-8111-111111111111'"
)

func TestTakeSamples_CountsAsMetricsDo(t *testing.T) {
	t.Parallel()
	// The queues of each platform are counted once in a minute, and those of all platforms are together what the metrics say. What is zero
	// has no row. A platform sees its own figures only, and so does the service's role. Old ones are deleted, with their times.
	now := time.Date(2026, 3, 1, 12, 0, 30, 0, time.UTC)
	db := openWith(t, postgres.Options{URL: pgtest.New(t), AllPlatforms: true, MaxConnections: 2, Clock: portstest.NewFakeClock(now)})
	ctx := ports.ForAllPlatforms(t.Context())
	exec := func(statement string) {
		t.Helper()
		if _, err := db.Pool().Exec(ctx, statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	for _, statement := range fillQueues {
		exec(statement)
	}
	minute := now.Truncate(time.Minute)
	read := func(platform string) (times []time.Time, found map[string][]int64) {
		t.Helper()
		p, err := ident.ParsePlatform("PlatformConfig:" + platform[1:len(platform)-1])
		if err != nil {
			t.Fatal(err)
		}
		times, err = db.SampleTimes(ports.ForPlatform(ctx, p), minute)
		if err != nil {
			t.Fatal(err)
		}
		samples := samplesOf(ports.ForPlatform(ctx, p), t, db, p, minute)
		found = map[string][]int64{}
		for _, s := range samples {
			if s.Platform != p || !s.At.Equal(minute) {
				t.Errorf("%+v", s)
			}
			found[string(s.Kind)+s.Name] = s.Counts
		}
		return times, found
	}

	for range 2 {
		if err := db.TakeSamples(ctx, now); err != nil {
			t.Fatal(err)
		}
		exec(`DELETE FROM jobs WHERE due_at = 'infinity' AND platform_id = ` + platformC) // the second time, nothing is counted
	}

	total := map[string]int64{}
	for platform, want := range map[string]map[string][]int64{
		platformA: {"JOBS": {1, 2, 1}, "RAIL_PAYMENTSbank": {2, 1, 0}},
		platformB: {"JOBS": {0, 0, 1}, "WEBHOOKS": {1, 2}, "WEBHOOK_AGE": {7230}, "RAIL_PAYMENTSbank": {0, 0, 1}, "RAIL_PAYMENTS": {0, 1, 0}},
		platformC: {},
	} {
		times, got := read(platform)
		if len(times) != 1 || !times[0].Equal(minute) || len(got) != len(want) {
			t.Errorf("%s: at %v, %v", platform, times, got)
		}
		for kind, counts := range want {
			if !slices.Equal(got[kind], counts) {
				t.Errorf("%s of %s: %v, want %v", kind, platform, got[kind], counts)
			}
		}
		if jobs := got["JOBS"]; jobs != nil {
			total["due"], total["dead"] = total["due"]+jobs[0]+jobs[1], total["dead"]+jobs[2]
		}
		if webhooks := got["WEBHOOKS"]; webhooks != nil {
			total["first"], total["retried"] = total["first"]+webhooks[0], total["retried"]+webhooks[1]
		}
		for _, kind := range []string{"RAIL_PAYMENTSbank", "RAIL_PAYMENTS"} {
			if counts := got[kind]; counts != nil {
				total["waiting"] += counts[1] + counts[2]
			}
		}
	}
	steps := []transaction.Step{transaction.StepDeliver, transaction.StepRefund, "expire"}
	metrics, err := db.Operations(ctx, steps)
	if err != nil {
		t.Fatal(err)
	}
	var due int
	for _, b := range metrics.Jobs {
		due += b.Count
	}
	dead, err := db.CountDeadJobs(ctx, steps)
	if err != nil {
		t.Fatal(err)
	}
	var deadJobs, waiting int
	for _, n := range dead {
		deadJobs += n
	}
	for _, b := range metrics.Rails.Waiting {
		waiting += b.Count
	}
	for name, n := range map[string]int{"due": due, "dead": deadJobs, "first": metrics.Webhooks.Count,
		"retried": metrics.RetriedWebhooks.Count, "waiting": waiting} {
		if total[name] != int64(n) {
			t.Errorf("%s: samples say %d, metrics %d", name, total[name], n)
		}
	}

	deleteBefore := func(before time.Time) {
		t.Helper()
		if err := db.DeleteOld(ctx, postgres.RetentionCutoffs{Samples: before, WithoutPlatform: postgres.OldSampleTimes(before)},
			func(string, int) {}); err != nil {
			t.Fatal(err)
		}
	}
	deleteBefore(minute)
	if times, got := read(platformB); len(times) != 1 || len(got) != 5 {
		t.Errorf("deleted too early: %v, %v", times, got)
	}
	deleteBefore(minute.Add(time.Second))
	if times, got := read(platformB); len(times) != 0 || len(got) != 0 {
		t.Errorf("not deleted: %v, %v", times, got)
	}
}

func TestSamples_IsolatedAndAdded(t *testing.T) {
	t.Parallel()
	// Calls of processes in the same minute are added up, with the longest of them. A platform does not see those of another, even if a
	// statement asked for them.
	e := newEnv(t)
	minute := e.clock.Now().Truncate(time.Minute)
	call := func(p ident.Platform, counts ...int64) ports.Sample {
		return ports.Sample{Platform: p, At: minute, Kind: ports.RailCallSamples, Name: "bank", Counts: counts}
	}
	all := ports.ForAllPlatforms(t.Context())
	for _, calls := range [][]ports.Sample{nil, {call(e.platform.ID, 1, 2, 3, 400, 90), call(e.otherPlatform.ID, 1, 0, 0, 7, 7)},
		{call(e.platform.ID, 1, 1, 1, 20, 10)}} {
		if err := e.AddRailCalls(all, calls); err != nil {
			t.Fatal(err)
		}
	}
	got := samplesOf(all, t, e.DB, e.platform.ID, minute)
	if len(got) != 1 || !slices.Equal(got[0].Counts, []int64{2, 3, 4, 420, 90}) || got[0].Name != "bank" {
		t.Errorf("added: %+v", got)
	}
	scoped := openWith(t, postgres.Options{URL: e.url, MaxConnections: 1, Clock: portstest.NewFakeClock(noon)})
	for p, want := range map[ident.Platform]int{e.platform.ID: 1, e.otherPlatform.ID: 0} {
		if seen := samplesOf(ports.ForPlatform(t.Context(), e.platform.ID), t, scoped, p, minute); len(seen) != want {
			t.Errorf("seen of %s: %+v", p, seen)
		}
	}
}

// samplesOf reads the samples of a platform.
func samplesOf(ctx context.Context, t *testing.T, db *postgres.DB, p ident.Platform, from time.Time) (found []ports.Sample) {
	t.Helper()
	if err := db.EachSample(ctx, p, from, func(s ports.Sample) { found = append(found, s) }); err != nil {
		t.Fatal(err)
	}
	return found
}
