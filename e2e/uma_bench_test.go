package e2e

import (
	"sync"
	"testing"
	"time"
)

func BenchmarkUMA_Payments(b *testing.B) {
	// Two installations on one machine pay each other: each payment is looked up once for several, quoted, approved, executed, settled by
	// the nodes and credited. Commits and statements are those of both databases, with those of what runs beside.
	ana, bo := newUMAEnvs(b)
	const payments, inFlight = 200, 8
	lookup := ana.lookUp(bo).wantStatus(200).text("lookupId")
	counts, began, done := newDatabaseCounts(b, ana.testEnv, bo.testEnv), time.Now(), int64(0)
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
	counts.report(b, done)
}
