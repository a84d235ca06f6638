// Package ledger is the double-entry book that everything else exists to keep
// right: accounts, entries, postings, balances, and one function for every
// movement of money that the service knows.
//
// An entry moves one amount of one currency from one account (its debit) to
// another (its credit), so an unbalanced one cannot be written down. Entries that
// happen together are a posting. Nothing here is ever changed: a correction is
// another posting that names the one it reverses.
//
// The package is pure. It never reads a clock, makes an identifier, logs or does
// I/O; storing postings, and holding the rules against concurrent writers, is the
// storage's part. It knows nothing of quotes, payments or prices: amounts come in
// as whole minor units that others have worked out.
package ledger
