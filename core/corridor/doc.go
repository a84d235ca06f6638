// Package corridor defines where money can be sent: countries, the currencies and rails that
// reach them, chains, and the terms of each pair of currencies (fees, limits, and how long
// a rate is locked).
//
// Everything in it is a table or a function of a table. It reads no market, partner or
// database; the changes of an operator are passed as an Override.
package corridor
