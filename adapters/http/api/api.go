// Package api implements the operations of the HTTP interface: their descriptions,
// request bodies and response bodies, one file per resource.
//
// It translates between bodies and domain values and decides nothing. What all
// operations have in common is in the parent package.
package api

import (
	"embed"
	"io/fs"

	httpapi "causeway/adapters/http"
)

// Deps holds the use cases that the operations call.
type Deps struct {
	Platforms        Platforms
	Customers        Customers
	CustomerImports  CustomerImports
	Invitations      Invitations
	BeneficialOwners BeneficialOwners
	Verifications    Verifications
	Documents        Documents
	KYCLinks         KYCLinks
	Authentication   Authentication
	ExternalAccounts ExternalAccounts
	InternalAccounts InternalAccounts
	Wallets          Wallets
	Agents           Agents
	AgentPayments    AgentPayments
	Quotes           Quotes
	QuoteProofs      QuoteProofs
	Payments         Payments
	Sandbox          Sandbox
	IncomingPayments IncomingPayments
	Receivers        Receivers
	UMAInvoices      UMAInvoices
	Webhooks         Webhooks
	WebhookSecrets   WebhookSecrets
	Accounting       Accounting
	LedgerLog        LedgerLog
	Exports          Exports
	Reconciliations  Reconciliations
	Periods          Periods
	Books            Books
	MonthEnd         MonthEnd
	Financials       Financials
	Years            Years
	Journals         Journals
	Safeguarding     Safeguarding
	Treasury         Treasury
	Proposals        Proposals
	Receivables      Receivables
	PlatformFees     PlatformFees
	RequestLog       RequestLog

	// VerificationURL is the URL of the pages of a verification, to which a token is added.
	VerificationURL string
}

// Register adds every operation, in the order of the reference page.
func Register(a *httpapi.API, d Deps) {
	a.Tags(
		httpapi.Tag{Name: tagConfig, Description: "The settings of the platform: currencies, limits and the webhook endpoint."},
		httpapi.Tag{Name: tagTokens, Description: "API credentials. Each token has one or more of the permissions VIEW, TRANSACT and MANAGE; " +
			"none includes another."},
		httpapi.Tag{Name: tagCustomers, Description: "The people and businesses that you move money for."},
		httpapi.Tag{Name: tagVerification, Description: "The check of who customers are (KYC, KYB), and the persons who own or control a " +
			"business. Customers of a regulated platform need none."},
		httpapi.Tag{Name: tagSCA, Description: scaGuide},
		httpapi.Tag{Name: tagDocuments, Description: "Documents that show who a customer or a beneficial owner is. Their files are stored " +
			"encrypted."},
		httpapi.Tag{Name: tagInvitations, Description: "A customer invites a person, who becomes a customer of any platform of the service."},
		httpapi.Tag{Name: tagAccounts, Description: "Bank accounts, mobile money accounts and blockchain wallets outside of the service. " +
			"Register an account once and use its id in any number of quotes."},
		httpapi.Tag{Name: tagInternal, Description: "The balances of customers and of the platform itself: one account per currency."},
		httpapi.Tag{Name: tagWallets, Description: walletGuide},
		httpapi.Tag{Name: tagAgents, Description: "Programs that pay for a customer under a policy of yours, such as assistants. Your backend " +
			"manages them with a token, approves what their policies ask it to approve, and reads what they have attempted. Experimental: the " +
			"operations may change."},
		httpapi.Tag{Name: tagForAgents, Description: "What the program calls, with the access token of its agent. The policy of the agent " +
			"decides: each operation states the permission that it requires, and payments also stay within the limits. A refusal is 403 " +
			"`FORBIDDEN`; `reason` is the code of the first reason, and `details.reasons` lists all. What does not belong to the customer of the " +
			"agent does not exist for it. Experimental: the operations may change."},
		httpapi.Tag{Name: tagRates, Description: "Current exchange rates and fees. Create a quote to lock a rate."},
		httpapi.Tag{Name: tagDiscoveries, Description: "The banks and mobile operators that can receive payments."},
		httpapi.Tag{Name: tagReceivers, Description: "Who can be paid, in which currencies, and which information about the sender is required."},
		httpapi.Tag{Name: tagQuotes, Description: "A locked rate and fee for one payment, with instructions to pay it."},
		httpapi.Tag{Name: tagTransfers, Description: "Payments in one currency between an internal and an external account."},
		httpapi.Tag{Name: tagTransactions, Description: "Payments and their current status."},
		httpapi.Tag{Name: tagWebhooks, Description: "Events sent to your webhook endpoint, the secrets and keys that sign them, and the log of " +
			"deliveries."},
		httpapi.Tag{Name: tagRequestLogs, Description: "The requests that your tokens and agents have made, for a week: what was sent, what " +
			"was answered, and how long it took. Secrets and personal data are masked. Reading the log is not logged."},
		httpapi.Tag{Name: tagLedger, Description: "The double-entry ledger behind every balance, for finance teams and auditors. It is " +
			"append-only. Amounts are integers in the smallest unit of their currency and may exceed 64 bits. A balance has the normal sign of " +
			"its account class: assets and expenses are debits minus credits, all other classes credits minus debits. Reports use one of two " +
			"times: `recorded`, when a posting was written, or `effective`, when it takes effect. A report by recorded time never changes; a " +
			"report by effective time includes later corrections."},
		httpapi.Tag{Name: tagLog, Description: "Proof that no posting was changed or removed: a Merkle tree (RFC 6962) over all postings, with " +
			"signed C2SP checkpoints."},
		httpapi.Tag{Name: tagExports, Description: "Ledger exports for other programs, and account statements for customers."},
		httpapi.Tag{Name: tagSandbox, Description: "Simulates payers, banks and other providers for sandbox platforms."},
	)
	a.Examples(examples())
	registerConfig(a, d.Platforms)
	registerTokens(a, d.Platforms)
	registerCustomers(a, d.Customers)
	registerDocuments(a, d.Documents)
	registerCustomerImports(a, d.CustomerImports)
	registerInvitations(a, d.Invitations)
	registerBeneficialOwners(a, d.BeneficialOwners)
	registerVerifications(a, d.Verifications)
	registerKYCLinks(a, d.KYCLinks, d.VerificationURL)
	registerSCA(a, d.Authentication)
	registerExternalAccounts(a, d.ExternalAccounts)
	registerInternalAccounts(a, d.InternalAccounts)
	registerWallets(a, d.Wallets)
	registerAgents(a, d.Agents)
	registerAgentAttempts(a, d.Agents)
	registerAgentApprovals(a, d.AgentPayments)
	registerOwnAgent(a, d.Agents)
	registerAgentTransactions(a, d.Payments)
	registerAgentInternalAccounts(a, d.InternalAccounts)
	registerAgentExternalAccounts(a, d.ExternalAccounts)
	registerAgentQuotes(a, d.AgentPayments)
	registerAgentTransfers(a, d.AgentPayments)
	registerAgentPreview(a, d.AgentPayments)
	registerOwnActions(a, d.AgentPayments)
	registerRates(a, d.Quotes)
	registerDiscoveries(a)
	registerReceivers(a, d.Receivers)
	registerUMAInvoices(a, d.UMAInvoices)
	registerQuotes(a, d.Quotes, d.Payments)
	registerQuoteProofs(a, d.QuoteProofs)
	registerTrust(a, d.ExternalAccounts)
	registerTransfers(a, d.Payments)
	registerTransactions(a, d.Payments)
	registerTransactionChanges(a, d.Payments)
	registerApprovals(a, d.IncomingPayments)
	registerTransferIn(a, d.IncomingPayments)
	registerWebhookSecrets(a, d.WebhookSecrets)
	registerDeliveries(a, d.Webhooks)
	registerWebhooks(a)
	registerRequestLogs(a, d.RequestLog)
	registerLedger(a, d.Accounting)
	registerPeriods(a, d.Periods)
	registerLedgerSettings(a, d.Books)
	registerLedgerChart(a, d.Books)
	registerGLMapping(a, d.Books)
	registerOpeningBalances(a, d.Books)
	registerMonthEnd(a, d.MonthEnd)
	registerAllowance(a, d.MonthEnd)
	registerFinancials(a, d.Financials)
	registerYears(a, d.Years)
	registerJournals(a, d.Journals)
	registerSafeguarding(a, d.Safeguarding)
	registerTreasury(a, d.Treasury)
	registerProposals(a, d.Proposals)
	registerReceivables(a, d.Receivables)
	registerPlatformFees(a, d.PlatformFees)
	registerLedgerLog(a, d.LedgerLog)
	registerReconciliations(a, d.Reconciliations)
	registerExports(a, d.Exports)
	registerSandbox(a, d.Sandbox)
	registerSandboxTime(a, d.Sandbox)
	registerSandboxIncomingPayments(a, d.IncomingPayments)
	registerSandboxWebhooks(a, d.Webhooks)
	registerListener(a, d.Webhooks, d.Sandbox)
}

// exampleFiles holds the recorded examples, one file per operation or webhook. Only the
// end-to-end tests write them, from calls to the real service:
// go test ./e2e -run Examples -update
//
//go:embed examples
var exampleFiles embed.FS

func examples() fs.FS {
	folder, err := fs.Sub(exampleFiles, "examples")
	if err != nil {
		panic(err) // the folder is embedded above
	}
	return folder
}
