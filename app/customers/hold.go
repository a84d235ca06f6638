package customers

import (
	"context"

	"causeway/core/customer"
	"causeway/core/diff"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/screening"
	"causeway/ports"
)

// Hold stops the payments of an approved customer until a person releases it, with a reason that is kept as a note about the customer.
// Faults: INVALID_INPUT, USER_NOT_FOUND, CUSTOMER_DELETED, CONFLICT.
func (s *Verifications) Hold(ctx context.Context, p ident.Platform, by platform.Author, id ident.Customer, reason string) (
	customer.Customer, error) {
	return s.changeHold(ctx, p, by, id, reason, platform.PersonHeldCustomer, "Put on hold: ",
		func(w *customerWork) (customer.Customer, error) { return w.customer.PutOnHold(w.now) })
}

// Release lets a customer move money again whom a person has put on hold; one with hits that nobody has judged stays held for those.
// Faults: those of Hold.
func (s *Verifications) Release(ctx context.Context, p ident.Platform, by platform.Author, id ident.Customer, reason string) (
	customer.Customer, error) {
	return s.changeHold(ctx, p, by, id, reason, platform.PersonReleasedCustomer, "Released: ",
		func(w *customerWork) (customer.Customer, error) {
			hits, err := w.tx.ScreeningHitsOf(ctx, p, id)
			if err != nil {
				return w.customer, err
			}
			return w.customer.TakeOffHold(len(screening.OpenHits(hits)) > 0, w.now)
		})
}

func (s *Verifications) changeHold(ctx context.Context, p ident.Platform, by platform.Author, id ident.Customer, reason string,
	kind platform.OperatorActionKind, what string, decide func(*customerWork) (customer.Customer, error)) (
	after customer.Customer, err error) {
	if reason, err = customer.HoldReason(reason); err != nil {
		return after, err
	}
	err = ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) error {
		work, err := s.lock(ctx, tx, nil, p, id)
		if err != nil {
			return err
		}
		before := work.customer
		if after, err = decide(work); err != nil {
			return err
		}
		if err := work.become(ctx, after); err != nil {
			return err
		}
		note, err := customer.NewNote(customer.Note{ID: s.IDs.New(work.now), Platform: p, Customer: id, Person: by.Person, Author: by.Name(),
			Content: what + reason, CreatedAt: work.now}, after)
		if err != nil {
			return err
		}
		if err := tx.AddCustomerNote(ctx, note); err != nil {
			return err
		}
		return tx.RecordOperatorAction(ctx, platform.OperatorAction{ID: s.IDs.New(work.now), Platform: p, Kind: kind, Subject: id.UUID(),
			Name: id.String(), Actor: by.Name(), Person: by.Person, At: work.now, Changes: diff.Between(
				diff.Values{"status": string(before.ShownStatus())}, diff.Values{"status": string(after.ShownStatus())})})
	})
	return after, err
}

// OnHold returns the customers whom a person has put on hold, those first who are held longest.
func (s *Verifications) OnHold(ctx context.Context, p ident.Platform, limit int) ([]customer.Customer, error) {
	return s.Store.CustomersOnHold(ctx, p, limit)
}
