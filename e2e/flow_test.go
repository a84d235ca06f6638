package e2e

import (
	"fmt"
	"math/big"
	"slices"
)

// leg is one entry of the books: from the account that is debited to the one that is
// credited.
type leg struct {
	from, to string
	amount   int64
	currency string
}

// posting writes entries of a kind; a fee of nothing is no entry.
func posting(kind string, legs ...leg) []string {
	var lines []string
	for _, l := range legs {
		if l.amount != 0 {
			lines = append(lines, fmt.Sprintf("%s: %s → %s %d %s", kind, l.from, l.to, l.amount, l.currency))
		}
	}
	return lines
}

// way is where the money of a payment comes in, where it is held until it sets out,
// where it leaves the house, and where it is refunded to.
type way struct{ in, held, out, home string }

// flow is money on such a way, in minor units.
type flow struct {
	way
	from, to                       string // currencies
	sent, fees, rounding, received int64
}

// flowOf is the money of a quote whose sending side is locked. What is too little to
// buy one more unit is the service's.
func flowOf(quote answer, w way) flow {
	quote.t.Helper()
	f := flow{way: w, from: quote.str("sendingCurrency.code"), to: quote.str("receivingCurrency.code"),
		sent: quote.int("totalSendingAmount"), fees: quote.int("feesIncluded"), received: quote.int("totalReceivingAmount")}
	needed := new(big.Rat).Quo(new(big.Rat).SetInt64(f.received), quote.rat("exchangeRate"))
	least, rest := new(big.Int).QuoRem(needed.Num(), needed.Denom(), new(big.Int))
	if rest.Sign() > 0 {
		least.Add(least, big.NewInt(1))
	}
	f.rounding = f.sent - f.fees - least.Int64()
	return f
}

// setOut are the entries that set the money on its way.
func (f flow) setOut() []leg {
	if f.from == f.to {
		return []leg{{f.held, "transit/payouts", f.sent, f.from}}
	}
	return []leg{
		{f.held, "income/fees", f.fees, f.from}, {f.held, "income/rounding", f.rounding, f.from},
		{f.held, "fx/position", f.sent - f.fees - f.rounding, f.from}, {"fx/position", "transit/payouts", f.received, f.to},
	}
}

// postings are those of the kinds, in order.
func (f flow) postings(kinds ...string) []string {
	var lines []string
	for _, kind := range kinds {
		lines = append(lines, posting(kind, f.legs(kind)...)...)
	}
	return lines
}

func (f flow) legs(kind string) []leg {
	switch kind {
	case "jit_received":
		return []leg{{f.in, "funding/jit", f.sent, f.from}}
	case "converted", "transfer_out":
		return f.setOut()
	case "delivered":
		return []leg{{"transit/payouts", f.out, f.received, f.to}}
	case "returned":
		return []leg{{f.out, "transit/payouts", f.received, f.to}}
	case "reversal":
		legs := slices.Clone(f.setOut())
		for i, l := range legs {
			legs[i].from, legs[i].to = l.to, l.from
		}
		return legs
	case "refund_owed":
		return []leg{{f.held, "transit/refunds", f.sent, f.from}}
	case "refund_paid":
		return []leg{{"transit/refunds", f.home, f.sent, f.from}}
	case "refund_failed":
		return []leg{{"transit/refunds", "funding/unmatched", f.sent, f.from}}
	default:
		panic("no such kind: " + kind)
	}
}
