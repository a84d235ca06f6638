package customers

import (
	"context"

	"causeway/app/internal/mails"
	"causeway/app/internal/uow"
	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/wallet"
	"causeway/ports"
)

// SendContactCode sends a code to the e-mail address or the phone of a customer. It replaces the one before. Faults: USER_NOT_FOUND,
// CUSTOMER_DELETED, CONFLICT for a channel that cannot be verified, RATE_LIMITED, NOT_IMPLEMENTED if the service cannot send any.
func (s *Service) SendContactCode(ctx context.Context, p ident.Platform, request *ports.IdempotentRequest, id ident.Customer,
	ch customer.Channel) error {
	owner, found, err := s.verifiable(ctx, p, id, ch)
	if err != nil {
		return err
	}
	available := s.Mails.CheckAvailable
	if ch == customer.PhoneChannel {
		available = s.Mails.CheckSMSAvailable
	}
	if err := available(owner); err != nil {
		return err
	}
	proofs, connected := s.WalletProofs[owner.Environment]
	if !connected {
		return fault.New(fault.NotImplemented, "Contacts of customers of %s platforms cannot be verified by this service.", owner.Environment)
	}
	code, err := proofs.NewSCACode(customer.ContactCodeLength)
	if err != nil {
		return err
	}
	hash, err := s.contactCodeHash(ctx, found, ch, code)
	if err != nil {
		return err
	}
	return ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) error {
		if err := tx.SaveResponse(ctx, request, struct{}{}, nil); err != nil {
			return err
		}
		last, locked, err := lockContactCode(ctx, tx, owner, found, ch)
		if err != nil {
			return err
		}
		now := s.Clock.Now()
		sent, err := last.Sent(hash, customer.ContactCodeLifetime, now)
		if err != nil {
			return err
		}
		if err := tx.SaveWalletCode(ctx, sent); err != nil {
			return err
		}
		message := mails.Code(code, customer.ContactCodeLifetime)
		if ch == customer.PhoneChannel {
			message = mails.SMSCode(code, "to confirm your phone number", customer.ContactCodeLifetime)
		}
		return s.Mails.Add(ctx, tx, owner, locked.Contact(ch), message.About("contact", id.String(), string(ch)), now)
	})
}

// ConfirmContact verifies a channel of a customer with the code that was sent there. A wrong code is counted in the same commit in which
// the row of the code is locked, so none is missed. Faults: those of SendContactCode; INVALID_INPUT for a code that is wrong, was
// replaced or used, or has expired, and after five wrong ones also for the right one.
func (s *Service) ConfirmContact(ctx context.Context, p ident.Platform, request *ports.IdempotentRequest, id ident.Customer,
	ch customer.Channel, code string) (customer.Customer, error) {
	owner, found, err := s.verifiable(ctx, p, id, ch)
	if err != nil {
		return customer.Customer{}, err
	}
	tried, err := s.contactCodeHash(ctx, found, ch, code)
	if err != nil {
		return customer.Customer{}, err
	}
	var confirmed customer.Customer
	var refused error
	err = ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) error {
		sent, locked, err := lockContactCode(ctx, tx, owner, found, ch)
		if err != nil {
			return err
		}
		now := s.Clock.Now()
		if err := sent.CheckDelay(now); err != nil {
			return err
		}
		confirmed, refused = customer.Customer{}, nil
		after := sent
		switch {
		case sent.Matches(tried, now):
			after, confirmed = sent.Used(), locked.Verify(ch, now).ShownBy(owner)
			err = tx.UpdateCustomer(ctx, confirmed)
		default:
			refused = fault.Invalid(fault.Field{Field: "code", Message: "is wrong, has expired, or was replaced by a newer one"})
			if sent.Valid(now) {
				after = sent.Failed(now)
			}
		}
		if err != nil {
			return err
		}
		if after != sent {
			if err := tx.SaveWalletCode(ctx, after); err != nil {
				return err
			}
		}
		return uow.SaveResponse(ctx, tx, request, confirmed, refused)
	})
	if err == nil {
		err = refused
	}
	return confirmed, err
}

// verifiable returns a customer whose channel can be verified, with its platform.
func (s *Service) verifiable(ctx context.Context, p ident.Platform, id ident.Customer,
	ch customer.Channel) (platform.Platform, customer.Customer, error) {
	owner, err := s.Store.Platform(ctx, p)
	if err != nil {
		return owner, customer.Customer{}, err
	}
	found, err := s.Get(ctx, p, id)
	if err == nil {
		err = found.CheckVerifiable(ch, owner)
	}
	return owner, found, err
}

// lockContactCode returns the last code that was sent over a channel, and the locked customer, whose address must be the one that was
// read.
func lockContactCode(ctx context.Context, tx Tx, owner platform.Platform, read customer.Customer,
	ch customer.Channel) (code wallet.Code, locked customer.Customer, err error) {
	if locked, err = lockCustomer(ctx, tx, owner.ID, read.ID); err != nil {
		return code, locked, err
	}
	if err := locked.CheckVerifiable(ch, owner); err != nil {
		return code, locked, err
	}
	if locked.Contact(ch) != read.Contact(ch) {
		return code, locked, &fault.Error{Code: fault.Conflict, Reason: "Customer changed meanwhile",
			Message: "The contact data of the customer changed meanwhile. Send a new code."}
	}
	code, err = tx.LockWalletCode(ctx, owner.ID, customer.ContactCodeID(read.ID, ch))
	return code, locked, err
}

// contactCodeHash binds a code to the address to which it is sent, so that it proves nothing about another one.
func (s *Service) contactCodeHash(ctx context.Context, c customer.Customer, ch customer.Channel, code string) (wallet.CodeHash, error) {
	return s.Store.WalletCodeHash(ctx, c.Platform, customer.ContactCodeID(c.ID, ch), c.Contact(ch)+" "+code)
}
