package main

import (
	"net"

	httpapi "causeway/adapters/http"
	"causeway/adapters/ids"
	"causeway/adapters/pages"
	"causeway/adapters/pages/console"
	sandboxrail "causeway/adapters/rails/sandbox"
	"causeway/app/activity"
	"causeway/app/customers"
	"causeway/app/filters"
	"causeway/app/limits"
	"causeway/app/notes"
	"causeway/app/pricing"
)

// pageRate is the rate limit of the pages of verifications of one address, which many customers of a
// mobile network may share. What guards their links is that nobody can guess one.
var pageRate = httpapi.Rate{PerSecond: 20, Burst: 300}

// mountPages adds the pages of verifications.
func (a *app) mountPages(server *httpapi.API, address net.Addr) error {
	verificationPages, err := pages.New(pages.Config{Log: a.log, PublicURL: a.publicURL(address),
		SelfService: customers.NewSelfService(a.kycLinks, a.customers, a.verifications, a.documents)})
	if err != nil {
		return err
	}
	verificationPages.Register(server.Mount, server.LimitByAddress(pageRate, verificationPages.TooManyRequests()))
	return nil
}

// signInRate is the rate limit of the pages for signing in of one address, which an office may share. Each e-mail address has
// limits of its own.
var signInRate = httpapi.Rate{PerSecond: 1, Burst: 60}

// mountConsole adds the pages of those who work with the service.
func (a *app) mountConsole(server *httpapi.API, address net.Addr) error {
	if !a.Console {
		return nil
	}
	consolePages, err := console.New(console.Config{Log: a.log, PublicURL: a.publicURL(address), Version: version, Clock: systemClock{},
		People: a.signIns(address), Platforms: a.platforms,
		Payments: a.payments, Customers: a.customers, Accounting: a.accounting, Webhooks: a.webhooks,
		Proposals: a.proposals,
		Jobs:      a.jobs, Periods: a.periods, MonthEnd: a.monthEnd, Years: a.years, Reconciliation: a.reconciliation,
		Books: a.books, Journals: a.journals, Receivables: a.receivables, Treasury: a.treasury, Financials: a.financials, LedgerLog: a.sealing,
		Exports: a.exports, ExportFiles: a.exportFiles,
		Rails: a.rails, Connections: a.rails, Prices: pricing.New(pricing.Config{Store: a.db.Pricing(), Clock: systemClock{}, IDs: ids.New()}),
		Verifications: a.verifications, Screening: a.screening, Documents: a.documents,
		PaymentActions: a.payments, Tokens: a.platforms, RequestLog: a.requestLog, Activity: activity.New(a.db),
		Filters: filters.New(a.db, systemClock{}), Search: a.search,
		Accounts: a.accounts, Stopping: a.stopping, Operations: a.processes, Agents: a.agents, AgentApprovals: a.payments,
		Limits:     limits.New(limits.Config{Store: a.db, Clock: systemClock{}}),
		Notes:      notes.New(a.db, systemClock{}, ids.New()),
		APIPath:    httpapi.BasePath,
		TestValues: sandboxrail.TestValues()})
	if err != nil {
		return err
	}
	consolePages.Register(server.Mount, server.LimitByAddress(signInRate, consolePages.TooManyRequests()))
	server.MountNotFound("/console/", consolePages.NotFound())
	return nil
}
