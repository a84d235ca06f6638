package console

import (
	"context"
	"iter"
	"time"

	"github.com/google/uuid"

	"causeway/app/accounting"
	"causeway/app/payments"
	"causeway/app/people"
	"causeway/app/webhooks"
	"causeway/core/customer"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/person"
	"causeway/core/platform"
	"causeway/core/proposal"
	"causeway/core/transaction"
	"causeway/ports"
)

// People are the use cases of signing in.
type People interface {
	Linked(ctx context.Context, token string) (person.Person, error)
	OpenLink(ctx context.Context, token string) (people.SignedIn, error)
	NewTOTPSecret() string
	SetUp(ctx context.Context, secret string, r people.Setup) (people.SignedIn, []string, error)
	SignIn(ctx context.Context, email, password, code string) (people.SignedIn, error)
	SignOut(ctx context.Context, secret string) error
	SetTimeZone(ctx context.Context, in people.SignedIn, name string) error
	Session(ctx context.Context, secret string) (people.SignedIn, error)
	NameDevice(ctx context.Context, in people.SignedIn, device string) error
	Account(ctx context.Context, in people.SignedIn) (person.Account, error)
	Accounts(ctx context.Context) ([]person.Account, error)
	EndSession(ctx context.Context, in people.SignedIn, token person.SecretHash) error
	EndOtherSessions(ctx context.Context, in people.SignedIn) error
	ChangePassword(ctx context.Context, in people.SignedIn, current, password string) error
	ReplaceAuthenticator(ctx context.Context, in people.SignedIn, secret, code string) error
	RenewRecoveryCodes(ctx context.Context, in people.SignedIn) ([]string, error)
	Confirm(ctx context.Context, in people.SignedIn, by people.Confirmation) error
	NeedsNoCode(ctx context.Context, in people.SignedIn) (bool, error)
	HasPasskeys() bool
	PasskeysOf(ctx context.Context, p person.Person) ([]person.Passkey, error)
	AskForSignIn(ctx context.Context) ([]byte, error)
	AskForConfirmation(ctx context.Context, in people.SignedIn, action string) ([]byte, error)
	AskForPasskey(ctx context.Context, in people.SignedIn, by people.Confirmation) ([]byte, error)
	AddPasskey(ctx context.Context, in people.SignedIn, name string, answer []byte) (person.Passkey, error)
	RemovePasskey(ctx context.Context, in people.SignedIn, id []byte) error
	SignInWithPasskey(ctx context.Context, answer []byte) (people.SignedIn, error)
	HasSingleSignOn() bool
	NewBrowserSecret() string
	BeginSingleSignOn(ctx context.Context, browser, next string) (string, error)
	BeginProviderConfirmation(ctx context.Context, in people.SignedIn, browser, action string) (string, error)
	ReturnFromProvider(ctx context.Context, in people.SignedIn, browser, state, code string) (people.Returned, error)
	IsConfirmed(in people.SignedIn, action string) bool
	SignInRequest(ctx context.Context, code string) (person.SignInRequest, error)
	ApproveSignIn(ctx context.Context, in people.SignedIn, code string) error
	RefuseSignIn(ctx context.Context, code string) error
	RecordAction(ctx context.Context, p person.Person, a platform.OperatorAction) (platform.OperatorAction, error)
	RecordRefused(ctx context.Context, p person.Person, a platform.OperatorAction, reason string) error
	RecordViewed(ctx context.Context, p person.Person, of ident.Platform, subject uuid.UUID, what string) error
}

// Platforms are the use cases on platforms.
type Platforms interface {
	All(ctx context.Context) iter.Seq2[platform.Platform, error]
	Settings(ctx context.Context, p ident.Platform) (platform.Platform, error)
	UpdateSettings(ctx context.Context, p ident.Platform, by platform.Author, change platform.Change) (platform.Platform, error)
	NameTokens(ctx context.Context, p ident.Platform, texts ...*string) error
	TokenOf(ctx context.Context, p ident.Platform, of person.Person) (ident.Token, error)
}

// Payments are the use cases on payments.
type Payments interface {
	ListTransactions(ctx context.Context, p ident.Platform, f ports.TransactionFilter) (ports.Page[transaction.Transaction], error)
	CountTransactions(ctx context.Context, p ident.Platform, since time.Time) (map[transaction.Status]int64, error)
	CountTransactionsByStatus(ctx context.Context, p ident.Platform, f ports.TransactionFilter) (ports.StatusCounts, error)
	CountTransactionsByHour(ctx context.Context, p ident.Platform, hours int) ([]payments.TimeCount, error)
	CountTransactionsByDay(ctx context.Context, p ident.Platform, days int) ([]payments.TimeCount, error)
}

// Customers are the use cases on customers.
type Customers interface {
	Get(ctx context.Context, p ident.Platform, id ident.Customer) (customer.Customer, error)
	List(ctx context.Context, p ident.Platform, f ports.CustomerFilter) (ports.Page[customer.Customer], error)
}

// Accounting are the use cases on the ledger.
type Accounting interface {
	Timeline(ctx context.Context, p ident.Platform, id ident.Transaction) (accounting.Timeline, error)
	TrialBalance(ctx context.Context, p ident.Platform, q accounting.TrialBalanceQuery) (accounting.TrialBalance, error)
	Entries(ctx context.Context, filter ports.AccountEntryFilter) (ports.AccountEntryPage, error)
	EntriesSum(ctx context.Context, filter ports.AccountEntryFilter) (money.Total, error)
	Posting(ctx context.Context, p ident.Platform, id uuid.UUID) (accounting.Posting, error)
	Postings(ctx context.Context, filter ports.PostingFilter) (ports.PostingPage, error)
	Account(ctx context.Context, p ident.Platform, path string, currency money.Currency, at ports.Cutoff) ([]accounting.LedgerAccount, error)
	Unmatched(ctx context.Context, p ident.Platform, f ports.UnmatchedFilter) (ports.UnmatchedPage, error)
	CountUnmatched(ctx context.Context, p ident.Platform, atMost int) (int, error)
	UnmatchedOf(ctx context.Context, p ident.Platform, receipt ident.Receipt) (accounting.UnmatchedDetails, error)
	AssignUnmatched(ctx context.Context, p ident.Platform, by platform.Author, a accounting.AssignCommand,
		request *ports.IdempotentRequest) (proposal.Outcome[transaction.Unmatched], error)
	FXPosition(ctx context.Context, p ident.Platform, at ports.Cutoff, in money.Currency) (accounting.FXPosition, error)
}

// Proposals are the use cases on changes that need the approval of a second person.
type Proposals interface {
	Proposal(ctx context.Context, p ident.Platform, id ident.Proposal) (proposal.Stated, error)
	Proposals(ctx context.Context, p ident.Platform, f ports.ProposalFilter) (ports.Page[proposal.Stated], error)
	Approve(ctx context.Context, p ident.Platform, by platform.Author, key *ports.IdempotentRequest,
		id ident.Proposal) (proposal.Stated, error)
	Reject(ctx context.Context, p ident.Platform, by platform.Author, key *ports.IdempotentRequest, id ident.Proposal,
		note string) (proposal.Stated, error)
}

// Webhooks are the use cases on deliveries.
type Webhooks interface {
	Deliveries(ctx context.Context, p ident.Platform, f ports.DeliveryFilter) (ports.DeliveryPage, error)
	Delivery(ctx context.Context, p ident.Platform, id ident.Webhook) (ports.Delivery, error)
	Redeliver(ctx context.Context, p ident.Platform, r ports.Redelivery) (int, error)
	SendTest(ctx context.Context, p ident.Platform) (webhooks.TestResult, error)
}
