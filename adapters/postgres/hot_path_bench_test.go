package postgres_test

import (
	"context"
	"syscall"
	"testing"

	"causeway/adapters/postgres"
	"causeway/core/account"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/quote"
	"causeway/core/transaction"
	"causeway/ports"
)

// paymentsInBatch is about the size of a batch under load.
const paymentsInBatch = 64

// BenchmarkPayments runs the statements of a batch of payments: quotes are created, and their transactions
// are locked and updated. It reports the CPU time of this process, without that of the server, by payment.
func BenchmarkPayments(b *testing.B) {
	c := newEnv(b)
	run := func(b *testing.B, fn func(context.Context, *postgres.Unit) error) {
		b.Helper()
		b.ReportAllocs()
		before := processTime(b)
		for b.Loop() {
			c.mustDo(b, fn)
		}
		b.ReportMetric((processTime(b)-before)/float64(b.N)/paymentsInBatch, "cpu-ns/payment")
	}
	b.Run("create quotes", func(b *testing.B) {
		run(b, func(ctx context.Context, tx *postgres.Unit) error {
			quotes, payments := newPayments(c.platform.ID)
			return tx.CreateQuotes(ctx, quotes, payments)
		})
	})
	quotes, payments := newPayments(c.platform.ID)
	keys, quoteKeys := make([]ports.TransactionKey, len(payments)), make([]ports.QuoteKey, len(quotes))
	for i := range payments {
		keys[i] = ports.TransactionKey{Platform: c.platform.ID, ID: payments[i].ID}
		quoteKeys[i] = ports.QuoteKey{Platform: c.platform.ID, ID: quotes[i].ID}
	}
	c.mustDo(b, func(ctx context.Context, tx *postgres.Unit) error { return tx.CreateQuotes(ctx, quotes, payments) })
	b.Run("lock transactions", func(b *testing.B) {
		run(b, func(ctx context.Context, tx *postgres.Unit) error {
			_, err := tx.LockTransactions(ctx, keys)
			return err
		})
	})
	b.Run("lock quotes", func(b *testing.B) {
		run(b, func(ctx context.Context, tx *postgres.Unit) error {
			_, err := tx.LockQuotes(ctx, quoteKeys)
			return err
		})
	})
	b.Run("update transactions", func(b *testing.B) {
		run(b, func(ctx context.Context, tx *postgres.Unit) error { return tx.UpdateTransactions(ctx, payments) })
	})
}

// processTime returns the CPU time of this process in nanoseconds.
func processTime(b *testing.B) float64 {
	b.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return float64(usage.Utime.Nano() + usage.Stime.Nano())
}

// newPayments returns quotes from a balance to a bank account, and their transactions.
func newPayments(p ident.Platform) (quotes []quote.Quote, payments []transaction.Transaction) {
	for range paymentsInBatch {
		owner := ident.NewCustomer(generator.New, noon)
		t := transaction.Transaction{
			ID: ident.NewTransaction(generator.New, noon), Platform: p, Quote: ident.NewQuote(generator.New, noon), Customer: owner,
			Type: transaction.Outgoing, State: transaction.State{Status: transaction.Processing, Stage: transaction.Converted},
			Source:      transaction.Endpoint{InternalAccount: ident.NewInternalAccount(generator.New, noon), Customer: owner, Currency: "USD"},
			Destination: transaction.Endpoint{ExternalAccount: ident.NewExternalAccount(generator.New, noon), Customer: owner, Currency: "EUR"},
			SourceRail:  "ACH", SourceAccount: "customers/1/balance", DestinationRail: "SEPA", DestinationAccount: "rails/SEPA",
			Pricing: transaction.Pricing{Sent: money.Amount{Minor: 10_000, Currency: "USD"}, Received: money.Amount{Minor: 9_100, Currency: "EUR"},
				Fees: 50, FixedFee: 20, VariableFee: 30, FeeRate: money.MustRate("0.003"), Rate: money.MustRate("0.915"),
				Market: money.MustRate("0.92")},
			Counterparty: map[string]string{"FULL_NAME": "Ana Silva"}, Payee: "digest", CreatedAt: noon, UpdatedAt: noon,
		}
		t.Reference = ident.ShortCode(t.ID.UUID())
		quotes = append(quotes, quote.Quote{
			ID: t.Quote, Platform: p, Transaction: t.ID, Customer: owner, Source: t.Source, Destination: t.Destination, Side: quote.Sending,
			LockedAmount: 10_000,
			Pricing:      t.Pricing, Reference: t.Reference, Instructions: []account.Instruction{{Notes: "Pay"}},
			Description: "Rent", Purpose: "RENT",
			CreatedAt: noon, ExpiresAt: noon, DestinationRail: t.DestinationRail, Counterparty: t.Counterparty,
		})
		payments = append(payments, t)
	}
	return quotes, payments
}
