package customers

import (
	"context"
	"slices"
	"time"

	"causeway/app/internal/uow"
	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/screening"
	"causeway/ports"
)

// CreateOwner adds a beneficial owner to a business and begins the check of the person. Faults:
// USER_NOT_FOUND, CUSTOMER_DELETED, INVALID_INPUT with every invalid field, CONFLICT for a
// person who is an owner already or for too many.
func (s *Verifications) CreateOwner(ctx context.Context, principal platform.Principal, request *ports.IdempotentRequest,
	business ident.Customer, r customer.OwnerRequest) (customer.BeneficialOwner, error) {
	identity, err := s.identityOf(principal.Environment)
	if err != nil {
		return customer.BeneficialOwner{}, err
	}
	var created customer.BeneficialOwner
	var refused error
	err = ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) error {
		work, err := s.lock(ctx, tx, identity, principal.Platform, business)
		if err != nil {
			return err
		}
		created, refused = customer.NewBeneficialOwner(r, work.customer, work.owners, ident.NewBeneficialOwner(s.IDs.New, work.now), work.now)
		if refused == nil {
			if created, err = work.checkOwner(ctx, created); err != nil {
				return err
			}
		}
		if err := uow.SaveResponse(ctx, tx, request, created, refused); err != nil || refused != nil {
			return err
		}
		if err := tx.CreateBeneficialOwner(ctx, created); err != nil {
			return err
		}
		if err := s.recordOwner(ctx, tx, principal, platform.CreatedOwner, customer.BeneficialOwner{}, created, work.now); err != nil {
			return err
		}
		if err := s.Sanctions.enqueue(ctx, tx, s.IDs, principal.Platform, principal.Environment, work.now, work.customer.ID); err != nil {
			return err
		}
		work.owners = append(work.owners, created)
		return work.ownersDecided(ctx)
	})
	if err == nil {
		err = refused
	}
	return created, err
}

// UpdateOwner changes a beneficial owner. If that changes what identifies the person, the person is
// checked again. Faults: BENEFICIAL_OWNER_NOT_FOUND, CUSTOMER_DELETED, INVALID_INPUT with every
// invalid field.
func (s *Verifications) UpdateOwner(ctx context.Context, principal platform.Principal, id ident.BeneficialOwner,
	u customer.OwnerUpdate) (customer.BeneficialOwner, error) {
	identity, err := s.identityOf(principal.Environment)
	if err != nil {
		return customer.BeneficialOwner{}, err
	}
	found, err := s.Store.BeneficialOwner(ctx, principal.Platform, id)
	if err != nil {
		return customer.BeneficialOwner{}, err
	}
	var changed customer.BeneficialOwner
	err = ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) error {
		work, err := s.lock(ctx, tx, identity, principal.Platform, found.Customer)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(work.owners, func(o customer.BeneficialOwner) bool { return o.ID == id })
		if i < 0 {
			return fault.New(fault.BeneficialOwnerNotFound, "There is no beneficial owner %s.", id)
		}
		others := slices.Delete(slices.Clone(work.owners), i, i+1)
		next, check, err := work.owners[i].Apply(u, work.customer, others, work.now)
		if err == nil && check {
			next, err = work.checkOwner(ctx, next)
		}
		if err != nil {
			return err
		}
		changed = next
		if screening.OwnerSubject(work.owners[i]).Version() != screening.OwnerSubject(changed).Version() {
			if err := s.Sanctions.enqueue(ctx, tx, s.IDs, principal.Platform, principal.Environment, work.now, work.customer.ID); err != nil {
				return err
			}
		}
		before := work.owners[i]
		work.owners[i] = changed
		if err := s.recordOwner(ctx, tx, principal, platform.UpdatedOwner, before, changed, work.now); err != nil {
			return err
		}
		if err := tx.UpdateBeneficialOwner(ctx, changed); err != nil {
			return err
		}
		return work.ownersDecided(ctx)
	})
	return changed, err
}

// recordOwner records who has added or changed an owner, if anything was changed: a token, or the business on its own pages.
func (s *Verifications) recordOwner(ctx context.Context, tx Tx, principal platform.Principal, kind platform.OperatorActionKind, before,
	after customer.BeneficialOwner, now time.Time) error {
	changes, by := customer.ChangedOwner(before, after), principal.Author()
	if len(changes) == 0 {
		return nil
	}
	if by.Token.IsZero() {
		by = platform.Customer
	}
	return tx.RecordOperatorAction(ctx, platform.OperatorAction{ID: s.IDs.New(now), Platform: after.Platform, Kind: kind,
		Subject: after.ID.UUID(), Name: after.ID.String() + " of " + after.Customer.String(), Actor: by.Name(), Person: by.Person, At: now,
		Changes: changes})
}

// Owner returns a beneficial owner, or BENEFICIAL_OWNER_NOT_FOUND.
func (s *Verifications) Owner(ctx context.Context, p ident.Platform, id ident.BeneficialOwner) (customer.BeneficialOwner, error) {
	return s.Store.BeneficialOwner(ctx, p, id)
}

// Owners returns the beneficial owners of a customer, or USER_NOT_FOUND.
func (s *Verifications) Owners(ctx context.Context, p ident.Platform,
	f ports.BeneficialOwnerFilter) (ports.Page[customer.BeneficialOwner], error) {
	if _, err := s.Store.Customer(ctx, p, f.Customer); err != nil {
		return ports.Page[customer.BeneficialOwner]{}, err
	}
	return s.Store.ListBeneficialOwners(ctx, p, f)
}
