package payments

import (
	"context"
	"time"

	"github.com/google/uuid"

	"causeway/app/internal/batch"
	"causeway/app/internal/limiting"
	"causeway/app/internal/prices"
	"causeway/app/internal/spans"
	"causeway/app/internal/uow"
	"causeway/core/agent"
	"causeway/core/event"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/limit"
	"causeway/core/money"
	"causeway/core/quote"
	"causeway/core/sca"
	"causeway/core/transaction"
	"causeway/core/uma"
	"causeway/core/wallet"
	"causeway/ledger"
	"causeway/ports"
)

// GetQuote reads a quote.
func (s *Service) GetQuote(ctx context.Context, p ident.Platform, id ident.Quote) (quote.WithStatus, error) {
	found, t, err := s.Store.Quote(ctx, p, id)
	if err != nil {
		return quote.WithStatus{}, err
	}
	return s.withChallenge(ctx, found.Of(t), t)
}

// ListQuotes reads a page of the quotes of a platform that match the filter.
func (s *Service) ListQuotes(ctx context.Context, p ident.Platform, f ports.QuoteFilter) (ports.Page[quote.WithStatus], error) {
	read, err := s.Store.Quotes(ctx, p, f)
	page := ports.Page[quote.WithStatus]{More: read.More, Total: read.Total, TotalIsMinimum: read.TotalIsMinimum}
	for _, found := range read.Items {
		page.Items = append(page.Items, found.Quote.Of(found.Transaction))
	}
	return page, err
}

// quoteCommand is a request in a batch. Its ids are chosen before anything is written, so that a
// second attempt writes the same rows.
type quoteCommand struct {
	newCommand
	request  quote.Request
	quote    ident.Quote
	receiver *quote.Lookup
	// price is that at which an invoice was made for the quote, and answer that of the provider whose invoice it pays; nil for others.
	price   *prices.Price
	answer  *uma.Answer
	funding fundingInvoice
	// umaInvoice is the UMA invoice that the quote pays; zero for none.
	umaInvoice uma.KeptInvoice
	// settlement is how a payment from a wallet moves on its chain, or unsettled why none can.
	settlement *wallet.Settlement
	unsettled  error
	// attempt is the entry in the trail of the agent that asks for the quote; zero for the platform.
	attempt ident.AgentAttempt
}

func (c *quoteCommand) partyKey() ports.PartyKey {
	from, to := c.request.Source, c.request.Destination
	return ports.PartyKey{Platform: c.request.Platform, Customer: c.request.PayingCustomer(), FromInternal: from.Internal,
		FromExternal: from.External, ToInternal: to.Internal, ToExternal: to.External}
}

// partiesOf returns the parties of a quote that is not created yet.
func (s *Service) partiesOf(ctx context.Context, c *quoteCommand) (parties quote.Parties, err error) {
	err = ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) error {
		read, err := s.parties(ctx, tx, []ports.PartyKey{c.partyKey()})
		if err == nil {
			parties = read[0]
		}
		return err
	})
	parties.Receiver, parties.Networks = c.receiver, s.networks(c.request)
	return parties, err
}

// CreateQuote creates a quote. Faults: INVALID_INPUT, USER_NOT_FOUND, USER_NOT_READY, CUSTOMER_DELETED, END_USER_TERMS_NOT_ACCEPTED,
// EXTERNAL_ACCOUNT_VERIFICATION_REQUIRED, EXTERNAL_ACCOUNT_NOT_FOUND, INVALID_CURRENCY, AMOUNT_OUT_OF_RANGE,
// TRANSACTION_SIZE_LIMIT_EXCEEDED, DAILY_VOLUME_LIMIT_EXCEEDED, INSUFFICIENT_FUNDS (from an embedded wallet), NOT_IMPLEMENTED.
func (s *Service) CreateQuote(ctx context.Context, r quote.Request, claim *ports.IdempotentRequest) (quote.WithStatus, error) {
	if r.ExecuteImmediately {
		return s.executeAtOnce(ctx, r, claim)
	}
	command, err := s.newQuoteCommand(ctx, r, claim)
	if err != nil {
		return quote.WithStatus{}, err
	}
	return s.runQuote(ctx, s.quoteBatcher, command)
}

// executeAtOnce creates a quote and executes it, which saves the response of the request. If it fails, the quote expires: that of a lookup
// at once, because it may be the one of a UMA invoice.
func (s *Service) executeAtOnce(ctx context.Context, r quote.Request, claim *ports.IdempotentRequest) (quote.WithStatus, error) {
	key, err := s.quoteToExecute(ctx, r, claim)
	if err != nil {
		return quote.WithStatus{}, err
	}
	executed, err := s.runExecution(ctx, &executeCommand{quote: key, idempotency: claim, factor: r.Factor, trace: spans.Context(ctx)})
	if !r.Lookup.IsZero() && fault.IsFinal(err) && !fault.Is(err, fault.Unauthorized) {
		s.expireRefused(ctx, key)
	}
	return executed, err
}

// quoteToExecute creates the quote of a request that executes it at once. A request with a key that pays a UMA invoice, sent again after
// its quote was created and not executed, gets that quote: another one is refused as a second payment of the invoice.
func (s *Service) quoteToExecute(ctx context.Context, r quote.Request, claim *ports.IdempotentRequest) (ports.QuoteKey, error) {
	key := ports.QuoteKey{Platform: r.Platform}
	command, err := s.newQuoteCommand(ctx, r, claim)
	if err == nil {
		command.idempotency = nil
		var created quote.WithStatus
		created, err = s.runQuote(ctx, s.quoteBatcher, command)
		key.ID = created.Quote.ID
	}
	if err != nil && claim != nil && !r.Lookup.IsZero() {
		if made, failed := s.quoteOf(ctx, r.Platform, repeatableID(r, claim)); failed == nil && !made.IsZero() {
			key.ID, err = made, nil
		}
	}
	return key, err
}

// repeatableID returns the id of the transaction of a quote that pays a UMA invoice at once, by which the same request finds it.
func repeatableID(r quote.Request, claim *ports.IdempotentRequest) ident.Transaction {
	return transaction.RepeatableID(claim.Hash(), r.Lookup.UUID())
}

// quoteOf returns the quote of a transaction; zero if there is none.
func (s *Service) quoteOf(ctx context.Context, p ident.Platform, id ident.Transaction) (ident.Quote, error) {
	key := ports.TransactionKey{Platform: p, ID: id}
	found, err := s.Store.TransactionsByKey(ctx, []ports.TransactionKey{key})
	return found[key].Quote, err
}

// expireRefused ends a quote whose execution was refused for good. Without it, the quote waits until it expires.
func (s *Service) expireRefused(ctx context.Context, key ports.QuoteKey) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTimeout)
	defer cancel()
	if _, err := s.ExpireQuote(ctx, key.Platform, key.ID, nil); err != nil && !fault.Is(err, fault.Conflict) {
		s.Log.WithError(err).WithField("quote", key.ID.String()).Warn("a quote whose execution was refused waits until it expires")
	}
}

// newQuoteCommand checks what does not depend on the parties, and reads what quotes of a batch do not share.
func (s *Service) newQuoteCommand(ctx context.Context, r quote.Request, claim *ports.IdempotentRequest) (*quoteCommand, error) {
	if err := r.Check(); err != nil {
		return nil, err
	}
	if err := s.Prices.Refresh(ctx, r.Platform); err != nil {
		return nil, err
	}
	command := &quoteCommand{newCommand: s.newCommand(ctx, r.Platform, claim), request: r, quote: ident.NewQuote(s.IDs.New, s.Clock.Now())}
	// Before the parties are known, because a node may have to be asked.
	if chain, err := s.Chains.ChainFor(r.Platform); err != nil {
		command.unsettled = err
	} else if !r.Source.Internal.IsZero() || !r.Destination.Internal.IsZero() || r.Destination.UMA != "" {
		command.settlement, command.unsettled = chain.Settlement(ctx)
	}
	if !r.Lookup.IsZero() {
		receiver, err := s.Store.Lookup(ctx, r.Platform, r.Lookup)
		if err != nil {
			return nil, err
		}
		command.receiver = &receiver
		if !receiver.Invoice.IsZero() {
			if r.ExecuteImmediately && claim != nil {
				command.transaction.ID = repeatableID(r, claim)
			}
			if command.umaInvoice, err = s.quotedInvoice(ctx, r.Platform, receiver.Invoice, claim); err != nil {
				return nil, err
			}
		}
		if receiver.UMA != nil && r.Destination.UMA != "" {
			if err := s.requestInvoice(ctx, command); err != nil {
				s.releaseUMAInvoice(ctx, command.umaInvoice)
				return nil, err
			}
		}
	}
	s.requestFunding(ctx, command)
	return command, nil
}

// runQuote creates a quote in a batch.
func (s *Service) runQuote(ctx context.Context, batches *batch.Batcher[*quoteCommand, quote.WithStatus], c *quoteCommand) (
	quote.WithStatus, error) {
	created, err := batches.Do(ctx, c.request.Platform, c)
	if err != nil {
		s.releaseUMAInvoice(ctx, c.umaInvoice)
	}
	return created, err
}

func (s *Service) createQuoteBatch(ctx context.Context, commands []*quoteCommand) ([]batch.Result[quote.WithStatus], error) {
	read := func(ctx context.Context, c *quoteCommand, _ transaction.Transaction) (quote.WithStatus, error) {
		return s.GetQuote(ctx, c.request.Platform, c.quote)
	}
	return runUncommitted(ctx, s.Store, commands, read, s.createQuotes)
}

func (s *Service) createQuotes(ctx context.Context, commands []*quoteCommand) ([]batch.Result[quote.WithStatus], error) {
	keys := make([]ports.PartyKey, len(commands))
	for i, c := range commands {
		keys[i] = c.partyKey()
	}
	rules, err := s.limits(ctx, keys[0].Platform)
	if err != nil {
		return nil, err
	}
	var results []batch.Result[quote.WithStatus]
	err = ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) error {
		results = make([]batch.Result[quote.WithStatus], len(commands))
		parties, err := s.parties(ctx, tx, keys)
		if err != nil {
			return err
		}
		writes := &quoteWrites{ids: s.IDs, now: s.Clock.Now(), claims: map[ident.UMAInvoice]bool{}}
		payers, err := s.lockQuotingPayers(ctx, tx, commands, parties, writes.now)
		if err != nil {
			return err
		}
		agents, err := lockQuotingAgents(ctx, tx, commands, writes.now)
		if err != nil {
			return err
		}
		balances, err := walletBalances(ctx, tx, parties)
		if err != nil {
			return err
		}
		made, limits, err := s.makeQuotes(ctx, tx, commands, parties, rules, writes.now)
		if err != nil {
			return err
		}
		for i, c := range commands {
			created, t, err := made[i].quote, made[i].transaction, made[i].err
			if err == nil && parties[i].FromWallet() {
				err = created.CheckFunds(balances[parties[i].FromInternal.LedgerAccount()])
			}
			if err == nil {
				err = limits.Allows(t, parties[i].Customer)
			}
			if !c.request.Agent.IsZero() {
				err = c.evaluate(agents, t, err, writes)
			}
			var challenge *sca.Asked
			exempted := len(payers.authorized)
			if err == nil {
				t, challenge, err = payers.begin(ctx, t, parties[i], c.request.Factor)
			}
			// Last, because a quote that is refused must not be the payment of its invoice.
			if err == nil && c.receiver != nil && !c.receiver.Invoice.IsZero() {
				if err = asConflict(writes.claim(ctx, tx, claimedInvoice{id: c.receiver.Invoice, last: c.umaInvoice.Payment}, t)); err != nil {
					payers.authorized = payers.authorized[:exempted]
				}
			}
			results[i].Value, results[i].Err = created.Of(t), err
			results[i].Value.Challenge = challenge
			if err == nil {
				writes.add(created, t)
			}
			if err := uow.SaveResponse(ctx, tx, c.idempotency, results[i].Value, results[i].Err); err != nil {
				return err
			}
		}
		if err := payers.write(ctx); err != nil {
			return err
		}
		return writes.write(ctx, tx)
	})
	return results, err
}

// walletBalances returns the balances of the wallets that pay. It reads nothing if none does.
func walletBalances(ctx context.Context, tx Tx, parties []quote.Parties) (ledger.Balances, error) {
	var wallets []ledger.Account
	for _, p := range parties {
		if p.FromWallet() {
			wallets = append(wallets, p.FromInternal.LedgerAccount())
		}
	}
	if len(wallets) == 0 {
		return nil, nil
	}
	return tx.Balances(ctx, wallets)
}

// madeQuote is a quote that a command asks for, or why there is none.
type madeQuote struct {
	quote       quote.Quote
	transaction transaction.Transaction
	err         error
}

// makeQuotes decides the quotes of a batch, and reads the counters of their limits. A quote takes nothing from them.
func (s *Service) makeQuotes(ctx context.Context, tx Tx, commands []*quoteCommand, parties []quote.Parties, rules limit.Rules,
	now time.Time) ([]madeQuote, *limiting.Limiter, error) {
	made, limits := make([]madeQuote, len(commands)), limiting.New(now)
	var limited []limit.Payment
	for i, c := range commands {
		c.attempted = true
		parties[i].Receiver, parties[i].Networks = c.receiver, s.networks(c.request)
		m := &made[i]
		m.quote, m.transaction, m.err = s.makeQuote(ctx, c, parties[i], now)
		if m.transaction.Trace = c.trace; m.err == nil {
			limited = append(limited, limiting.PaymentOf(m.transaction.Pricing.Sent, parties[i].Customer))
		}
	}
	return made, limits, limits.Read(ctx, tx, commands[0].request.Platform, rules, limited)
}

// makeQuote decides one quote: its route, price, terms and payment instructions.
func (s *Service) makeQuote(ctx context.Context, c *quoteCommand, p quote.Parties,
	now time.Time) (quote.Quote, transaction.Transaction, error) {
	created, t, _, err := s.priceQuote(ctx, c, p, now)
	if err == nil && c.request.Source.JustInTime() {
		created.Instructions, err = s.instructions(c, created)
		t.Instructions = created.Instructions
	}
	return created, t, err
}

// priceQuote decides all of a quote but how it is paid. A price that the command has is kept.
func (s *Service) priceQuote(ctx context.Context, c *quoteCommand, p quote.Parties,
	now time.Time) (created quote.Quote, t transaction.Transaction, price prices.Price, err error) {
	route, err := c.request.Route(p)
	if err != nil {
		return created, t, price, err
	}
	if c.request.Source.JustInTime() {
		// What is paid in and has to go back is credited to an account in this currency.
		if err := s.Prices.CheckSupported(c.request.Platform, route.Corridor.From); err != nil {
			return created, t, price, err
		}
	}
	if err := s.Prices.CheckEnabled(c.request.Platform, route.Corridor.From, transaction.Outgoing); err != nil {
		return created, t, price, err
	}
	if c.price != nil {
		price = *c.price
	} else if price, err = s.Prices.Of(ctx, c.request.Platform, route.Corridor); err != nil {
		return created, t, price, err
	}
	created, t, err = c.request.Make(p, route, quote.MakeParams{
		Quote: c.quote, Transaction: c.transaction.ID, Market: price.Rate.Rate, Terms: price.Terms, Now: now, Answer: c.answer,
		Settlement: c.settlement,
	})
	if err == nil {
		to := p.ToExternal
		if to == nil {
			to = t.InvoiceAccount()
		}
		err = s.checkRoutes(t, p.FromExternal, to)
	}
	if err == nil {
		err = s.checkOwnership(ctx, t, p.Customer, p.ToExternal)
	}
	overUMA := t.Destination.UMA != "" && t.Pricing.Received.Currency == money.USDB // a wallet is credited
	if err == nil && (p.UsesChain() || overUMA) {
		err = c.unsettled
	}
	return created, t, price, err
}

// quoteWrites collects what one unit of work writes.
type quoteWrites struct {
	ids          ports.IDs
	now          time.Time
	quotes       []quote.Quote
	transactions []transaction.Transaction
	events       []event.Event
	expiries     []ports.Job
	attempts     []agent.Attempt // of agents
	claims       map[ident.UMAInvoice]bool
}

// claim makes a payment the one of a UMA invoice, which no other one of the batch is.
func (b *quoteWrites) claim(ctx context.Context, tx Tx, paid claimedInvoice, t transaction.Transaction) error {
	if b.claims[paid.id] {
		return errPaymentBegun
	}
	_, err := claimUMAInvoice(ctx, tx, paid, t, b.now)
	if err == nil {
		b.claims[paid.id] = true
	}
	return err
}

func (b *quoteWrites) add(q quote.Quote, t transaction.Transaction) {
	b.quotes, b.transactions = append(b.quotes, q), append(b.transactions, t)
	b.events = append(b.events, event.Event{ID: ident.NewWebhook(b.ids.New, t.UpdatedAt), Platform: t.Platform,
		Type: event.OutgoingPayment, Name: "OUTGOING_PAYMENT." + string(t.State.Status), Subject: t.ID.UUID(), OccurredAt: t.UpdatedAt,
		Resource: t,
		Trace:    t.Trace})
	// One job expires all quotes of a platform that were created together and expire together.
	for i := range b.expiries {
		if b.expiries[i].Platform == t.Platform && b.expiries[i].Due.Equal(t.ExpiresAt) {
			b.expiries[i].Subjects = append(b.expiries[i].Subjects, t.ID.UUID())
			return
		}
	}
	b.expiries = append(b.expiries, ports.Job{ID: b.ids.New(b.now), Platform: t.Platform, Step: transaction.StepExpire,
		Due: t.ExpiresAt, Subjects: []uuid.UUID{t.ID.UUID()}})
}

func (b *quoteWrites) write(ctx context.Context, tx Tx) error {
	if len(b.attempts) > 0 {
		if err := tx.SaveAgentAttempts(ctx, b.attempts); err != nil {
			return err
		}
	}
	if len(b.quotes) == 0 {
		return nil
	}
	if err := tx.CreateQuotes(ctx, b.quotes, b.transactions); err != nil {
		return err
	}
	if err := tx.Emit(ctx, b.events); err != nil {
		return err
	}
	return tx.AddJobs(ctx, b.expiries)
}
