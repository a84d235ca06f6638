package payments

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/transaction"
	"causeway/core/uma"
	"causeway/ports"
)

// claimUMAInvoice makes a payment that the unit of work creates the one of a UMA invoice. It locks the invoice, so of two payments one is
// refused: another one is possible only after the last has ended in vain. The error is a uma.Refusal if it is not.
func claimUMAInvoice(ctx context.Context, tx Tx, id ident.UMAInvoice, t transaction.Transaction, now time.Time) error {
	kept, err := tx.LockUMAInvoice(ctx, t.Platform, id)
	if err != nil || kept.Payment == t.ID { // the unit of work runs again
		return err
	}
	var last transaction.Status
	if !kept.Payment.IsZero() {
		key := ports.TransactionKey{Platform: t.Platform, ID: kept.Payment}
		locked, err := tx.LockTransactions(ctx, []ports.TransactionKey{key})
		if err != nil {
			return err
		}
		last = locked[key].State.Status
	}
	if err := kept.CheckUnpaid(last, now); err != nil {
		return err
	}
	kept.Payment = t.ID
	if t.Type == transaction.Outgoing {
		kept.From = t.Customer
	}
	return tx.PayUMAInvoice(ctx, kept)
}

// asConflict returns CONFLICT for the refusal of a claim.
func asConflict(err error) error {
	if refused, is := errors.AsType[*uma.Refusal](err); is {
		return fault.New(fault.Conflict, "The invoice cannot be paid: %s.", refused.Message)
	}
	return err
}

// unpaidInvoice returns a UMA invoice of which a payment may begin. The error is a uma.Refusal if it may not.
func (s *Service) unpaidInvoice(ctx context.Context, p ident.Platform, id ident.UMAInvoice) (uma.KeptInvoice, error) {
	kept, err := s.Store.UMAInvoice(ctx, p, id)
	if err != nil {
		return kept, err
	}
	var last transaction.Transaction
	if !kept.Payment.IsZero() {
		// An expired quote is deleted after a while.
		if last, err = s.Store.Transaction(ctx, p, kept.Payment); err != nil && !fault.Is(err, fault.TransactionNotFound) {
			return kept, err
		}
	}
	return kept, kept.CheckUnpaid(last.State.Status, s.Clock.Now())
}

// issuedInvoice returns the invoice that a pay request pays, which must ask for just that; the zero one if it pays none. A payment of it
// that has lapsed before may have been paid all the same, without being reported yet: the node says so.
func (s *Service) issuedInvoice(ctx context.Context, node ports.Lightning, to customer.Customer, in UMAPayRequest) (
	uma.KeptInvoice, error) {
	if in.Invoice == uuid.Nil {
		return uma.KeptInvoice{}, nil
	}
	var id ident.UMAInvoice
	id.SetUUID(in.Invoice)
	kept, err := s.unpaidInvoice(ctx, to.Platform, id)
	if fault.Is(err, fault.NotFound) || err == nil && (kept.Receiver != in.Receiver || kept.To != to.ID) {
		err = uma.Refuse(uma.InvalidInvoice, "there is no such UMA invoice")
	}
	if err == nil {
		err = kept.CheckAsk(in.Ask, in.Sender, s.Clock.Now())
	}
	if err == nil {
		err = checkLapsed(ctx, node, kept)
	}
	return kept, err
}

// checkLapsed asks the node whether the last payment of an invoice has come after all.
func checkLapsed(ctx context.Context, node ports.Lightning, kept uma.KeptInvoice) error {
	if kept.Payment.IsZero() {
		return nil
	}
	err := node.CancelInvoice(ctx, kept.Payment.UUID())
	if fault.Is(err, fault.Conflict) {
		err = uma.Refuse(uma.InvalidInvoice, "the UMA invoice was paid")
	}
	return err
}

// quotedInvoice returns the id of the UMA invoice that a quote of a platform pays.
func (s *Service) quotedInvoice(ctx context.Context, p ident.Platform, id ident.UMAInvoice) (uuid.UUID, error) {
	kept, err := s.unpaidInvoice(ctx, p, id)
	if err == nil && !kept.To.IsZero() && s.Lightning != nil { // other providers may have been asked to pay it too
		var node ports.Lightning
		if node, err = s.Lightning.LightningFor(ctx, p); err == nil {
			err = checkLapsed(ctx, node, kept)
		}
	}
	return kept.Invoice.ID, asConflict(err)
}
