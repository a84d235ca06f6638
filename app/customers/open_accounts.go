package customers

import (
	"cmp"
	"context"
	"time"

	"github.com/google/uuid"

	"causeway/core/account"
	"causeway/core/customer"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/ports"
)

const (
	// pollInterval is how often a process looks whether accounts have to be opened.
	pollInterval = time.Second
	// leaseDuration is how long a process may work on customers it took.
	leaseDuration = 30 * time.Second
	// batchSize is how many customers one unit of work opens accounts for.
	batchSize = 250
)

// Run opens accounts for the customers of platforms that added a currency, until ctx
// ends. Any number of processes may run it on one database.
func (o *Service) Run(ctx context.Context) {
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if err := o.OpenDue(ctx); err != nil && ctx.Err() == nil {
				o.Log.WithError(err).Warn("accounts could not be opened for customers and will be tried again")
			}
		}
	}
}

// OpenDue opens accounts until nothing is left to do. What fails is due again when its
// lease ends.
func (o *Service) OpenDue(ctx context.Context) error {
	for {
		jobs, err := o.Jobs.TakeJobs(ctx, ports.StepOpenAccounts, o.Clock.Now(), leaseDuration, 1)
		if err != nil || len(jobs) == 0 {
			return err
		}
		if err := o.runJob(ctx, jobs[0]); err != nil {
			return err
		}
	}
}

// runJob opens what the next customers of a platform lack, and leaves those after
// them to another job. A repeat opens nothing twice.
func (o *Service) runJob(ctx context.Context, job ports.Job) error {
	var after ident.Customer
	if len(job.Subjects) > 0 {
		ident.SetUUID(&after, job.Subjects[0])
	}
	now := o.Clock.Now()
	on, err := o.Store.Platform(ctx, job.Platform)
	if err != nil {
		return err
	}
	customers, err := o.Store.CustomersAfter(ctx, job.Platform, after, batchSize)
	if err != nil {
		return err
	}
	opened, instructed, err := o.missingAccounts(ctx, on, customers, now)
	if err != nil {
		return err
	}
	return o.Store.Do(ctx, func(ctx context.Context, tx ports.Tx) error {
		if err := tx.OpenInternalAccounts(ctx, opened); err != nil {
			return err
		}
		if err := tx.AddFundingInstructions(ctx, instructed); err != nil {
			return err
		}
		if err := tx.FinishJobs(ctx, []ports.Job{job}); err != nil || len(customers) < batchSize {
			return err
		}
		last := customers[len(customers)-1].ID
		return tx.AddJobs(ctx, []ports.Job{{ID: o.IDs.New(now), Platform: job.Platform, Step: job.Step,
			Subjects: []uuid.UUID{last.UUID()}, Due: now}})
	})
}

// missingAccounts returns the accounts to open for customers, and those that get their
// instructions.
func (o *Service) missingAccounts(ctx context.Context, on platform.Platform, customers []customer.Customer, now time.Time) (opened, instructed []account.Internal, err error) {
	owners := make([]ident.Customer, len(customers))
	for i, c := range customers {
		owners[i] = c.ID
	}
	has, err := o.Store.InternalAccountsOf(ctx, on.ID, owners)
	if err != nil {
		return nil, nil, err
	}
	for _, c := range customers {
		open, instruct, err := o.newOpening(on, c, now).OpenMissing(on.CurrencyCodes(), has[c.ID])
		if err != nil {
			return nil, nil, err
		}
		opened, instructed = append(opened, open...), append(instructed, instruct...)
	}
	return opened, instructed, nil
}

// newOpening returns of the accounts of one customer. Who did not say a name is known by the
// platform's.
func (o *Service) newOpening(on platform.Platform, of customer.Customer, now time.Time) account.Opener {
	return account.Opener{
		Platform: on.ID, Customer: of.ID, Owner: cmp.Or(of.Name(), of.PlatformCustomerID),
		FundingInstructions: o.Rails.Funding(on.ID, on.Environment), NewID: o.IDs.New, Now: now,
	}
}
