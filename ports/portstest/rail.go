package portstest

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/core/account"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/transaction"
	"causeway/ports"
)

// Rail tests a rail that accepts payments in US dollars and USDC, and payouts to a valid
// account.
func Rail(t *testing.T, rail ports.Rail, good account.External, now time.Time) {
	t.Helper()
	t.Run("the same instructions for the same payment", func(t *testing.T) {
		// A quote that is read again has the same instructions, and a payer of fiat gets the
		// reference.
		for _, currency := range []money.Currency{"USD", "USDC"} {
			first, err := rail.Instructions(ident.Platform{}, "REF", currency, "")
			again, errAgain := rail.Instructions(ident.Platform{}, "REF", currency, "")
			if err != nil || errAgain != nil || len(first) == 0 || !reflect.DeepEqual(first, again) {
				t.Fatalf("%s: %v, %v (%v, %v)", currency, first, again, err, errAgain)
			}
			other, err := rail.Instructions(ident.Platform{}, "OTHER", currency, "")
			if err != nil || reflect.DeepEqual(first, other) {
				t.Fatalf("%s: two payments have the same instructions", currency)
			}
			if !currency.IsCrypto() && first[0].Info["reference"] != "REF" {
				t.Fatalf("%s: no reference in %v", currency, first[0].Info)
			}
		}
	})
	t.Run("an unsupported currency is refused", func(t *testing.T) {
		if _, err := rail.Instructions(ident.Platform{}, "REF", "XXX", ""); !fault.Is(err, fault.InvalidCurrency) {
			t.Fatalf("got %v, want INVALID_CURRENCY", err)
		}
	})
	t.Run("funding instructions are stable and unique to the account", func(t *testing.T) {
		// They are printed on invoices: every call returns the same, and a payer of fiat
		// sees for whom the account is held.
		for _, currency := range []money.Currency{"USD", "USDC"} {
			first, err := rail.Funding(ident.Platform{}, "Ana Silva", "FUND-A", currency)
			again, errAgain := rail.Funding(ident.Platform{}, "Ana Silva", "FUND-A", currency)
			other, errOther := rail.Funding(ident.Platform{}, "Ana Silva", "FUND-B", currency)
			if err := errors.Join(err, errAgain, errOther); err != nil || len(first) == 0 {
				t.Fatalf("%s: %v (%v)", currency, first, err)
			}
			if !reflect.DeepEqual(first, again) || reflect.DeepEqual(first, other) {
				t.Fatalf("%s: %v, then %v, and for another account %v", currency, first, again, other)
			}
			held, _ := first[0].Info["accountHolderName"].(string)
			if !currency.IsCrypto() && (first[0].Info["reference"] != "FUND-A" || !strings.HasSuffix(held, "FBO Ana Silva")) {
				t.Fatalf("%s: no reference or owner in %v", currency, first[0].Info)
			}
		}
	})
	t.Run("an account in an unsupported currency has no funding instructions", func(t *testing.T) {
		// That is not an error: not every currency can be paid in on every rail.
		if instructions, err := rail.Funding(ident.Platform{}, "Ana Silva", "FUND-A", "XXX"); err != nil || len(instructions) > 0 {
			t.Fatalf("%v, %v", instructions, err)
		}
	})
	t.Run("one outcome per payout, and the same for a repeated call", func(t *testing.T) {
		// After a crash the call is repeated: the rail pays once and returns the same.
		payouts := []ports.Payout{payout(1, good, now), payout(2, good, now)}
		first, again := rail.Send(t.Context(), payouts), rail.Send(t.Context(), payouts)
		if len(first) != len(payouts) || !reflect.DeepEqual(first, again) {
			t.Fatalf("%v, then %v", first, again)
		}
		for i, outcome := range first {
			if outcome.Verdict != ports.Done {
				t.Errorf("payout %d: %+v", i, outcome)
			}
		}
		if status := rail.Status(t.Context(), payouts); len(status) != len(payouts) || status[0].Verdict != ports.Done {
			t.Errorf("status %+v", status)
		}
	})
	t.Run("one outcome per collection, and the same for a repeated call", func(t *testing.T) {
		// After a crash the call is repeated: the rail collects once and returns the same.
		collections := []ports.Collection{collection(1, good, now), collection(2, good, now)}
		first, again := rail.Collect(t.Context(), collections), rail.Collect(t.Context(), collections)
		if len(first) != len(collections) || !reflect.DeepEqual(first, again) {
			t.Fatalf("%v, then %v", first, again)
		}
		for i, outcome := range first {
			if outcome.Verdict != ports.Done {
				t.Errorf("collection %d: %+v", i, outcome)
			}
		}
	})
	t.Run("one outcome per refund", func(t *testing.T) {
		refunds := []ports.Refund{{ID: uuid.MustParse("0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e11"), Rail: "RTP", Reference: "REF-REFUND",
			Amount: money.Amount{Minor: 10050, Currency: "USD"}}}
		first, again := rail.Refund(t.Context(), refunds), rail.Refund(t.Context(), refunds)
		if len(first) != 1 || first[0].Verdict != ports.Done || !reflect.DeepEqual(first, again) {
			t.Fatalf("%v, then %v", first, again)
		}
	})
}

func payout(n byte, to account.External, now time.Time) ports.Payout {
	p := ports.Payout{Account: to, Transaction: transaction.Transaction{
		State: transaction.State{Status: transaction.Processing, Stage: transaction.Converted}, DestinationRail: "LAYER2", DestinationAccount: "chains/LAYER2",
		Pricing: transaction.Pricing{Received: money.Amount{Minor: 100_000, Currency: to.Currency}}, UpdatedAt: now,
	}}
	ident.SetUUID(&p.Transaction.ID, uuid.UUID{15: n})
	return p
}

func collection(n byte, from account.External, now time.Time) ports.Collection {
	c := ports.Collection{Account: from, Transaction: transaction.Transaction{
		Type: transaction.Incoming, State: transaction.Initial, SourceRail: "ACH", SourceAccount: "rails/ACH",
		Pricing: transaction.Pricing{Sent: money.Amount{Minor: 25_00, Currency: from.Currency}}, UpdatedAt: now,
	}}
	ident.SetUUID(&c.Transaction.ID, uuid.UUID{14: 1, 15: n})
	return c
}
