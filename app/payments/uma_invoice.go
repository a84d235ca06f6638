package payments

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"causeway/app/internal/spans"
	"causeway/app/internal/uow"
	"causeway/core/account"
	"causeway/core/corridor"
	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/price"
	"causeway/core/quote"
	"causeway/core/transaction"
	"causeway/core/uma"
	"causeway/ledger"
	"causeway/ports"
)

// UMAPayRequest is a pay request of another provider, whose signature was verified, or of a wallet.
type UMAPayRequest struct {
	// Sender and Receiver are UMA addresses in lower case. Sender is empty for a wallet, of whose owner nothing is known.
	Sender, Receiver string
	Ask              uma.Ask
	// Facts are what is stated about the sender, and TravelRule what was stated encrypted.
	Facts      map[string]string
	TravelRule string
	// Wanted are the facts about the receiver that are asked for.
	Wanted []transaction.InfoField
	// DescriptionHash is that of the invoice.
	DescriptionHash [32]byte
	// Callback is the URL for the channels that are used; empty for none.
	Callback string
	// Invoice is the id of the UMA invoice that is paid; zero for none.
	Invoice uuid.UUID
}

// UMAInvoice is the invoice of an approved payment, and what its receiver gets.
type UMAInvoice struct {
	Transaction ident.Transaction
	Invoice     ports.Invoice
	Offer       uma.Offer
	Received    money.Amount
	// Facts are the facts about the receiver that were asked for and are known.
	Facts map[string]string
}

const (
	// approvalWait is how long an answer waits for the decision of the platform: its endpoint may take ten seconds, and then five
	// more to decide.
	approvalWait = 15 * time.Second
	// firstApprovalPoll and maxApprovalPoll are the pauses between looking for the decision.
	firstApprovalPoll, maxApprovalPoll = 25 * time.Millisecond, 400 * time.Millisecond
)

// InvoiceUMAPayment creates an incoming payment, waits until the platform approves it, and issues its invoice. An invoice that
// nobody pays expires with its rate. The error is a uma.Refusal, or a fault.
func (s *Service) InvoiceUMAPayment(ctx context.Context, on platform.Platform, in UMAPayRequest) (UMAInvoice, error) {
	if on.WebhookEndpoint == "" {
		return UMAInvoice{}, uma.Refuse(uma.PayRequestFailed, "the receiver takes no payments now")
	}
	if s.Lightning == nil {
		return UMAInvoice{}, errNotConnected(on.Environment)
	}
	node, err := s.Lightning.LightningFor(ctx, on.ID)
	if err != nil {
		return UMAInvoice{}, err
	}
	to, err := s.customerByAddress(ctx, on.ID, in.Receiver)
	switch {
	case err != nil:
		return UMAInvoice{}, err
	case to == nil || to.CheckReady() != nil:
		return UMAInvoice{}, uma.Refuse(uma.UserNotFound, "there is no receiver "+in.Receiver)
	case to.UMAAddress == in.Sender:
		return UMAInvoice{}, uma.Refuse(uma.SenderNotAccepted, "the sender and the receiver are the same")
	}
	if err := s.checkStatedFacts(ctx, on, in); err != nil {
		return UMAInvoice{}, err
	}
	issued, err := s.issuedInvoice(ctx, *to, in)
	if err != nil {
		return UMAInvoice{}, err
	}
	incoming, err := s.priceUMAPayment(ctx, on, *to, in)
	if err != nil {
		return UMAInvoice{}, err
	}
	// Once it is known that the payment can be: the sender keeps the Lightning invoice before, if not.
	if err := cancelLast(ctx, node, issued.last); err != nil {
		return UMAInvoice{}, err
	}
	created, err := s.createInvoiced(ctx, *to, incoming, issued)
	if err != nil {
		return UMAInvoice{}, err
	}
	approved, err := s.awaitApproval(ctx, created)
	if err != nil {
		return UMAInvoice{}, err
	}
	invoice, err := node.Invoice(ctx, ports.InvoiceRequest{ID: approved.ID.UUID(), Reference: approved.Reference,
		Amount:          approved.Pricing.Sent,
		Fraction:        incoming.Offer.Fraction,
		DescriptionHash: in.DescriptionHash, ExpiresAt: approved.ExpiresAt})
	if f, is := fault.As(err); is && f.Code == fault.InvalidInput {
		return UMAInvoice{}, uma.Refuse(uma.InvalidInput, f.Message)
	}
	if fault.Is(err, fault.Conflict) {
		return UMAInvoice{}, uma.Refuse(uma.InvalidInvoice, "the UMA invoice was asked for again meanwhile")
	}
	if err != nil {
		return UMAInvoice{}, fmt.Errorf("issue the invoice of %s: %w", approved.ID, err)
	}
	facts := to.Facts()
	for name, fact := range approved.Approval.Receiver {
		facts[name] = fact
	}
	return UMAInvoice{Transaction: approved.ID, Invoice: invoice, Offer: incoming.Offer, Received: approved.Pricing.Received,
		Facts: uma.FactsToState(facts, in.Wanted)}, nil
}

// maxOpenPayments is how many payments of people of whom nothing is known may wait for a customer: each asks the platform for approval.
const maxOpenPayments = 20

// openPaymentTime is longer than such a payment waits.
const openPaymentTime = time.Hour

// checkOpenPayments locks the customer, so that every payment is counted.
func checkOpenPayments(ctx context.Context, tx Tx, to customer.Customer, now time.Time) error {
	if _, err := tx.LockCustomer(ctx, to.Platform, to.ID); err != nil {
		return err
	}
	open, err := tx.CountWalletPayments(ctx, to.Platform, to.ID, now.Add(-openPaymentTime))
	if err == nil && open >= maxOpenPayments {
		err = uma.Refuse(uma.LimitExceeded, "too many payments to the receiver are under way; try again in some minutes")
	}
	return err
}

// checkStatedFacts refuses a sender about whom a fact is missing that the platform requires, or who resembles an entry of the
// sanctions lists.
func (s *Service) checkStatedFacts(ctx context.Context, on platform.Platform, in UMAPayRequest) error {
	settings, _ := on.CurrencySettings(in.Ask.Currency)
	if missing := uma.MissingMandatory(in.Facts, uma.RequiredFields([]platform.Currency{settings})); len(missing) > 0 {
		names := make([]string, len(missing))
		for i, name := range missing {
			names[i] = uma.WireName(name)
		}
		return uma.Refuse(uma.MissingPayerData, fmt.Sprintf("payerData must have %v", names))
	}
	hit, err := s.resemblesListed(ctx, in.Facts)
	if err == nil && hit {
		err = uma.Refuse(uma.SenderNotAccepted, "payments of this sender are not accepted")
	}
	return err
}

// priceUMAPayment prices a payment in bitcoin to a currency of the platform.
func (s *Service) priceUMAPayment(ctx context.Context, on platform.Platform, to customer.Customer,
	in UMAPayRequest) (quote.Incoming, error) {
	settings, err := UMAPayment{Currency: in.Ask.Currency}.checkDirection(on)
	if err != nil {
		return quote.Incoming{}, uma.Refuse(uma.InvalidCurrency, "the receiver does not receive this currency")
	}
	pair, err := corridor.OfUMA(money.BTC, in.Ask.Currency)
	if err != nil {
		return quote.Incoming{}, uma.Refuse(uma.InvalidCurrency, "the receiver does not receive this currency")
	}
	if in.Ask.Currency == money.USDB { // a wallet is credited
		if _, err := s.Chains.ChainFor(on.ID); err != nil {
			return quote.Incoming{}, uma.Refuse(uma.InvalidCurrency, "the receiver does not receive this currency")
		}
	}
	if err := s.Prices.Refresh(ctx, on.ID); err != nil {
		return quote.Incoming{}, err
	}
	priced, err := s.Prices.Of(ctx, on.ID, pair)
	if err != nil {
		return quote.Incoming{}, err
	}
	offer, err := in.Ask.Price(priced.Rate.Rate, price.Fee{Fixed: priced.Terms.Fee.Fixed, Percent: priced.Terms.Fee.Percent})
	if err == nil {
		err = priced.Terms.CheckAmount(money.Amount{Minor: offer.Price.Sending, Currency: money.BTC})
	}
	if err == nil {
		err = settings.CheckAmount(offer.Price.Receiving)
	}
	if errors.Is(err, price.ErrOutOfRange) || fault.Is(err, fault.AmountOutOfRange) {
		err = uma.Refuse(uma.AmountOutOfRange, "the receiver cannot receive this amount")
	}
	now := s.Clock.Now()
	return quote.Incoming{Quote: ident.NewQuote(s.IDs.New, now), Transaction: ident.NewTransaction(s.IDs.New, now), Sender: in.Sender,
		Ask:   in.Ask,
		Offer: offer, Market: priced.Rate.Rate, Terms: priced.Terms, Facts: in.Facts, TravelRule: in.TravelRule, Callback: in.Callback, Now: now,
		Approval: transaction.Approval{Webhook: ident.NewWebhook(s.IDs.New, now),
			Requested: transaction.MissingFields(to.Facts(), in.Wanted)}}, err
}

// invoiceGrace is how long after its invoice has expired a payment ends, so that a payment that was made in time is known by then.
const invoiceGrace = 2 * time.Minute

// createInvoiced stores the payment with its quote, the request for approval as its next step, and its end. It is the one of the UMA
// invoice that is paid; zero for none.
func (s *Service) createInvoiced(ctx context.Context, to customer.Customer, in quote.Incoming, paid claimedInvoice) (
	transaction.Transaction, error) {
	var d transaction.Decision
	var w work
	err := ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) error {
		w = s.newWork()
		if in.Sender == "" {
			if err := checkOpenPayments(ctx, tx, to, w.Now); err != nil {
				return err
			}
		}
		currency := in.Ask.Currency
		opened, err := account.NewInternal(ident.NewInternalAccount(s.IDs.New, w.Now), to.Platform, to.ID, currency, w.Now)
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
		var q quote.Quote
		q, d, err = in.Make(transaction.IncomingParties{To: &internal, Owner: &to}, balances[internal.LedgerAccount()])
		if err != nil {
			return err
		}
		d.Transaction.Trace = spans.Context(ctx)
		var ended []transaction.Decision
		if !paid.id.IsZero() {
			if ended, err = claimUMAInvoice(ctx, tx, paid, d.Transaction, w.Now); err != nil {
				return err
			}
		}
		if err := tx.CreateQuotes(ctx, []quote.Quote{q}, nil); err != nil {
			return err
		}
		w.Create(d)
		for _, e := range ended {
			w.Update(e)
		}
		w.EnqueueAt(to.Platform, transaction.StepExpire, d.Transaction.ID.UUID(), d.Transaction.ExpiresAt.Add(invoiceGrace))
		return w.Write(ctx, tx)
	})
	if err == nil {
		s.afterCommit(w)
	}
	return d.Transaction, err
}

// awaitApproval waits until the platform has decided about a payment, in whichever process. If it takes too long, or the caller
// goes away, nobody gets an invoice, and the payment expires.
func (s *Service) awaitApproval(ctx context.Context, t transaction.Transaction) (transaction.Transaction, error) {
	ctx, cancel := context.WithTimeout(ctx, approvalWait)
	defer cancel()
	key := transactionKey(t)
	for pause := firstApprovalPoll; ; pause = min(2*pause, maxApprovalPoll) {
		read, err := s.Store.TransactionsByKey(ctx, []ports.TransactionKey{key})
		if err != nil {
			return t, err
		}
		decided := read[key]
		state := decided.IncomingState()
		if state == transaction.AwaitingPayment {
			return decided, nil
		}
		if state == transaction.Declined || state == transaction.Credited {
			return t, uma.Refuse(uma.PayRequestFailed, "the receiver does not accept the payment")
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return t, uma.Refuse(uma.PayRequestFailed, "the receiver has not accepted the payment in time; ask again")
		}
	}
}
