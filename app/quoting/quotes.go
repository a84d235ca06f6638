// Package quoting makes quotes and reads them back, and tells the present rates.
//
// It joins what was asked with the parties, the market and the operator's terms;
// what comes of that is core/quote's to decide. It moves no money.
package quoting

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"causeway/app/internal/batch"
	"causeway/app/internal/uow"
	"causeway/core/event"
	"causeway/core/ident"
	"causeway/core/lookup"
	"causeway/core/money"
	"causeway/core/quote"
	"causeway/core/transaction"
	"causeway/ports"
)

// QuoteConfig is what the use cases need.
type QuoteConfig struct {
	Store  ports.Store
	Market ports.Rates
	Rails  ports.Rails
	Clock  ports.Clock
	IDs    ports.IDs
	// Execute runs a quote that an account pays.
	Execute func(ctx context.Context, p ident.Platform, id ident.Quote, claim *ports.IdempotentRequest) (quote.WithStatus, error)
	// Committed is called after each commit that told events.
	Committed func()
	// MaxDelay is how long a busy collector waits for company.
	MaxDelay time.Duration
}

// QuoteService are the use cases.
type QuoteService struct {
	QuoteConfig
	createBatcher *batch.Batcher[*quoteCommand, quote.WithStatus]
	cachedTerms   atomic.Pointer[termsCache]
}

// NewQuoteService makes the use cases.
func NewQuoteService(c QuoteConfig) *QuoteService {
	q := &QuoteService{QuoteConfig: c}
	q.createBatcher = batch.New(batch.Options{MaxSize: 256, MaxDelay: c.MaxDelay}, q.createBatch)
	return q
}

// Get reads a quote.
func (q *QuoteService) Get(ctx context.Context, p ident.Platform, id ident.Quote) (quote.WithStatus, error) {
	found, t, err := q.Store.Quote(ctx, p, id)
	if err != nil {
		return quote.WithStatus{}, err
	}
	return quote.WithStatus{Quote: found, Status: quote.StatusOf(t.State)}, nil
}

// quoteCommand is one request on its way through a group. Its ids are decided before
// anything is written, so a second attempt writes the same rows.
type quoteCommand struct {
	request     quote.Request
	idempotency *ports.IdempotentRequest
	quote       ident.Quote
	transaction ident.Transaction
	receiver    *lookup.Lookup
	// attempted is set once a group ran with it: if its commit was lost on the way back,
	// the quote may be there.
	attempted bool
}

// Create makes a quote. Faults: INVALID_INPUT, USER_NOT_FOUND, USER_NOT_READY,
// EXTERNAL_ACCOUNT_NOT_FOUND, INVALID_CURRENCY, AMOUNT_OUT_OF_RANGE, NOT_IMPLEMENTED.
func (q *QuoteService) Create(ctx context.Context, r quote.Request, claim *ports.IdempotentRequest) (quote.WithStatus, error) {
	if err := r.Check(); err != nil {
		return quote.WithStatus{}, err
	}
	if err := q.refreshTerms(ctx); err != nil {
		return quote.WithStatus{}, err
	}
	now := q.Clock.Now()
	command := &quoteCommand{request: r, idempotency: claim, quote: ident.NewQuote(q.IDs.New, now), transaction: ident.NewTransaction(q.IDs.New, now)}
	if !r.Lookup.IsZero() {
		asked, err := q.Store.Lookup(ctx, r.Platform, r.Lookup)
		if err != nil {
			return quote.WithStatus{}, err
		}
		command.receiver = &asked
	}
	if !r.ExecuteImmediately {
		return q.createBatcher.Do(ctx, command)
	}
	// Made without the claim, which is the execution's: should that not come about, the
	// quote expires by itself.
	command.idempotency = nil
	made, err := q.createBatcher.Do(ctx, command)
	if err != nil {
		return quote.WithStatus{}, err
	}
	return q.Execute(ctx, r.Platform, made.Quote.ID, claim)
}

func (q *QuoteService) createBatch(ctx context.Context, commands []*quoteCommand) ([]batch.Result[quote.WithStatus], error) {
	if len(commands) == 1 && commands[0].attempted {
		if made, err := q.Get(ctx, commands[0].request.Platform, commands[0].quote); err == nil {
			return []batch.Result[quote.WithStatus]{{Value: made}}, nil
		}
	}
	keys := make([]ports.PartyKey, len(commands))
	for i, c := range commands {
		from, to := c.request.Source, c.request.Destination
		keys[i] = ports.PartyKey{Platform: c.request.Platform, Customer: from.Customer, FromInternal: from.Internal, FromExternal: from.External,
			ToInternal: to.Internal, ToExternal: to.External}
	}
	var results []batch.Result[quote.WithStatus]
	err := q.Store.Do(ctx, func(ctx context.Context, tx ports.Tx) error {
		results = make([]batch.Result[quote.WithStatus], len(commands))
		parties, err := tx.Parties(ctx, keys)
		if err != nil {
			return err
		}
		made := &quoteWrites{ids: q.IDs, now: q.Clock.Now()}
		for i, c := range commands {
			c.attempted = true
			parties[i].Receiver = c.receiver
			created, t, err := q.makeQuote(ctx, c, parties[i], made.now)
			results[i].Value, results[i].Err = quote.WithStatus{Quote: created, Status: quote.Pending}, err
			if err == nil {
				made.add(created, t)
			}
			if err := uow.SaveResponse(ctx, tx, c.idempotency, results[i].Value, results[i].Err); err != nil {
				return err
			}
		}
		return made.write(ctx, tx)
	})
	if err == nil {
		q.Committed()
	}
	return results, err
}

var parRate = money.MustRate("1")

// makeQuote decides one quote: route, market, terms, price, and the way to pay it.
func (q *QuoteService) makeQuote(ctx context.Context, c *quoteCommand, p quote.Parties, now time.Time) (quote.Quote, transaction.Transaction, error) {
	var none transaction.Transaction
	route, err := c.request.Route(p)
	if err != nil {
		return quote.Quote{}, none, err
	}
	market := parRate
	if route.Corridor.From != route.Corridor.To {
		priced, err := q.Market.Rate(ctx, route.Corridor.From, route.Corridor.To, now)
		if err != nil {
			return quote.Quote{}, none, err
		}
		market = priced.Rate
	}
	made, t, err := c.request.Make(p, route, quote.MakeParams{
		Quote: c.quote, Transaction: c.transaction, Market: market, Terms: q.terms(c.request.Platform, route.Corridor), Now: now,
	})
	if err != nil || !c.request.Source.JustInTime() {
		return made, t, err
	}
	rail, err := q.Rails.RailFor(c.request.Platform)
	if err != nil {
		return quote.Quote{}, none, err
	}
	made.Instructions, err = rail.Instructions(made.Platform, made.Reference, made.Pricing.Sent.Currency, made.Source.Network)
	t.Instructions = made.Instructions
	return made, t, err
}

// quoteWrites is what one unit of work writes.
type quoteWrites struct {
	ids          ports.IDs
	now          time.Time
	quotes       []quote.Quote
	transactions []transaction.Transaction
	events       []event.Event
	expiries     []ports.Job
}

func (b *quoteWrites) add(q quote.Quote, t transaction.Transaction) {
	b.quotes, b.transactions = append(b.quotes, q), append(b.transactions, t)
	b.events = append(b.events, event.Event{ID: ident.NewWebhook(b.ids.New, t.UpdatedAt), Platform: t.Platform,
		Type: event.OutgoingPayment, Name: event.OutgoingPaymentPending, Subject: t.ID.UUID(), OccurredAt: t.UpdatedAt, Resource: t})
	// One job ends all quotes of a platform that were made together and expire together.
	for i := range b.expiries {
		if b.expiries[i].Platform == t.Platform && b.expiries[i].Due.Equal(t.ExpiresAt) {
			b.expiries[i].Subjects = append(b.expiries[i].Subjects, t.ID.UUID())
			return
		}
	}
	b.expiries = append(b.expiries, ports.Job{ID: b.ids.New(b.now), Platform: t.Platform, Step: transaction.StepExpire,
		Due: t.ExpiresAt, Subjects: []uuid.UUID{t.ID.UUID()}})
}

func (b *quoteWrites) write(ctx context.Context, tx ports.Tx) error {
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

// Pending is how many requests for quotes have not been taken up yet.
func (q *QuoteService) Pending() int { return q.createBatcher.Waiting() }
