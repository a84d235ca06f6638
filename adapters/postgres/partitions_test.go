package postgres_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/postgres"
)

// partitionsOf returns the names of a table's partitions that end, the oldest first.
func (c *retentionEnv) partitionsOf(t *testing.T, parent string) (names []string) {
	t.Helper()
	if err := c.owner.QueryRow(t.Context(), `SELECT array_agg(partition::text ORDER BY ends_before) FROM time_partitions($1::regclass)`,
		parent).Scan(&names); err != nil {
		t.Fatal(err)
	}
	return names
}

// insertEvent inserts an event of a time with an attempt.
func (c *retentionEnv) insertEvent(t *testing.T, at time.Time) (id uuid.UUID) {
	t.Helper()
	id = newIDAt(at)
	exec(
		t, c.owner, `INSERT INTO webhook_events (platform_id, id, subject_id, created_at, type, name, body) VALUES ($1, $2, $2, $3, 'TEST', 'TEST', '\x00')`, c.platform.ID.UUID(), id, at)
	exec(t, c.owner, `INSERT INTO webhook_attempts VALUES ($1, $2, $3, 1, 1, 200, false, 'ACCEPTED', '', '')`, c.platform.ID.UUID(), id, at)
	return id
}

// partitionOf returns the partition in which an event's row of a table is.
func (c *retentionEnv) partitionOf(t *testing.T, table, key string, id uuid.UUID) (name string) {
	t.Helper()
	if err := c.owner.QueryRow(t.Context(), fmt.Sprintf("SELECT tableoid::regclass::text FROM %s WHERE %s = $1", table, key),
		id).Scan(&name); err != nil {
		t.Fatal(err)
	}
	return name
}

// awaitDay returns the beginning of the day. Shortly before the next one it waits for that, because the
// database creates the partitions of the day that it is then.
func awaitDay() time.Time {
	now := time.Now().UTC()
	today, tomorrow := now.Truncate(24*time.Hour), now.Truncate(24*time.Hour).AddDate(0, 0, 1)
	left := tomorrow.Sub(now)
	if left > 3*time.Minute {
		return today
	}
	time.Sleep(left)
	return tomorrow
}

func TestCreatePartitions_AheadOfTime(t *testing.T) {
	t.Parallel()
	// Several processes create the partitions of today and the next days, each once, of a quarter of the
	// retention, and one of the days before; events and their attempts have the same. The service may not
	// read or write partitions directly.
	c := newRetentionEnv(t)
	today := awaitDay()
	c.splitWebhooks(t, today.AddDate(0, 0, -10))
	c.split(t, "lookups", today.AddDate(0, 0, -1))
	var processes sync.WaitGroup
	for range 4 {
		processes.Go(func() {
			if err := c.CreatePartitions(t.Context(), 30*24*time.Hour); err != nil {
				t.Error(err)
			}
		})
	}
	processes.Wait()

	name := func(table string, days int) string { return table + today.AddDate(0, 0, days).Format("_20060102") }
	for table, days := range map[string][]int{"webhook_events": {-10, 0, 7}, "webhook_attempts": {-10, 0, 7}, "lookups": {-1, 0, 1, 2}} {
		want := []string{table + "_first"}
		for _, n := range days {
			want = append(want, name(table, n))
		}
		if got := c.partitionsOf(t, table); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("partitions %v, want %v", got, want)
		}
	}
	if id := c.insertEvent(t, time.Now()); c.partitionOf(t, "webhook_events", "id", id) != name("webhook_events", 0) ||
		c.partitionOf(t, "webhook_attempts", "event_id", id) != name("webhook_attempts", 0) {
		t.Errorf("an event of today is in %s", c.partitionOf(t, "webhook_events", "id", id))
	}
	service := connect(t, c.url)
	exec(t, service, "SET ROLE causeway_service; SET causeway.platform = '*'")
	for _, partition := range []string{"webhook_events_first", "webhook_events_default", name("webhook_events", 7), name("lookups", 0)} {
		for _, statement := range []string{"SELECT FROM ", "DELETE FROM "} {
			if _, err := service.Exec(t.Context(), statement+partition); err == nil || !strings.Contains(err.Error(), "permission denied") {
				t.Errorf("%s%s: %v", statement, partition, err)
			}
		}
	}
}

func TestCreatePartitions_MovesRowsThatHadNone(t *testing.T) {
	t.Parallel()
	// If no partition was created in time, events are stored nevertheless, and are in the partition of
	// their time once it is created. Events that are stored meanwhile are not refused.
	c := newRetentionEnv(t)
	today := awaitDay()
	c.splitWebhooks(t, today.AddDate(0, 0, -5))
	events := map[int]uuid.UUID{}
	for _, days := range []int{-5, -1, 0, 100} {
		events[days] = c.insertEvent(t, today.AddDate(0, 0, days))
		if in := c.partitionOf(t, "webhook_events", "id", events[days]); in != "webhook_events_default" {
			t.Fatalf("an event is in %s", in)
		}
	}

	writer, stop, stored := connect(t, c.url), make(chan struct{}), make(chan error)
	go func() {
		for {
			id, at := newIDAt(time.Now()), time.Now()
			_, err := writer.Exec(
				t.Context(), `INSERT INTO webhook_events (platform_id, id, subject_id, created_at, type, name, body) VALUES ($1, $1, $1, $2, 'TEST', 'TEST', '\x00')`, id, at)
			select {
			case <-stop:
				stored <- err
				return
			default:
			}
			if err != nil {
				<-stop
				stored <- err
				return
			}
		}
	}()

	if err := c.CreatePartitions(t.Context(), 8*24*time.Hour); err != nil { // two days each
		t.Fatal(err)
	}

	close(stop)
	if err := <-stored; err != nil {
		t.Errorf("an event that was stored meanwhile: %v", err)
	}
	for days, want := range map[int]string{-5: today.AddDate(0, 0, -5).Format("_20060102"), -1: today.AddDate(0, 0, -5).Format("_20060102"),
		0: today.Format("_20060102"), 100: "_default"} {
		if in := c.partitionOf(t, "webhook_events", "id", events[days]); in != "webhook_events"+want {
			t.Errorf("the event of day %d is in %s, want %s", days, in, want)
		}
		if in := c.partitionOf(t, "webhook_attempts", "event_id", events[days]); in != "webhook_attempts"+want {
			t.Errorf("the attempt of day %d is in %s, want %s", days, in, want)
		}
	}
}

func TestCreatePartitions_AfterYears(t *testing.T) {
	t.Parallel()
	// A service that was stopped for years, or a backup of then, has the partitions that it needs at once:
	// not one for each day of the time between.
	c := newRetentionEnv(t)
	today := awaitDay()
	c.split(t, "lookups", today.AddDate(-6, 0, 0))

	if err := c.CreatePartitions(t.Context(), 8*24*time.Hour); err != nil {
		t.Fatal(err)
	}

	want := []string{"lookups_first"}
	for _, from := range []time.Time{today.AddDate(-6, 0, 0), today, today.AddDate(0, 0, 1), today.AddDate(0, 0, 2)} {
		want = append(want, from.Format("lookups_20060102"))
	}
	if got := c.partitionsOf(t, "lookups"); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("partitions %v, want %v", got, want)
	}
}

func TestCreatePartitions_AfterAllWereDropped(t *testing.T) {
	t.Parallel()
	// After a pause that was longer than the retention, the old partitions may be dropped first. Then there
	// is one until today, which also gets the rows that had none, and the usual ones.
	c := newRetentionEnv(t)
	today := awaitDay()
	c.splitWebhooks(t, today.AddDate(0, 0, -50))
	drop := func() {
		t.Helper()
		if err := c.DeleteOld(t.Context(), postgres.RetentionCutoffs{WebhookEvents: today.AddDate(0, 0, -30)}, func(string, int) {}); err != nil {
			t.Fatal(err)
		}
	}
	drop()
	if got := c.partitionsOf(t, "webhook_events"); len(got) != 0 {
		t.Fatalf("the partitions %v are left", got)
	}
	old := c.insertEvent(t, today.AddDate(0, 0, -40))

	if err := c.CreatePartitions(t.Context(), 30*24*time.Hour); err != nil {
		t.Fatal(err)
	}

	name := func(day time.Time) string { return day.Format("webhook_events_20060102") }
	want := []string{name(time.Unix(0, 0).UTC()), name(today), name(today.AddDate(0, 0, 7))}
	if got := c.partitionsOf(t, "webhook_events"); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("partitions %v, want %v", got, want)
	}
	if got := c.partitionOf(t, "webhook_events", "id", old); got != want[0] {
		t.Errorf("the old event is in %s, want %s", got, want[0])
	}
}

func TestCreatePartitions_LengthFollowsRetention(t *testing.T) {
	t.Parallel()
	// A partition is as long as a quarter of the retention, in whole days, and three months at most: so
	// few partitions exist, however long events are kept.
	for retention, want := range map[int]int{8: 2, 30: 7, 100: 25, 3650: 92} {
		c := newRetentionEnv(t)
		today := awaitDay()
		c.splitWebhooks(t, today)
		if err := c.CreatePartitions(t.Context(), time.Duration(retention)*24*time.Hour); err != nil {
			t.Fatal(err)
		}
		got, days := c.partitionsOf(t, "webhook_events"), today.AddDate(0, 0, want).Format("_20060102")
		if len(got) != 3 || got[1] != "webhook_events"+today.Format("_20060102") || got[2] != "webhook_events"+days {
			t.Errorf("a retention of %d days: %v, want partitions of %d days", retention, got, want)
		}
	}
}
