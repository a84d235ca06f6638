package e2e

import (
	"fmt"
	"math/big"
	"slices"
)

// ledgerEntry is one entry of the ledger, with the account that is debited and the one that is
// credited.
type ledgerEntry struct {
	debit, credit string
	amount        int64
	currency      string
}

// postingLines formats the entries of a posting; a fee of zero has no entry.
func postingLines(kind string, legs ...ledgerEntry) []string {
	var lines []string
	for _, l := range legs {
		if l.amount != 0 {
			lines = append(lines, fmt.Sprintf("%s: %s → %s %d %s", kind, l.debit, l.credit, l.amount, l.currency))
		}
	}
	return lines
}

// flowAccounts are the accounts of a payment: where it is received, where it is held until it
// is dispatched, from where it is sent, and to where it is refunded.
type flowAccounts struct{ source, funding, destination, refund string }

// flow is the money of a payment, in minor units.
type flow struct {
	flowAccounts
	fromCurrency, toCurrency       string // currencies
	sent, fees, rounding, received int64
}

// newFlow returns the money of a quote whose sending side is locked. The remainder that buys
// no further unit belongs to the service.
func newFlow(quote apiResponse, w flowAccounts) flow {
	quote.t.Helper()
	f := flow{flowAccounts: w, fromCurrency: quote.text("sendingCurrency.code"), toCurrency: quote.text("receivingCurrency.code"),
		sent: quote.int("totalSendingAmount"), fees: quote.int("feesIncluded"), received: quote.int("totalReceivingAmount")}
	needed := new(big.Rat).Quo(new(big.Rat).SetInt64(f.received), quote.rat("exchangeRate"))
	minimum, rest := new(big.Int).QuoRem(needed.Num(), needed.Denom(), new(big.Int))
	if rest.Sign() > 0 {
		minimum.Add(minimum, big.NewInt(1))
	}
	f.rounding = f.sent - f.fees - minimum.Int64()
	return f
}

// dispatchEntries are the entries that dispatch the payment.
func (f flow) dispatchEntries() []ledgerEntry {
	if f.fromCurrency == f.toCurrency {
		return []ledgerEntry{{f.funding, "transit/payouts", f.sent, f.fromCurrency}}
	}
	return []ledgerEntry{
		{f.funding, "income/fees", f.fees, f.fromCurrency}, {f.funding, "income/rounding", f.rounding, f.fromCurrency},
		{f.funding, "fx/position", f.sent - f.fees - f.rounding, f.fromCurrency}, {"fx/position", "transit/payouts", f.received, f.toCurrency},
	}
}

// postings returns the lines of these kinds, in order.
func (f flow) postings(kinds ...string) []string {
	var lines []string
	for _, kind := range kinds {
		lines = append(lines, postingLines(kind, f.entries(kind)...)...)
	}
	return lines
}

func (f flow) entries(kind string) []ledgerEntry {
	switch kind {
	case "jit_received":
		return []ledgerEntry{{f.source, "funding/jit", f.sent, f.fromCurrency}}
	case "converted", "transfer_out":
		return f.dispatchEntries()
	case "delivered":
		return []ledgerEntry{{"transit/payouts", f.destination, f.received, f.toCurrency}}
	case "returned":
		return []ledgerEntry{{f.destination, "transit/payouts", f.received, f.toCurrency}}
	case "reversal":
		legs := slices.Clone(f.dispatchEntries())
		for i, l := range legs {
			legs[i].debit, legs[i].credit = l.credit, l.debit
		}
		return legs
	case "refund_owed":
		return []ledgerEntry{{f.funding, "transit/refunds", f.sent, f.fromCurrency}}
	case "refund_paid":
		return []ledgerEntry{{"transit/refunds", f.refund, f.sent, f.fromCurrency}}
	case "refund_failed":
		return []ledgerEntry{{"transit/refunds", "funding/unmatched", f.sent, f.fromCurrency}}
	default:
		panic("no such kind: " + kind)
	}
}
