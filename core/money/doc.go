// Package money is the ground floor: currencies, amounts in minor units and
// exact decimal rates, with every rounding named and every overflow an error.
//
// It never uses floating point, never rounds an amount silently, and knows
// nothing of prices, accounts or how values are stored or sent. It is the only
// package that may import a decimal library.
package money
