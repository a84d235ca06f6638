// Package books holds the rules of a platform's books beyond its payments: the settings of the books,
// accounts that finance adds to the chart, their codes in the general ledger, and opening balances from
// earlier books.
//
// It decides; it stores and posts nothing.
package books
