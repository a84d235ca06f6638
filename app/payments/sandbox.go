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

func (s *Service) findByReference(ctx context.Context, keys []ports.ReferenceKey) ([]batch.Result[transaction.Transaction], error) {
	found, err := s.Store.TransactionsByReference(ctx, keys)
	if err != nil {
		return nil, err
	}
	results := make([]batch.Result[transaction.Transaction], len(keys))
	for i, key := range keys {
		t, ok := found[key]
		if results[i].Value = t; !ok {
			results[i].Err = fault.New(fault.ReferenceNotFound, "No quote of this platform has the reference %.80q.", key.Reference)
		}
	}
	return results, nil
}

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
	switch wanted, err := s.findTransaction(ctx, platform, in); {
	case err == nil:
		if !wanted.Source.IsJustInTime() {
			return transaction.Transaction{}, in.invalidTarget()
		}
		if wanted.Pricing.Sent.Currency != in.Currency {
			return transaction.Transaction{}, fault.New(fault.InvalidCurrency,
				"This quote is paid in %s; send that currencyCode.", wanted.Pricing.Sent.Currency)
		}
		receipt.Reference, receipt.Rail, receipt.Amount = wanted.Reference, wanted.SourceRail, wanted.Pricing.Sent
	case !fault.Is(err, fault.ReferenceNotFound) || in.Amount == nil:
		return transaction.Transaction{}, err
	}
	if in.Amount != nil {
		receipt.Amount.Minor = *in.Amount
	}
	receipt.TransactionHash = s.Simulated.TransactionHash(receipt.ID.UUID(), receipt.Rail)
	return s.Receive(ctx, receipt, claim)
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

// findTransaction returns the transaction of the named quote or reference.
func (s *Service) findTransaction(ctx context.Context, p ident.Platform, in SendRequest) (transaction.Transaction, error) {
	if in.Quote.IsZero() {
		return s.referenceBatcher.Do(ctx, p, ports.ReferenceKey{Platform: p, Reference: in.Reference})
	}
	_, t, err := s.Store.Quote(ctx, p, in.Quote)
	return t, err
}
