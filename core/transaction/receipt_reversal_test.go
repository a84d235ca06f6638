package transaction_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"causeway/core/money"
	"causeway/core/transaction"
	"causeway/ledger"
)

func TestReceiptReversal_AnyReport(t *testing.T) {
	t.Parallel()
	// Whatever a partner says of a reversal, it can be stored and posted: unmatched money leaves the partner and is owed
	// to nobody, and lost money is an expense. It is never effective before the receipt or in the future.
	received := time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	rapid.Check(t, func(t *rapid.T) {
		r := transaction.Receipt{Rail: "SEPA", PartnerID: "P1", Reference: rapid.String().Draw(t, "reference"), At: received,
			Amount: money.Amount{Minor: rapid.Int64Range(1, money.MaxMinor).Draw(t, "minor"), Currency: money.EUR}}
		r.ID.SetUUID(uuid.UUID{15: 1})
		r.Platform.SetUUID(uuid.UUID{15: 2})
		now := received.Add(time.Duration(rapid.IntRange(0, 100).Draw(t, "hours")) * time.Hour)
		at := rapid.SampledFrom([]time.Time{{}, received.Add(-time.Hour), received, now, now.Add(time.Hour)}).Draw(t, "at")

		v := transaction.NewReceiptReversal(r, rapid.String().Draw(t, "id"), rapid.String().Draw(t, "code"),
			strings.Repeat(rapid.String().Draw(t, "text"), 100), at, now)

		if len(v.PartnerID) > 140 || v.Code == "" || len(v.Code) > 40 || len(v.Note) > 500 || v.At.Before(received) || v.At.After(now) {
			t.Fatalf("%+v", v)
		}
		balances := ledger.Balances{}
		apply := func(postings ...ledger.Posting) {
			for _, p := range postings {
				if err := p.Validate(); err != nil {
					t.Fatal(err)
				}
				if err := balances.Apply(p); err != nil {
					t.Fatal(err)
				}
			}
		}
		account := func(path string) int64 {
			return balances[ledger.Account{Platform: r.Platform, Path: path, Currency: money.EUR}]
		}
		apply(r.Unmatched())
		postings, assignment, err := v.OfUnmatched(transaction.Unmatched{Receipt: r})
		if err != nil || assignment.Note == "" || assignment.By != transaction.ReversedBy {
			t.Fatalf("%+v, %v", assignment, err)
		}
		apply(postings...)
		if account("rails/SEPA") != 0 || account(ledger.FundingUnmatched) != 0 || account(ledger.TransitRefunds) != 0 {
			t.Fatalf("balances %v", balances)
		}
		apply(v.Lost())
		if account("rails/SEPA") != -r.Amount.Minor || account(ledger.ExpenseChargebacks) != r.Amount.Minor {
			t.Fatalf("balances %v", balances)
		}
		if _, _, err := v.OfUnmatched(transaction.Unmatched{Receipt: r, Assignment: &assignment}); err == nil {
			t.Fatal("assigned money went back")
		}
	})
}
