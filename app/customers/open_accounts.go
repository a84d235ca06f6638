package customers

import (
	"cmp"
	"context"
	"time"

	"github.com/google/uuid"

	"causeway/app/internal/uow"
	"causeway/core/account"
	"causeway/core/customer"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/ports"
)

// batchSize is the number of customers in one unit of work.
const batchSize = 250

// Run opens accounts for the customers of platforms that added a currency, and adds the funding instructions of accounts that
// can be paid into over a new connection, until ctx is done. Any number of processes may run it on one database.
func (s *Service) Run(ctx context.Context) { s.workers.Run(ctx) }

// OpenDue runs jobs until none is due.
func (s *Service) OpenDue(ctx context.Context) error { return s.workers.RunDue(ctx) }

// runJob opens the missing accounts of the next batch of customers of a platform, and
// enqueues a job for the customers after them. A repeated job opens no account twice.
func (s *Service) runJob(ctx context.Context, jobs []ports.Job) error {
	job := jobs[0]
	var after ident.Customer
	if len(job.Subjects) > 0 {
		after.SetUUID(job.Subjects[0])
	}
	now := s.Clock.Now()
	owner, err := s.Store.Platform(ctx, job.Platform)
	if err != nil {
		return err
	}
	customers, err := s.Store.CustomersAfter(ctx, job.Platform, after, batchSize)
	if err != nil {
		return err
	}
	opened, instructed, err := s.missingAccounts(ctx, owner, customers, now)
	if err != nil {
		return err
	}
	if after.IsZero() {
		own, err := s.platformInstructions(ctx, owner, now)
		if err != nil {
			return err
		}
		instructed = append(instructed, own...)
	}
	return ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) error {
		if err := tx.OpenInternalAccounts(ctx, opened); err != nil {
			return err
		}
		if err := uow.StoreInstructions(ctx, tx, s.IDs.New, instructed, tx.AddFundingInstructions); err != nil {
			return err
		}
		if err := tx.FinishJobs(ctx, jobs); err != nil || len(customers) < batchSize {
			return err
		}
		last := customers[len(customers)-1].ID
		return tx.AddJobs(ctx, []ports.Job{{ID: s.IDs.New(now), Platform: job.Platform, Step: job.Step,
			Subjects: []uuid.UUID{last.UUID()}, Due: now}})
	})
}

// platformInstructions returns the accounts of the platform itself that get their funding instructions, because a connection
// receives their currency now.
func (s *Service) platformInstructions(ctx context.Context, p platform.Platform, now time.Time) ([]account.Internal, error) {
	existing, err := s.Store.InternalAccountsOf(ctx, p.ID, []ident.Customer{{}})
	if err != nil {
		return nil, err
	}
	var currencies []money.Currency
	for _, a := range existing[ident.Customer{}] {
		currencies = append(currencies, a.Currency)
	}
	opener := account.Opener{Platform: p.ID, Owner: p.Name, FundingInstructions: s.Rails.Funding(p.ID, p.Environment),
		NewID: s.IDs.New, Now: now}
	_, instructed, err := opener.OpenMissing(currencies, existing[ident.Customer{}])
	return instructed, err
}

// missingAccounts returns the accounts to open for customers, and the existing accounts
// that get their funding instructions.
func (s *Service) missingAccounts(ctx context.Context, p platform.Platform, customers []customer.Customer,
	now time.Time) (opened, instructed []account.Internal, err error) {
	ids := make([]ident.Customer, len(customers))
	for i, c := range customers {
		ids[i] = c.ID
	}
	existing, err := s.Store.InternalAccountsOf(ctx, p.ID, ids)
	if err != nil {
		return nil, nil, err
	}
	for _, c := range customers {
		open, instruct, err := s.opener(p, c, now).OpenMissing(p.CurrencyCodes(), existing[c.ID])
		if err != nil {
			return nil, nil, err
		}
		opened, instructed = append(opened, open...), append(instructed, instruct...)
	}
	return opened, instructed, nil
}

// opener returns an Opener of the accounts of one customer. A customer without a name is
// named by the platform's id for it.
func (s *Service) opener(p platform.Platform, c customer.Customer, now time.Time) account.Opener {
	return account.Opener{
		Platform: p.ID, Customer: c.ID, Owner: cmp.Or(c.Name(), c.PlatformCustomerID),
		FundingInstructions: s.Rails.Funding(p.ID, p.Environment), NewID: s.IDs.New, Now: now,
	}
}
