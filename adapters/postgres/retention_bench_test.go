package postgres_test

import (
	"flag"
	"testing"
	"time"

	"causeway/adapters/postgres"
)

var retentionRows = flag.Int("retention-rows", 100_000, "rows of the table in BenchmarkDeleteOld, and of the partition in "+
	"BenchmarkPartition")

// BenchmarkDeleteOld deletes the rows of one day out of a table that has those of 30 days, of the
// tables that are not partitioned. It
// reports the rows deleted in a second, and the time of the longest batch with the pause before it.
func BenchmarkDeleteOld(b *testing.B) {
	for table, insert := range map[string][]string{
		"idempotency_keys": {
			`INSERT INTO idempotency_keys SELECT $1, gen_random_uuid(), gen_random_uuid(), sha256(''), 200, convert_to(repeat('x', 300), 'UTF8'), t.at`},
		"quotes": {
			`INSERT INTO quotes SELECT $1, ` + uuidAt +
				`, gen_random_uuid(), 'SENDING', 1, 0, 0, 0, '0', '1', '1', 0, 0, '', gen_random_uuid(), '[]', '', '', t.at + interval '5 min', t.at`,
			`INSERT INTO transactions (platform_id, id, quote_id, direction, status, refund_status, stage, failure_reason, source_rail, source_account,
				destination_rail, destination_account, sent_currency, sent_minor, received_currency, received_minor, created_at, updated_at, source_uma, destination_uma, reference, details)
				SELECT platform_id, transaction_id, id, 'OUTGOING', CASE WHEN random() < 0.5 THEN 'EXPIRED' ELSE 'COMPLETED' END, '', '', '', '', '', '', '',
					'USD', 1, 'USD', 1, created_at, created_at, '', '', '', '' FROM quotes`,
		},
		"rail_replies": {`INSERT INTO rail_replies SELECT $1, gen_random_uuid(), t.at, 'SEND', 'REFUSED', '', true, NULL::timestamptz`},
	} {
		b.Run(table, func(b *testing.B) {
			c := newRetentionEnv(b)
			exec(b, c.owner, "SET synchronous_commit = off")
			for i, statement := range insert {
				args := []any{c.platform.ID.UUID(), noon.AddDate(0, 0, -1), *retentionRows}
				if i == 0 {
					statement += ` FROM generate_series(1, $3::bigint) n, LATERAL (SELECT $2::timestamptz + n * interval '30 days' / $3 AS at) t`
				} else {
					args = nil
				}
				exec(b, c.owner, statement, args...)
			}
			exec(b, c.owner, "VACUUM (ANALYZE)")
			rows, longest, cutoff := 0, time.Duration(0), noon
			for b.Loop() {
				last := time.Now()
				err := c.DeleteOld(b.Context(), postgres.RetentionCutoffs{Responses: cutoff, UnpaidQuotes: cutoff, RailReplies: cutoff},
					func(_ string, n int) {
						rows += n
						longest, last = max(longest, time.Since(last)), time.Now()
					})
				if err != nil {
					b.Fatal(err)
				}
				cutoff = cutoff.AddDate(0, 0, 1) // the next day
			}
			b.ReportMetric(float64(rows)/b.Elapsed().Seconds(), "rows/s")
			b.ReportMetric(float64(rows)/float64(b.N), "rows/op")
			b.ReportMetric(float64(longest.Milliseconds()), "max-ms/batch")
		})
	}
}

// BenchmarkPartition creates partitions of a week beside one with many events and attempts, and drops that one,
// while events are inserted. It reports how long each took, and the longest insert.
func BenchmarkPartition(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		c := newRetentionEnv(b)
		exec(b, c.owner, "SET synchronous_commit = off")
		c.splitWebhooks(b, noon, time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, 5)) // the next one is created today
		p := c.platform.ID.UUID()
		exec(b, c.owner, `INSERT INTO webhook_events (platform_id, id, subject_id, created_at, type, name, body)
			SELECT $1, `+uuidAt+`, gen_random_uuid(), t.at, 'OUTGOING_PAYMENT', 'OUTGOING_PAYMENT.COMPLETED', convert_to(repeat('x', 300), 'UTF8')
			FROM generate_series(1, $3::bigint) n, LATERAL (SELECT $2::timestamptz + n * interval '7 days' / $3 AS at) t`, p,
			noon.AddDate(0, 0, -8), *retentionRows)
		exec(
			b, c.owner, `INSERT INTO webhook_attempts SELECT platform_id, id, created_at, 1, 20, 200, false, 'DELIVERED', '', '' FROM webhook_events`)
		exec(b, c.owner, "VACUUM (ANALYZE) webhook_events, webhook_attempts")
		writer, stop, longest, inserted := connect(b, c.url), make(chan struct{}), make(chan time.Duration), make(chan struct{}, 1)
		go func() {
			slowest := time.Duration(0)
			defer func() { longest <- slowest }()
			defer close(inserted)
			for {
				select {
				case <-stop:
					return
				default:
				}
				started, at := time.Now(), time.Now()
				if _, err := writer.Exec(b.Context(),
					`INSERT INTO webhook_events (platform_id, id, subject_id, created_at, type, name, body) VALUES ($1, $2, $2, $3, 'TEST', 'TEST', '\x00')`, p, newIDAt(at), at); err != nil {
					b.Error(err)
					return
				}
				slowest = max(slowest, time.Since(started))
				select {
				case inserted <- struct{}{}:
				default:
				}
			}
		}()
		<-inserted
		rows := 0
		b.StartTimer()

		started := time.Now()
		if err := c.CreatePartitions(b.Context(), 30*24*time.Hour); err != nil {
			b.Fatal(err)
		}
		created := time.Since(started)
		if err := c.DeleteOld(b.Context(), postgres.RetentionCutoffs{WebhookEvents: noon.AddDate(0, 0, 1)},
			func(_ string, n int) { rows += n }); err != nil {
			b.Fatal(err)
		}
		dropped := time.Since(started) - created

		b.StopTimer()
		close(stop)
		b.ReportMetric(float64((<-longest).Microseconds())/1000, "max-insert-ms")
		b.ReportMetric(float64(created.Microseconds())/1000, "create-ms")
		b.ReportMetric(float64(dropped.Microseconds())/1000, "drop-ms")
		b.ReportMetric(float64(rows), "rows")
		b.StartTimer()
	}
}
