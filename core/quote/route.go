package quote

import (
	"slices"

	"causeway/core/account"
	"causeway/core/corridor"
	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/transaction"
	"causeway/ledger"
)

// Parties are the two sides of a quote; nil is "there is none".
type Parties struct {
	// Customer is who the payment is for: the one who pays, else the one who receives.
	Customer *customer.Customer
	// FromInternal or FromExternal is the account that pays, ToInternal or ToExternal
	// the one that receives.
	FromInternal *account.Internal
	FromExternal *account.External
	ToInternal   *account.Internal
	ToExternal   *account.External
	// Receiver is what was asked about the receiver before.
	Receiver *Lookup
}

// Route is where the money of a quote comes in and goes out, and for whom.
type Route struct {
	Corridor corridor.Corridor
	// Customer is who the payment is for; zero when it is the platform's own.
	Customer ident.Customer
	// SourceAccount is the ledger path the money comes from: a rail, a chain or an account. Out is
	// the account it goes to; empty when it leaves the house, by a rail that the amount
	// decides.
	SourceAccount, DestinationAccount string
}

// Route checks the parties and finds the way between them. Faults: USER_NOT_FOUND,
// USER_NOT_READY, INTERNAL_ACCOUNT_NOT_FOUND, EXTERNAL_ACCOUNT_NOT_FOUND,
// INVALID_CURRENCY, NOT_IMPLEMENTED (an embedded wallet pays), INVALID_INPUT.
func (r Request) Route(p Parties) (Route, error) {
	if err := r.checkFound(p); err != nil {
		return Route{}, err
	}
	if p.Customer != nil {
		if err := p.Customer.CheckReady(); err != nil {
			return Route{}, err
		}
	}
	from, payer, bad := r.resolvePayer(p)
	to, country, more := r.resolvePayee(p, payer)
	if bad = append(bad, more...); len(bad) > 0 {
		return Route{}, fault.Invalid(bad...)
	}
	if p.FromInternal != nil && p.FromInternal.Type == account.EmbeddedWallet {
		return Route{}, fault.New(fault.NotImplemented, "An embedded wallet cannot pay yet: its owner would have to sign. Pay from another account.")
	}
	if err := r.checkPayerInfo(p); err != nil {
		return Route{}, err
	}
	way, err := r.findCorridor(from, to, country)
	if err != nil {
		return Route{}, err
	}
	route := Route{Corridor: way}
	if p.Customer != nil {
		route.Customer = p.Customer.ID
	}
	switch {
	case p.ToInternal != nil:
		route.DestinationAccount = (*p.ToInternal).LedgerPath()
	case r.Destination.UMA != "":
		route.DestinationAccount = ledger.Rail(transaction.UMARail)
	}
	route.SourceAccount, err = r.sourceAccount(p, way)
	return route, err
}

// findCorridor is the corridor. Within one currency there is one only to a person elsewhere: to
// an account it would be a transfer.
func (r Request) findCorridor(from, to money.Currency, country string) (corridor.Corridor, error) {
	if from == to && r.Destination.UMA != "" {
		return corridor.SameCurrency(from)
	}
	return corridor.Find(from, to, country)
}

// checkPayerInfo is nil when all is known of the payer that the receiving side must know.
func (r Request) checkPayerInfo(p Parties) error {
	if p.Receiver == nil {
		return nil
	}
	var missing []fault.Field
	for _, field := range p.Receiver.Fields {
		if field.Mandatory && r.Payer[field.Name] == "" {
			missing = append(missing, fault.Field{Field: "senderCustomerInfo." + field.Name, Message: "must be given: the receiving side asks for it"})
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return &fault.Error{Code: fault.MissingMandatoryUserInfo, Fields: missing,
		Message: "The receiving side must know more about the payer. Give what the lookup lists as mandatory in senderCustomerInfo."}
}

// checkFound names the first party that was asked for and is not there.
func (r Request) checkFound(p Parties) error {
	switch {
	case !r.Source.Customer.IsZero() && p.Customer == nil:
		return fault.New(fault.UserNotFound, "There is no customer %s.", r.Source.Customer)
	case !r.Source.Internal.IsZero() && p.FromInternal == nil:
		return fault.New(fault.InternalAccountNotFound, "There is no internal account %s.", r.Source.Internal)
	case !r.Source.External.IsZero() && p.FromExternal == nil:
		return fault.New(fault.ExternalAccountNotFound, "There is no external account %s.", r.Source.External)
	case !r.Destination.Internal.IsZero() && p.ToInternal == nil:
		return fault.New(fault.InternalAccountNotFound, "There is no internal account %s.", r.Destination.Internal)
	case !r.Destination.External.IsZero() && p.ToExternal == nil:
		return fault.New(fault.ExternalAccountNotFound, "There is no external account %s.", r.Destination.External)
	case !r.Lookup.IsZero() && p.Receiver == nil:
		return fault.New(fault.LookupRequestNotFound, "There is no lookup %s, or it has expired. Look the receiver up again and use its lookupId.", r.Lookup)
	}
	return nil
}

// resolvePayer is the currency that is paid and the customer whose money it is (zero: the
// platform's own), with what is wrong about the source.
func (r Request) resolvePayer(p Parties) (money.Currency, ident.Customer, []fault.Field) {
	var bad []fault.Field
	wrong := func(field, message string) { bad = append(bad, fault.Field{Field: field, Message: message}) }
	var currency money.Currency
	var owner ident.Customer
	switch {
	case p.FromInternal != nil:
		currency, owner = p.FromInternal.Currency, p.FromInternal.Customer
		if !p.FromInternal.Usable() {
			wrong("source.accountId", "is "+string(p.FromInternal.Status)+"; only an ACTIVE account pays")
		}
	case p.FromExternal != nil:
		currency, owner = p.FromExternal.Currency, p.FromExternal.Customer
		if p.FromExternal.Status != account.Active {
			wrong("source.accountId", "is "+string(p.FromExternal.Status)+"; only an ACTIVE account pays")
		} else if _, can := p.FromExternal.PullRail(); !can {
			wrong("source.accountId", "cannot be collected from; only US bank accounts can. Pay just in time or from an internal account")
		}
	default:
		return r.Source.Currency, r.Source.Customer, nil
	}
	if r.Source.Currency != "" && r.Source.Currency != currency {
		wrong("source.currency", "the account holds "+string(currency)+"; leave this out or send that currency")
	}
	if !r.Source.Customer.IsZero() && !owner.IsZero() && owner != r.Source.Customer {
		wrong("source.customerId", "the account belongs to another customer; leave this out or send its owner")
	}
	return currency, owner, bad
}

// resolvePayee is the currency that arrives and the country it is paid out in, with what is
// wrong about the destination. A customer pays accounts of their own and of the
// platform; the platform pays anybody's.
func (r Request) resolvePayee(p Parties, payer ident.Customer) (money.Currency, string, []fault.Field) {
	var bad []fault.Field
	wrong := func(field, message string) { bad = append(bad, fault.Field{Field: field, Message: message}) }
	var currency money.Currency
	var owner ident.Customer
	country := ""
	if p.Receiver != nil {
		bad = append(bad, r.checkLookup(*p.Receiver, payer)...)
	}
	switch {
	case r.Destination.UMA != "":
		receives, field := r.receiverCurrency(*p.Receiver)
		return receives, "", append(bad, field...)
	case p.ToInternal != nil:
		currency, owner = p.ToInternal.Currency, p.ToInternal.Customer
		if !p.ToInternal.Usable() {
			wrong("destination.accountId", "is "+string(p.ToInternal.Status)+"; only an ACTIVE account receives money")
		}
	default:
		currency, owner, country = p.ToExternal.Currency, p.ToExternal.Customer, p.ToExternal.Country()
		if p.ToExternal.Status != account.Active {
			wrong("destination.accountId", "is "+string(p.ToExternal.Status)+"; only an ACTIVE account receives money")
		}
	}
	if !owner.IsZero() && !payer.IsZero() && owner != payer {
		wrong("destination.accountId", "belongs to another customer; use one of this customer's accounts")
	}
	if r.Purpose == "" && corridor.NeedsPurpose(country) {
		wrong("purposeOfPayment", "must be given for payments to "+country)
	}
	if r.Destination.ExpectedCurrency != "" && r.Destination.ExpectedCurrency != currency {
		wrong("destination.currency", "the account holds "+string(currency)+"; leave this out or send that currency")
	}
	return currency, country, bad
}

// checkLookup tells what is wrong with relying on a lookup.
func (r Request) checkLookup(asked Lookup, payer ident.Customer) []fault.Field {
	var bad []fault.Field
	if asked.ReceiverUMA != r.Destination.UMA || asked.External != r.Destination.External {
		bad = append(bad, fault.Field{Field: "lookupId", Message: "is about another receiver; look this one up"})
	}
	if !asked.Customer.IsZero() && asked.Customer != payer && asked.Customer != r.Source.Customer {
		bad = append(bad, fault.Field{Field: "lookupId", Message: "was made for another customer; look the receiver up for the one who pays"})
	}
	return bad
}

// receiverCurrency is the currency that a person receives.
func (r Request) receiverCurrency(asked Lookup) (money.Currency, []fault.Field) {
	const field = "destination.currency"
	switch {
	case r.Destination.ExpectedCurrency != "" && !slices.Contains(asked.Currencies, r.Destination.ExpectedCurrency):
		return r.Destination.ExpectedCurrency, []fault.Field{{Field: field, Message: "does not reach this receiver; choose one of enum", Constraint: map[string]any{"enum": asked.Currencies}}}
	case r.Destination.ExpectedCurrency != "":
		return r.Destination.ExpectedCurrency, nil
	case len(asked.Currencies) == 1:
		return asked.Currencies[0], nil
	default:
		return "", []fault.Field{{Field: field, Message: "must be given, since several reach this receiver; choose one of enum", Constraint: map[string]any{"enum": asked.Currencies}}}
	}
}

// sourceAccount is the ledger path the money comes from.
func (r Request) sourceAccount(p Parties, way corridor.Corridor) (string, error) {
	switch {
	case p.FromInternal != nil:
		return (*p.FromInternal).LedgerPath(), nil
	case p.FromExternal != nil:
		rail, _ := p.FromExternal.PullRail()
		return rail.LedgerPath(), nil
	case r.Source.Network != "":
		chain, err := corridor.ChainFor(way.From, r.Source.Network, "source.cryptoNetwork")
		return chain.LedgerPath(), err
	default:
		return way.Funding[0].LedgerPath(), nil
	}
}

// destinationAccount is the ledger path that minor units go to.
func (r Request) destinationAccount(p Parties, route Route, minor int64) (string, error) {
	if route.DestinationAccount != "" {
		return route.DestinationAccount, nil
	}
	rail, err := p.ToExternal.ResolveRail(r.Destination.Rail, minor)
	return rail.LedgerPath(), err
}
