// Package price says what a conversion costs: from an amount on one side, the
// market's rate and a fee, the amounts on both sides to the last unit.
//
// It never looks up a rate or a fee, never knows a currency, and never lets a
// unit appear or vanish: what rounding leaves over has a name in the Price. All
// amounts are minor units of the sending or the receiving currency.
package price
