package audit

import (
	"maps"
	"math/big"
	"slices"

	"causeway/core/ident"
	"causeway/core/money"
)

// totals adds up what moved in each currency of one platform, from three sides: entry
// by entry, and as debits and credits of the accounts that carry the currency.
type totals map[money.Currency]*total

type total struct{ entries, debits, credits sum }

func (t totals) currency(c money.Currency) *total {
	if t[c] == nil {
		t[c] = &total{}
	}
	return t[c]
}

// check reports every currency in which the three sides are not one.
func (t totals) check(report *Report, platform ident.Platform) {
	for _, currency := range slices.Sorted(maps.Keys(t)) {
		of := t[currency]
		report.countChecked(RuleBalanced)
		if of.debits.cmp(&of.credits) != 0 || of.debits.cmp(&of.entries) != 0 {
			report.addFinding(RuleBalanced, "%s on %s: the accounts' debits are %s and their credits %s, the entries moved %s",
				currency, platform, &of.debits, &of.credits, &of.entries)
		}
	}
}

// sum is a sum of any size.
type sum struct{ total, addend big.Int }

func (s *sum) add(amount int64)         { s.total.Add(&s.total, s.addend.SetInt64(amount)) }
func (s *sum) sub(amount int64)         { s.total.Sub(&s.total, s.addend.SetInt64(amount)) }
func (s *sum) reset()                   { s.total.SetInt64(0) }
func (s *sum) cmp(other *sum) int       { return s.total.Cmp(&other.total) }
func (s *sum) isNegative() bool         { return s.total.Sign() < 0 }
func (s *sum) equals(amount int64) bool { return s.total.IsInt64() && s.total.Int64() == amount }
func (s *sum) String() string           { return s.total.String() }
