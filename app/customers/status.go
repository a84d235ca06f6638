package customers

import (
	"context"

	"causeway/core/customer"
	"causeway/core/event"
	"causeway/core/ident"
	"causeway/core/screening"
	"causeway/ports"
)

// StatusChange is a decision about a customer's verification.
type StatusChange struct {
	Platform ident.Platform
	Customer ident.Customer
	customer.Decision
}

// SetStatus changes the status of a customer and emits the event of it. A customer with that status
// is returned unchanged, without an event. Faults: USER_NOT_FOUND, CUSTOMER_DELETED; CONFLICT if the
// status is not From, or cannot change so, or if the data to approve has changed since ReadAt.
func (s *Service) SetStatus(ctx context.Context, change StatusChange) (customer.Customer, error) {
	var changed customer.Customer
	err := ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) (err error) {
		changed, err = setStatus(ctx, tx, s.IDs, s.Clock, change)
		return err
	})
	return changed, err
}

// setStatus is SetStatus in the unit of work of the decision. It locks the customer. One with entries of
// sanctions lists that wait for an operator is not approved, but held.
func setStatus(ctx context.Context, tx Tx, ids ports.IDs, clock ports.Clock, change StatusChange) (customer.Customer, error) {
	before, err := lockCustomer(ctx, tx, change.Platform, change.Customer)
	if err != nil {
		return customer.Customer{}, err
	}
	after, err := before.Decided(change.Decision, clock.Now())
	if err != nil || after.ShownStatus() == before.ShownStatus() {
		return before, err
	}
	if after.Status == customer.Approved {
		hits, err := tx.ScreeningHitsOf(ctx, change.Platform, change.Customer)
		if err != nil {
			return customer.Customer{}, err
		}
		if len(screening.OpenHits(hits)) > 0 {
			after = after.Hold(clock.Now())
		}
	}
	if err := tx.UpdateCustomer(ctx, after); err != nil || after.Status == before.Status {
		return after, err
	}
	return after, emitStatus(ctx, tx, ids, after)
}

// emitStatus emits the event of the status of a locked customer.
func emitStatus(ctx context.Context, tx Tx, ids ports.IDs, c customer.Customer) error {
	owner, err := tx.LockPlatformShared(ctx, c.Platform)
	if err != nil {
		return err
	}
	return tx.Emit(ctx, []event.Event{c.ShownBy(owner).StatusEvent(ident.NewWebhook(ids.New, c.UpdatedAt))})
}
