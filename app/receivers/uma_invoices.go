package receivers

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"causeway/core/corridor"
	"causeway/core/customer"
	"causeway/core/event"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/transaction"
	"causeway/core/uma"
	"causeway/ports"
)

const (
	// defaultInvoiceTime is how long an invoice can be paid for which no time is named, and maxInvoiceTime the longest.
	defaultInvoiceTime = 24 * time.Hour
	maxInvoiceTime     = 30 * 24 * time.Hour
	minInvoiceTime     = time.Minute
	// maxAsked is how many unpaid invoices other providers may ask a customer to pay at a time, and maxAskedByOne one of them. They expire
	// within maxInvoiceTime.
	maxAsked, maxAskedByOne = 500, 20
)

// UMAInvoiceRequest asks for an invoice that pays a customer.
type UMAInvoiceRequest struct {
	To       ident.Customer
	Amount   int64
	Currency money.Currency
	// Sender is the UMA address of who is asked to pay; empty for anybody.
	Sender string
	// ExpiresAt is zero for a day from now.
	ExpiresAt time.Time
}

// UMAInvoice is a UMA invoice with its status at the time of a call.
type UMAInvoice struct {
	uma.KeptInvoice
	Status uma.InvoiceStatus
}

// CreateUMAInvoice issues an invoice that pays a customer once. Faults: INVALID_INPUT, USER_NOT_FOUND, USER_NOT_READY, CUSTOMER_DELETED,
// INVALID_CURRENCY, AMOUNT_OUT_OF_RANGE, SELF_PAYMENT, INVALID_RECEIVER, NOT_IMPLEMENTED.
func (s *Service) CreateUMAInvoice(ctx context.Context, p ident.Platform, r UMAInvoiceRequest,
	claim *ports.IdempotentRequest) (UMAInvoice, error) {
	to, err := s.Store.Customer(ctx, p, r.To)
	if err == nil {
		err = to.CheckReady()
	}
	if err != nil {
		return UMAInvoice{}, err
	}
	on, err := s.Store.Platform(ctx, p)
	if err != nil {
		return UMAInvoice{}, err
	}
	now := s.Clock.Now()
	if r, err = r.check(on, to, now); err != nil {
		return UMAInvoice{}, err
	}
	kept := uma.KeptInvoice{ID: ident.NewUMAInvoice(s.IDs.New, now), Platform: p, To: to.ID, CreatedAt: now}
	kept.Invoice = uma.Invoice{ID: kept.ID.UUID(), Receiver: to.UMAAddress, Sender: r.Sender, Amount: r.Amount, Currency: r.Currency,
		Decimals: r.Currency.Decimals(), ExpiresAt: r.ExpiresAt.Truncate(time.Second), TravelRule: on.Regulated}
	settings, _ := on.CurrencySettings(r.Currency)
	kept.Wanted = uma.RequiredFields([]platform.Currency{settings})
	if r.Sender != "" {
		from, err := s.customerByUMA(ctx, p, r.Sender)
		if err != nil {
			return UMAInvoice{}, err
		}
		if from != nil {
			kept.From = from.ID
		}
	}
	text, send, err := s.Invoices.IssueInvoice(ctx, on, kept.Invoice)
	if err != nil {
		return UMAInvoice{}, err
	}
	kept.Text = text
	if send {
		kept.Delivery.Status = uma.DeliverySending
	}
	result := UMAInvoice{kept, uma.InvoicePending}
	return result, ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) error {
		if _, err := tx.AddUMAInvoice(ctx, kept); err != nil {
			return err
		}
		if send {
			if err := tx.AddJobs(ctx, []ports.Job{s.sendJob(kept, now)}); err != nil {
				return err
			}
		}
		if !kept.From.IsZero() {
			if err := s.emit(ctx, tx, event.UMAInvoiceReceived, result, now); err != nil {
				return err
			}
		}
		return tx.SaveResponse(ctx, claim, result, nil)
	})
}

// emit emits an event about an invoice.
func (s *Service) emit(ctx context.Context, tx Tx, name string, i UMAInvoice, now time.Time) error {
	return tx.Emit(ctx, []event.Event{{ID: ident.NewWebhook(s.IDs.New, now), Platform: i.Platform, Type: event.UMAInvoice, Name: name,
		Subject: i.KeptInvoice.ID.UUID(), OccurredAt: now, Resource: i}})
}

// check returns the request with its sender in stored form and its expiry, or a fault.
func (r UMAInvoiceRequest) check(on platform.Platform, to customer.Customer, now time.Time) (UMAInvoiceRequest, error) {
	var bad []fault.Field
	if r.ExpiresAt.IsZero() {
		r.ExpiresAt = now.Add(defaultInvoiceTime)
	}
	if r.ExpiresAt.Before(now.Add(minInvoiceTime)) || r.ExpiresAt.After(now.Add(maxInvoiceTime)) {
		bad = append(bad, fault.Field{Field: "expiresAt", Message: "must be from a minute to 30 days ahead"})
	}
	if r.Amount < 1 || r.Amount > money.MaxMinor {
		bad = append(bad, fault.Field{Field: "amount", Message: "must be a whole number of the smallest currency unit, from 1 to " +
			"9000000000000000", Constraint: map[string]any{"minimum": 1, "maximum": money.MaxMinor}})
	}
	if r.Sender != "" {
		parsed, ok := customer.ParseUMAAddress(r.Sender)
		if !ok {
			bad = append(bad, fault.Field{Field: "senderUmaAddress", Message: customer.UMAAddressRule,
				Constraint: map[string]any{"pattern": customer.UMAAddressPattern}})
		}
		r.Sender = parsed
	}
	if len(bad) > 0 {
		return r, fault.Invalid(bad...)
	}
	if r.Sender == to.UMAAddress {
		return r, fault.New(fault.SelfPayment, "The sender and the receiver are the same person, %s.", r.Sender)
	}
	settings, used := on.CurrencySettings(r.Currency)
	if !used || !isEnabled(settings, transaction.Incoming, to) {
		return r, fault.New(fault.InvalidCurrency, "The customer does not receive %s.", r.Currency)
	}
	return r, settings.CheckAmount(r.Amount)
}

// GetUMAInvoice reads an invoice.
func (s *Service) GetUMAInvoice(ctx context.Context, p ident.Platform, id ident.UMAInvoice) (UMAInvoice, error) {
	kept, err := s.Store.UMAInvoice(ctx, p, id)
	if err != nil {
		return UMAInvoice{}, err
	}
	stated, err := s.statedInvoices(ctx, kept)
	if err != nil {
		return UMAInvoice{}, err
	}
	return stated[0], nil
}

// ListUMAInvoices reads a page of the invoices that were issued, and that customers are asked to pay.
func (s *Service) ListUMAInvoices(ctx context.Context, p ident.Platform, f ports.UMAInvoiceFilter) (ports.Page[UMAInvoice], error) {
	read, err := s.Store.UMAInvoices(ctx, p, f)
	page := ports.Page[UMAInvoice]{More: read.More, Total: read.Total, TotalIsMinimum: read.TotalIsMinimum}
	if err == nil {
		page.Items, err = s.statedInvoices(ctx, read.Items...)
	}
	return page, err
}

func (s *Service) statedInvoices(ctx context.Context, kept ...uma.KeptInvoice) ([]UMAInvoice, error) {
	var keys []ports.TransactionKey
	for _, k := range kept {
		if !k.Payment.IsZero() {
			keys = append(keys, ports.TransactionKey{Platform: k.Platform, ID: k.Payment})
		}
	}
	payments := map[ports.TransactionKey]transaction.Transaction{}
	if len(keys) > 0 {
		var err error
		if payments, err = s.Store.TransactionsByKey(ctx, keys); err != nil {
			return nil, err
		}
	}
	stated := make([]UMAInvoice, len(kept))
	for i, k := range kept {
		payment := payments[ports.TransactionKey{Platform: k.Platform, ID: k.Payment}]
		stated[i] = UMAInvoice{k, k.Status(payment.State.Status, s.Clock.Now())}
	}
	return stated, nil
}

// TakeUMAInvoice keeps an invoice that another provider, whose signature was verified, asks a customer to pay. One that is kept already
// stays as it is. The error is a uma.Refusal, or a fault.
func (s *Service) TakeUMAInvoice(ctx context.Context, on platform.Platform, i uma.Invoice, text string) error {
	now := s.Clock.Now()
	if err := i.CheckPayable(now); err != nil {
		return err
	}
	if i.ExpiresAt.After(now.Add(maxInvoiceTime)) {
		return uma.Refuse(uma.InvalidInvoice, "the UMA invoice expires more than 30 days ahead")
	}
	from, err := s.customerByUMA(ctx, on.ID, i.Sender)
	if err != nil {
		return err
	}
	if from == nil || from.CheckReady() != nil {
		return uma.Refuse(uma.UserNotFound, "there is no such sender")
	}
	if _, kept, err := s.Store.UMAInvoiceOf(ctx, on.ID, i.Issuer(), i.ID); err != nil || kept {
		return err
	}
	kept := uma.KeptInvoice{ID: ident.NewUMAInvoice(s.IDs.New, now), Platform: on.ID, Invoice: i, Text: text, From: from.ID, CreatedAt: now}
	return ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) error {
		if _, err := tx.LockCustomer(ctx, on.ID, from.ID); err != nil { // so that each is counted
			return err
		}
		byOne, all, err := tx.CountUMAInvoices(ctx, on.ID, from.ID, siteOf(i.Issuer()), now, maxAsked)
		if err != nil {
			return err
		}
		if byOne >= maxAskedByOne || all >= maxAsked {
			return uma.Refuse(uma.LimitExceeded, "the sender is asked to pay too many invoices already; try again when some are paid or expired")
		}
		if added, err := tx.AddUMAInvoice(ctx, kept); err != nil || added != kept.ID { // another request has added it
			return err
		}
		return s.emit(ctx, tx, event.UMAInvoiceReceived, UMAInvoice{kept, uma.InvoicePending}, now)
	})
}

// lookupInvoice looks up what an invoice asks for. An invoice of another provider takes the place of asking that for the receiver: it is
// signed, and the rate at which it may be paid is the market's.
func (s *Service) lookupInvoice(ctx context.Context, p ident.Platform, text string, by Sender) (LookupResult, error) {
	request, err := s.newLookupRequest(ctx, p, by)
	if err != nil {
		return LookupResult{}, err
	}
	text = strings.ToLower(text) // as it is kept
	invoice, err := uma.ParseInvoice(text)
	if err == nil {
		err = invoice.CheckPayable(request.lookup.CreatedAt)
	}
	if err == nil && invoice.Sender != "" && invoice.Sender != request.sender.UMAAddress {
		err = uma.Refuse(uma.SenderNotAccepted, "the UMA invoice is for another sender")
	}
	if err != nil {
		return LookupResult{}, refusedInvoice(err)
	}
	if invoice.Receiver == request.sender.UMAAddress {
		return LookupResult{}, fault.New(fault.SelfPayment, "The UMA invoice pays %s, who is the sender.", invoice.Receiver)
	}
	own, err := s.customerByUMA(ctx, p, invoice.Receiver)
	if err != nil {
		return LookupResult{}, err
	}
	kept, isKept, err := s.Store.UMAInvoiceOf(ctx, p, invoice.Issuer(), invoice.ID)
	if err != nil {
		return LookupResult{}, err
	}
	var receiver ports.Counterparty
	switch {
	case own != nil && (!isKept || kept.Text != text || kept.To != own.ID):
		return LookupResult{}, refusedInvoice(errors.New("the UMA invoice was not issued by this platform"))
	case own != nil:
		receiver, err = s.findReceiver(ctx, request, invoice.Receiver)
		if err == nil && !slices.Contains(receiver.Currencies, invoice.Currency) {
			err = errors.New("the receiver does not receive its currency any more")
		}
		receiver.Currencies = []money.Currency{invoice.Currency}
	default:
		if err = s.Invoices.CheckInvoice(ctx, request.platform, invoice); err == nil {
			receiver, err = s.receiverOf(ctx, request.platform, invoice.Invoice)
		}
	}
	if err != nil {
		return LookupResult{}, refusedInvoice(err)
	}
	if !isKept {
		kept = uma.KeptInvoice{ID: ident.NewUMAInvoice(s.IDs.New, request.lookup.CreatedAt), Platform: p, Invoice: invoice.Invoice, Text: text,
			CreatedAt: request.lookup.CreatedAt}
		if kept.Sender != "" {
			kept.From = request.sender.ID
		}
	}
	stated, err := s.statedInvoices(ctx, kept)
	if err != nil {
		return LookupResult{}, err
	}
	if stated[0].Status != uma.InvoicePending {
		return LookupResult{}, fault.New(fault.Conflict, "The UMA invoice is %s: its payment is %s.", stated[0].Status, kept.Payment)
	}
	request.invoice, request.lookup.InvoiceAmount = &kept, kept.Amount
	request.lookup.ReceiverUMA = invoice.Receiver
	return s.priceAndSave(ctx, request, "", receiver)
}

// receiverOf returns the receiver of an invoice of another provider, who is paid the amount of the invoice.
func (s *Service) receiverOf(ctx context.Context, on platform.Platform, i uma.Invoice) (ports.Counterparty, error) {
	if err := s.Prices.Refresh(ctx, on.ID); err != nil {
		return ports.Counterparty{}, err
	}
	pair, err := corridor.OfUMA(money.BTC, i.Currency)
	if err != nil {
		return ports.Counterparty{}, err
	}
	priced, err := s.Prices.Of(ctx, on.ID, pair)
	if err != nil {
		return ports.Counterparty{}, err
	}
	terms := uma.Currency{Code: i.Currency, Decimals: i.Decimals, Min: i.Amount, Max: i.Amount}
	if terms.Multiplier, err = uma.Multiplier(priced.Rate.Rate); err != nil {
		return ports.Counterparty{}, err
	}
	receiver := uma.Receiver{Callback: i.Callback, Currencies: []uma.Currency{terms}, TravelRule: i.TravelRule, Wanted: i.Wanted}
	return ports.Counterparty{Address: i.Receiver, Currencies: []money.Currency{i.Currency}, WantedFields: i.Wanted, UMA: &receiver}, nil
}

// refusedInvoice returns INVALID_RECEIVER for an invoice that is not paid; faults and errors of the storage stay.
func refusedInvoice(err error) error {
	if _, is := fault.As(err); is || errors.Is(err, ports.ErrStoreUnavailable) {
		return err
	}
	return fault.New(fault.InvalidReceiver, "The invoice cannot be paid: %s.", err)
}
