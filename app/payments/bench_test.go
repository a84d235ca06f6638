package payments_test

import (
	"sync"
	"testing"

	"causeway/app/internal/apptest"
	"causeway/app/payments"
	"causeway/core/event"
	"causeway/core/platform"
	"causeway/core/quote"
	"causeway/core/transaction"
)

// BenchmarkExecute_OnRamp measures a payment without HTTP, from quote to delivery, 64 at a time, on
// a database that does not wait for its disk.
func BenchmarkExecute_OnRamp(b *testing.B) {
	completed := make(chan struct{}, 1024)
	env := newEnv(b, apptest.OnEvent(func(e event.Event) {
		if e.Name == event.OutgoingPaymentCompleted {
			completed <- struct{}{}
		}
	}))
	wallet := env.NewWallet("spark1good")
	b.ReportAllocs()
	b.ResetTimer()
	next := make(chan struct{}, 64)
	var all sync.WaitGroup
	for range 64 {
		all.Go(func() {
			for range next {
				created, err := env.CreateQuote(b.Context(), quote.Request{Platform: env.Platform.ID,
					Source: quote.Source{Customer: env.Customer.ID, Currency: "USD"}, Destination: quote.Destination{External: wallet.ID},
					Side: quote.Sending, Amount: 10050}, nil)
				if err != nil {
					b.Error(err)
					return
				}
				got, err := env.Receive(b.Context(), env.receipt(created.Quote, "RTP", 10050), nil)
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
		<-completed
	}
	all.Wait()
}

// BenchmarkTransferOut measures a transfer out without HTTP, from request to delivery, one at a
// time.
func BenchmarkTransferOut(b *testing.B) {
	completed := make(chan struct{}, 1)
	env := newEnv(b, apptest.OnEvent(func(e event.Event) {
		if e.Name == event.OutgoingPaymentCompleted {
			completed <- struct{}{}
		}
	}))
	dollars, bank := env.account(env.Customer.ID, "USD", 1_000_000_000_000), env.NewBankAccount("000123456")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := env.TransferOut(b.Context(), transaction.TransferOut{Platform: env.Platform.ID, From: dollars.ID, To: bank.ID, Amount: 5000},
			nil); err != nil {
			b.Fatal(err)
		}
		<-completed
	}
}

// BenchmarkExecute_FromBalance and BenchmarkExecute_FromWallet measure a payment without HTTP, from quote
// to delivery, 64 at a time: of an internal account, and of an embedded wallet whose owner signs each one.
// The time to sign is part of the second.
func BenchmarkExecute_FromBalance(b *testing.B) {
	benchmarkExecute(b, func(env *env) (quote.Source, func(quote.Quote) payments.Signature) {
		return quote.Source{Internal: env.account(env.Customer.ID, "USD", 1_000_000_000_000).ID},
			func(quote.Quote) payments.Signature { return payments.Signature{} }
	})
}

func BenchmarkExecute_FromWallet(b *testing.B) {
	benchmarkExecute(b, func(env *env) (quote.Source, func(quote.Quote) payments.Signature) {
		wallet := env.account(env.Customer.ID, "USDB", 1_000_000_000_000_000)
		session := env.NewWalletSession(wallet)
		return quote.Source{Internal: wallet.ID}, func(q quote.Quote) payments.Signature {
			return payments.Signature{Text: session.Sign(b, payloadOf(q)), Environment: platform.Sandbox}
		}
	})
}

func benchmarkExecute(b *testing.B, prepare func(*env) (quote.Source, func(quote.Quote) payments.Signature)) {
	completed := make(chan struct{}, 1024)
	env := newEnv(b, apptest.OnEvent(func(e event.Event) {
		if e.Name == event.OutgoingPaymentCompleted {
			completed <- struct{}{}
		}
	}))
	source, sign := prepare(env)
	coins := env.NewWallet("spark1good")
	b.ReportAllocs()
	b.ResetTimer()
	next := make(chan struct{}, 64)
	var all sync.WaitGroup
	for range 64 {
		all.Go(func() {
			for range next {
				created, err := env.CreateQuote(b.Context(), quote.Request{Platform: env.Platform.ID, Source: source,
					Destination: quote.Destination{External: coins.ID},
					Side:        quote.Sending, Amount: 10_050_000}, nil)
				if err != nil {
					b.Error(err)
					return
				}
				if _, err := env.ExecuteSignedQuote(b.Context(), env.Platform.ID, created.Quote.ID, sign(created.Quote), "", nil); err != nil {
					b.Error(err)
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
		<-completed
	}
	all.Wait()
}
