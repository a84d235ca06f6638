// Package customers is everything between a platform and its customers but money: they are created,
// one by one or from files, changed, verified with their owners and documents, deleted, and erased.
//
// It decides no status by itself: core/customer and core/verification do. It moves no money.
package customers

import (
	"context"
	"slices"

	"github.com/sirupsen/logrus"

	"causeway/app/internal/jobs"
	"causeway/app/internal/mails"
	"causeway/app/internal/signedrequests"
	"causeway/core/customer"
	"causeway/core/ident"
	"causeway/ports"
)

// Config holds what the use cases need.
type Config struct {
	Store Store
	Clock ports.Clock
	IDs   ports.IDs
	// Rails provide the funding instructions of accounts. An account of an environment
	// without rails has none.
	Rails ports.RailsByEnvironment
	// Identity knows the status of some new customers. Without one, all are PENDING whose platform does
	// not verify them itself.
	Identity ports.IdentityByEnvironment
	// Sanctions has the environments whose customers are screened when they are new or renamed.
	Sanctions Screeners
	// WalletProofs check the signatures of the owners of wallets, and make the codes for contacts, which Mails send, as they
	// tell the owners of another e-mail address.
	WalletProofs ports.WalletProofsByEnvironment
	Mails        *mails.Queue

	// Jobs, Log, JobRetry and JobMetrics are used by Run only.
	Jobs ports.Jobs
	Log  *logrus.Entry
	// JobRetry says when failed jobs are run again.
	JobRetry jobs.RetryPolicy
	// JobMetrics may be nil.
	JobMetrics jobs.Metrics
}

// Service implements the use cases.
type Service struct {
	Config
	signed  *signedrequests.Requests[Tx]
	workers *jobs.Workers
}

// New returns a Service.
func New(c Config) *Service {
	s := &Service{Config: c, signed: signedrequests.New(signedrequests.Config[Tx]{Store: c.Store, Proofs: c.WalletProofs,
		Clock: c.Clock, IDs: c.IDs})}
	s.workers = jobs.New(jobs.Config{Jobs: c.Jobs, Clock: c.Clock, Log: c.Log, Retry: c.JobRetry, Metrics: c.JobMetrics},
		jobs.Handler{Step: ports.StepOpenAccounts, Do: s.runJob, MaxBatch: 1})
	return s
}

// Create creates a customer, with an internal account for each of the platform's
// currencies. Faults: INVALID_INPUT with every invalid field, CONFLICT for a
// platformCustomerId in use, UMA_ADDRESS_EXISTS, END_USER_TERMS_VERSION_NOT_FOUND.
func (s *Service) Create(ctx context.Context, platformID ident.Platform, request *ports.IdempotentRequest,
	r customer.Request) (customer.Customer, error) {
	now := s.Clock.Now()
	var created customer.Customer
	err := ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) error {
		// The lock makes a concurrent change of the platform's currencies wait, so that it
		// finds this customer.
		owner, err := tx.LockPlatformShared(ctx, platformID)
		if err != nil {
			return err
		}
		if created, err = customer.Create(r, owner, ident.NewCustomer(s.IDs.New, now), s.IDs.New(now), now); err != nil {
			return err
		}
		created = created.ShownBy(owner)
		if err := checkTermsKnown(ctx, tx, created.Consent); err != nil {
			return err
		}
		created = s.Identity.NewCustomer(owner, created)
		opened, err := s.opener(owner, created, now).Open(owner.CurrencyCodes())
		if err != nil {
			return err
		}
		// The response is saved first, so that a repeated request finds it, and not a
		// conflict with the customer that the first one created.
		if err := tx.SaveResponse(ctx, request, created, nil); err != nil {
			return err
		}
		if err := tx.CreateCustomer(ctx, created); err != nil {
			return err
		}
		if err := tx.OpenInternalAccounts(ctx, opened); err != nil {
			return err
		}
		return s.Sanctions.enqueue(ctx, tx, s.IDs, owner.ID, owner.Environment, now, created.ID)
	})
	if err != nil {
		return customer.Customer{}, err
	}
	return created, nil
}

// Get returns a customer, also a deleted one, or USER_NOT_FOUND.
func (s *Service) Get(ctx context.Context, platformID ident.Platform, id ident.Customer) (customer.Customer, error) {
	found, err := s.Store.Customer(ctx, platformID, id)
	if err != nil {
		return found, err
	}
	shown, err := s.shown(ctx, platformID, []customer.Customer{found})
	return shown[0], err
}

// List returns the customers that match the filter.
func (s *Service) List(ctx context.Context, platformID ident.Platform, f ports.CustomerFilter) (ports.Page[customer.Customer], error) {
	page, err := s.Store.Customers(ctx, platformID, f)
	if err != nil {
		return page, err
	}
	page.Items, err = s.shown(ctx, platformID, page.Items)
	return page, err
}

// shown completes customers with what is shown to their platform: the owners of businesses, and whether their regions require strong
// customer authentication.
func (s *Service) shown(ctx context.Context, p ident.Platform, customers []customer.Customer) ([]customer.Customer, error) {
	var businesses []ident.Customer
	for _, c := range customers {
		if c.Type == customer.Business {
			businesses = append(businesses, c.ID)
		}
	}
	if len(businesses) > 0 {
		owners, err := s.Store.BeneficialOwnersOf(ctx, p, businesses...)
		if err != nil {
			return customers, err
		}
		for i := range customers {
			for _, o := range owners {
				if o.Customer == customers[i].ID {
					customers[i].Owners = append(customers[i].Owners, o)
				}
			}
		}
	}
	if !slices.ContainsFunc(customers, func(c customer.Customer) bool { return c.Region != "" }) {
		return customers, nil
	}
	owner, err := s.Store.Platform(ctx, p)
	for i := range customers {
		customers[i] = customers[i].ShownBy(owner)
	}
	return customers, err
}

// ListMails returns the mails to customers that match the filter, newest first.
func (s *Service) ListMails(ctx context.Context, f ports.MailFilter) ([]ports.ListedMail, error) {
	return s.Store.Mails(ctx, f)
}

// lockCustomer returns a locked customer with its owners.
func lockCustomer(ctx context.Context, tx Tx, p ident.Platform, id ident.Customer) (customer.Customer, error) {
	locked, err := tx.LockCustomer(ctx, p, id)
	if err != nil || locked.Type != customer.Business {
		return locked, err
	}
	locked.Owners, err = tx.BeneficialOwnersOf(ctx, p, id)
	return locked, err
}
