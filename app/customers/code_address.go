package customers

import (
	"context"

	"causeway/app/internal/mails"
	"causeway/app/internal/signedrequests"
	"causeway/core/account"
	"causeway/core/customer"
	"causeway/core/platform"
	"causeway/core/wallet"
	"causeway/ports"
)

// signedMove is a change of the address to which codes are sent that the owner of the wallet has to sign.
type signedMove struct {
	operation signedrequests.Operation
	call      wallet.Call
}

func (c signedMove) walletID() ports.WalletID {
	return ports.WalletID{Platform: c.operation.Platform, Account: c.operation.Account}
}

// unsignedError ends a unit of work whose change has to be signed.
type unsignedError struct{ change *signedMove }

func (*unsignedError) Error() string {
	return "the owner of the wallet has to sign where its codes are sent"
}

// movedCodes returns the addresses of a customer, by the type of the credential whose codes are sent there, that have changed.
func movedCodes(before, after customer.Customer) map[wallet.CredentialType]string {
	moved := map[wallet.CredentialType]string{}
	if after.Email != before.Email {
		moved[wallet.EmailOTP] = after.Email
	}
	if after.PhoneNumber != before.PhoneNumber {
		moved[wallet.SMSOTP] = after.PhoneNumber
	}
	return moved
}

// moveWalletCodes makes the new e-mail address and phone number of a locked customer those to which the codes of its
// wallet are sent, and ends the codes that were sent to the old ones. It returns *unsignedError if that has to
// be signed and signed is nil. The old e-mail address, or else the old phone number, gets a notice of a change that was
// signed: its owner may not be who signed it.
func (s *Service) moveWalletCodes(ctx context.Context, tx Tx, owner platform.Platform, before, after customer.Customer,
	accounts []account.Internal, signed *signedMove) error {
	moved, now := movedCodes(before, after), after.UpdatedAt
	for _, a := range accounts {
		if a.Type != account.EmbeddedWallet || len(moved) == 0 {
			continue
		}
		locked, err := tx.LockWallet(ctx, ports.WalletID{Platform: a.Platform, Account: a.ID}, s.Clock.Now())
		if err != nil {
			return err
		}
		locked = locked.WithDefault(before.Email, a.CreatedAt)
		change, toSign, err := locked.MoveCodes(moved, now)
		if err != nil {
			return err
		}
		if toSign != "" {
			if err := s.useSignature(ctx, tx, owner, locked, toSign, signed); err != nil {
				return err
			}
		}
		if len(change.Credentials) == 0 {
			continue
		}
		if err := tx.SaveWallet(ctx, change); err != nil {
			return err
		}
		if toSign != "" {
			to := mails.Recipient{Email: before.Email, Phone: before.PhoneNumber}
			if err := s.Mails.AddNotice(ctx, tx, owner, to, mails.AddressChanged(toSign, now), now); err != nil {
				return err
			}
		}
		for _, c := range change.Credentials {
			code, err := tx.LockWalletCode(ctx, a.Platform, c.ID)
			if err != nil {
				return err
			}
			if code.Hash != (wallet.CodeHash{}) {
				if err := tx.SaveWalletCode(ctx, code.Ended()); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// useSignature checks the signature of the owner of a locked wallet, and uses it up.
func (s *Service) useSignature(ctx context.Context, tx Tx, owner platform.Platform, locked wallet.Wallet, t wallet.CredentialType,
	signed *signedMove) error {
	if signed == nil {
		operation := wallet.UpdateCustomerEmail
		if t == wallet.SMSOTP {
			operation = wallet.UpdateCustomerPhone
		}
		return &unsignedError{&signedMove{operation: signedrequests.Operation{
			Action:      wallet.Action{Platform: locked.Platform, Account: locked.Account, Operation: operation, Credential: t},
			Environment: owner.Environment, Basis: locked.CredentialSet(),
		}}}
	}
	authorized, err := s.signed.Use(ctx, tx, signed.operation, signed.call, locked)
	if err != nil {
		return err
	}
	return locked.CheckCredentialSet(authorized.Request)
}
