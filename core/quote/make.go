package quote

import (
	"errors"
	"fmt"
	"time"

	"causeway/core/corridor"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/price"
	"causeway/core/sca"
	"causeway/core/transaction"
	"causeway/core/uma"
	"causeway/core/wallet"
)

// Request is a request for a quote: its payer, its receiver and its amount.
type Request struct {
	Platform    ident.Platform
	Source      Source
	Destination Destination
	Side        Side
	Amount      int64
	Description string
	Purpose     string
	// Remittance is what the beneficiary is to read about the payment; empty for the description.
	Remittance string
	// Lookup is the lookup of the receiver. It is required to pay a UMA address.
	Lookup ident.Lookup
	// Payer is information about the payer that the receiving side requires.
	Payer map[string]string
	// PlatformFee replaces the fee that the settings of the platform have for the payment; nil for that fee.
	PlatformFee *platform.Fee
	// Factor is with what the payer will authorise the payment, if it has to; empty for the first that it has.
	Factor sca.Factor
	// ExecuteImmediately executes the quote as soon as it is created.
	ExecuteImmediately bool
	// Agent is the agent that creates the quote, and Owner its customer, for whom it can only pay from and to the
	// customer's own accounts; both are zero for the platform.
	Agent ident.Agent
	Owner ident.Customer
}

// PayingCustomer returns the customer that the request names or, if it names none, that of the agent.
func (r Request) PayingCustomer() ident.Customer {
	if r.Source.Customer.IsZero() {
		return r.Owner
	}
	return r.Source.Customer
}

// Source is the payer: an account, or just-in-time funding.
type Source struct {
	// Internal or External is the account that pays. Both are zero for just-in-time funding.
	Internal ident.InternalAccount
	External ident.ExternalAccount
	// Customer is the customer who pays; zero for the platform itself, or for the owner of the
	// account.
	Customer ident.Customer
	// Currency is the currency of just-in-time funding. With an account it is the currency that
	// the caller expects the account to have; empty if the request does not name one.
	Currency money.Currency
	// Network is the chain of just-in-time funding; empty for fiat, and for the only chain of a currency. A stablecoin that can
	// be received on several needs one.
	Network string
}

// JustInTime reports whether the quote is funded just in time, not from an account.
func (s Source) JustInTime() bool { return s.Internal.IsZero() && s.External.IsZero() }

// Destination is the account or the UMA address that receives.
type Destination struct {
	Internal ident.InternalAccount
	External ident.ExternalAccount
	UMA      string
	// ExpectedCurrency is the currency that a UMA address receives. With an account it is the
	// currency that the caller expects the account to have. It is empty if the request does not
	// name one.
	ExpectedCurrency money.Currency
	// Rail is the rail for an external account; empty for the best one.
	Rail corridor.Rail
}

// Check returns an INVALID_INPUT fault with every field that is invalid regardless of the parties.
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
	if r.Source.JustInTime() && !r.Source.Currency.Payable() {
		bad = append(bad, fault.Field{Field: "source.currency", Message: "must be a known currency code in upper case, such as USD or USDC"})
	}
	if r.ExecuteImmediately && r.Source.JustInTime() {
		bad = append(bad, fault.Field{Field: "immediatelyExecute", Message: "requires a source account; a just-in-time funded quote is " +
			"executed when its payment arrives"})
	}
	if r.ExecuteImmediately && !r.Agent.IsZero() {
		bad = append(bad, fault.Field{Field: "immediatelyExecute", Message: "is not possible for agents; execute the quote with POST " +
			"/agents/me/quotes/{quoteId}/execute"})
	}
	if r.Destination.UMA != "" && r.Lookup.IsZero() {
		bad = append(bad, fault.Field{Field: "lookupId", Message: "is required to pay a UMA address; get one with GET " +
			"/receiver/uma/{receiverUmaAddress}"})
	}
	if r.PlatformFee != nil && !r.Agent.IsZero() {
		bad = append(bad, fault.Field{Field: "platformFeeOverride", Message: "is not possible for agents; the platform decides what it charges"})
	} else if r.PlatformFee != nil {
		bad = append(bad, r.PlatformFee.Check(platformFixedFee, "platformFeeOverride.platformVariableFeeBps", "")...)
	}
	if len(r.Description) > MaxDescription {
		bad = append(bad, fault.Field{Field: "description", Message: "must not be longer than 500 bytes"})
	}
	bad = append(bad, transaction.CheckRemittance(r.Remittance)...)
	if len(bad) > 0 {
		return fault.Invalid(bad...)
	}
	return nil
}

const platformFixedFee = "platformFeeOverride.platformFixedFee"

// MaxDescription is the longest description of a quote, in bytes.
const MaxDescription = 500

// MakeParams are the ids, prices and terms of a quote whose route is known.
type MakeParams struct {
	Quote       ident.Quote
	Transaction ident.Transaction
	Market      money.Rate
	Terms       corridor.Terms
	Now         time.Time
	// Answer is what the provider of a receiver that is paid by an invoice has answered; nil for others.
	Answer *uma.Answer
	// Settlement is how payments of wallets move on their chain; nil if that is simulated.
	Settlement *wallet.Settlement
}

// Make prices the request and returns the quote and its transaction. For just-in-time funding the
// receiving rail adds the payment instructions.
func (r Request) Make(p Parties, route Route, params MakeParams) (Quote, transaction.Transaction, error) {
	from, to := route.Corridor.From, route.Corridor.To
	pricing, err := r.price(params, from, to)
	if err == nil && params.Answer != nil && pricing.Received.Minor != uma.SatsOf(params.Answer.Invoice.MilliSatoshis) {
		err = fault.New(fault.QuoteRequestFailed, "The rate has changed meanwhile. Request the quote again.")
	}
	if err != nil {
		return Quote{}, transaction.Transaction{}, err
	}
	if err := params.Terms.CheckAmount(pricing.Sent); err != nil {
		return Quote{}, transaction.Transaction{}, err
	}
	destinationRail, err := r.destinationRail(p, pricing.Received.Minor)
	if err != nil {
		return Quote{}, transaction.Transaction{}, err
	}
	q := Quote{
		ID: params.Quote, Platform: r.Platform, Transaction: params.Transaction, Customer: route.Customer,
		Source: transaction.Endpoint{Customer: route.Customer, InternalAccount: r.Source.Internal, ExternalAccount: r.Source.External,
			Currency: from, Network: route.Network},
		Destination: transaction.Endpoint{Customer: route.Customer, InternalAccount: r.Destination.Internal,
			ExternalAccount: r.Destination.External, UMA: r.Destination.UMA, Currency: to},
		Side: r.Side, LockedAmount: r.Amount,
		Pricing:     pricing,
		Description: r.Description, Purpose: r.Purpose, Remittance: transaction.RemittanceLine(r.Remittance),
		DestinationRail: destinationRail, CreatedAt: params.Now, ExpiresAt: params.Now.Add(params.Terms.Lock),
	}
	if a := params.Answer; a != nil {
		q.UMA = &transaction.UMA{Invoice: a.Request, Received: money.Amount{Minor: a.Amount, Currency: a.Currency},
			Multiplier: a.Multiplier, Fee: a.Fee, Callback: a.Callback}
		q.Destination.Currency = a.Currency
		if latest := a.Invoice.ExpiresAt.Add(-invoiceMargin); q.ExpiresAt.After(latest) {
			q.ExpiresAt = latest
		}
	}
	if p.Receiver != nil {
		q.Counterparty = p.Receiver.Facts
	}
	signed := ""
	switch {
	case r.Source.JustInTime():
		q.Reference = transaction.NewReference(params.Transaction)
	case p.FromWallet():
		if signed, err = newPayload(q, p.ToExternal, params.Settlement); err != nil {
			return Quote{}, transaction.Transaction{}, err
		}
		q.Instructions = transaction.SigningInstructions(signed)
	}
	t := transaction.Transaction{
		ID: params.Transaction, Platform: r.Platform, Quote: q.ID, Customer: route.Customer, Agent: r.Agent,
		Type: transaction.Outgoing, State: transaction.Initial,
		Source: q.Source, Destination: q.Destination,
		SourceRail: route.SourceRail, SourceAccount: ledgerPath(p.FromInternal, route.SourceRail),
		DestinationRail: destinationRail, DestinationAccount: ledgerPath(p.ToInternal, destinationRail),
		Pricing: q.Pricing, Reference: q.Reference, Instructions: q.Instructions, Payload: signed, Description: q.Description,
		Counterparty: q.Counterparty, Payer: r.Payer, UMA: q.UMA, Remittance: q.Remittance, Purpose: q.Purpose,
		ExpiresAt: q.ExpiresAt, CreatedAt: q.CreatedAt, UpdatedAt: q.CreatedAt,
	}
	if p.Customer != nil {
		t.PlatformCustomerID = p.Customer.PlatformCustomerID
	}
	if p.ToExternal != nil {
		t.RailSelection = transaction.SelectionOf(r.Destination.Rail, destinationRail)
		t.TravelRule = transaction.TravelRuleOf(r.Platform, p.Customer.Owning(r.payer(p)), p.Customer.Owning(p.ToExternal.Customer), p.ToExternal)
	}
	t.Payee = t.PayeeDigest(p.ToExternal)
	if r.PayerAuthorizes(p) {
		if !r.Agent.IsZero() {
			return Quote{}, transaction.Transaction{}, transaction.ErrPayerAuthorizes
		}
		t = t.Protected()
	}
	return q, t, nil
}

// payer returns the customer who pays; zero for the platform.
func (r Request) payer(p Parties) ident.Customer {
	switch {
	case p.FromInternal != nil:
		return p.FromInternal.Customer
	case p.FromExternal != nil:
		return p.FromExternal.Customer
	default:
		return r.PayingCustomer()
	}
}

// invoiceMargin is how long before its invoice a quote expires, so that it is paid in time.
const invoiceMargin = 15 * time.Second

// CheckFunds returns INSUFFICIENT_FUNDS if the wallet that pays holds less than the quote needs; balance
// is in minor units. Other accounts are checked at the execution.
func (q Quote) CheckFunds(balance int64) error {
	if balance >= q.Pricing.Sent.Minor {
		return nil
	}
	return fault.New(fault.InsufficientFunds, "The wallet holds %s, and %s is needed. Fund it first.",
		money.Amount{Minor: balance, Currency: q.Pricing.Sent.Currency}, q.Pricing.Sent)
}

// price returns the amounts of the quote, with the fees of the service and of the platform.
func (r Request) price(params MakeParams, from, to money.Currency) (transaction.Pricing, error) {
	if r.PlatformFee != nil {
		if bad := r.PlatformFee.Check(platformFixedFee, "", from); len(bad) > 0 {
			return transaction.Pricing{}, fault.Invalid(bad...)
		}
		params.Terms.PlatformFee = *r.PlatformFee
	}
	_, all, err := params.Terms.Fees()
	if err != nil {
		return transaction.Pricing{}, err
	}
	calculate, amount := price.Sending, r.Amount
	if r.Side == Receiving {
		calculate = price.Receiving
		if params.Answer != nil {
			amount = uma.SatsOf(params.Answer.Invoice.MilliSatoshis)
		}
	}
	priced, err := calculate(amount, params.Market, all)
	if errors.Is(err, price.ErrOutOfRange) {
		err = r.outOfRange(err, params, all, from, to)
	}
	if err != nil {
		return transaction.Pricing{}, err
	}
	return pricingOf(priced, params.Terms, from, to)
}

// pricingOf returns the amounts of a price with the fees of some terms.
func pricingOf(priced price.Price, terms corridor.Terms, from, to money.Currency) (transaction.Pricing, error) {
	service, all, err := terms.Fees()
	if err != nil {
		return transaction.Pricing{}, err
	}
	fixed, variable, err := service.Of(priced.Sending)
	return transaction.Pricing{
		Sent:     money.Amount{Minor: priced.Sending, Currency: from},
		Received: money.Amount{Minor: priced.Receiving, Currency: to},
		Fees:     priced.Fees, FixedFee: fixed, VariableFee: variable, FeeRate: service.Percent,
		PlatformFees: priced.Fees - fixed - variable, PlatformFixedFee: all.Fixed - service.Fixed,
		PlatformFeeBps: terms.PlatformFee.BasisPoints,
		Rate:           priced.Rate, Market: priced.Market,
		RoundingSent: priced.RoundingSending, RoundingReceived: priced.RoundingReceiving,
	}, err
}

// outOfRange returns AMOUNT_OUT_OF_RANGE for an amount that cannot be priced, with the limits of the
// locked amount.
func (r Request) outOfRange(reason error, params MakeParams, fee price.Fee, from, to money.Currency) error {
	lowest, highest, currency := params.Terms.MinSending, params.Terms.MaxSending, from
	if r.Side == Receiving {
		var err error
		if lowest, highest, err = price.ReceivingRange(lowest, highest, params.Market, fee); err != nil {
			return fault.New(fault.AmountOutOfRange, "This amount cannot be quoted: %s.", outOfRangeReason(reason))
		}
		currency = to
	}
	return &fault.Error{
		Code: fault.AmountOutOfRange,
		Message: fmt.Sprintf("This amount cannot be quoted: %s. lockedCurrencyAmount must be between %d (%s) and %d (%s).",
			outOfRangeReason(reason),
			lowest, money.Amount{Minor: lowest, Currency: currency}, highest, money.Amount{Minor: highest, Currency: currency}),
		Details: map[string]any{"currency": string(currency), "amount": r.Amount, "minAmount": lowest, "maxAmount": highest},
	}
}

// outOfRangeReason returns why an amount cannot be priced, in words for the caller.
func outOfRangeReason(err error) string {
	switch {
	case errors.Is(err, price.ErrNothingLeft):
		return "it does not cover the fees"
	case errors.Is(err, price.ErrBuysNothing):
		return "after fees it does not buy the smallest unit of the receiving currency"
	default:
		return "it is more than can be sent at once"
	}
}
