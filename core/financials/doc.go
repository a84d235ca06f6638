// Package financials makes the financial statements of a platform from its ledger, in its functional currency: balance
// sheet, income statement, cash flow statement (IAS 7, direct method) and the changes in equity.
//
// Money, and what is owed in money, is worth the closing rate of the month; income, expense and own funds keep the
// value that they had at the rates of their times (IAS 21.21, 21.23), which the exchange results of the months say. Every
// account belongs to exactly one line.
//
// The package computes; it reads, stores and posts nothing.
package financials
