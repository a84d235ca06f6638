// Package uma has the rules of Universal Money Address 1.0, by which providers pay each other's customers: versions, amounts, the
// names of facts, freshness of messages, keys, and what an answer of another provider must be so that it is paid.
//
// A payment is settled over Lightning. A multiplier is how many millisatoshi one smallest unit of a currency is worth.
package uma
