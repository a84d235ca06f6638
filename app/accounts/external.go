// Package accounts registers external accounts, of customers and of platforms, so that
// quotes can name them, and reads internal accounts with their balances.
//
// It never moves money and never changes an external account: one that is wrong is deleted
// and registered again.
package accounts

import (
	"context"

	"causeway/core/account"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/ports"
)

// Config holds what the use cases need.
type Config struct {
	Store         Store
	Ledger        LedgerReader
	Beneficiaries ports.BeneficiariesByEnvironment
	Clock         ports.Clock
	IDs           ports.IDs
}

// Service implements the use cases.
type Service struct{ Config }

// New returns a Service.
func New(c Config) *Service { return &Service{c} }

// Request is a request to register an external account.
type Request struct {
	// Customer owns the account; zero for an account of the platform.
	Customer          ident.Customer
	PlatformAccountID string
	Currency          string
	// Info is accountInfo as decoded JSON.
	Info              map[string]any
	DefaultUMADeposit bool
}

// Owner is a kind of owner of accounts.
type Owner bool

// The kinds of owners.
const (
	OwnedByCustomers Owner = false
	OwnedByPlatform  Owner = true
)

// Create registers an account after its beneficiary was verified. Faults: INVALID_INPUT
// with every invalid field, USER_NOT_FOUND, CUSTOMER_DELETED, MISSING_MANDATORY_USER_INFO for a customer
// without a name, INVALID_BANK_ACCOUNT, and CONFLICT if the account is registered already.
func (s *Service) Create(ctx context.Context, principal platform.Principal, request *ports.IdempotentRequest,
	r Request) (account.External, error) {
	created, beneficiaries, err := s.newAccount(ctx, principal, r)
	if err != nil {
		return account.External{}, err
	}
	if created, err = verify(ctx, beneficiaries, created); err != nil {
		return account.External{}, err
	}
	err = ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) error {
		// The response is saved first, so that a repeated request finds it, and not a
		// conflict with the account that the first one created.
		if err := tx.SaveResponse(ctx, request, created, nil); err != nil {
			return err
		}
		return tx.CreateExternalAccount(ctx, created)
	})
	return created, err
}

// newAccount returns the account that a request asks for, which is neither verified nor stored yet.
func (s *Service) newAccount(ctx context.Context, principal platform.Principal, r Request) (account.External, ports.Beneficiaries, error) {
	beneficiaries, connected := s.Beneficiaries[principal.Environment]
	if !connected {
		return account.External{}, nil, fault.New(fault.NotImplemented, "Accounts of %s platforms cannot be verified by this service.",
			principal.Environment)
	}
	now := s.Clock.Now()
	created, err := account.Validate(account.CreateRequest{
		ID: ident.NewExternalAccount(s.IDs.New, now), Platform: principal.Platform, Customer: r.Customer, Agent: principal.Agent,
		PlatformAccountID: r.PlatformAccountID, Currency: r.Currency, Info: r.Info,
		DefaultUMADeposit: r.DefaultUMADeposit, AcceptsTestValue: beneficiaries.AcceptsTestValue,
		FormatOnly: !beneficiaries.ChecksDigits(), Now: now,
	})
	if err != nil {
		return account.External{}, nil, err
	}
	return created, beneficiaries, s.checkOwner(ctx, principal.Platform, r.Customer)
}

// verify returns the account with the result of the check of its beneficiary.
func verify(ctx context.Context, beneficiaries ports.Beneficiaries, a account.External) (account.External, error) {
	verified, err := beneficiaries.Verify(ctx, a)
	a.Verification, a.VerifiedName, a.UnverifiedReason = verified.Status, verified.Name, verified.Reason
	return a, err
}

func (s *Service) checkOwner(ctx context.Context, platformID ident.Platform, id ident.Customer) error {
	if id.IsZero() {
		return nil
	}
	owner, err := s.Store.Customer(ctx, platformID, id)
	if err == nil && owner.Deleted() {
		err = fault.New(fault.CustomerDeleted, "The customer %s is deleted; no accounts can be added.", id)
	}
	if err != nil {
		return err
	}
	return owner.CheckName()
}

// Get returns an account of this kind of owner, or EXTERNAL_ACCOUNT_NOT_FOUND.
func (s *Service) Get(ctx context.Context, platformID ident.Platform, owner Owner, id ident.ExternalAccount) (account.External, error) {
	found, err := s.Store.ExternalAccount(ctx, platformID, id)
	if err != nil {
		return account.External{}, err
	}
	if found.Customer.IsZero() != bool(owner) {
		return account.External{}, fault.New(fault.ExternalAccountNotFound, "There is no external account %s.", id)
	}
	return found, nil
}

// List returns the accounts of this kind of owner that match the filter.
func (s *Service) List(ctx context.Context, platformID ident.Platform, owner Owner,
	f ports.ExternalAccountFilter) (ports.Page[account.External], error) {
	f.PlatformOwned = bool(owner)
	return s.Store.ExternalAccounts(ctx, platformID, f)
}

// Delete deletes an account of this kind of owner, or returns EXTERNAL_ACCOUNT_NOT_FOUND.
// Payments to the account remain.
func (s *Service) Delete(ctx context.Context, platformID ident.Platform, owner Owner, id ident.ExternalAccount) error {
	// The owner of an account never changes, so it is checked outside the unit of work.
	if _, err := s.Get(ctx, platformID, owner, id); err != nil {
		return err
	}
	return ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) error {
		return tx.DeleteExternalAccount(ctx, platformID, id, s.Clock.Now())
	})
}
