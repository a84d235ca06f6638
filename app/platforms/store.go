package platforms

import (
	"context"

	"causeway/app/internal/uow"
	"causeway/core/account"
	"causeway/core/ident"
	"causeway/core/person"
	"causeway/core/platform"
	"causeway/ports"
)

// Store reads platforms and their tokens.
type Store interface {
	ports.UnitsOfWork
	InternalAccountsOf(ctx context.Context, p ident.Platform, owners []ident.Customer) (map[ident.Customer][]account.Internal, error)
	// Token returns a token, or TOKEN_NOT_FOUND.
	Token(ctx context.Context, p ident.Platform, id ident.Token) (platform.Token, error)
	// NameTokens writes into texts that name tokens, such as authors, what these are called and whom they belong to.
	NameTokens(ctx context.Context, p ident.Platform, texts ...*string) error
	Tokens(ctx context.Context, p ident.Platform, f ports.TokenFilter) (ports.Page[platform.Token], error)
	Platform(ctx context.Context, id ident.Platform) (platform.Platform, error)
	ports.Platforms
	// RecordOperatorAction records what an operator does without a change of a use case.
	RecordOperatorAction(ctx context.Context, a platform.OperatorAction) error
}

// Tx changes platforms and their tokens.
type Tx interface {
	OpenInternalAccounts(ctx context.Context, accounts []account.Internal) error
	uow.InstructionsTx
	AddFundingInstructions(ctx context.Context, accounts []account.Internal) ([]ident.InternalAccount, error)
	AddJobs(ctx context.Context, jobs []ports.Job) error
	CreatePlatform(ctx context.Context, p platform.Platform) error
	// LockPlatform returns a platform, locked for an update, or NOT_FOUND.
	LockPlatform(ctx context.Context, id ident.Platform) (platform.Platform, error)
	LockPlatformShared(ctx context.Context, id ident.Platform) (platform.Platform, error)
	UpdatePlatform(ctx context.Context, p platform.Platform) error
	// RevokeUMAKeys deletes the key pairs of a platform as a UMA provider.
	RevokeUMAKeys(ctx context.Context, p ident.Platform) error
	// ForgetUMAPeer deletes the kept keys of another UMA provider.
	ForgetUMAPeer(ctx context.Context, p ident.Platform, domain string) error
	// ClosePlatform closes a platform, and takes its events out of the queue of webhooks.
	ClosePlatform(ctx context.Context, p platform.Platform) error
	// LockTokenCount counts the tokens of services of a platform, or those of people. No other unit of work counts them until this one ends.
	LockTokenCount(ctx context.Context, p ident.Platform, ofPeople bool) (int, error)
	CreateToken(ctx context.Context, t platform.Token) error
	// UpdateToken stores who answers for a token.
	UpdateToken(ctx context.Context, t platform.Token) error
	LockTokens(ctx context.Context, p ident.Platform) ([]platform.Token, error)
	// LockPersonByEmail returns the person with a normalized address, or NOT_FOUND.
	LockPersonByEmail(ctx context.Context, email string) (person.Person, error)
	// DeleteToken deletes a token, or returns TOKEN_NOT_FOUND.
	DeleteToken(ctx context.Context, p ident.Platform, id ident.Token) error
	RecordOperatorAction(ctx context.Context, a platform.OperatorAction) error
	// LockPeopleWithRolesOn returns those who have a role on a platform that is not for all platforms, locked.
	LockPeopleWithRolesOn(ctx context.Context, p ident.Platform) ([]person.Person, error)
	UpdatePerson(ctx context.Context, p person.Person) error
	// LockWebhookSecrets and ReplaceWebhookSecrets are those of package webhooks.
	LockWebhookSecrets(ctx context.Context, p ident.Platform) ([]ports.SealedWebhookSecret, error)
	ReplaceWebhookSecrets(ctx context.Context, p ident.Platform, secrets []ports.SealedWebhookSecret) error
	SaveResponse(ctx context.Context, request *ports.IdempotentRequest, result any, err error) error
}
