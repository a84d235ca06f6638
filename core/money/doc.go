// Package money implements currencies, amounts in minor units and exact decimal rates.
// Every rounding is in the name of its function, and every overflow is an error.
//
// The package never uses floating point and never rounds an amount silently. It knows
// nothing of prices, accounts, storage or transport. No other package may import a
// decimal library.
package money
