package e2e

import (
	"sync"
	"testing"
	"time"
)

func BenchmarkUMA_Payments(b *testing.B) {
	// Two installations on one machine pay each other: each payment is looked up once for several, quoted, approved, executed, settled by
	// the nodes and credited. Commits are those of both databases, with those of what runs beside.
	ana, bo := newUMAEnvs(b)
	const payments, inFlight = 200, 8
	lookup := ana.lookUp(bo).wantStatus(200).text("lookupId")
	commits := func() int64 {
		const counted = `SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()`
		return ana.queryInt(counted) + bo.queryInt(counted)
	}
	before, began, done := commits(), time.Now(), int64(0)
	for b.Loop() {
		var running sync.WaitGroup
		for range inFlight {
			running.Go(func() {
				for range payments / inFlight {
					quote := ana.post("/quotes", ana.quoteBody(lookup, bo, "RECEIVING", 1_00)).wantStatus(201)
					ana.post("/quotes/"+quote.text("id")+"/execute", nil).wantStatus(200)
				}
			})
		}
		running.Wait()
		done += payments
		eventually(b, "the payments are credited", func() bool { return bo.held()-bo.start >= done*1_00 })
	}
	b.ReportMetric(float64(done)/time.Since(began).Seconds(), "payments/s")
	time.Sleep(2 * time.Second) // until Postgres has counted
	b.ReportMetric(float64(commits()-before)/float64(done), "commits/payment")
}
