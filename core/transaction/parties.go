package transaction

import (
	"causeway/core/account"
	"causeway/core/customer"
	"causeway/core/fault"
)

// Parties are the customers and the accounts of a quote at the time when it is to run. One that the
// quote does not have is nil, and so is one that was deleted; of accounts only the status is set.
type Parties struct {
	// Customer is the customer of the quote.
	Customer *customer.Customer
	// Owner owns the account that receives, if it is another customer.
	Owner *customer.Customer
	// FromInternal or FromExternal is the account that pays, and ToInternal or ToExternal the account
	// that receives.
	FromInternal *account.Internal
	FromExternal *account.External
	ToInternal   *account.Internal
	ToExternal   *account.External
	// OwnershipLimits are those of wallets whose owners have not proven that they are theirs.
	OwnershipLimits account.OwnershipLimits
}

// region returns the region whose rules apply; empty for a payment of the platform.
func (p Parties) region() string {
	if p.Customer == nil {
		return ""
	}
	return p.Customer.Region
}

// CheckParties returns a fault if a party of a quote may no longer move money: USER_NOT_READY for a
// customer who is not verified, QUOTE_NOT_EXECUTABLE for what was deleted or is not active, and
// for a payee that was changed, and EXTERNAL_ACCOUNT_VERIFICATION_REQUIRED for a wallet whose owner has to prove that it is theirs.
func (t Transaction) CheckParties(p Parties) error {
	if t.PayeeChanged {
		return t.ErrPayeeChanged()
	}
	if !t.Customer.IsZero() && p.Customer == nil {
		return errNotRunnable("Customer deleted", "The customer "+t.Customer.String()+" was deleted; no money can be moved for it.")
	}
	for _, c := range []*customer.Customer{p.Customer, p.Owner} {
		switch {
		case c == nil:
		case c.Deleted():
			return errNotRunnable("Customer deleted", "The customer "+c.ID.String()+" was deleted; no money can be moved for it.")
		default:
			if err := c.CheckReady(); err != nil {
				return err
			}
		}
	}
	return checkAccounts(t, p)
}

func checkAccounts(t Transaction, p Parties) error {
	for _, end := range []struct {
		Endpoint
		internal *account.Internal
		external *account.External
	}{{t.Source, p.FromInternal, p.FromExternal}, {t.Destination, p.ToInternal, p.ToExternal}} {
		switch {
		case !end.InternalAccount.IsZero() && (end.internal == nil || !end.internal.Usable()):
			return errNotRunnable("Account not active", "The account "+end.InternalAccount.String()+
				" is no longer ACTIVE. Create a new quote with another account.")
		case !end.ExternalAccount.IsZero() && end.external == nil:
			return errNotRunnable("Account deleted", "The account "+end.ExternalAccount.String()+
				" was deleted. Create a new quote with another account.")
		case end.external != nil && end.external == p.ToExternal && end.external.Status.Unproven():
			if err := p.OwnershipLimits.Check(end.external.Status, p.region(), t.TravelRule.worth()); err != nil {
				return err
			}
		case !end.ExternalAccount.IsZero() && end.external.Status != account.Active:
			return errNotRunnable("Account not active", "The account "+end.ExternalAccount.String()+" is "+string(end.external.Status)+
				". Wait until it is ACTIVE, or create a new quote with another account.")
		}
	}
	return nil
}

func errNotRunnable(reason, message string) error {
	return &fault.Error{Code: fault.QuoteNotExecutable, Reason: reason, Message: message}
}
