// Package accounts registers external accounts, of customers and of platforms, so that
// quotes can name them, and reads internal accounts with their balances.
//
// It never moves money and never changes the details of an external account: one that is wrong is deleted
// and registered again. It takes the proofs of the owners of wallets, and keeps the directory of custodians.
package accounts

import (
	"context"

	"github.com/sirupsen/logrus"

	"causeway/app/internal/jobs"
	"causeway/app/internal/strongauth"
	"causeway/core/account"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/vasp"
	"causeway/ports"
)

// Config holds what the use cases need.
type Config struct {
	Store         Store
	Ledger        LedgerReader
	Beneficiaries ports.BeneficiariesByEnvironment
	// Auth asks customers for proofs.
	Auth *strongauth.Auth
	// WalletProofs accept the test values of signatures by wallets, and Liveness checks that their owners are present.
	WalletProofs ports.WalletProofsByEnvironment
	Liveness     ports.LivenessByEnvironment
	// OwnershipLimits say in which regions wallets of others need a beneficiary.
	OwnershipLimits account.OwnershipLimits
	Jobs            ports.Jobs
	Clock           ports.Clock
	IDs             ports.IDs
	Log             *logrus.Entry
	// JobRetry says when failed jobs are run again, and JobMetrics may be nil.
	JobRetry   jobs.RetryPolicy
	JobMetrics jobs.Metrics
}

// Service implements the use cases.
type Service struct {
	Config
	workers *jobs.Workers
}

// New returns a Service. In at least one process Run must be running.
func New(c Config) *Service {
	s := &Service{Config: c}
	s.workers = jobs.New(jobs.Config{Jobs: c.Jobs, Clock: c.Clock, Log: c.Log, Retry: c.JobRetry, Metrics: c.JobMetrics},
		jobs.Handler{Step: ports.StepCheckLiveness, Do: s.checkLiveness, MaxBatch: 1, MaxPerPlatform: 4})
	return s
}

// Request is a request to register an external account.
type Request struct {
	// Customer owns the account; zero for an account of the platform.
	Customer          ident.Customer
	PlatformAccountID string
	Currency          string
	// Info is accountInfo as decoded JSON.
	Info              map[string]any
	DefaultUMADeposit bool
	// Ownership is who owns a wallet; empty if the request does not say so.
	Ownership account.OwnershipType
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
	region, unknownOwner := s.ownersRegion(ctx, principal.Platform, r.Customer)
	var directory vasp.Directory
	if r.Info["vaspName"] != nil {
		var err error
		if directory, err = s.VASPs(ctx); err != nil {
			return account.External{}, nil, err
		}
	}
	now := s.Clock.Now()
	created, err := account.Validate(account.CreateRequest{
		ID: ident.NewExternalAccount(s.IDs.New, now), Platform: principal.Platform, Customer: r.Customer, Agent: principal.Agent,
		PlatformAccountID: r.PlatformAccountID, Currency: r.Currency, Info: r.Info,
		DefaultUMADeposit: r.DefaultUMADeposit, Ownership: r.Ownership, KnowsVASP: directory.Has,
		NamesBeneficiaries: s.OwnershipLimits.Apply(region), AcceptsTestValue: beneficiaries.AcceptsTestValue,
		FormatOnly: !beneficiaries.ChecksDigits(), Now: now,
	})
	if err != nil {
		return account.External{}, nil, err
	}
	return created, beneficiaries, unknownOwner
}

// verify returns the account with the result of the check of its beneficiary.
func verify(ctx context.Context, beneficiaries ports.Beneficiaries, a account.External) (account.External, error) {
	verified, err := beneficiaries.Verify(ctx, a)
	a.Verification, a.VerifiedName, a.UnverifiedReason = verified.Status, verified.Name, verified.Reason
	return a, err
}

// ownersRegion returns the region of the customer who is to own an account; empty for the platform.
func (s *Service) ownersRegion(ctx context.Context, platformID ident.Platform, id ident.Customer) (string, error) {
	if id.IsZero() {
		return "", nil
	}
	owner, err := s.Store.Customer(ctx, platformID, id)
	if err == nil && owner.Deleted() {
		err = fault.New(fault.CustomerDeleted, "The customer %s is deleted; no accounts can be added.", id)
	}
	if err != nil {
		return "", err
	}
	return owner.Region, owner.CheckName()
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

// Delete deletes an account of this kind of owner, or returns EXTERNAL_ACCOUNT_NOT_FOUND, or BENEFICIARY_TRUSTED.
// Payments to the account remain.
func (s *Service) Delete(ctx context.Context, platformID ident.Platform, owner Owner, id ident.ExternalAccount) error {
	// The owner of an account never changes, so it is checked outside the unit of work.
	if _, err := s.Get(ctx, platformID, owner, id); err != nil {
		return err
	}
	return ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) error { return s.delete(ctx, tx, platformID, id) })
}

func (s *Service) delete(ctx context.Context, tx Tx, p ident.Platform, id ident.ExternalAccount) error {
	locked, err := tx.LockExternalAccount(ctx, p, id)
	if err == nil {
		err = locked.CheckDeletable()
	}
	if err != nil {
		return err
	}
	return tx.DeleteExternalAccount(ctx, p, id, s.Clock.Now())
}
