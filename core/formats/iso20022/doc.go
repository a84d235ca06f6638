// Package iso20022 writes and reads the ISO 20022 messages between a customer and its bank: it writes pain.001
// (credit transfers) and camt.053 (statements), and reads pain.002 (status of transfers), camt.054 (single entries of an
// account) and camt.053.
//
// The package has no state, no clock and no I/O but the given readers and writers. It keeps the codes of the bank as
// they are: what a status or a reason means for a payment is decided by the caller. Files are read in a stream and in
// bounded memory, so that what comes before an error has already been passed on: a caller that must not use half a
// file reads it twice, or keeps what it was given until the end.
package iso20022
