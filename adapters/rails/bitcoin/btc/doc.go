// Package btc reads and writes the formats of the Bitcoin chain: addresses, extended keys, descriptors, amounts and
// signed transactions. It does no I/O and signs nothing.
package btc
