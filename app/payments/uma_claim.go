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
// refused: another one is possible only after the last has ended in vain, whose Lightning invoice was cancelled then. The error is a
// uma.Refusal if it is not. A last one that waits for its money ends with it if it is to be replaced.
func claimUMAInvoice(ctx context.Context, tx Tx, paid claimedInvoice, t transaction.Transaction, now time.Time) (
	ended []transaction.Decision, err error) {
	kept, err := tx.LockUMAInvoice(ctx, t.Platform, paid.id)
	if err != nil {
		return nil, err
	}
	if kept.Payment == t.ID { // which exists
		return nil, errQuoted
	}
	if kept.Payment != paid.last { // whose Lightning invoice may be paid
		return nil, errPaymentBegun
	}
	var last transaction.Transaction
	if !kept.Payment.IsZero() {
		key := ports.TransactionKey{Platform: t.Platform, ID: kept.Payment}
		locked, err := tx.LockTransactions(ctx, []ports.TransactionKey{key})
		if err != nil {
			return nil, err
		}
		last = locked[key]
	}
	if paid.replace && last.State == transaction.Initial {
		d, err := last.ExpireEarly(now)
		if err != nil {
			return nil, err
		}
		ended, last = append(ended, d), d.Transaction
	}
	if t.Type == transaction.Outgoing {
		kept.From, kept.AskedUntil = t.Customer, time.Time{} // the quote is that which was being made
	}
	if err := kept.CheckUnpaid(last.State.Status, now); err != nil {
		return nil, err
	}
	kept.Payment = t.ID
	return ended, tx.PayUMAInvoice(ctx, kept)
}

// errQuoted is the fault of a request that was sent again, and whose quote exists: see quoteToExecute.
var errQuoted = &fault.Error{Code: fault.ServiceUnavailable, Reason: "Quote exists", RetryAfter: time.Second,
	Message: "The quote of this request was just created. Send the request again."}

// errPaymentBegun is the uma.Refusal of the slower of two payments.
var errPaymentBegun = uma.Refuse(uma.InvalidInvoice, "the UMA invoice has a payment already")

// asConflict returns CONFLICT for the refusal of a claim.
func asConflict(err error) error {
	if refused, is := errors.AsType[*uma.Refusal](err); is {
		return fault.New(fault.Conflict, "The invoice cannot be paid: %s.", refused.Message)
	}
	return err
}

// umaInvoice returns a UMA invoice, with its last payment; the zero one if there is none.
func (s *Service) umaInvoice(ctx context.Context, p ident.Platform, id ident.UMAInvoice) (
	kept uma.KeptInvoice, last transaction.Transaction, err error) {
	kept, err = s.Store.UMAInvoice(ctx, p, id)
	if err == nil && !kept.Payment.IsZero() {
		// An expired quote is deleted after a while.
		if last, err = s.Store.Transaction(ctx, p, kept.Payment); fault.Is(err, fault.TransactionNotFound) {
			err = nil
		}
	}
	return kept, last, err
}

// claimedInvoice is a UMA invoice that is to be paid.
type claimedInvoice struct {
	id ident.UMAInvoice
	// last is its last payment, whose Lightning invoice can be paid no longer; zero for none.
	last ident.Transaction
	// replace: the last payment waits for its money, and ends.
	replace bool
}

// issuedInvoice returns the invoice that a pay request pays, which must ask for just that; the zero one if it pays none. A payment of it
// before that was not paid, or has lapsed, can be replaced: see cancelLast.
func (s *Service) issuedInvoice(ctx context.Context, to customer.Customer, in UMAPayRequest) (issued claimedInvoice, err error) {
	if in.Invoice == uuid.Nil {
		return issued, nil
	}
	issued.id.SetUUID(in.Invoice)
	kept, last, err := s.umaInvoice(ctx, to.Platform, issued.id)
	if fault.Is(err, fault.NotFound) || err == nil && (kept.Receiver != in.Receiver || kept.To != to.ID) {
		err = uma.Refuse(uma.InvalidInvoice, "there is no such UMA invoice")
	}
	now := s.Clock.Now()
	if err == nil {
		err = kept.CheckAsk(in.Ask, in.Sender, now)
	}
	if issued.replace = uma.MayReplace(last, in.Sender, now); err == nil && !issued.replace {
		err = kept.CheckUnpaid(last.State.Status, now)
	}
	issued.last = kept.Payment
	return issued, err
}

// cancelLast makes the Lightning invoice of the last payment of a UMA invoice unpayable, also if it is still being made; zero for none. It
// is cancelled before the next payment exists, so a process that is killed, or a node that is away, leaves no two that can be paid. The
// error is a uma.Refusal if it was paid, or the node cannot.
func cancelLast(ctx context.Context, node ports.Lightning, last ident.Transaction) error {
	if last.IsZero() {
		return nil
	}
	err := node.CancelInvoice(ctx, last.UUID())
	if fault.Is(err, fault.Conflict) {
		return uma.Refuse(uma.InvalidInvoice, "the UMA invoice was paid")
	}
	if f, is := fault.As(err); is && f.Code == fault.NotImplemented {
		return uma.Refuse(uma.InvalidInvoice, "the UMA invoice has a payment already; another one is possible when that has expired")
	}
	return err
}

// askTime is for how long a quote that is being made keeps others from its UMA invoice: longer than the other provider is asked.
const askTime = time.Minute

// quotedInvoice returns the UMA invoice that a quote of a platform pays. One of another provider is reserved for it, because each
// quote asks that for a Lightning invoice, in place of the one before. While it is reserved for another one, the fault is temporary for a
// request with a key, under which a final one would be stored: the reservation may be that of the same request, sent before.
func (s *Service) quotedInvoice(ctx context.Context, p ident.Platform, id ident.UMAInvoice, claim *ports.IdempotentRequest) (
	uma.KeptInvoice, error) {
	kept, last, err := s.umaInvoice(ctx, p, id)
	if err == nil {
		err = kept.CheckUnpaid(last.State.Status, s.Clock.Now())
	}
	asked := kept.Payment
	switch {
	case err != nil:
	case kept.To.IsZero():
		err = ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) error {
			if kept, err = tx.LockUMAInvoice(ctx, p, id); err != nil {
				return err
			}
			now := s.Clock.Now()
			if kept.Payment != asked { // another quote was faster
				return errPaymentBegun
			}
			if err := kept.CheckUnpaid(last.State.Status, now); err != nil {
				return err
			}
			kept.AskedUntil = now.Add(askTime)
			return tx.PayUMAInvoice(ctx, kept)
		})
	case s.Lightning != nil: // other providers may have been asked to pay it too
		var node ports.Lightning
		if node, err = s.Lightning.LightningFor(ctx, p); err == nil {
			err = cancelLast(ctx, node, kept.Payment)
		}
	}
	if claim != nil && errors.Is(err, uma.ErrBeingQuoted) {
		return kept, &fault.Error{Code: fault.ServiceUnavailable, Reason: "Quote is being made", RetryAfter: kept.AskedUntil.Sub(s.Clock.Now()),
			Message: "Another quote of the UMA invoice is being made. Nothing was done; send the request again later."}
	}
	return kept, asConflict(err)
}

// releaseUMAInvoice lets other quotes have a UMA invoice whose quote has failed. Without it, that lasts for askTime.
func (s *Service) releaseUMAInvoice(ctx context.Context, kept uma.KeptInvoice) {
	if kept.AskedUntil.IsZero() {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTimeout)
	defer cancel()
	err := ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) error {
		now, err := tx.LockUMAInvoice(ctx, kept.Platform, kept.ID)
		if err != nil || !now.AskedUntil.Equal(kept.AskedUntil) {
			return err
		}
		now.AskedUntil = time.Time{}
		return tx.PayUMAInvoice(ctx, now)
	})
	if err != nil {
		s.Log.WithError(err).WithField("invoice", kept.ID.String()).Warn("a UMA invoice waits for a minute after a quote that has failed")
	}
}

const releaseTimeout = 5 * time.Second
