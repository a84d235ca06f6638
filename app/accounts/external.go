// Package accounts registers accounts outside of the service, of customers and of
// platforms themselves, so that quotes can name them, and shows what the accounts
// inside of it hold.
//
// It never moves money and never changes an account outside: one that is wrong is
// deleted and registered again.
package accounts

import (
	"context"

	"causeway/core/account"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/ports"
)

// Config is what the use cases need.
type Config struct {
	Store         ports.Store
	Books         ports.LedgerReader
	Beneficiaries ports.BeneficiariesByEnvironment
	Clock         ports.Clock
	IDs           ports.IDs
}

// Service are the use cases.
type Service struct{ Config }

// New returns the use cases.
func New(c Config) *Service { return &Service{c} }

// Request asks for an account to be registered.
type Request struct {
	// Customer owns the account; zero for the platform's own.
	Customer          ident.Customer
	PlatformAccountID string
	Currency          string
	// Info is accountInfo as decoded JSON.
	Info              map[string]any
	DefaultUMADeposit bool
}

// Owner says whose accounts are meant.
type Owner bool

// The two owners.
const (
	OwnedByCustomers Owner = false
	OwnedByPlatform  Owner = true
)

// Create registers an account once the receiving side was asked about it. Faults:
// INVALID_INPUT with every bad field, USER_NOT_FOUND, CUSTOMER_DELETED,
// INVALID_BANK_ACCOUNT, CONFLICT for one that is registered already.
func (a *Service) Create(ctx context.Context, who platform.Principal, claim *ports.IdempotentRequest, r Request) (account.External, error) {
	if err := who.CheckPermission(platform.Manage); err != nil {
		return account.External{}, err
	}
	beneficiaries, connected := a.Beneficiaries[who.Environment]
	if !connected {
		return account.External{}, fault.New(fault.NotImplemented, "Accounts cannot be verified for %s platforms here.", who.Environment)
	}
	now := a.Clock.Now()
	created, err := account.Validate(account.CreateRequest{
		ID: ident.NewExternalAccount(a.IDs.New, now), Platform: who.Platform, Customer: r.Customer,
		PlatformAccountID: r.PlatformAccountID, Currency: r.Currency, Info: r.Info,
		DefaultUMADeposit: r.DefaultUMADeposit, AcceptsTestValue: beneficiaries.AcceptsTestValue, Now: now,
	})
	if err != nil {
		return account.External{}, err
	}
	if err := a.checkOwner(ctx, who.Platform, r.Customer); err != nil {
		return account.External{}, err
	}
	verified, err := beneficiaries.Verify(ctx, created)
	if err != nil {
		return account.External{}, err
	}
	created.Verification, created.VerifiedName = verified.Status, verified.Name
	err = a.Store.Do(ctx, func(ctx context.Context, tx ports.Tx) error {
		// First, so that a repeated request finds its answer and not the account it made.
		if err := tx.SaveResponse(ctx, claim, created, nil); err != nil {
			return err
		}
		return tx.CreateExternalAccount(ctx, created)
	})
	return created, err
}

func (a *Service) checkOwner(ctx context.Context, p ident.Platform, id ident.Customer) error {
	if id.IsZero() {
		return nil
	}
	owner, err := a.Store.Customer(ctx, p, id)
	if err == nil && owner.Deleted() {
		err = fault.New(fault.CustomerDeleted, "The customer %s was deleted; accounts cannot be added any more.", id)
	}
	return err
}

// Get reads one account of this owner, or answers EXTERNAL_ACCOUNT_NOT_FOUND.
func (a *Service) Get(ctx context.Context, who platform.Principal, of Owner, id ident.ExternalAccount) (account.External, error) {
	if err := who.CheckPermission(platform.View); err != nil {
		return account.External{}, err
	}
	return a.find(ctx, who.Platform, of, id)
}

// List reads the accounts of this owner that pass the filter.
func (a *Service) List(ctx context.Context, who platform.Principal, of Owner, f ports.ExternalAccountFilter) (ports.Page[account.External], error) {
	if err := who.CheckPermission(platform.View); err != nil {
		return ports.Page[account.External]{}, err
	}
	f.PlatformOwned = bool(of)
	return a.Store.ExternalAccounts(ctx, who.Platform, f)
}

// Delete takes an account of this owner out of use; what was paid to it stays.
func (a *Service) Delete(ctx context.Context, who platform.Principal, of Owner, id ident.ExternalAccount) error {
	if err := who.CheckPermission(platform.Manage); err != nil {
		return err
	}
	if _, err := a.find(ctx, who.Platform, of, id); err != nil {
		return err
	}
	return a.Store.Do(ctx, func(ctx context.Context, tx ports.Tx) error {
		return tx.DeleteExternalAccount(ctx, who.Platform, id, a.Clock.Now())
	})
}

// find returns the account, if it belongs to this owner: an account never changes hands.
func (a *Service) find(ctx context.Context, p ident.Platform, of Owner, id ident.ExternalAccount) (account.External, error) {
	found, err := a.Store.ExternalAccount(ctx, p, id)
	if err != nil {
		return account.External{}, err
	}
	if found.Customer.IsZero() != bool(of) {
		return account.External{}, fault.New(fault.ExternalAccountNotFound, "There is no external account %s.", id)
	}
	return found, nil
}
