// Package safeguarding compares, for each currency, what is owed to customers with what is held for them at
// partners, and says which accounts count.
//
// What is owed is the requirement: the balances of customers and wallets, funds received and not yet
// credited, and payouts and refunds on their way. What is held is the resource: the balances of the accounts
// at partners whose purpose is CLIENT. Because every posting is balanced, the difference is the company's own
// money in those accounts, to the smallest unit; a report lists it by account.
//
// The package is pure: it reads no ledger and no clock.
package safeguarding
