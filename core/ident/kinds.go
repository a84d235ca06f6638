package ident

import "time"

type (
	platformKind        struct{}
	tokenKind           struct{}
	customerKind        struct{}
	externalAccountKind struct{}
	internalAccountKind struct{}
	quoteKind           struct{}
	transactionKind     struct{}
	receiptKind         struct{}
	webhookKind         struct{}
	webhookSecretKind   struct{}
	lookupKind          struct{}
	postingKind         struct{}
	reconciliationKind  struct{}
	breakKind           struct{}
	statementLineKind   struct{}
	beneficialOwnerKind struct{}
	documentKind        struct{}
	verificationKind    struct{}
	customerImportKind  struct{}
	authMethodKind      struct{}
	sessionKind         struct{}
	signedRequestKind   struct{}
	agentKind           struct{}
	agentActionKind     struct{}
	agentAttemptKind    struct{}
	movementKind        struct{}
	proposalKind        struct{}
	receivableKind      struct{}
	personKind          struct{}
	requestLogKind      struct{}
	scaCredentialKind   struct{}
	scaChallengeKind    struct{}
	scaSessionKind      struct{}
	scaResetKind        struct{}
	umaInvoiceKind      struct{}
)

func (platformKind) prefix() string        { return "PlatformConfig" }
func (tokenKind) prefix() string           { return "Token" }
func (customerKind) prefix() string        { return "Customer" }
func (externalAccountKind) prefix() string { return "ExternalAccount" }
func (internalAccountKind) prefix() string { return "InternalAccount" }
func (quoteKind) prefix() string           { return "Quote" }
func (transactionKind) prefix() string     { return "Transaction" }
func (receiptKind) prefix() string         { return "Receipt" }
func (webhookKind) prefix() string         { return "Webhook" }
func (webhookSecretKind) prefix() string   { return "WebhookSecret" }
func (lookupKind) prefix() string          { return "Lookup" }
func (postingKind) prefix() string         { return "Posting" }
func (reconciliationKind) prefix() string  { return "Reconciliation" }
func (breakKind) prefix() string           { return "Break" }
func (statementLineKind) prefix() string   { return "StatementLine" }
func (beneficialOwnerKind) prefix() string { return "BeneficialOwner" }
func (documentKind) prefix() string        { return "Document" }
func (verificationKind) prefix() string    { return "Verification" }
func (customerImportKind) prefix() string  { return "Job" }
func (authMethodKind) prefix() string      { return "AuthMethod" }
func (sessionKind) prefix() string         { return "Session" }
func (signedRequestKind) prefix() string   { return "Request" }
func (agentKind) prefix() string           { return "Agent" }
func (agentActionKind) prefix() string     { return "AgentAction" }
func (agentAttemptKind) prefix() string    { return "AgentAttempt" }
func (movementKind) prefix() string        { return "Movement" }
func (proposalKind) prefix() string        { return "Proposal" }
func (receivableKind) prefix() string      { return "Receivable" }
func (personKind) prefix() string          { return "Person" }
func (requestLogKind) prefix() string      { return "RequestLog" }
func (scaCredentialKind) prefix() string   { return "ScaCredential" }
func (scaChallengeKind) prefix() string    { return "ScaChallenge" }
func (scaSessionKind) prefix() string      { return "ScaSession" }
func (scaResetKind) prefix() string        { return "ScaReset" }
func (umaInvoiceKind) prefix() string      { return "UmaInvoice" }

// The ids of the resources.
type (
	Platform        = ID[platformKind]
	Token           = ID[tokenKind]
	Customer        = ID[customerKind]
	ExternalAccount = ID[externalAccountKind]
	InternalAccount = ID[internalAccountKind]
	Quote           = ID[quoteKind]
	Transaction     = ID[transactionKind]
	// Receipt is a payment received on a rail or chain.
	Receipt = ID[receiptKind]
	// Webhook is an event sent to a platform.
	Webhook = ID[webhookKind]
	// WebhookSecret is a secret that signs the webhooks of a platform.
	WebhookSecret = ID[webhookSecretKind]
	// Lookup is a lookup of a receiver.
	Lookup = ID[lookupKind]
	// Posting is a posting of the ledger.
	Posting = ID[postingKind]
	// Reconciliation is the comparison of a partner's statement with the ledger.
	Reconciliation = ID[reconciliationKind]
	// Break is a statement line or a ledger entry without a match.
	Break = ID[breakKind]
	// StatementLine is a line of a partner's statement.
	StatementLine = ID[statementLineKind]
	// BeneficialOwner is a person who owns or controls a business.
	BeneficialOwner = ID[beneficialOwnerKind]
	// Document is a document of a customer or a beneficial owner.
	Document = ID[documentKind]
	// Verification is the check of a customer's identity.
	Verification = ID[verificationKind]
	// CustomerImport is the import of customers from a file.
	CustomerImport = ID[customerImportKind]
	// AuthMethod is a credential of an embedded wallet.
	AuthMethod = ID[authMethodKind]
	// Session is a session of an embedded wallet.
	Session = ID[sessionKind]
	// SignedRequest is a request that the owner of an embedded wallet has to sign.
	SignedRequest = ID[signedRequestKind]
	// Agent is a program that acts for a customer under a policy.
	Agent = ID[agentKind]
	// AgentAction is a payment that an agent has asked for.
	AgentAction = ID[agentActionKind]
	// AgentAttempt is an entry of the audit trail of an agent.
	AgentAttempt = ID[agentAttemptKind]
	// Movement is a movement of money between accounts at partners.
	Movement = ID[movementKind]
	// Proposal is a change of the books that waits for the approval of a second person.
	Proposal = ID[proposalKind]
	// Receivable is what a customer owes for a collection that was returned.
	Receivable = ID[receivableKind]
	// Person is a person who works with the service.
	Person = ID[personKind]
	// RequestLog is an entry of the log of API requests.
	RequestLog = ID[requestLogKind]
	// SCACredential is a factor of strong customer authentication that a customer has enrolled.
	SCACredential = ID[scaCredentialKind]
	// SCAChallenge asks a customer for a proof.
	SCAChallenge = ID[scaChallengeKind]
	// SCASession is what a login with strong customer authentication opens.
	SCASession = ID[scaSessionKind]
	// SCAReset is the reset of a factor.
	SCAReset = ID[scaResetKind]
	// UMAInvoice is a UMA invoice that a platform has issued, or that its customer is asked to pay.
	UMAInvoice = ID[umaInvoiceKind]
)

// ParseCustomer and the functions after it parse an id of their type.
func ParseCustomer(s string) (Customer, error)               { return Parse[customerKind](s) }
func ParseToken(s string) (Token, error)                     { return Parse[tokenKind](s) }
func ParseMovement(s string) (Movement, error)               { return Parse[movementKind](s) }
func ParseProposal(s string) (Proposal, error)               { return Parse[proposalKind](s) }
func ParseReceipt(s string) (Receipt, error)                 { return Parse[receiptKind](s) }
func ParseReceivable(s string) (Receivable, error)           { return Parse[receivableKind](s) }
func ParsePlatform(s string) (Platform, error)               { return Parse[platformKind](s) }
func ParsePosting(s string) (Posting, error)                 { return Parse[postingKind](s) }
func ParseExternalAccount(s string) (ExternalAccount, error) { return Parse[externalAccountKind](s) }
func ParseInternalAccount(s string) (InternalAccount, error) { return Parse[internalAccountKind](s) }
func ParseQuote(s string) (Quote, error)                     { return Parse[quoteKind](s) }
func ParseTransaction(s string) (Transaction, error)         { return Parse[transactionKind](s) }
func ParseWebhook(s string) (Webhook, error)                 { return Parse[webhookKind](s) }
func ParseBeneficialOwner(s string) (BeneficialOwner, error) { return Parse[beneficialOwnerKind](s) }
func ParseDocument(s string) (Document, error)               { return Parse[documentKind](s) }
func ParseVerification(s string) (Verification, error)       { return Parse[verificationKind](s) }
func ParseAuthMethod(s string) (AuthMethod, error)           { return Parse[authMethodKind](s) }
func ParseSession(s string) (Session, error)                 { return Parse[sessionKind](s) }
func ParseReconciliation(s string) (Reconciliation, error)   { return Parse[reconciliationKind](s) }
func ParseBreak(s string) (Break, error)                     { return Parse[breakKind](s) }
func ParseAgent(s string) (Agent, error)                     { return Parse[agentKind](s) }
func ParseAgentAction(s string) (AgentAction, error)         { return Parse[agentActionKind](s) }
func ParseRequestLog(s string) (RequestLog, error)           { return Parse[requestLogKind](s) }
func ParseSCAReset(s string) (SCAReset, error)               { return Parse[scaResetKind](s) }

// NewWebhook and the functions after it return a new id of their type.
func NewWebhook(source Source, at time.Time) Webhook         { return New[webhookKind](source, at) }
func NewQuote(source Source, at time.Time) Quote             { return New[quoteKind](source, at) }
func NewTransaction(source Source, at time.Time) Transaction { return New[transactionKind](source, at) }
func NewReceipt(source Source, at time.Time) Receipt         { return New[receiptKind](source, at) }
func NewCustomer(source Source, at time.Time) Customer       { return New[customerKind](source, at) }
func NewLookup(source Source, at time.Time) Lookup           { return New[lookupKind](source, at) }
func NewPlatform(source Source, at time.Time) Platform       { return New[platformKind](source, at) }
func NewToken(source Source, at time.Time) Token             { return New[tokenKind](source, at) }
func NewDocument(source Source, at time.Time) Document       { return New[documentKind](source, at) }
func NewAuthMethod(source Source, at time.Time) AuthMethod   { return New[authMethodKind](source, at) }
func NewSession(source Source, at time.Time) Session         { return New[sessionKind](source, at) }
func NewAgent(source Source, at time.Time) Agent             { return New[agentKind](source, at) }
func NewSCACredential(source Source, at time.Time) SCACredential {
	return New[scaCredentialKind](source, at)
}
func NewSCAChallenge(source Source, at time.Time) SCAChallenge {
	return New[scaChallengeKind](source, at)
}
func NewSCASession(source Source, at time.Time) SCASession   { return New[scaSessionKind](source, at) }
func NewUMAInvoice(source Source, at time.Time) UMAInvoice   { return New[umaInvoiceKind](source, at) }
func NewSCAReset(source Source, at time.Time) SCAReset       { return New[scaResetKind](source, at) }
func NewAgentAction(source Source, at time.Time) AgentAction { return New[agentActionKind](source, at) }
func NewProposal(source Source, at time.Time) Proposal       { return New[proposalKind](source, at) }
func NewPerson(source Source, at time.Time) Person           { return New[personKind](source, at) }
func NewAgentAttempt(source Source, at time.Time) AgentAttempt {
	return New[agentAttemptKind](source, at)
}
func NewSignedRequest(source Source, at time.Time) SignedRequest {
	return New[signedRequestKind](source, at)
}
func NewReconciliation(source Source, at time.Time) Reconciliation {
	return New[reconciliationKind](source, at)
}
func NewRequestLog(source Source, at time.Time) RequestLog { return New[requestLogKind](source, at) }
func NewWebhookSecret(source Source, at time.Time) WebhookSecret {
	return New[webhookSecretKind](source, at)
}
func NewCustomerImport(source Source, at time.Time) CustomerImport {
	return New[customerImportKind](source, at)
}
func NewBreak(source Source, at time.Time) Break { return New[breakKind](source, at) }
func NewExternalAccount(source Source, at time.Time) ExternalAccount {
	return New[externalAccountKind](source, at)
}
func NewInternalAccount(source Source, at time.Time) InternalAccount {
	return New[internalAccountKind](source, at)
}
func NewReceivable(source Source, at time.Time) Receivable { return New[receivableKind](source, at) }
func NewBeneficialOwner(source Source, at time.Time) BeneficialOwner {
	return New[beneficialOwnerKind](source, at)
}
func NewVerification(source Source, at time.Time) Verification {
	return New[verificationKind](source, at)
}
