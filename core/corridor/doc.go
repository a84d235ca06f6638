// Package corridor is the map of where money can go: countries, the currencies
// and rails that reach them, chains, and the terms (fees, limits, how long a rate
// is held) that go with each pair of currencies.
//
// Everything in it is a table or a function of a table. It never asks the market,
// a partner or the database; an operator's changes come in as an Override.
package corridor
