// Package price computes the price of a conversion: from an amount on one side, a market
// rate and a fee, it computes the exact amounts on both sides.
//
// It looks up no rate or fee and knows no currency. No unit is created or lost: remainders of
// rounding are fields of the Price. All amounts are in minor units of the sending or the
// receiving currency.
package price
