// Package ledger is the double-entry ledger: accounts, entries, postings, balances, the
// chart of accounts, the log of postings, and one function for every kind of movement
// of money.
//
// An entry moves an amount of one currency from one account (its debit) to another (its
// credit), so an unbalanced entry cannot be expressed. A posting is a list of entries
// that are written together. Nothing is ever changed or deleted: a correction is a new
// posting that names the one it reverses.
//
// The package is pure: it never reads a clock, makes an id, logs or does I/O. Storing
// postings, and enforcing the rules against concurrent writers, is the job of the
// storage adapter. The package knows nothing of quotes, payments or prices: amounts are
// given to it in whole minor units.
package ledger
