// Package transfer decides about money that leaves in the currency it is held in:
// from an internal account to an external one, without a quote and without a fee.
//
// It prices nothing and moves nothing: what it makes is a transaction, whose course
// is core/transaction's.
package transfer

import (
	"time"

	"causeway/core/account"
	"causeway/core/corridor"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/quote"
	"causeway/core/transaction"
)

// Out asks for a transfer out. The amount is minor units of the accounts' currency.
type Out struct {
	Platform ident.Platform
	From     ident.InternalAccount
	To       ident.ExternalAccount
	Amount   int64
	// Rail is the one to pay by; empty for the best one.
	Rail corridor.Rail
}

// Check lists every field that is bad whoever the parties are.
func (o Out) Check() error {
	if o.Amount < 1 || o.Amount > money.MaxMinor {
		return fault.Invalid(fault.Field{Field: "amount",
			Message:    "must be a whole number of the smallest currency unit, from 1 to 9000000000000000",
			Constraint: map[string]any{"minimum": 1, "maximum": money.MaxMinor}})
	}
	return nil
}

// Make checks the parties and makes the transfer, with its money on its way. Faults:
// INTERNAL_ACCOUNT_NOT_FOUND, EXTERNAL_ACCOUNT_NOT_FOUND, USER_NOT_READY,
// INVALID_INPUT, INVALID_CURRENCY, AMOUNT_OUT_OF_RANGE, NOT_IMPLEMENTED (an embedded
// wallet pays).
func (o Out) Make(id ident.Transaction, p quote.Parties, now time.Time) (transaction.Decision, error) {
	if err := o.check(p); err != nil {
		return transaction.Decision{}, err
	}
	rail, err := p.ToExternal.ResolveRail(o.Rail, o.Amount)
	if err != nil {
		return transaction.Decision{}, err
	}
	amount := money.Amount{Minor: o.Amount, Currency: p.FromInternal.Currency}
	t := transaction.Transaction{
		ID: id, Platform: o.Platform, Type: transaction.Outgoing,
		Source:        transaction.Endpoint{InternalAccount: o.From, Currency: amount.Currency},
		Destination:   transaction.Endpoint{ExternalAccount: o.To, Currency: amount.Currency},
		SourceAccount: quote.AccountPath(*p.FromInternal), DestinationAccount: quote.RailPath(rail),
		Pricing:   transaction.AtPar(amount),
		CreatedAt: now, UpdatedAt: now,
	}
	if p.Customer != nil {
		t.Customer, t.PlatformCustomerID = p.Customer.ID, p.Customer.PlatformCustomerID
		t.Source.Customer, t.Destination.Customer = t.Customer, t.Customer
	}
	return t.StartTransfer(now), nil
}

func (o Out) check(p quote.Parties) error {
	switch {
	case p.FromInternal == nil:
		return fault.New(fault.InternalAccountNotFound, "There is no internal account %s.", o.From)
	case p.ToExternal == nil:
		return fault.New(fault.ExternalAccountNotFound, "There is no external account %s.", o.To)
	}
	if p.Customer != nil {
		if err := p.Customer.CheckReady(); err != nil {
			return err
		}
	}
	from, to := *p.FromInternal, *p.ToExternal
	var bad []fault.Field
	wrong := func(field, message string) { bad = append(bad, fault.Field{Field: field, Message: message}) }
	if !from.Usable() {
		wrong("source.accountId", "is "+string(from.Status)+"; only an ACTIVE account pays")
	}
	if to.Status != account.Active {
		wrong("destination.accountId", "is "+string(to.Status)+"; only an ACTIVE account receives money")
	}
	if !from.Customer.IsZero() && !to.Customer.IsZero() && from.Customer != to.Customer {
		wrong("destination.accountId", "belongs to another customer; use one of this customer's accounts")
	}
	if from.Currency != to.Currency {
		wrong("destination.accountId", "holds "+string(to.Currency)+" and the source "+string(from.Currency)+
			"; a transfer stays in one currency: use POST /quotes to exchange")
	}
	if len(bad) > 0 {
		return fault.Invalid(bad...)
	}
	if from.Type == account.EmbeddedWallet {
		return fault.New(fault.NotImplemented, "An embedded wallet cannot pay yet: its owner would have to sign. Pay from another account.")
	}
	return nil
}
