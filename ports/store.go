package ports

import (
	"context"

	"causeway/core/event"
)

// Store stores everything that the service changes. Do is the only way to change any of
// it.
type Store interface {
	// Do runs fn in one unit of work: everything it wrote is committed if fn returns nil,
	// and nothing otherwise. After a deadlock, a serialization failure or refused postings Do
	// runs fn again, so fn must not keep results of an earlier run. After an error of the
	// commit itself it is unknown whether the commit happened.
	Do(ctx context.Context, fn func(ctx context.Context, tx Tx) error) error
	Reader
}

// Tx is a unit of work. Everything that a method with Lock in its name returns is locked
// until the unit of work ends. Writes may be delayed and sent together at the commit, so
// a constraint violation may be the error of Do.
type Tx interface {
	LedgerWriter
	PlatformWriter
	CustomerWriter
	BeneficialOwnerWriter
	VerificationWriter
	ScreeningWriter
	KYCLinkWriter
	CustomerImportWriter
	InvitationWriter
	PaymentWriter
	IncomingPaymentWriter
	UnmatchedWriter
	RailReplyWriter
	RailFeedItemWriter
	RailPaymentWriter
	WalletAuthorizationWriter
	PeriodWriter
	BooksWriter
	MonthEndWriter
	YearEndWriter
	JournalWriter
	JobWriter
	ReconciliationWriter
	WebhookSecretWriter
	DocumentWriter
	MailWriter
	WalletWriter
	AgentWriter
	AgentPaymentWriter
	SafeguardingWriter
	TreasuryWriter
	ProposalWriter
	ReceivableWriter

	// Emit stores events in the given order; they are sent after the commit.
	Emit(ctx context.Context, events []event.Event) error
	// SaveResponse stores the response to a request with an idempotency key; for a nil
	// request it does nothing. It returns a *Replay error if the key already has a
	// response.
	SaveResponse(ctx context.Context, request *IdempotentRequest, result any, err error) error
}

// Reader reads committed data without locks.
type Reader interface {
	PlatformReader
	CustomerReader
	BeneficialOwners
	VerificationReader
	ScreeningReader
	KYCLinkReader
	CustomerImportReader
	InvitationReader
	PaymentReader
	LookupReader
	UnmatchedReader
	RailReplyReader
	RailPaymentReader
	WalletAuthorizationReader
	PeriodReader
	BooksReader
	BooksHistory
	MonthEndReader
	YearEndReader
	JournalReader
	PricingReader
	WebhookSecretReader
	DocumentReader
	MailReader
	WalletReader
	AgentReader
	AgentPaymentReader
	SafeguardingReader
	TreasuryReader
	ProposalReader
	ReceivableReader

	// StoredResponses returns the stored responses, one per key; nil if there is none.
	StoredResponses(ctx context.Context, keys []IdempotencyKey) ([]*StoredResponse, error)
}
