// Package nacha writes and reads files of the Nacha format for ACH payments: it writes credits and debits, and reads
// returns and notifications of change.
//
// The package has no state, no clock and no I/O but the given readers and writers. It keeps the codes of the banks as
// they are (R01, C01): what they mean for a payment is decided by the caller.
package nacha
