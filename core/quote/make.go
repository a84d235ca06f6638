package quote

import (
	"encoding/base32"
	"errors"
	"time"

	"causeway/core/account"
	"causeway/core/corridor"
	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/price"
	"causeway/core/transaction"
)

// Request asks for a just-in-time funded quote: a customer pays in a currency, and
// an external account receives.
type Request struct {
	Platform ident.Platform
	Customer ident.Customer
	Currency money.Currency
	// Network is the chain the customer pays on; empty for fiat and for "any".
	Network     string
	Destination ident.ExternalAccount
	// Expect is the currency the caller believes the destination has; empty if
	// it did not say.
	Expect      money.Currency
	Side        Side
	Amount      int64
	Description string
	Purpose     string
}

// Check lists every field that is bad whoever the parties are.
func (r Request) Check() error {
	var bad []fault.Field
	if r.Side != Sending && r.Side != Receiving {
		bad = append(bad, fault.Field{Field: "lockedCurrencySide", Message: "must be SENDING or RECEIVING",
			Constraint: map[string]any{"enum": []string{string(Sending), string(Receiving)}}})
	}
	if r.Amount < 1 || r.Amount > money.MaxMinor {
		bad = append(bad, fault.Field{Field: "lockedCurrencyAmount",
			Message:    "must be a whole number of the smallest currency unit, from 1 to 9000000000000000",
			Constraint: map[string]any{"minimum": 1, "maximum": money.MaxMinor}})
	}
	if !r.Currency.Known() {
		bad = append(bad, fault.Field{Field: "source.currency", Message: "must be a known currency code in upper case, such as USD or USDC"})
	}
	if len(r.Description) > MaxDescription {
		bad = append(bad, fault.Field{Field: "description", Message: "must not be longer than 500 bytes"})
	}
	if len(bad) > 0 {
		return fault.Invalid(bad...)
	}
	return nil
}

// MaxDescription is the longest description of a quote, in bytes.
const MaxDescription = 500

// Parties are the two sides of a quote; nil is "there is none".
type Parties struct {
	Customer *customer.Customer
	External *account.External
}

// Route is where the money of a quote comes in and goes out, and on what terms.
type Route struct {
	Corridor corridor.Corridor
	In       corridor.Rail
}

// Route checks the parties and finds the way between them.
func (r Request) Route(p Parties) (Route, error) {
	if p.Customer == nil {
		return Route{}, fault.New(fault.UserNotFound, "There is no customer %s.", r.Customer)
	}
	if err := p.Customer.Ready(); err != nil {
		return Route{}, err
	}
	if p.External == nil {
		return Route{}, fault.New(fault.ExternalAccountNotFound, "There is no external account %s.", r.Destination)
	}
	var bad []fault.Field
	if owner := p.External.Customer; !owner.IsZero() && owner != r.Customer {
		bad = append(bad, fault.Field{Field: "destination.accountId", Message: "belongs to another customer; use one of this customer's external accounts"})
	}
	if r.Expect != "" && r.Expect != p.External.Currency {
		bad = append(bad, fault.Field{Field: "destination.currency",
			Message: "the account holds " + string(p.External.Currency) + "; leave this out or send that currency"})
	}
	if p.External.Status != account.Active {
		bad = append(bad, fault.Field{Field: "destination.accountId", Message: "is " + string(p.External.Status) + "; only an ACTIVE account receives money"})
	}
	if len(bad) > 0 {
		return Route{}, fault.Invalid(bad...)
	}
	way, err := corridor.Find(r.Currency, p.External.Currency, p.External.Country())
	if err != nil {
		return Route{}, err
	}
	in := way.Funding[0]
	if r.Network != "" {
		if in, err = corridor.ChainFor(r.Currency, r.Network, "source.cryptoNetwork"); err != nil {
			return Route{}, err
		}
	}
	return Route{Corridor: way, In: in}, nil
}

// Offer is what a quote is made of once its route is known.
type Offer struct {
	Quote       ident.Quote
	Transaction ident.Transaction
	Market      money.Rate
	Terms       corridor.Terms
	Now         time.Time
}

// Make prices the request and makes the quote and its transaction. Instructions
// are added by the rail that will take the money in.
func (r Request) Make(p Parties, route Route, o Offer) (Quote, transaction.Transaction, error) {
	priced, err := r.price(o)
	if err != nil {
		return Quote{}, transaction.Transaction{}, err
	}
	to := p.External.Currency
	if err := o.Terms.Admit(money.Amount{Minor: priced.Sending, Currency: r.Currency}); err != nil {
		return Quote{}, transaction.Transaction{}, err
	}
	out, err := p.External.RailFor(priced.Receiving)
	if err != nil {
		return Quote{}, transaction.Transaction{}, err
	}
	q := Quote{
		ID: o.Quote, Platform: r.Platform, Transaction: o.Transaction, Customer: r.Customer,
		Source:      transaction.Endpoint{Customer: r.Customer, Currency: r.Currency, Network: r.Network},
		Destination: transaction.Endpoint{Customer: r.Customer, ExternalAccount: p.External.ID, Currency: to},
		Side:        r.Side, LockedAmount: r.Amount,
		Pricing: transaction.Pricing{
			Sent:     money.Amount{Minor: priced.Sending, Currency: r.Currency},
			Received: money.Amount{Minor: priced.Receiving, Currency: to},
			Fees:     priced.Fees, FixedFee: priced.FixedFee, VariableFee: priced.VariableFee, FeeRate: o.Terms.Fee.Percent,
			Rate: priced.Rate, Market: priced.Market,
			RoundingSent: priced.RoundingSending, RoundingReceived: priced.RoundingReceiving,
		},
		Reference:   Reference(o.Transaction),
		Description: r.Description, Purpose: r.Purpose,
		CreatedAt: o.Now, ExpiresAt: o.Now.Add(o.Terms.Lock),
	}
	return q, transaction.Transaction{
		ID: o.Transaction, Platform: r.Platform, Quote: q.ID, Customer: r.Customer,
		PlatformCustomerID: p.Customer.PlatformCustomerID, Type: transaction.Outgoing, State: transaction.Initial,
		Source: q.Source, Destination: q.Destination, InRail: Path(route.In), OutRail: Path(out),
		Pricing: q.Pricing, Reference: q.Reference, Description: q.Description,
		ExpiresAt: q.ExpiresAt, CreatedAt: q.CreatedAt, UpdatedAt: q.CreatedAt,
	}, nil
}

func (r Request) price(o Offer) (price.Price, error) {
	fee := price.Fee{Fixed: o.Terms.Fee.Fixed, Percent: o.Terms.Fee.Percent}
	make := price.Sending
	if r.Side == Receiving {
		make = price.Receiving
	}
	priced, err := make(r.Amount, o.Market, fee)
	if errors.Is(err, price.ErrOutOfRange) {
		return priced, fault.New(fault.AmountOutOfRange, "This amount cannot be quoted: %s. Choose another lockedCurrencyAmount.", outOfRange(err))
	}
	return priced, err
}

// outOfRange says in the caller's words why an amount has no price.
func outOfRange(err error) string {
	switch {
	case errors.Is(err, price.ErrNothingLeft):
		return "it does not cover the fees"
	case errors.Is(err, price.ErrBuysNothing):
		return "after fees it does not buy the smallest unit of the receiving currency"
	default:
		return "it is more than can be sent at once"
	}
}

// crockford has no letters that are mistaken for digits.
var crockford = base32.NewEncoding("0123456789ABCDEFGHJKMNPQRSTVWXYZ").WithPadding(base32.NoPadding)

// Reference is the code a payer puts into the memo: 12 characters made of the
// random part of the transaction's id.
func Reference(id ident.Transaction) string {
	u := id.UUID()
	return crockford.EncodeToString(u[8:])[1:]
}
