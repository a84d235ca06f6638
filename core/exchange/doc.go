// Package exchange holds the rules by which the foreign exchange position earns and loses money
// (IAS 21): the cost of the position, the realised result of each conversion, the unrealised result of a
// revaluation, and what changed the value of the position between two times.
//
// The position in a currency is what the company has in it on its own account: its assets less what it owes. Besides
// conversions, which change fx/position, it changes by income, expense and own funds in foreign currencies.
//
// All results are in the functional currency, in minor units. Quantities are signed: above zero, the
// company has more of a currency than it owes.
//
// The package decides; it reads, stores and posts nothing.
package exchange
