package payments

import (
	"context"

	"causeway/app/internal/batch"
	"causeway/core/account"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/transaction"
	"causeway/ports"
)

// SendRequest is a simulated payment: to the reference of a quote's payment instructions, to a quote,
// or to the reference of an internal account. Amount defaults to that of the quote, and is required
// for an account.
type SendRequest struct {
	Reference string
	Quote     ident.Quote
	Currency  money.Currency
	Amount    *int64
	// Originator is who sends it, as its bank would say; nil for a bank that says nothing.
	Originator *transaction.Originator
}

// SimulatePayment simulates a payment from outside. If an amount is given, a payment with an unknown
// reference is received too, as in production, and held as unmatched funds. Faults: INVALID_INPUT,
// INVALID_CURRENCY, QUOTE_NOT_FOUND, REFERENCE_NOT_FOUND.
func (s *Service) SimulatePayment(ctx context.Context, platform ident.Platform, in SendRequest,
	claim *ports.IdempotentRequest) (transaction.Transaction, error) {
	if err := in.validate(); err != nil {
		return transaction.Transaction{}, err
	}
	now := s.Clock.Now()
	receipt := transaction.Receipt{ID: ident.NewReceipt(s.IDs.New, now), Platform: platform, Reference: in.Reference, At: now,
		PartnerID: s.IDs.New(now).String(), Rail: transaction.DefaultFundingRail(in.Currency), Originator: in.Originator}.Storable()
	receipt.Amount.Currency, in.Reference = in.Currency, receipt.Reference
	if account.IsFundingReference(in.Reference) {
		return s.deposit(ctx, receipt, in, claim)
	}
	if in.Quote.IsZero() {
		return s.receiveBatcher.Do(ctx, platform, receiveCommand{ports.RailReceipt{Receipt: receipt}, claim, &in})
	}
	_, wanted, err := s.Store.Quote(ctx, platform, in.Quote)
	if err == nil {
		receipt, err = s.simulatedReceipt(receipt, in, &wanted)
	}
	if err != nil {
		return transaction.Transaction{}, err
	}
	return s.Receive(ctx, receipt, claim)
}

// simulatedReceipt completes the receipt of a simulated payment for a transaction; nil if none has the reference.
func (s *Service) simulatedReceipt(receipt transaction.Receipt, in SendRequest,
	wanted *transaction.Transaction) (transaction.Receipt, error) {
	switch {
	case wanted == nil && in.Amount == nil:
		return receipt, fault.New(fault.ReferenceNotFound, "No quote of this platform has the reference %.80q.", in.Reference)
	case wanted == nil:
	case !wanted.Source.IsJustInTime():
		return receipt, in.invalidTarget()
	case wanted.Pricing.Sent.Currency != in.Currency:
		return receipt, fault.New(fault.InvalidCurrency, "This quote is paid in %s; send that currencyCode.", wanted.Pricing.Sent.Currency)
	default:
		receipt.Reference, receipt.Rail, receipt.Amount = wanted.Reference, wanted.SourceRail, wanted.Pricing.Sent
	}
	if in.Amount != nil {
		receipt.Amount.Minor = *in.Amount
	}
	receipt.TransactionHash = s.Simulated.TransactionHash(receipt.ID.UUID(), receipt.Rail)
	return receipt, nil
}

// completeSimulated completes the receipts of the commands that simulate a payment to a reference, and sets the results of those that
// cannot be received. It returns the positions of the others.
func (s *Service) completeSimulated(ctx context.Context, tx Tx, commands []receiveCommand,
	results []batch.Result[transaction.Transaction]) (received []int, err error) {
	var keys []ports.ReferenceKey
	for _, c := range commands {
		if c.simulated != nil {
			keys = append(keys, ports.ReferenceKey{Platform: c.receipt.Platform, Reference: c.receipt.Reference})
		}
	}
	var found map[ports.ReferenceKey]transaction.Transaction
	if len(keys) > 0 {
		if found, err = tx.TransactionsByReference(ctx, keys); err != nil {
			return nil, err
		}
	}
	for i := range commands {
		c := &commands[i]
		if c.simulated != nil {
			var wanted *transaction.Transaction
			if t, exists := found[ports.ReferenceKey{Platform: c.receipt.Platform, Reference: c.receipt.Reference}]; exists {
				wanted = &t
			}
			if c.receipt.Receipt, results[i].Err = s.simulatedReceipt(c.receipt.Receipt, *c.simulated, wanted); results[i].Err != nil {
				continue
			}
		}
		received = append(received, i)
	}
	return received, nil
}

// deposit pays into the internal account that has the reference.
func (s *Service) deposit(ctx context.Context, receipt transaction.Receipt, in SendRequest,
	claim *ports.IdempotentRequest) (transaction.Transaction, error) {
	accounts, err := s.fundingAccounts(ctx, receipt)
	switch {
	case err != nil:
		return transaction.Transaction{}, err
	case len(accounts) == 0 && in.Amount == nil:
		return transaction.Transaction{}, fault.New(fault.ReferenceNotFound, "No account of this platform has the reference %.80q.", in.Reference)
	case in.Amount == nil:
		return transaction.Transaction{}, fault.Invalid(fault.Field{Field: "currencyAmount",
			Message: "must be given for a payment to an account"})
	}
	receipt.Amount.Minor = *in.Amount
	receipt.TransactionHash = s.Simulated.TransactionHash(receipt.ID.UUID(), receipt.Rail)
	return s.receiveOrDeposit(ctx, ports.RailReceipt{Receipt: receipt}, accounts, claim)
}

// MissingReference is the error of a simulated payment that names nothing to pay.
var MissingReference = fault.Field{Field: "reference", Message: "give the reference of the payment instructions, or a quoteId"}

func (in SendRequest) validate() error {
	var bad []fault.Field
	if in.Reference == "" && in.Quote.IsZero() {
		bad = append(bad, MissingReference)
	}
	if !in.Currency.Payable() {
		bad = append(bad, fault.Field{Field: "currencyCode", Message: "must be a known currency code in upper case, such as USD"})
	}
	if in.Amount != nil && (*in.Amount < 1 || *in.Amount > money.MaxMinor) {
		bad = append(bad, fault.Field{Field: "currencyAmount",
			Message: "must be a whole number of the smallest currency unit, from 1 to 9000000000000000"})
	}
	if len(bad) > 0 {
		return fault.Invalid(bad...)
	}
	return nil
}

// invalidTarget is the fault of a request that names a transaction which is paid from an account.
func (in SendRequest) invalidTarget() error {
	field := "quoteId"
	if in.Quote.IsZero() {
		field = "reference"
	}
	return fault.Invalid(fault.Field{Field: field, Message: "must be that of a quote with payment instructions; this one is paid from an " +
		"account"})
}
