package quote

import (
	"fmt"
	"slices"
	"strings"

	"causeway/core/account"
	"causeway/core/corridor"
	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/sca"
	"causeway/core/transaction"
)

// Parties are the two sides of a quote. A party that does not exist is nil.
type Parties struct {
	// Customer is the customer who pays or, if the platform pays, the customer who receives, even if
	// deleted.
	Customer *customer.Customer
	// Owner owns the account that receives, if it is another customer.
	Owner *customer.Customer
	// FromInternal or FromExternal is the account that pays, and ToInternal or ToExternal the
	// account that receives.
	FromInternal *account.Internal
	FromExternal *account.External
	ToInternal   *account.Internal
	ToExternal   *account.External
	// Receiver is the lookup of the receiver.
	Receiver *Lookup
	// NeedsConsent: the paying customer must have accepted the terms for end users.
	NeedsConsent bool
	// Protected: payments of Customer need strong customer authentication.
	Protected bool
	// Exemptions are those that the platform uses.
	Exemptions sca.Exemptions
	// Networks are the chains on which the currency of just-in-time funding can be received; none for fiat.
	Networks []corridor.Rail
}

// VisibleTo returns the parties as an agent of a customer sees them: what is not the customer's is nil.
func (p Parties) VisibleTo(c ident.Customer) Parties {
	if p.Customer != nil && p.Customer.ID != c {
		p.Customer = nil
	}
	if p.Owner != nil && p.Owner.ID != c {
		p.Owner = nil
	}
	p.FromInternal, p.ToInternal = account.InternalOf(c, p.FromInternal), account.InternalOf(c, p.ToInternal)
	p.FromExternal, p.ToExternal = account.ExternalOf(c, p.FromExternal), account.ExternalOf(c, p.ToExternal)
	if p.Receiver != nil && p.Receiver.Customer != c {
		p.Receiver = nil
	}
	return p
}

// Route is the corridor of a quote, its customer, and the rail of its funding.
type Route struct {
	Corridor corridor.Corridor
	// Customer is the customer of the payment; zero if it belongs to the platform.
	Customer ident.Customer
	// SourceRail is the rail of the funding, which is the chain of a wallet; empty if another internal
	// account pays.
	SourceRail corridor.Rail
	// Network is the chain of just-in-time funding; empty for fiat, and for bitcoin on any of several.
	Network string
}

// Route checks the parties and returns the route between them. Faults: USER_NOT_FOUND,
// USER_NOT_READY, CUSTOMER_DELETED, END_USER_TERMS_NOT_ACCEPTED, INTERNAL_ACCOUNT_NOT_FOUND, EXTERNAL_ACCOUNT_NOT_FOUND,
// INVALID_CURRENCY, MISSING_MANDATORY_USER_INFO, INVALID_INPUT.
func (r Request) Route(p Parties) (Route, error) {
	r.Source.Customer = r.PayingCustomer()
	if !r.Agent.IsZero() {
		p = p.VisibleTo(r.Owner)
	}
	if err := r.checkFound(p); err != nil {
		return Route{}, err
	}
	for _, c := range []*customer.Customer{p.Customer, p.Owner} {
		if c == nil {
			continue
		}
		if err := c.CheckReady(); err != nil {
			return Route{}, err
		}
	}
	if p.NeedsConsent && p.Customer != nil {
		if err := p.Customer.CheckConsent(); err != nil {
			return Route{}, err
		}
	}
	r.Source.Network = r.network(p)
	from, payer, bad := r.resolvePayer(p)
	to, country, more := r.resolvePayee(p, payer)
	if bad = append(bad, more...); len(bad) > 0 {
		return Route{}, fault.Invalid(bad...)
	}
	if err := r.checkPayerInfo(p); err != nil {
		return Route{}, err
	}
	if p.invoiced() {
		if p.FromWallet() {
			return Route{}, fault.New(fault.NotImplemented, "An embedded wallet cannot pay people at other UMA providers yet. Pay from an "+
				"internal account.")
		}
		to = money.BTC // which the invoice is paid in
	}
	pair, err := r.findCorridor(p, from, to, country)
	if err != nil {
		return Route{}, err
	}
	route := Route{Corridor: pair, Network: r.Source.Network}
	if p.Customer != nil {
		if err := p.Customer.CheckRequiredFields(pair.From, pair.To); err != nil {
			return Route{}, err
		}
		route.Customer = p.Customer.ID
	}
	route.SourceRail, err = r.sourceRail(p, pair)
	return route, err
}

// PayerAuthorizes reports whether the payer has to authorise the payment: a customer who needs strong customer authentication, and pays
// itself. The platform pays from accounts of its own.
func (r Request) PayerAuthorizes(p Parties) bool {
	return p.Protected && p.Customer != nil && (p.FromInternal == nil || !p.FromInternal.Customer.IsZero()) &&
		(p.FromExternal == nil || !p.FromExternal.Customer.IsZero()) && (!r.Source.JustInTime() || !r.PayingCustomer().IsZero())
}

// FromWallet reports whether an embedded wallet pays.
func (p Parties) FromWallet() bool { return isWallet(p.FromInternal) }

// UsesChain reports whether an embedded wallet pays or receives.
func (p Parties) UsesChain() bool { return isWallet(p.FromInternal) || isWallet(p.ToInternal) }

// invoiced reports whether the receiver is paid by an invoice of another provider.
func (p Parties) invoiced() bool { return p.Receiver != nil && p.Receiver.UMA != nil }

func isWallet(a *account.Internal) bool { return a != nil && a.Type == account.EmbeddedWallet }

// replacesTransfer reports whether the payment goes from an account to another one and is no transfer only because its payer has to
// authorise it.
func (r Request) replacesTransfer(p Parties) bool {
	return p.FromInternal != nil && r.Source.Internal != r.Destination.Internal && r.PayerAuthorizes(p)
}

// findCorridor returns the corridor. Only a payment to a UMA address or from an embedded wallet, or one
// that is funded just in time, can have one currency: from another account to an account it would be a
// transfer. A transfer has no fee, so neither has a payment from a wallet.
func (r Request) findCorridor(p Parties, from, to money.Currency, country string) (corridor.Corridor, error) {
	switch {
	case from == to && (r.Destination.UMA != "" || p.FromWallet() || r.replacesTransfer(p)):
		return corridor.SameCurrency(from)
	case from == to && r.Source.JustInTime():
		return corridor.Within(from, country)
	default:
		return corridor.Find(from, to, country)
	}
}

// checkPayerInfo returns a fault if a mandatory field about the payer is missing.
func (r Request) checkPayerInfo(p Parties) error {
	if p.Receiver == nil {
		return nil
	}
	var missing []fault.Field
	for _, field := range p.Receiver.Fields {
		if field.Mandatory && r.Payer[field.Name] == "" {
			missing = append(missing, fault.Field{Field: "senderCustomerInfo." + field.Name, Message: "is required by the receiving side"})
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return &fault.Error{Code: fault.MissingMandatoryUserInfo, Fields: missing,
		Message: "The receiving side requires more information about the payer. Send the mandatory fields of the lookup in senderCustomerInfo."}
}

// checkFound returns a fault for the first named party that does not exist.
func (r Request) checkFound(p Parties) error {
	switch {
	case !r.Source.Customer.IsZero() && (p.Customer == nil || p.Customer.Deleted()):
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
		return fault.New(fault.LookupRequestNotFound,
			"There is no lookup %s, or it has expired. Look the receiver up again and use its lookupId.", r.Lookup)
	}
	return nil
}

// network returns the chain of just-in-time funding: the one that the request names, or the only one on which the
// currency can be received; empty if there are several, and for fiat.
func (r Request) network(p Parties) string {
	if r.Source.Network == "" && r.Source.JustInTime() && len(p.Networks) == 1 {
		return string(p.Networks[0])
	}
	return r.Source.Network
}

// resolvePayer returns the sending currency, the customer who owns the money (zero: the platform),
// and the invalid fields of the source.
func (r Request) resolvePayer(p Parties) (money.Currency, ident.Customer, []fault.Field) {
	var bad []fault.Field
	invalid := func(field, message string) { bad = append(bad, fault.Field{Field: field, Message: message}) }
	var currency money.Currency
	var owner ident.Customer
	switch {
	case p.FromInternal != nil:
		currency, owner = p.FromInternal.Currency, p.FromInternal.Customer
		if !p.FromInternal.Usable() {
			invalid("source.accountId", "is "+string(p.FromInternal.Status)+"; only an ACTIVE account pays")
		}
	case p.FromExternal != nil:
		currency, owner = p.FromExternal.Currency, p.FromExternal.Customer
		if p.FromExternal.Status != account.Active {
			invalid("source.accountId", "is "+string(p.FromExternal.Status)+"; only an ACTIVE account pays")
		} else if _, ok := p.FromExternal.PullRail(); !ok {
			invalid("source.accountId", "cannot be debited; only US bank accounts can. Pay just in time or from an internal account")
		}
	default:
		if r.Source.Network == "" && r.Source.Currency.IsStablecoin() && len(p.Networks) > 1 {
			names := corridor.PublicNames(p.Networks)
			bad = append(bad, fault.Field{Field: "source.cryptoNetwork", Constraint: map[string]any{"enum": names},
				Message: "is required to pay in " + string(r.Source.Currency) + ", which can be received on " + strings.Join(names, ", ") +
					"; name the one that the payer sends on"})
		}
		return r.Source.Currency, r.Source.Customer, bad
	}
	if p.FromWallet() && r.ExecuteImmediately {
		invalid("immediatelyExecute", "is not possible from an embedded wallet: its owner signs the quote first, and then it is executed")
	}
	if r.Source.Currency != "" && r.Source.Currency != currency {
		invalid("source.currency", "the account holds "+string(currency)+"; leave this out or send that currency")
	}
	if !r.Source.Customer.IsZero() && !owner.IsZero() && owner != r.Source.Customer {
		invalid("source.customerId", "the account belongs to another customer; leave this out or send its owner")
	}
	return currency, owner, bad
}

// resolvePayee returns the receiving currency, the country of the payout, and the invalid fields of
// the destination. A customer can pay to their own accounts and to the platform's; the platform can
// pay to any account.
func (r Request) resolvePayee(p Parties, payer ident.Customer) (money.Currency, string, []fault.Field) {
	var bad []fault.Field
	invalid := func(field, message string) { bad = append(bad, fault.Field{Field: field, Message: message}) }
	var currency money.Currency
	var owner ident.Customer
	country := ""
	if p.Receiver != nil {
		bad = append(bad, r.checkLookup(*p.Receiver, payer)...)
	}
	switch {
	case r.Destination.UMA != "":
		received, invalidFields := r.receiverCurrency(*p.Receiver)
		return received, "", append(bad, invalidFields...)
	case p.ToInternal != nil:
		currency, owner = p.ToInternal.Currency, p.ToInternal.Customer
		if !p.ToInternal.Usable() {
			invalid("destination.accountId", "is "+string(p.ToInternal.Status)+"; only an ACTIVE account receives money")
		}
	default:
		currency, owner, country = p.ToExternal.Currency, p.ToExternal.Customer, p.ToExternal.Country()
		if !p.ToExternal.Status.Payable() {
			invalid("destination.accountId", "is "+string(p.ToExternal.Status)+"; only an ACTIVE account receives money")
		}
	}
	if p.FromWallet() && r.Destination.Internal == r.Source.Internal {
		invalid("destination.accountId", "is the account that pays; choose another one")
	}
	if !owner.IsZero() && !payer.IsZero() && owner != payer {
		invalid("destination.accountId", "belongs to another customer; use one of this customer's accounts")
	}
	if r.Purpose == "" && corridor.NeedsPurpose(country) {
		invalid("purposeOfPayment", "is required for payments to "+country)
	}
	if r.Destination.ExpectedCurrency != "" && r.Destination.ExpectedCurrency != currency {
		invalid("destination.currency", "the account holds "+string(currency)+"; leave this out or send that currency")
	}
	return currency, country, bad
}

// checkLookup returns the invalid fields if the lookup does not match the request.
func (r Request) checkLookup(l Lookup, payer ident.Customer) []fault.Field {
	var bad []fault.Field
	if l.ReceiverUMA != r.Destination.UMA || l.External != r.Destination.External {
		bad = append(bad, fault.Field{Field: "lookupId", Message: "is for another receiver; look this one up"})
	}
	if !l.Customer.IsZero() && l.Customer != payer && l.Customer != r.Source.Customer {
		bad = append(bad, fault.Field{Field: "lookupId", Message: "was created for another customer; look the receiver up for the payer"})
	}
	if !l.Invoice.IsZero() && (r.Side != Receiving || r.Amount != l.InvoiceAmount) {
		bad = append(bad, fault.Field{Field: "lockedCurrencyAmount", Message: fmt.Sprintf("must be %d, with the lockedCurrencySide RECEIVING: "+
			"the amount of the UMA invoice", l.InvoiceAmount)})
	}
	if !l.Invoice.IsZero() && r.Source.JustInTime() {
		bad = append(bad, fault.Field{Field: "source", Message: "must be an account: a UMA invoice is not paid just in time, because a late " +
			"payment could pay it twice"})
	}
	return bad
}

// receiverCurrency returns the currency that a UMA address receives.
func (r Request) receiverCurrency(l Lookup) (money.Currency, []fault.Field) {
	const field = "destination.currency"
	switch {
	case r.Destination.ExpectedCurrency != "" && !slices.Contains(l.Currencies, r.Destination.ExpectedCurrency):
		return r.Destination.ExpectedCurrency, []fault.Field{{Field: field, Message: "is not supported by this receiver; choose one of enum",
			Constraint: map[string]any{"enum": l.Currencies}}}
	case r.Destination.ExpectedCurrency != "":
		return r.Destination.ExpectedCurrency, nil
	case len(l.Currencies) == 1:
		return l.Currencies[0], nil
	default:
		return "", []fault.Field{{Field: field, Message: "is required, because the receiver supports several; choose one of enum",
			Constraint: map[string]any{"enum": l.Currencies}}}
	}
}

// sourceRail returns the rail of the funding, which is the chain of a wallet; empty if another internal
// account pays.
func (r Request) sourceRail(p Parties, pair corridor.Corridor) (corridor.Rail, error) {
	switch {
	case p.FromWallet():
		return transaction.DefaultFundingRail(pair.From), nil
	case p.FromInternal != nil:
		return "", nil
	case p.FromExternal != nil:
		rail, _ := p.FromExternal.PullRail()
		return rail, nil
	case r.Source.Network != "":
		return corridor.ChainFor(pair.From, r.Source.Network, "source.cryptoNetwork")
	default:
		return pair.Funding[0], nil
	}
}

// destinationRail returns the rail of the payout, which is the chain of a wallet; empty if another
// internal account receives.
func (r Request) destinationRail(p Parties, minor int64) (corridor.Rail, error) {
	switch {
	case isWallet(p.ToInternal):
		return transaction.DefaultFundingRail(p.ToInternal.Currency), nil
	case p.ToInternal != nil:
		return "", nil
	case p.invoiced():
		return corridor.Lightning, nil
	case r.Destination.UMA != "":
		return transaction.UMARail, nil
	default:
		return p.ToExternal.ResolveRail(r.Destination.Rail, minor)
	}
}

// ledgerPath returns the path of an internal account, or of the rail if there is none.
func ledgerPath(internal *account.Internal, rail corridor.Rail) string {
	if internal != nil {
		return internal.LedgerPath()
	}
	return rail.LedgerPath()
}
