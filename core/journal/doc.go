// Package journal sums the ledger of a day or a month to journals for a general ledger: one for each
// currency, with the debits and credits of each account of the general ledger, and their files in the import
// formats of accounting programs.
//
// The package decides; it reads and stores nothing.
package journal
