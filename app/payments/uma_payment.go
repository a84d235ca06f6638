package payments

import (
	"cmp"
	"context"

	"causeway/app/internal/spans"
	"causeway/app/internal/uow"
	"causeway/core/account"
	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/transaction"
	"causeway/ledger"
	"causeway/ports"
)

// UMAPayment is a payment from a person at another provider to a customer, who is named by UMA
// address or by id.
type UMAPayment struct {
	Sender   string
	Receiver string
	Customer ident.Customer
	// Amount is in minor units of Currency, which is what the customer receives.
	Currency money.Currency
	Amount   int64
}

// SimulateUMAPayment simulates a payment from another provider to a customer. The transaction is
// PENDING until the platform approves the payment. Faults: INVALID_INPUT,
// WEBHOOK_ENDPOINT_NOT_SET, USER_NOT_FOUND, CUSTOMER_DELETED, USER_NOT_READY, INVALID_CURRENCY,
// INVALID_RECEIVER, AMOUNT_OUT_OF_RANGE, SELF_PAYMENT.
func (s *Service) SimulateUMAPayment(ctx context.Context, p ident.Platform, in UMAPayment,
	claim *ports.IdempotentRequest) (transaction.Transaction, error) {
	in, err := in.normalize()
	if err != nil {
		return transaction.Transaction{}, err
	}
	on, err := s.Store.Platform(ctx, p)
	if err != nil {
		return transaction.Transaction{}, err
	}
	if on.WebhookEndpoint == "" && !on.HasListener(s.Clock.Now()) {
		return transaction.Transaction{}, fault.New(fault.WebhookEndpointNotSet,
			"Incoming payments need approval at the webhook endpoint, and none is set. Set webhookEndpoint in the configuration, or run "+
				"causeway listen --forward-to, first.")
	}
	to, err := s.findReceiver(ctx, p, in)
	if err != nil {
		return transaction.Transaction{}, err
	}
	settings, err := in.checkCurrency(on)
	if err != nil {
		return transaction.Transaction{}, err
	}
	others, connected := s.Counterparties[on.Environment]
	if !connected {
		return transaction.Transaction{}, errNotConnected(on.Environment)
	}
	sender, err := others.Sender(ctx, in.Sender, fieldNames(settings.RequiredCounterpartyFields))
	if err != nil {
		return transaction.Transaction{}, err
	}
	return s.createUMAPayment(ctx, ident.NewTransaction(s.IDs.New, s.Clock.Now()), in, to, sender, claim, transaction.Transaction{})
}

func errNotConnected(e platform.Environment) error {
	return fault.New(fault.NotImplemented, "UMA providers are not available on %s platforms of this service yet.", e)
}

// normalize returns the payment with its addresses in stored form, or a fault with every invalid
// field.
func (in UMAPayment) normalize() (UMAPayment, error) {
	var bad []fault.Field
	address := func(field, text string) string {
		parsed, ok := customer.ParseUMAAddress(text)
		if !ok {
			bad = append(bad, fault.Field{Field: field, Message: customer.UMAAddressRule,
				Constraint: map[string]any{"pattern": customer.UMAAddressPattern}})
		}
		return parsed
	}
	in.Sender = address("senderUmaAddress", in.Sender)
	switch {
	case in.Receiver != "":
		in.Receiver = address("receiverUmaAddress", in.Receiver)
	case in.Customer.IsZero():
		bad = append(bad, fault.Field{Field: "receiverUmaAddress", Message: "give the customer's address, or a customerId"})
	}
	if !in.Currency.Payable() {
		bad = append(bad, fault.Field{Field: "receivingCurrencyCode", Message: "must be a known currency code in upper case, such as USD"})
	}
	if in.Amount < 1 || in.Amount > money.MaxMinor {
		bad = append(bad, fault.Field{Field: "receivingCurrencyAmount", Message: "must be a whole number of the smallest currency unit, from 1 " +
			"to 9000000000000000",
			Constraint: map[string]any{"minimum": 1, "maximum": money.MaxMinor}})
	}
	if len(bad) > 0 {
		return in, fault.Invalid(bad...)
	}
	return in, nil
}

// findReceiver returns the customer who receives the payment.
func (s *Service) findReceiver(ctx context.Context, p ident.Platform, in UMAPayment) (customer.Customer, error) {
	var to customer.Customer
	if !in.Customer.IsZero() {
		found, err := s.Store.Customer(ctx, p, in.Customer)
		if err != nil {
			return to, err
		}
		if in.Receiver != "" && in.Receiver != found.UMAAddress {
			return to, fault.Invalid(fault.Field{Field: "receiverUmaAddress", Message: "is not the address of this customer; leave one of the two " +
				"out"})
		}
		to = found
	} else {
		found, err := s.customerByAddress(ctx, p, in.Receiver)
		if err != nil {
			return to, err
		}
		if found == nil {
			return to, fault.New(fault.UserNotFound, "No customer of this platform has the address %s.", in.Receiver)
		}
		to = *found
	}
	if to.UMAAddress == in.Sender {
		return to, fault.New(fault.SelfPayment, "The sender and the receiver are the same person, %s.", in.Sender)
	}
	return to, to.CheckReady()
}

// customerByAddress returns the customer with a UMA address, or nil if there is none.
func (s *Service) customerByAddress(ctx context.Context, p ident.Platform, address string) (*customer.Customer, error) {
	found, err := s.Store.Customers(ctx, p, ports.CustomerFilter{Paging: ports.Paging{Limit: 1}, UMAAddress: address})
	if err != nil || len(found.Items) == 0 {
		return nil, err
	}
	return &found.Items[0], nil
}

// checkCurrency checks the payment against the platform's settings for the currency, and returns
// them.
func (in UMAPayment) checkCurrency(on platform.Platform) (platform.Currency, error) {
	settings, err := in.checkDirection(on)
	if err != nil {
		return settings, err
	}
	return settings, settings.CheckAmount(in.Amount)
}

// checkDirection returns the platform's settings for the currency, which its customers must receive.
func (in UMAPayment) checkDirection(on platform.Platform) (platform.Currency, error) {
	settings, used := on.CurrencySettings(in.Currency)
	if !used {
		return settings, fault.New(fault.InvalidCurrency, "Customers of this platform do not receive %s. Use a currency of supportedCurrencies "+
			"in GET /config.", in.Currency)
	}
	return settings, settings.CheckDirection(string(transaction.Incoming))
}

func fieldNames(fields []platform.CounterpartyField) []string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Name
	}
	return names
}

// createUMAPayment stores the payment, with the request for approval as its next step. sent is the
// outgoing payment of another customer of the platform, which must be in transit; zero for none.
func (s *Service) createUMAPayment(ctx context.Context, id ident.Transaction, in UMAPayment, to customer.Customer,
	sender ports.Counterparty, request *ports.IdempotentRequest,
	sent transaction.Transaction) (transaction.Transaction, error) {
	approval := transaction.Approval{Webhook: ident.NewWebhook(s.IDs.New, s.Clock.Now()), Requested: transaction.MissingFields(to.Facts(),
		sender.WantedFields)}
	var d transaction.Decision
	var w work
	err := ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) error {
		w = s.newWork()
		if !sent.ID.IsZero() {
			if err := checkInTransit(ctx, tx, ports.TransactionKey{Platform: to.Platform, ID: sent.ID}); err != nil {
				return err
			}
		}
		opened, err := account.NewInternal(ident.NewInternalAccount(s.IDs.New, w.Now), to.Platform, to.ID, in.Currency, w.Now)
		if err != nil {
			return err
		}
		internal, err := uow.EnsureAccount(ctx, tx, opened)
		if err != nil {
			return err
		}
		balances, err := tx.Balances(ctx, []ledger.Account{internal.LedgerAccount()})
		if err != nil {
			return err
		}
		parties := transaction.IncomingParties{To: &internal, Owner: &to}
		if d, err = parties.UMAPayment(id, in.Sender, in.Amount, balances[internal.LedgerAccount()], approval, sender.Facts, w.Now); err != nil {
			return err
		}
		d.Transaction.SentBy, d.Transaction.Trace = sent.ID, cmp.Or(sent.Trace, spans.Context(ctx))
		w.Create(d)
		if err := tx.SaveResponse(ctx, request, d.Transaction, nil); err != nil {
			return err
		}
		return w.Write(ctx, tx)
	})
	if err != nil {
		return transaction.Transaction{}, err
	}
	s.afterCommit(w)
	return d.Transaction, nil
}
