package transaction

import (
	"time"

	"causeway/core/account"
	"causeway/core/corridor"
	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
)

// TransferOut is a request to send money from an internal account to an external account of the same
// currency, without a quote and without a fee. Amount is in minor units of that currency.
type TransferOut struct {
	Platform ident.Platform
	From     ident.InternalAccount
	To       ident.ExternalAccount
	Amount   int64
	// Rail is the requested rail; empty for the best one.
	Rail corridor.Rail
	// Remittance is what the beneficiary is to read, and Purpose what the payment is for; both may be empty.
	Remittance, Purpose string
}

// TransferOutParties are the parties of a transfer out. An account that does not exist is nil, and
// so is the customer of an account that the platform owns. A deleted customer is not nil.
type TransferOutParties struct {
	Customer *customer.Customer
	From     *account.Internal
	To       *account.External
	// Protected: payments of Customer need strong customer authentication. Exempt: an exemption applies to this one.
	Protected, Exempt bool
}

// VisibleTo returns the parties as an agent of a customer sees them: what is not the customer's is nil.
func (p TransferOutParties) VisibleTo(c ident.Customer) TransferOutParties {
	if p.Customer != nil && p.Customer.ID != c {
		p.Customer = nil
	}
	p.From, p.To = account.InternalOf(c, p.From), account.ExternalOf(c, p.To)
	return p
}

// Check returns an INVALID_INPUT fault with what is invalid regardless of the parties.
func (o TransferOut) Check() error {
	return checkFields(append(checkTransferAmount(o.Amount), CheckRemittance(o.Remittance)...))
}

func checkTransferAmount(minor int64) []fault.Field {
	if minor < 1 || minor > money.MaxMinor {
		return []fault.Field{{Field: "amount",
			Message:    "must be a whole number of the smallest currency unit, from 1 to 9000000000000000",
			Constraint: map[string]any{"minimum": 1, "maximum": money.MaxMinor}}}
	}
	return nil
}

func checkFields(bad []fault.Field) error {
	if len(bad) == 0 {
		return nil
	}
	return fault.Invalid(bad...)
}

// Make checks the parties and returns the transaction, which debits the internal account at once. The
// caller checks the balance. Faults: INTERNAL_ACCOUNT_NOT_FOUND, EXTERNAL_ACCOUNT_NOT_FOUND,
// USER_NOT_READY, CUSTOMER_DELETED, INVALID_INPUT, INVALID_CURRENCY, AMOUNT_OUT_OF_RANGE, CONFLICT if the payer has to authorise it.
func (o TransferOut) Make(id ident.Transaction, p TransferOutParties, now time.Time) (Decision, error) {
	if err := o.checkParties(p); err != nil {
		return Decision{}, err
	}
	rail, err := p.To.ResolveRail(o.Rail, o.Amount)
	if err != nil {
		return Decision{}, err
	}
	amount := money.Amount{Minor: o.Amount, Currency: p.From.Currency}
	t := Transaction{
		ID: id, Platform: o.Platform, Type: Outgoing,
		Source:        Endpoint{InternalAccount: o.From, Currency: amount.Currency},
		Destination:   Endpoint{ExternalAccount: o.To, Currency: amount.Currency},
		SourceAccount: p.From.LedgerPath(), DestinationRail: rail, DestinationAccount: rail.LedgerPath(),
		Pricing:    AtPar(amount),
		Remittance: RemittanceLine(o.Remittance), Purpose: o.Purpose, RailSelection: SelectionOf(o.Rail, rail),
		CreatedAt: now, UpdatedAt: now,
	}
	if p.Customer != nil {
		t.Customer, t.PlatformCustomerID = p.Customer.ID, p.Customer.PlatformCustomerID
		t.Source.Customer, t.Destination.Customer = t.Customer, t.Customer
	}
	t.TravelRule = TravelRuleOf(o.Platform, p.Customer.Owning(p.From.Customer), p.Customer.Owning(p.To.Customer), p.To)
	t.Payee = t.PayeeDigest(p.To)
	if p.Protected && !p.From.Customer.IsZero() {
		if t.Authorization = AuthorizationExempt; !p.Exempt {
			t.Authorization = AuthorizationRequired
		}
	}
	return t.StartTransfer(now)
}

func (o TransferOut) checkParties(p TransferOutParties) error {
	switch {
	case p.From == nil:
		return fault.New(fault.InternalAccountNotFound, "There is no internal account %s.", o.From)
	case p.To == nil:
		return fault.New(fault.ExternalAccountNotFound, "There is no external account %s.", o.To)
	}
	if p.Customer != nil {
		if err := p.Customer.CheckReady(); err != nil {
			return err
		}
	}
	from, to := *p.From, *p.To
	var bad []fault.Field
	invalid := func(field, message string) { bad = append(bad, fault.Field{Field: field, Message: message}) }
	if !from.Usable() {
		invalid("source.accountId", "is "+string(from.Status)+"; only an ACTIVE account pays")
	}
	if !to.Status.Payable() {
		invalid("destination.accountId", "is "+string(to.Status)+"; only an ACTIVE account receives money")
	}
	if !from.Customer.IsZero() && !to.Customer.IsZero() && from.Customer != to.Customer {
		invalid("destination.accountId", "belongs to another customer; use one of this customer's accounts")
	}
	if from.Currency != to.Currency {
		invalid("destination.accountId", "holds "+string(to.Currency)+" and the source "+string(from.Currency)+
			"; a transfer stays in one currency: use POST /quotes to exchange")
	}
	if from.Type == account.EmbeddedWallet {
		invalid("source.accountId", "is an embedded wallet, whose owner signs each payment: create a quote with POST /quotes, and execute it "+
			"with the signature")
	}
	return checkFields(bad)
}
