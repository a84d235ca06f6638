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

// signedEmailChange is a change of a customer's e-mail address that the owner of its wallet has to sign.
type signedEmailChange struct {
	operation signedrequests.Operation
	call      wallet.Call
}

func (c signedEmailChange) walletID() ports.WalletID {
	return ports.WalletID{Platform: c.operation.Platform, Account: c.operation.Account}
}

// unsignedError ends a unit of work whose change has to be signed.
type unsignedError struct{ change *signedEmailChange }

func (*unsignedError) Error() string {
	return "the owner of the wallet has to sign the new e-mail address"
}

// moveWalletCodes makes the new e-mail address of a locked customer the one to which the codes of its
// wallet are sent, and ends the code that was sent to the old one. It returns *unsignedError if that has to
// be signed and signed is nil. The old address gets a notice of a change that was signed: its owner may not
// be who signed it.
func (s *Service) moveWalletCodes(ctx context.Context, tx Tx, owner platform.Platform, before, after customer.Customer,
	accounts []account.Internal, signed *signedEmailChange) error {
	for _, a := range accounts {
		if a.Type != account.EmbeddedWallet {
			continue
		}
		locked, err := tx.LockWallet(ctx, ports.WalletID{Platform: a.Platform, Account: a.ID}, s.Clock.Now())
		if err != nil {
			return err
		}
		locked = locked.WithDefault(before.Email, a.CreatedAt)
		change, err := locked.ChangeEmail(after.Email, after.UpdatedAt)
		if err != nil {
			return err
		}
		if locked.EmailNeedsSignature() {
			if err := s.useSignature(ctx, tx, owner, locked, signed); err != nil {
				return err
			}
		}
		if len(change.Credentials) == 0 {
			continue
		}
		if err := tx.SaveWallet(ctx, change); err != nil {
			return err
		}
		if locked.EmailNeedsSignature() {
			tied, _ := locked.EmailOTP()
			if err := s.Mails.Add(ctx, tx, owner, tied.Email, mails.AddressChanged(after.UpdatedAt), after.UpdatedAt); err != nil {
				return err
			}
		}
		code, err := tx.LockWalletCode(ctx, a.Platform, change.Credentials[0].ID)
		if err != nil {
			return err
		}
		if code.Hash != (wallet.CodeHash{}) {
			if err := tx.SaveWalletCode(ctx, code.Ended()); err != nil {
				return err
			}
		}
	}
	return nil
}

// useSignature checks the signature of the owner of a locked wallet, and uses it up.
func (s *Service) useSignature(ctx context.Context, tx Tx, owner platform.Platform, locked wallet.Wallet,
	signed *signedEmailChange) error {
	if signed == nil {
		return &unsignedError{&signedEmailChange{operation: signedrequests.Operation{
			Action: wallet.Action{Platform: locked.Platform, Account: locked.Account, Operation: wallet.UpdateCustomerEmail,
				Credential: wallet.EmailOTP},
			Environment: owner.Environment, Basis: locked.CredentialSet(),
		}}}
	}
	authorized, err := s.signed.Use(ctx, tx, signed.operation, signed.call, locked)
	if err != nil {
		return err
	}
	return locked.CheckCredentialSet(authorized.Request)
}
