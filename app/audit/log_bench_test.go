package audit_test

import (
	"context"
	"testing"

	"github.com/google/uuid"

	"causeway/app/audit"
)

// BenchmarkLog reports how many postings of one entry are sealed, checked and verified per second,
// and the disk space of the log.
func BenchmarkLog(b *testing.B) {
	const postings = 200_000
	env := newLogEnv(b)
	for range postings / 1000 {
		if err := env.postDeposits(env.platform, 1000); err != nil {
			b.Fatal(err)
		}
	}
	var size int64
	b.Run("seal", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			env.execAsSuperuser("TRUNCATE ledger_log_tiles, ledger_log_checkpoints, ledger_log_state")
			b.StartTimer()
			if err := env.newLogService().SealDue(context.Background()); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(postings*float64(b.N)/b.Elapsed().Seconds(), "postings/s")
		if err := env.Store.Pool().QueryRow(context.Background(), "SELECT pg_total_relation_size('ledger_log_tiles')").Scan(&size); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(size)/postings, "bytes/posting")
	})
	checker := env.newService(nil)
	b.Run("check", func(b *testing.B) {
		for b.Loop() {
			if report, err := checker.Check(context.Background()); err != nil || !report.Clean() {
				b.Fatal(report.Findings, err)
			}
		}
		b.ReportMetric(postings*float64(b.N)/b.Elapsed().Seconds(), "postings/s")
	})
	b.Run("verify", func(b *testing.B) {
		for b.Loop() {
			if report, err := checker.Verify(context.Background(), audit.VerifyOptions{}); err != nil || !report.Clean() {
				b.Fatal(report.Findings, err)
			}
		}
		b.ReportMetric(postings*float64(b.N)/b.Elapsed().Seconds(), "postings/s")
	})
	b.Run("prove", func(b *testing.B) {
		var posting uuid.UUID
		if err := env.Store.Pool().QueryRow(context.Background(), "SELECT id::text FROM ledger_postings WHERE platform_id = $1 AND seq = 77777",
			env.platform.UUID().String()).Scan(&posting); err != nil {
			b.Fatal(err)
		}
		worker := env.newLogService()
		if err := worker.SealDue(context.Background()); err != nil { // if only this benchmark runs
			b.Fatal(err)
		}
		for b.Loop() {
			if _, err := worker.InclusionProof(context.Background(), env.platform, posting, 0); err != nil {
				b.Fatal(err)
			}
		}
	})
}
