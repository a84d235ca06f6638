package main

import (
	"errors"
	"net"

	httpapi "causeway/adapters/http"
	"causeway/adapters/http/api"
	"causeway/adapters/postgres"
	"causeway/app/platforms"
	"causeway/docs"
)

// newAPI creates the HTTP API.
func (a *app) newAPI(address net.Addr) (*httpapi.API, error) {
	proxies, err := a.trustedProxies()
	if err != nil {
		return nil, err
	}
	config := httpapi.Config{
		Authenticator: platforms.NewAuthenticator(a.db), AgentAuthenticator: a.agents, IdempotencyStore: a.idempotency, Log: a.log,
		Metrics: a.metrics, Tracer: a.traces.httpTracer(), Ready: a.ready, IsOutage: postgres.IsUnavailable,
		Rate:           httpapi.Rate{PerSecond: float64(a.RatePerSecond), Burst: a.RateBurst},
		RequestTimeout: a.RequestTimeout, FileTimeout: a.ExportTimeout, MaxUploads: a.Uploads, TrustedProxies: proxies,
		PublicURL: a.baseURL(address), Version: version, Guides: docs.Guides, LogRefused: a.logRefused,
	}
	if a.RequestLogRetention > 0 {
		config.RequestLog = a.requestLog
	}
	server := httpapi.New(config)
	api.Register(server, a.useCases(a.verificationURL(address)))
	a.mountPartners(server)
	a.mountUMA(server)
	return server, errors.Join(a.mountPages(server, address), a.mountConsole(server, address), a.mountIdentity(server), server.Build())
}

// useCases returns what the operations of the API call.
func (a *app) useCases(verificationURL string) api.Deps {
	return api.Deps{Platforms: a.platforms, Customers: a.customers, CustomerImports: a.imports, Invitations: a.invitations,
		BeneficialOwners: a.verifications, Verifications: a.verifications,
		Documents: a.documents, KYCLinks: a.kycLinks, Authentication: a.authentication, VerificationURL: verificationURL,
		ExternalAccounts: a.accounts, InternalAccounts: a.accounts, Wallets: a.wallets, Agents: a.agents, AgentPayments: a.payments,
		Quotes: a.payments, QuoteProofs: a.payments, Payments: a.payments, IncomingPayments: a.payments, Receivers: a.receivers,
		UMAInvoices: a.receivers,
		Sandbox:     a.payments, Webhooks: a.webhooks,
		WebhookSecrets: a.webhooks, RequestLog: a.requestLog,
		Safeguarding: a.treasury, Treasury: a.treasury, Receivables: a.receivables, PlatformFees: a.platformFees,
		Accounting: a.accounting, LedgerLog: a.sealing, Exports: a.exports, Reconciliations: a.reconciliation, Periods: a.periods,
		Books:    a.books,
		MonthEnd: a.monthEnd, Financials: a.financials, Years: a.years, Journals: a.journals, Proposals: a.proposals}
}
