package quote

import (
	"causeway/core/account"
	"causeway/core/corridor"
	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
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
}

// Route is where the money of a quote comes in and goes out, and for whom.
type Route struct {
	Corridor corridor.Corridor
	// Customer is who the payment is for; zero when it is the platform's own.
	Customer ident.Customer
	// In is the ledger path the money comes from: a rail, a chain or an account. Out is
	// the account it goes to; empty when it leaves the house, by a rail that the amount
	// decides.
	In, Out string
}

// Route checks the parties and finds the way between them. Faults: USER_NOT_FOUND,
// USER_NOT_READY, INTERNAL_ACCOUNT_NOT_FOUND, EXTERNAL_ACCOUNT_NOT_FOUND,
// INVALID_CURRENCY, NOT_IMPLEMENTED (an embedded wallet pays), INVALID_INPUT.
func (r Request) Route(p Parties) (Route, error) {
	if err := r.missing(p); err != nil {
		return Route{}, err
	}
	if p.Customer != nil {
		if err := p.Customer.Ready(); err != nil {
			return Route{}, err
		}
	}
	from, payer, bad := r.payer(p)
	to, country, more := r.payee(p, payer)
	if bad = append(bad, more...); len(bad) > 0 {
		return Route{}, fault.Invalid(bad...)
	}
	if p.FromInternal != nil && p.FromInternal.Type == account.EmbeddedWallet {
		return Route{}, fault.New(fault.NotImplemented, "An embedded wallet cannot pay yet: its owner would have to sign. Pay from another account.")
	}
	way, err := corridor.Find(from, to, country)
	if err != nil {
		return Route{}, err
	}
	route := Route{Corridor: way}
	if p.Customer != nil {
		route.Customer = p.Customer.ID
	}
	if p.ToInternal != nil {
		route.Out = BookPath(*p.ToInternal)
	}
	route.In, err = r.in(p, way)
	return route, err
}

// missing names the first party that was asked for and is not there.
func (r Request) missing(p Parties) error {
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
	}
	return nil
}

// payer is the currency that is paid and the customer whose money it is (zero: the
// platform's own), with what is wrong about the source.
func (r Request) payer(p Parties) (money.Currency, ident.Customer, []fault.Field) {
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
		} else if _, can := p.FromExternal.Pullable(); !can {
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

// payee is the currency that arrives and the country it is paid out in, with what is
// wrong about the destination. A customer pays accounts of their own and of the
// platform; the platform pays anybody's.
func (r Request) payee(p Parties, payer ident.Customer) (money.Currency, string, []fault.Field) {
	var bad []fault.Field
	wrong := func(field, message string) { bad = append(bad, fault.Field{Field: field, Message: message}) }
	var currency money.Currency
	var owner ident.Customer
	country := ""
	if p.ToInternal != nil {
		currency, owner = p.ToInternal.Currency, p.ToInternal.Customer
		if !p.ToInternal.Usable() {
			wrong("destination.accountId", "is "+string(p.ToInternal.Status)+"; only an ACTIVE account receives money")
		}
	} else {
		currency, owner, country = p.ToExternal.Currency, p.ToExternal.Customer, p.ToExternal.Country()
		if p.ToExternal.Status != account.Active {
			wrong("destination.accountId", "is "+string(p.ToExternal.Status)+"; only an ACTIVE account receives money")
		}
	}
	if !owner.IsZero() && !payer.IsZero() && owner != payer {
		wrong("destination.accountId", "belongs to another customer; use one of this customer's accounts")
	}
	if r.Destination.Expect != "" && r.Destination.Expect != currency {
		wrong("destination.currency", "the account holds "+string(currency)+"; leave this out or send that currency")
	}
	return currency, country, bad
}

// in is the ledger path the money comes from.
func (r Request) in(p Parties, way corridor.Corridor) (string, error) {
	switch {
	case p.FromInternal != nil:
		return BookPath(*p.FromInternal), nil
	case p.FromExternal != nil:
		rail, _ := p.FromExternal.Pullable()
		return Path(rail), nil
	case r.Source.Network != "":
		chain, err := corridor.ChainFor(way.From, r.Source.Network, "source.cryptoNetwork")
		return Path(chain), err
	default:
		return Path(way.Funding[0]), nil
	}
}

// out is the ledger path that minor units go to.
func (r Request) out(p Parties, route Route, minor int64) (string, error) {
	if route.Out != "" {
		return route.Out, nil
	}
	rail, err := p.ToExternal.RailWanted(r.Destination.Rail, minor)
	return Path(rail), err
}
