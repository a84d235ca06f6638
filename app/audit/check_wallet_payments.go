package audit

import (
	"context"
	"errors"
	"fmt"

	"causeway/core/quote"
	"causeway/core/wallet"
	"causeway/ports"
)

// checkWalletPayments checks the evidence of every executed payment of a wallet. What is encrypted cannot
// be checked without the master key, and is not counted: only that there is evidence. Each is read with its
// evidence at once, so payments that are executed meanwhile are no violations.
func (c *run) checkWalletPayments(ctx context.Context) error {
	err := c.store.EachWalletPayment(ctx, c.only, func(p ports.WalletPayment) error {
		if !errors.Is(p.Unreadable, ports.ErrNoMasterKey) {
			c.report.countChecked(RuleWalletPayments)
		}
		if err := c.checkWalletPayment(p); err != nil {
			c.report.addFinding(RuleWalletPayments, "%s on %s: %v", p.Transaction.ID, p.Transaction.Platform, err)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("check payments of wallets: %w", err)
	}
	return nil
}

func (c *run) checkWalletPayment(p ports.WalletPayment) error {
	a, t := p.Authorization, p.Transaction
	switch {
	case a == nil:
		return errors.New("a wallet paid it, and nobody has signed it")
	case a.Account != t.Source.InternalAccount:
		return fmt.Errorf("the wallet %s paid it, and the owner of %s signed it", t.Source.InternalAccount, a.Account)
	case errors.Is(p.Unreadable, ports.ErrNoMasterKey):
		return nil
	case p.Unreadable != nil:
		return fmt.Errorf("what was signed cannot be read: %w", p.Unreadable)
	case t.Payload != "" && a.Payload != t.Payload: // it is empty if the customer was erased
		return errors.New("the signed payload is not that of its quote")
	case !quote.PayloadMatches(a.Payload, t):
		return errors.New("the signed payload does not say what the payment did")
	}
	return c.checkSignature(p)
}

// checkSignature checks the signature as it was checked at the execution: a test value of the sandbox is
// one there. The session must be one that the wallet opened.
func (c *run) checkSignature(p ports.WalletPayment) error {
	a := p.Authorization
	session := wallet.Session{ID: a.Session, Account: a.Account, PublicKey: a.SessionKey}
	var sessions []wallet.Session
	if !a.Session.IsZero() {
		certified, err := a.Certificate.Session()
		switch {
		case err != nil:
			return err
		case p.WalletKey == (wallet.Key{}):
			return errors.New("the wallet has no key that could have certified the session")
		case a.Certificate.Key != p.WalletKey:
			return errors.New("the session was certified by the key of another wallet")
		case certified.ID != a.Session || certified.PublicKey != a.SessionKey || certified.Account != a.Account:
			return errors.New("the wallet certified another session")
		case a.SignedAt.Before(certified.CreatedAt) || !a.SignedAt.Before(certified.ExpiresAt):
			return wallet.ErrSessionNotActive
		}
		sessions = append(sessions, session)
	}
	proofs, known := c.proofs[p.Environment]
	if !known {
		return fmt.Errorf("signatures of %s platforms cannot be checked", p.Environment)
	}
	if _, err := proofs.CheckSignature(a.Payload, a.Signature, sessions); err != nil {
		return errors.New("the signature is not one of the session over the payload")
	}
	return nil
}
