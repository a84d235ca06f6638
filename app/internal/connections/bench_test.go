package connections_test

import (
	"testing"

	"causeway/app/internal/apptest"
	"causeway/core/corridor"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/rail"
	"causeway/core/transaction"
	"causeway/ports"
)

// BenchmarkRail_Send measures what recording which connection payouts take costs, for each payout of a batch.
func BenchmarkRail_Send(b *testing.B) {
	e := &railEnv{Env: apptest.New(b), t: b, banks: map[string]*bank{}}
	e.set("bank", func(c *rail.Connection) { c.Limits = []rail.Limit{{Currency: "EUR", PerDay: 1 << 50}} })
	e.balance("bank", 1<<50)
	r := e.process(e.Store)
	const size = 256
	for b.Loop() {
		payouts := make([]ports.Payout, size)
		for i := range payouts {
			amount := money.Amount{Minor: 100, Currency: "EUR"}
			payouts[i].Transaction = transaction.Transaction{ID: ident.NewTransaction(e.IDs.New, e.Clock.Now()), Platform: e.Platform.ID,
				DestinationRail: corridor.SEPA,
				Pricing:         transaction.Pricing{Sent: amount, Received: amount}}
		}
		r.Send(b.Context(), payouts)
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*size), "µs/payout")
}
