package payments_test

import (
	"sync"
	"testing"

	"causeway/adapters/pgembed/pgtest"
	"causeway/core/quote"
	"causeway/core/transaction"
	"causeway/core/transfer"
)

// BenchmarkExecute_OnRamp is a payment without the network around it: quoted, paid in,
// converted, delivered, 64 at a time, on a database that does not wait for its disk.
func BenchmarkExecute_OnRamp(b *testing.B) {
	h := newEnvAt(b, pgtest.New(b))
	wallet := h.wallet(b, "spark1good")
	h.completed = make(chan struct{}, 1024)
	b.ReportAllocs()
	b.ResetTimer()
	next := make(chan struct{}, 64)
	var all sync.WaitGroup
	for range 64 {
		all.Go(func() {
			for range next {
				made, err := h.quotes.Create(b.Context(), quote.Request{Platform: h.platform.ID,
					Source: quote.Source{Customer: h.customer.ID, Currency: "USD"}, Destination: quote.Destination{External: wallet.ID},
					Side: quote.Sending, Amount: 10050}, nil)
				if err != nil {
					b.Error(err)
					return
				}
				got, err := h.Receive(b.Context(), h.receipt(made.Quote, "rails/RTP", 10050), nil)
				if err != nil || got.State.Status != transaction.Processing {
					b.Error(got.State, err)
					return
				}
			}
		})
	}
	go func() {
		for range b.N {
			next <- struct{}{}
		}
		close(next)
	}()
	for range b.N {
		<-h.completed
	}
	all.Wait()
}

// BenchmarkTransferOut is a transfer from a balance without the network around it, one at
// a time: what a unit of work takes, answer and delivery.
func BenchmarkTransferOut(b *testing.B) {
	h := newEnvAt(b, pgtest.New(b))
	dollars, bank := h.fundedAccount(b, h.customer.ID, "USD", 1_000_000_000_000), h.bank(b, "000123456")
	h.completed = make(chan struct{}, 1)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := h.TransferOut(b.Context(), transfer.Out{Platform: h.platform.ID, From: dollars.ID, To: bank.ID, Amount: 5000}, nil); err != nil {
			b.Fatal(err)
		}
		<-h.completed
	}
}
