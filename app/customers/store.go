package customers

import (
	"context"
	"time"

	"github.com/google/uuid"

	"causeway/app/internal/mails"
	"causeway/app/internal/signedrequests"
	"causeway/app/internal/uow"
	"causeway/core/account"
	"causeway/core/customer"
	"causeway/core/document"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/invitation"
	"causeway/core/platform"
	"causeway/core/sca"
	"causeway/core/screening"
	"causeway/core/verification"
	"causeway/core/wallet"
	"causeway/ports"
)

// Store reads customers and all that belongs to them.
type Store interface {
	signedrequests.Store
	// ImportChunk returns the rows that were stored together, and begin with a row; none if none do.
	ImportChunk(ctx context.Context, p ident.Platform, id ident.CustomerImport, firstRow int) (ports.ImportChunk, error)
	// SealCustomers encrypts customers of one platform, and their accounts, for CreateCustomers. It
	// takes as long as storing them, but is outside of the unit of work.
	SealCustomers(ctx context.Context, customers []customer.Customer, accounts []account.Internal) (ports.SealedCustomers, error)
	// CustomerImport returns an import that was uploaded, or BULK_UPLOAD_JOB_NOT_FOUND.
	CustomerImport(ctx context.Context, p ident.Platform, id ident.CustomerImport) (customer.ImportWithErrors, error)
	Customer(ctx context.Context, p ident.Platform, id ident.Customer) (customer.Customer, error)
	Customers(ctx context.Context, p ident.Platform, f ports.CustomerFilter) (ports.Page[customer.Customer], error)
	// CustomersAfter returns customers that are not deleted, in the order of their ids: at
	// most limit after the one with the given id.
	CustomersAfter(ctx context.Context, p ident.Platform, after ident.Customer, limit int) ([]customer.Customer, error)
	// CustomersByID returns those of the customers who exist and are not deleted.
	CustomersByID(ctx context.Context, p ident.Platform, ids []ident.Customer) ([]customer.Customer, error)
	InternalAccountsOf(ctx context.Context, p ident.Platform, owners []ident.Customer) (map[ident.Customer][]account.Internal, error)
	// Document returns a document, also a superseded one, or DOCUMENT_NOT_FOUND.
	Document(ctx context.Context, p ident.Platform, id ident.Document) (document.Document, error)
	// Documents leaves out superseded documents unless the filter says otherwise.
	Documents(ctx context.Context, p ident.Platform, f ports.DocumentFilter) (ports.Page[document.Document], error)
	// DocumentsOf returns all documents of holders, in the order of their ids. Superseded ones are
	// those with SupersededBy.
	DocumentsOf(ctx context.Context, p ident.Platform, holders ...document.Holder) ([]document.Document, error)
	// HasBlob reports whether a document or an export has a stored file.
	HasBlob(ctx context.Context, p ident.Platform, blob uuid.UUID) (bool, error)
	// Mails returns the mails that match, newest first.
	Mails(ctx context.Context, f ports.MailFilter) ([]ports.ListedMail, error)
	// InvitationByCode returns the invitation with a code, of any platform of the environment of the
	// caller, or INVITATION_NOT_FOUND.
	InvitationByCode(ctx context.Context, caller ident.Platform, code string) (invitation.Invitation, error)
	// KYCLinkOfSession returns the link with a session, or NOT_FOUND.
	KYCLinkOfSession(ctx context.Context, p ident.Platform, session verification.SecretHash) (verification.Link, error)
	Platform(ctx context.Context, id ident.Platform) (platform.Platform, error)
	// OpenScreeningHits returns at most limit hits that wait for an operator, those first that wait longest:
	// of customers who are neither deleted nor rejected.
	OpenScreeningHits(ctx context.Context, p ident.Platform, limit int) ([]screening.Hit, error)
	// CustomerScreeningHits returns the hits of a customer and its owners, oldest first.
	CustomerScreeningHits(ctx context.Context, p ident.Platform, c ident.Customer) ([]screening.Hit, error)
	// CustomersOnHold returns at most limit customers whom a person has put on hold, those first who are held longest.
	CustomersOnHold(ctx context.Context, p ident.Platform, limit int) ([]customer.Customer, error)
	// ScreeningRun returns a run, or false if it was deleted.
	ScreeningRun(ctx context.Context, p ident.Platform, id uuid.UUID) (screening.Run, bool, error)
	// BeneficialOwner returns an owner, or BENEFICIAL_OWNER_NOT_FOUND.
	BeneficialOwner(ctx context.Context, p ident.Platform, id ident.BeneficialOwner) (customer.BeneficialOwner, error)
	// BeneficialOwnersOf returns the owners of customers, oldest first.
	BeneficialOwnersOf(ctx context.Context, p ident.Platform, customers ...ident.Customer) ([]customer.BeneficialOwner, error)
	ListBeneficialOwners(ctx context.Context, p ident.Platform, f ports.BeneficialOwnerFilter) (ports.Page[customer.BeneficialOwner], error)
	// Verification returns a verification, or VERIFICATION_NOT_FOUND.
	Verification(ctx context.Context, p ident.Platform, id ident.Verification) (verification.Verification, error)
	Verifications(ctx context.Context, p ident.Platform, f ports.VerificationFilter) (ports.Page[verification.Verification], error)
	// ReviewsOf returns what operators decided about a customer and its owners, oldest first.
	ReviewsOf(ctx context.Context, p ident.Platform, c ident.Customer) ([]verification.Review, error)
	// EndUserTerms returns every version of the terms, oldest first.
	EndUserTerms(ctx context.Context) ([]customer.EndUserTerms, error)
	// WalletCodeHash returns the keyed hash of a code, with what it is bound to.
	WalletCodeHash(ctx context.Context, p ident.Platform, id ident.AuthMethod, code string) (wallet.CodeHash, error)
	// OtherWalletWithEmail reports whether codes for another wallet of the platform are sent to an address.
	// Default credentials that are not stored are not searched.
	OtherWalletWithEmail(ctx context.Context, w ports.WalletID, email string) (bool, error)
}

// Tx changes customers and all that belongs to them. The customer must be locked before its beneficial owners, verifications and
// documents, so that these change one after the other.
type Tx interface {
	mails.Tx
	signedrequests.Tx
	uow.Tx
	// EndSCASessions ends the sessions of a customer that a factor has opened, and the challenges that it could answer.
	EndSCASessions(ctx context.Context, p ident.Platform, id ident.Customer, opened sca.Factor, now time.Time) error
	EndUserTerms(ctx context.Context) ([]customer.EndUserTerms, error)
	// CreateEndUserTerms stores a version of the terms, or returns CONFLICT if it exists.
	CreateEndUserTerms(ctx context.Context, t customer.EndUserTerms) error
	// DeleteAgentsOf is DeleteAgent for all agents of a customer.
	DeleteAgentsOf(ctx context.Context, p ident.Platform, id ident.Customer) error
	// CreateCustomers stores customers with their accounts, except those whose platformCustomerId or UMA
	// address is in use by another one, stored or before it in the list. It returns why each of these was
	// refused.
	CreateCustomers(ctx context.Context, customers ports.SealedCustomers) (map[ident.Customer]*fault.Error, error)
	// CreateCustomerImport stores an import that is being uploaded, or returns RATE_LIMITED if the
	// platform has too many that have not ended.
	CreateCustomerImport(ctx context.Context, i customer.Import, limit ports.UnfinishedImports) error
	// AddImportChunk stores rows of a file.
	AddImportChunk(ctx context.Context, i customer.Import, chunk ports.ImportChunk) error
	// LockCustomerImport returns an import that was not deleted, or false.
	LockCustomerImport(ctx context.Context, p ident.Platform, id ident.CustomerImport) (customer.Import, bool, error)
	// DeleteImportChunk deletes rows that are stored.
	DeleteImportChunk(ctx context.Context, i customer.Import, chunk ports.ImportChunk) error
	// DeleteImportChunks deletes all rows that are stored.
	DeleteImportChunks(ctx context.Context, i customer.Import) error
	// UpdateCustomerImport stores an import and further errors of it.
	UpdateCustomerImport(ctx context.Context, i customer.Import, errors []customer.ImportError) error
	// ImportErrors returns the stored errors of an import.
	ImportErrors(ctx context.Context, i customer.Import) ([]customer.ImportError, error)
	// DeleteCustomerUpload deletes an import with its rows, if its upload has not ended.
	DeleteCustomerUpload(ctx context.Context, p ident.Platform, id ident.CustomerImport) error
	// CreateCustomer returns CONFLICT for a platformCustomerId in use, and
	// UMA_ADDRESS_EXISTS for a UMA address in use.
	CreateCustomer(ctx context.Context, c customer.Customer) error
	LockCustomer(ctx context.Context, p ident.Platform, id ident.Customer) (customer.Customer, error)
	// UpdateCustomer writes what can change of a customer, who is locked. It returns
	// UMA_ADDRESS_EXISTS for a UMA address in use.
	UpdateCustomer(ctx context.Context, c customer.Customer) error
	// CustomerFunds returns the money of a customer.
	CustomerFunds(ctx context.Context, p ident.Platform, id ident.Customer) (customer.Funds, error)
	// LockCustomerFunds returns the money of a customer, and keeps its balances from changing until the
	// unit of work ends.
	LockCustomerFunds(ctx context.Context, p ident.Platform, id ident.Customer) (customer.Funds, error)
	// EraseTransactionsOf removes the names, texts and UMA addresses of at most limit transactions of a
	// customer after one, in the order of their ids, the accounts that paid for them, and erases their webhooks. It returns how many there
	// were of both, and the last transaction.
	EraseTransactionsOf(ctx context.Context, p ident.Platform, id ident.Customer, after ident.Transaction, limit int) (n int,
		webhooks int, last ident.Transaction, err error)
	// EraseWebhooksOf erases at most limit webhooks after one, in the order of their ids, that are about a
	// customer, its internal accounts, verifications, invitations and the actions of its agents: their
	// resource, and what was responded. It returns how many there were, and the last.
	EraseWebhooksOf(ctx context.Context, p ident.Platform, id ident.Customer, after ident.Webhook, limit int) (n int,
		last ident.Webhook, err error)
	// EraseRecordsOf deletes the external accounts, beneficial owners, verifications, their links and the
	// invitations of a customer, also deleted ones, its name in the invitations that it has claimed, the
	// reasons of reviews and of what became of its agents' actions, the funding instructions of its internal
	// accounts, which name it, its agents, the credentials and sessions of its wallet, and the accounts from which
	// other money for it was received, except of what is unmatched.
	EraseRecordsOf(ctx context.Context, p ident.Platform, id ident.Customer) (customer.Erased, error)
	// DeleteExternalAccountsOf marks the external accounts of a customer as deleted.
	DeleteExternalAccountsOf(ctx context.Context, p ident.Platform, id ident.Customer, at time.Time) error
	// AddFundingInstructions stores the funding instructions of existing accounts that
	// have none.
	AddFundingInstructions(ctx context.Context, accounts []account.Internal) ([]ident.InternalAccount, error)
	// ReplaceFundingInstructions stores the funding instructions of existing accounts that have
	// others.
	ReplaceFundingInstructions(ctx context.Context, accounts []account.Internal) ([]ident.InternalAccount, error)
	// InternalAccountsOf returns all accounts of a customer.
	InternalAccountsOf(ctx context.Context, p ident.Platform, id ident.Customer) ([]account.Internal, error)
	CreateDocument(ctx context.Context, d document.Document) error
	// LockDocumentsOf returns all documents of a holder, also superseded ones, in the order of their
	// ids, and makes other units of work that call it for this holder wait, also if there are none.
	LockDocumentsOf(ctx context.Context, p ident.Platform, h document.Holder) ([]document.Document, error)
	// UpdateDocument writes all but the holder and the time of creation, or returns
	// DOCUMENT_NOT_FOUND.
	UpdateDocument(ctx context.Context, d document.Document) error
	// MarkDocumentsSubmitted sets the time of submission of documents that have none.
	MarkDocumentsSubmitted(ctx context.Context, p ident.Platform, ids []ident.Document, at time.Time) error
	// DeleteDocuments deletes documents. Their files need a job of StepDeleteBlob.
	DeleteDocuments(ctx context.Context, p ident.Platform, ids []ident.Document) error
	CreateInvitation(ctx context.Context, i invitation.Invitation) error
	// LockInvitation returns an invitation of a platform, or INVITATION_NOT_FOUND.
	LockInvitation(ctx context.Context, p ident.Platform, id uuid.UUID) (invitation.Invitation, error)
	UpdateInvitation(ctx context.Context, i invitation.Invitation) error
	CreateKYCLink(ctx context.Context, l verification.Link) error
	// LockKYCLink returns the link with a token, or NOT_FOUND.
	LockKYCLink(ctx context.Context, p ident.Platform, token verification.SecretHash) (verification.Link, error)
	// UpdateKYCLink writes when a locked link was opened, and its session.
	UpdateKYCLink(ctx context.Context, l verification.Link) error
	// LockPlatformShared returns a platform, or NOT_FOUND, and locks it against updates;
	// any number of units of work can hold this lock at the same time.
	LockPlatformShared(ctx context.Context, id ident.Platform) (platform.Platform, error)
	RecordOperatorAction(ctx context.Context, a platform.OperatorAction) error
	AddCustomerNote(ctx context.Context, n customer.Note) error
	// ScreeningHitsOf returns the hits of a locked customer and its owners, oldest first.
	ScreeningHitsOf(ctx context.Context, p ident.Platform, c ident.Customer) ([]screening.Hit, error)
	CreateScreeningHits(ctx context.Context, hits []screening.Hit) error
	UpdateScreeningHit(ctx context.Context, h screening.Hit) error
	// LockScreeningRun returns a run, or false if it was deleted.
	LockScreeningRun(ctx context.Context, p ident.Platform, id uuid.UUID) (screening.Run, bool, error)
	UpdateScreeningRun(ctx context.Context, r screening.Run) error
	CreateBeneficialOwner(ctx context.Context, o customer.BeneficialOwner) error
	UpdateBeneficialOwner(ctx context.Context, o customer.BeneficialOwner) error
	// BeneficialOwnersOf returns the owners of a locked customer, oldest first.
	BeneficialOwnersOf(ctx context.Context, p ident.Platform, customers ...ident.Customer) ([]customer.BeneficialOwner, error)
	CreateVerification(ctx context.Context, v verification.Verification) error
	UpdateVerification(ctx context.Context, v verification.Verification) error
	// VerificationsOf returns the verifications of a locked customer, newest first.
	VerificationsOf(ctx context.Context, p ident.Platform, c ident.Customer) ([]verification.Verification, error)
	// CreateReview records what an operator decided.
	CreateReview(ctx context.Context, r verification.Review) error
	// SaveDecisionMessage records the id of a message with a decision of an identity provider, and
	// reports whether it is new.
	SaveDecisionMessage(ctx context.Context, p ident.Platform, id string, receivedAt time.Time) (isNew bool, err error)
	ReviewsOf(ctx context.Context, p ident.Platform, c ident.Customer) ([]verification.Review, error)
	// LockWallet returns the stored credentials of a wallet and the sessions that are active at a time. Nobody
	// else changes them until the unit of work ends. For an unknown account it returns
	// INTERNAL_ACCOUNT_NOT_FOUND.
	LockWallet(ctx context.Context, w ports.WalletID, now time.Time) (wallet.Wallet, error)
	// SaveWallet stores the credentials and sessions of a change of a locked wallet.
	SaveWallet(ctx context.Context, c wallet.Change) error
	// LockWalletCode returns the latest code of a credential, or a code without a hash.
	LockWalletCode(ctx context.Context, p ident.Platform, id ident.AuthMethod) (wallet.Code, error)
	// SaveWalletCode stores the latest code of a credential.
	SaveWalletCode(ctx context.Context, c wallet.Code) error
}

// SanctionsLists stores the sanctions lists that customers are screened against.
type SanctionsLists interface {
	// ReplaceSanctionsList makes a list the one that is screened against, and stores runs with their
	// jobs that screen all customers: completely or not at all.
	ReplaceSanctionsList(ctx context.Context, list screening.LoadedList, entries []screening.Entry, runs []screening.Run) error
	// SanctionsLists returns the newest version of each list, by its name.
	SanctionsLists(ctx context.Context) ([]screening.LoadedList, error)
	// LastScreeningRuns returns the last run of each platform, in the order of the platforms.
	LastScreeningRuns(ctx context.Context) ([]screening.Run, error)
	// SanctionsEntries returns the entries of these versions.
	SanctionsEntries(ctx context.Context) ([]screening.Entry, error)
}
