package customers

import (
	"context"
	"errors"

	"causeway/app/internal/uow"
	"causeway/core/account"
	"causeway/core/customer"
	"causeway/core/diff"
	"causeway/core/event"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/sca"
	"causeway/core/wallet"
	"causeway/ports"
)

// Update changes a customer, opens the accounts that it does not have yet in the platform's currencies
// if its own change, and changes the name in the funding instructions of its accounts. The owner of a
// wallet has to sign a change of the e-mail address or phone number to which its codes are sent: it returns the request
// to sign to an unsigned call, and has changed nothing. Faults: USER_NOT_FOUND, CUSTOMER_DELETED,
// INVALID_INPUT with every invalid field, UMA_ADDRESS_EXISTS, END_USER_TERMS_VERSION_NOT_FOUND; UNAUTHORIZED,
// EMAIL_OTP_EMAIL_ALREADY_EXISTS, EMAIL_OTP_CREDENTIAL_SET_CHANGED and RATE_LIMITED for a wallet.
func (s *Service) Update(ctx context.Context, platformID ident.Platform, by platform.Author, call wallet.Call, id ident.Customer,
	change customer.Change) (customer.Customer, *wallet.SignedRequest, error) {
	after, protected, err := s.update(ctx, platformID, by, id, change, nil)
	if err != nil || protected == nil {
		return after, nil, err
	}
	if protected.operation.Operation == wallet.UpdateCustomerEmail { // a phone may be of several people
		inUse, err := s.Store.OtherWalletWithEmail(ctx, protected.walletID(), *change.Email)
		if err != nil {
			return customer.Customer{}, nil, err
		}
		if inUse {
			protected.operation.Refused = wallet.EmailInUse()
		}
	}
	if call.Unsigned() {
		issued, err := s.signed.Issue(ctx, nil, protected.operation, call)
		return customer.Customer{}, issued, err
	}
	protected.call = call
	after, _, err = s.update(ctx, platformID, by, id, change, protected)
	return after, nil, err
}

// update changes a customer. If the owner of its wallet has to sign the change and signed is nil, it
// changes nothing and returns what has to be signed.
func (s *Service) update(ctx context.Context, platformID ident.Platform, by platform.Author, id ident.Customer, change customer.Change,
	signed *signedMove) (customer.Customer, *signedMove, error) {
	var after customer.Customer
	err := ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) error {
		owner, err := tx.LockPlatformShared(ctx, platformID)
		if err != nil {
			return err
		}
		before, err := lockCustomer(ctx, tx, platformID, id)
		if err != nil {
			return err
		}
		if after, err = before.Update(change, owner, s.Clock.Now()); err != nil {
			return err
		}
		if before.VerifiedPhone() != "" && after.VerifiedPhone() == "" {
			if err := tx.EndSCASessions(ctx, platformID, id, sca.SMSOTP, after.UpdatedAt); err != nil {
				return err
			}
		}
		if change.Consent != nil {
			if err := checkTermsKnown(ctx, tx, after.Consent); err != nil {
				return err
			}
		}
		if after.Status != before.Status {
			after = s.Identity.NewCustomer(owner, after)
		}
		var existing []account.Internal
		if change.Currencies != nil || after.Name() != before.Name() || len(movedCodes(before, after)) > 0 {
			if existing, err = tx.InternalAccountsOf(ctx, platformID, id); err != nil {
				return err
			}
		}
		if err := s.moveWalletCodes(ctx, tx, owner, before, after, existing, signed); err != nil {
			return err
		}
		if after.Name() != before.Name() {
			renamed, err := s.opener(owner, after, after.UpdatedAt).Rename(existing)
			if err != nil {
				return err
			}
			if err := uow.StoreInstructions(ctx, tx, s.IDs.New, renamed, tx.ReplaceFundingInstructions); err != nil {
				return err
			}
		}
		if change.Currencies != nil {
			opened, instructed, err := s.opener(owner, after, after.UpdatedAt).OpenMissing(owner.CurrencyCodes(), existing)
			if err != nil {
				return err
			}
			if err := tx.OpenInternalAccounts(ctx, opened); err != nil {
				return err
			}
			if err := uow.StoreInstructions(ctx, tx, s.IDs.New, instructed, tx.AddFundingInstructions); err != nil {
				return err
			}
		}
		if hasNewSubject(before, after) {
			if err := s.Sanctions.enqueue(ctx, tx, s.IDs, owner.ID, owner.Environment, s.Clock.Now(), after.ID); err != nil {
				return err
			}
		}
		after = after.ShownBy(owner)
		if err := tx.UpdateCustomer(ctx, after); err != nil {
			return err
		}
		if changes := customer.Changed(before, after); len(changes) > 0 {
			if err := s.record(ctx, tx, by, platform.UpdatedCustomer, after, changes); err != nil {
				return err
			}
		}
		if after.Status == before.Status {
			return nil
		}
		return tx.Emit(ctx, []event.Event{after.StatusEvent(ident.NewWebhook(s.IDs.New, after.UpdatedAt))})
	})
	if unsigned := (*unsignedError)(nil); errors.As(err, &unsigned) {
		return customer.Customer{}, unsigned.change, nil
	}
	return after, nil, err
}

// CheckUpdate returns the faults of Update but UMA_ADDRESS_EXISTS, and changes nothing.
func (s *Service) CheckUpdate(ctx context.Context, platformID ident.Platform, id ident.Customer, change customer.Change) error {
	owner, err := s.Store.Platform(ctx, platformID)
	if err != nil {
		return err
	}
	present, err := s.Store.Customer(ctx, platformID, id)
	if err != nil {
		return err
	}
	_, err = present.Update(change, owner, s.Clock.Now())
	return err
}

// Delete deletes a customer, its external accounts and its agents. Faults: USER_NOT_FOUND, CUSTOMER_DELETED,
// CONFLICT while it has money on its accounts or in a payment that is not settled.
func (s *Service) Delete(ctx context.Context, platformID ident.Platform, by platform.Author, id ident.Customer) (customer.Customer, error) {
	var deleted customer.Customer
	err := ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) error {
		owner, err := tx.LockPlatformShared(ctx, platformID)
		if err != nil {
			return err
		}
		before, err := lockCustomer(ctx, tx, platformID, id)
		if err != nil {
			return err
		}
		// A customer with money is refused without a wait for the payments that move it.
		left, err := tx.CustomerFunds(ctx, platformID, id)
		if err != nil {
			return err
		}
		if _, err = before.Delete(left, s.Clock.Now()); err != nil {
			return err
		}
		// For others, a payment of an agent, which locks the agent before balances, or a deposit must come before,
		// and is then found, or after, and then finds no agent or the deleted customer.
		if err := tx.DeleteAgentsOf(ctx, platformID, id); err != nil {
			return err
		}
		if left, err = tx.LockCustomerFunds(ctx, platformID, id); err != nil {
			return err
		}
		if deleted, err = before.Delete(left, s.Clock.Now()); err != nil {
			return err
		}
		if err := tx.DeleteExternalAccountsOf(ctx, platformID, id, deleted.DeletedAt); err != nil {
			return err
		}
		deleted = deleted.ShownBy(owner)
		if err := tx.UpdateCustomer(ctx, deleted); err != nil {
			return err
		}
		return s.record(ctx, tx, by, platform.DeletedCustomer, deleted, nil)
	})
	return deleted, err
}

// record records who has changed or deleted a customer.
func (s *Service) record(ctx context.Context, tx Tx, by platform.Author, kind platform.OperatorActionKind, c customer.Customer,
	changes []diff.Field) error {
	return tx.RecordOperatorAction(ctx, platform.OperatorAction{ID: s.IDs.New(c.UpdatedAt), Platform: c.Platform, Kind: kind,
		Subject: c.ID.UUID(), Name: c.ID.String(), Actor: by.Name(), Person: by.Person, At: c.UpdatedAt, Changes: changes})
}

// Funds returns the money of a customer that keeps it from being deleted.
func (s *Service) Funds(ctx context.Context, platformID ident.Platform, id ident.Customer) (left customer.Funds, err error) {
	err = ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) error {
		left, err = tx.CustomerFunds(ctx, platformID, id)
		return err
	})
	return left, err
}
