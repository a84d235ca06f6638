// Package api is the interface as platforms see it: every operation with its
// description, and the bodies that go in and out.
//
// It translates between bodies and domain values, in one file a resource, and
// decides nothing. What all operations have in common stands in the package above.
package api

import (
	httpapi "causeway/adapters/http"
)

// Deps are the use cases behind the operations.
type Deps struct {
	Platforms        Platforms
	Customers        Customers
	ExternalAccounts ExternalAccounts
	InternalAccounts InternalAccounts
	Quotes           Quotes
	Payments         Payments
	Sandbox          Sandbox
	IncomingPayments IncomingPayments
	Receivers        Receivers
	Webhooks         Webhooks
	Accounting       Accounting
	LedgerLog        LedgerLog
	Exports          Exports
	Reconciliations  Reconciliations
	Periods          Periods
}

// Register adds every operation, in the order in which they are read.
func Register(a *httpapi.API, d Deps) {
	a.Tags(
		httpapi.Tag{Name: tagConfig, Description: "What the platform itself has set: currencies, limits, and where webhooks go."},
		httpapi.Tag{Name: tagTokens, Description: "The credentials of the platform's programs. Each has some of the permissions VIEW, TRANSACT and MANAGE; none includes another."},
		httpapi.Tag{Name: tagCustomers, Description: "The people and businesses that money is moved for."},
		httpapi.Tag{Name: tagAccounts, Description: "Accounts outside of the service: at banks, at mobile operators, on chains. They are registered once and named by their id in any number of quotes."},
		httpapi.Tag{Name: tagInternal, Description: "The balances that the service keeps, of customers and of the platform itself: one account a currency."},
		httpapi.Tag{Name: tagRates, Description: "What a conversion would give right now. A quote fixes it."},
		httpapi.Tag{Name: tagDiscoveries, Description: "The institutions that money can be sent to."},
		httpapi.Tag{Name: tagReceivers, Description: "Who can be paid, in what, and what has to be known for it."},
		httpapi.Tag{Name: tagQuotes, Description: "A price that is held for a while, and the way to pay it."},
		httpapi.Tag{Name: tagTransfers, Description: "Money that moves in one currency, between an account here and an account outside."},
		httpapi.Tag{Name: tagTransactions, Description: "What became of the money."},
		httpapi.Tag{Name: tagWebhooks, Description: "What the service tells the platform by itself, how it is signed, and what became of each delivery."},
		httpapi.Tag{Name: tagLedger, Description: "The double-entry books behind every balance, for finance teams and auditors. Nothing in them is ever changed. Sums are whole numbers of the smallest unit of their currency, of any size; balances have the sign of their account's class, so that money held, owed and earned all read above zero. Questions are asked by one of two times: `recorded`, when a posting was written (what the books said then, which never changes), or `effective`, when it counts (what is known today of then)."},
		httpapi.Tag{Name: tagLog, Description: "Proof that the ledger was left as it was: a Merkle log (RFC 6962) over its postings, with signed heads in the form of C2SP checkpoints."},
		httpapi.Tag{Name: tagExports, Description: "The books for other programs, and account statements for people."},
		httpapi.Tag{Name: tagSandbox, Description: "Plays the outside world for sandbox platforms."},
	)
	a.Examples(examples())
	registerConfig(a, d.Platforms)
	registerTokens(a, d.Platforms)
	registerCustomers(a, d.Customers)
	registerExternalAccounts(a, d.ExternalAccounts)
	registerInternalAccounts(a, d.InternalAccounts)
	registerRates(a, d.Quotes)
	registerDiscoveries(a)
	registerReceivers(a, d.Receivers)
	registerQuotes(a, d.Quotes, d.Payments)
	registerTransfers(a, d.Payments)
	registerTransactions(a, d.Payments)
	registerApprovals(a, d.IncomingPayments)
	registerTransferIn(a, d.IncomingPayments)
	registerDeliveries(a, d.Webhooks)
	registerWebhooks(a)
	registerLedger(a, d.Accounting)
	registerPeriods(a, d.Periods)
	registerLedgerLog(a, d.LedgerLog)
	registerReconciliations(a, d.Reconciliations)
	registerExports(a, d.Exports)
	registerSandbox(a, d.Sandbox)
	registerSandboxIncomingPayments(a, d.IncomingPayments)
	registerSandboxWebhooks(a, d.Webhooks)
}
