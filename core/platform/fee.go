package platform

import (
	"cmp"
	"fmt"
	"slices"

	"causeway/core/fault"
	"causeway/core/money"
)

// Fee is what a platform charges for a payment, beside the fee of the service: a fixed amount in the sending currency, and basis
// points of the total that is sent.
type Fee struct {
	Fixed       money.Amount
	BasisPoints int64
}

// MaxFeeBasisPoints is the full amount.
const MaxFeeBasisPoints = 10_000

// Check returns the invalid fields of a fee for payments in a currency, by the names of both fields in the request. An empty currency
// stands for any.
func (f Fee) Check(fixedField, basisPointsField string, sending money.Currency) []fault.Field {
	var bad []fault.Field
	if f.Fixed.Minor < 0 || f.Fixed.Minor > money.MaxMinor {
		bad = append(bad, fault.Field{Field: fixedField + ".amount",
			Message:    "must be a whole number of the smallest currency unit, from 0 to 9000000000000000",
			Constraint: map[string]any{"minimum": 0, "maximum": money.MaxMinor}})
	}
	if sending != "" && f.Fixed.Currency != sending {
		bad = append(bad, fault.Field{Field: fixedField + ".currency", Message: fmt.Sprintf("must be %s, the currency that is sent", sending)})
	}
	if f.BasisPoints < 0 || f.BasisPoints > MaxFeeBasisPoints {
		bad = append(bad, fault.Field{Field: basisPointsField, Message: "must be a number of basis points from 0 to 10000; 25 are 0.25 %",
			Constraint: map[string]any{"minimum": 0, "maximum": MaxFeeBasisPoints}})
	}
	return bad
}

func (f Fee) isZero() bool { return f.Fixed.Minor == 0 && f.BasisPoints == 0 }

// FeeType says which payments have a fee of the platform.
type FeeType string

// CrossCurrencyTransaction is a payment that is received in another currency than it is sent in.
const CrossCurrencyTransaction FeeType = "CROSS_CURRENCY_TRANSACTION"

// FeeConfig is the fee of a platform for the payments of a type in a sending currency.
type FeeConfig struct {
	Type   FeeType
	Source money.Currency
	Fee    Fee
}

// FeeOf returns the fee of the platform for a payment; zero if it charges none.
func FeeOf(configs []FeeConfig, from, to money.Currency) Fee {
	if from == to {
		return Fee{}
	}
	i := slices.IndexFunc(configs, func(c FeeConfig) bool { return c.Type == CrossCurrencyTransaction && c.Source == from })
	if i < 0 {
		return Fee{}
	}
	return configs[i].Fee
}

// changedFees returns the fees after a change: each that is named replaces the one of its type and currency, and one of zero ends it.
func changedFees(before, change []FeeConfig) []FeeConfig {
	var after []FeeConfig
	for _, c := range slices.Concat(before, change) {
		after = slices.DeleteFunc(after, func(known FeeConfig) bool { return known.Type == c.Type && known.Source == c.Source })
		if !c.Fee.isZero() {
			after = append(after, c)
		}
	}
	slices.SortFunc(after, func(a, b FeeConfig) int { return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.Source, b.Source)) })
	return after
}

// checkFees returns the errors in a change of a platform's fees.
func checkFees(configs []FeeConfig) []fault.Field {
	var bad []fault.Field
	for i, c := range configs {
		field := func(name string) string { return fmt.Sprintf("feeConfigs[%d].%s", i, name) }
		if c.Type != CrossCurrencyTransaction {
			bad = append(bad, fault.Field{Field: field("feeType"), Message: "must be CROSS_CURRENCY_TRANSACTION"})
		}
		if _, err := money.ParsePayable(string(c.Source)); err != nil {
			bad = append(bad, fault.Field{Field: field("sourceCurrency"),
				Message: "must be a known currency code in upper case, such as USD, EUR or BTC"})
		}
		if slices.ContainsFunc(configs[:i], func(other FeeConfig) bool { return other.Type == c.Type && other.Source == c.Source }) {
			bad = append(bad, fault.Field{Field: field("sourceCurrency"), Message: "is listed twice; list each currency once"})
		}
		bad = append(bad, c.Fee.Check(field("fixedFee"), field("variableFeeBps"), c.Source)...)
	}
	return bad
}
