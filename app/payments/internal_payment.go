package payments

import (
	"context"
	"maps"
	"slices"
	"time"

	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/transaction"
	"causeway/ports"
)

// internalRetryDelay is the delay before an undecided payment is checked again.
const internalRetryDelay = time.Second

// receiveInternal receives a payment from a customer to the UMA address of another customer of the
// same platform, like one from another provider, and returns its outcome. A repeated call is for the
// same payment, also if the customer has lost the address meanwhile. It returns false, and does nothing,
// if no customer of the platform has the address.
func (s *Service) receiveInternal(ctx context.Context, sent transaction.Transaction) (outcome ports.Outcome, onUs bool, err error) {
	to, err := s.customerByAddress(ctx, sent.Platform, sent.Destination.UMA)
	if err != nil {
		return ports.Outcome{}, false, err
	}
	arrived, err := s.Store.Transaction(ctx, sent.Platform, transaction.CounterpartID(sent.ID))
	if fault.Is(err, fault.TransactionNotFound) {
		if to == nil {
			return ports.Outcome{}, false, nil
		}
		arrived, err = s.createInternal(ctx, sent, *to)
	}
	if fault.IsFinal(err) {
		return ports.Outcome{Verdict: ports.Refused, Accepted: true, Reason: transaction.CounterpartyPostFailed}, true, nil
	}
	if err != nil {
		return ports.Outcome{}, true, err
	}
	switch arrived.State.Status {
	case transaction.Completed:
		return ports.Outcome{Verdict: ports.Done}, true, nil
	case transaction.Pending:
		return ports.Outcome{Verdict: ports.Waiting, Accepted: true, RetryAt: s.Clock.Now().Add(internalRetryDelay)}, true, nil
	default:
		return ports.Outcome{Verdict: ports.Refused, Accepted: true, Reason: transaction.CounterpartyPostFailed}, true, nil
	}
}

func (s *Service) createInternal(ctx context.Context, sent transaction.Transaction, to customer.Customer) (transaction.Transaction, error) {
	if err := to.CheckReady(); err != nil {
		return transaction.Transaction{}, err
	}
	payer, err := s.Store.Customer(ctx, sent.Platform, sent.Customer)
	if err != nil {
		return transaction.Transaction{}, err
	}
	in := UMAPayment{Sender: payer.UMAAddress, Receiver: to.UMAAddress, Currency: sent.Pricing.Received.Currency, Amount: sent.Pricing.Received.Minor}
	on, err := s.Store.Platform(ctx, sent.Platform)
	if err != nil {
		return transaction.Transaction{}, err
	}
	settings, err := in.checkCurrency(on)
	if err != nil {
		return transaction.Transaction{}, err
	}
	sender := ports.Counterparty{Address: in.Sender, Facts: payer.Facts()}
	maps.Copy(sender.Facts, sent.Payer)
	wanted := fieldNames(settings.RequiredCounterpartyFields)
	maps.DeleteFunc(sender.Facts, func(name, _ string) bool { return !slices.Contains(wanted, name) })
	return s.createUMAPayment(ctx, transaction.CounterpartID(sent.ID), in, to, sender, nil)
}
