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

	"causeway/app/booking"
	"causeway/app/group"
	"causeway/core/event"
	"causeway/core/ident"
	"causeway/core/lookup"
	"causeway/core/money"
	"causeway/core/quote"
	"causeway/core/transaction"
	"causeway/ports"
)

// Config is what the use cases need.
type Config struct {
	Store  ports.Store
	Market ports.Rates
	Rails  ports.Rails
	Clock  ports.Clock
	IDs    ports.IDs
	// Execute runs a quote that an account pays.
	Execute func(ctx context.Context, p ident.Platform, id ident.Quote, claim *ports.Claim) (quote.Quoted, error)
	// Committed is called after each commit that told events.
	Committed func()
	// Linger is how long a busy collector waits for company.
	Linger time.Duration
}

// Quoting are the use cases.
type Quoting struct {
	Config
	create    *group.Collector[*asked, quote.Quoted]
	overrides atomic.Pointer[overrides]
}

// New makes the use cases.
func New(c Config) *Quoting {
	q := &Quoting{Config: c}
	q.create = group.New(group.Options{Most: 256, Linger: c.Linger}, q.createGroup)
	return q
}

// Get reads a quote.
func (q *Quoting) Get(ctx context.Context, p ident.Platform, id ident.Quote) (quote.Quoted, error) {
	found, t, err := q.Store.Quote(ctx, p, id)
	if err != nil {
		return quote.Quoted{}, err
	}
	return quote.Quoted{Quote: found, Status: quote.StatusOf(t.State)}, nil
}

// asked is one request on its way through a group. Its ids are decided before
// anything is written, so a second attempt writes the same rows.
type asked struct {
	request     quote.Request
	claim       *ports.Claim
	quote       ident.Quote
	transaction ident.Transaction
	receiver    *lookup.Lookup
	// tried is set once a group ran with it: if its commit was lost on the way back,
	// the quote may be there.
	tried bool
}

// Create makes a quote. Faults: INVALID_INPUT, USER_NOT_FOUND, USER_NOT_READY,
// EXTERNAL_ACCOUNT_NOT_FOUND, INVALID_CURRENCY, AMOUNT_OUT_OF_RANGE, NOT_IMPLEMENTED.
func (q *Quoting) Create(ctx context.Context, r quote.Request, claim *ports.Claim) (quote.Quoted, error) {
	if err := r.Check(); err != nil {
		return quote.Quoted{}, err
	}
	if err := q.refresh(ctx); err != nil {
		return quote.Quoted{}, err
	}
	now := q.Clock.Now()
	command := &asked{request: r, claim: claim, quote: ident.NewQuote(q.IDs.New, now), transaction: ident.NewTransaction(q.IDs.New, now)}
	if !r.Lookup.IsZero() {
		asked, err := q.Store.Lookup(ctx, r.Platform, r.Lookup)
		if err != nil {
			return quote.Quoted{}, err
		}
		command.receiver = &asked
	}
	if !r.Immediately {
		return q.create.Do(ctx, command)
	}
	// Made without the claim, which is the execution's: should that not come about, the
	// quote expires by itself.
	command.claim = nil
	made, err := q.create.Do(ctx, command)
	if err != nil {
		return quote.Quoted{}, err
	}
	return q.Execute(ctx, r.Platform, made.Quote.ID, claim)
}

func (q *Quoting) createGroup(ctx context.Context, commands []*asked) ([]group.Result[quote.Quoted], error) {
	if len(commands) == 1 && commands[0].tried {
		if made, err := q.Get(ctx, commands[0].request.Platform, commands[0].quote); err == nil {
			return []group.Result[quote.Quoted]{{Value: made}}, nil
		}
	}
	keys := make([]ports.PartyKey, len(commands))
	for i, c := range commands {
		from, to := c.request.Source, c.request.Destination
		keys[i] = ports.PartyKey{Platform: c.request.Platform, Customer: from.Customer, FromInternal: from.Internal, FromExternal: from.External,
			ToInternal: to.Internal, ToExternal: to.External}
	}
	var results []group.Result[quote.Quoted]
	err := q.Store.Do(ctx, func(ctx context.Context, tx ports.Tx) error {
		results = make([]group.Result[quote.Quoted], len(commands))
		parties, err := tx.Parties(ctx, keys)
		if err != nil {
			return err
		}
		made := &batch{ids: q.IDs, now: q.Clock.Now()}
		for i, c := range commands {
			c.tried = true
			parties[i].Receiver = c.receiver
			created, t, err := q.make(ctx, c, parties[i], made.now)
			results[i].Value, results[i].Err = quote.Quoted{Quote: created, Status: quote.Pending}, err
			if err == nil {
				made.add(created, t)
			}
			if err := booking.Keep(ctx, tx, c.claim, results[i].Value, results[i].Err); err != nil {
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

var par = money.MustRate("1")

// make decides one quote: route, market, terms, price, and the way to pay it.
func (q *Quoting) make(ctx context.Context, c *asked, p quote.Parties, now time.Time) (quote.Quote, transaction.Transaction, error) {
	var none transaction.Transaction
	route, err := c.request.Route(p)
	if err != nil {
		return quote.Quote{}, none, err
	}
	market := par
	if route.Corridor.From != route.Corridor.To {
		priced, err := q.Market.Rate(ctx, route.Corridor.From, route.Corridor.To, now)
		if err != nil {
			return quote.Quote{}, none, err
		}
		market = priced.Rate
	}
	made, t, err := c.request.Make(p, route, quote.Offer{
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

// batch is what one unit of work writes.
type batch struct {
	ids          ports.IDs
	now          time.Time
	quotes       []quote.Quote
	transactions []transaction.Transaction
	events       []event.Event
	expiries     []ports.Job
}

func (b *batch) add(q quote.Quote, t transaction.Transaction) {
	b.quotes, b.transactions = append(b.quotes, q), append(b.transactions, t)
	b.events = append(b.events, event.Event{ID: ident.NewWebhook(b.ids.New, t.UpdatedAt), Platform: t.Platform,
		Type: event.OutgoingPayment, Name: event.OutgoingPaymentPending, Subject: t.ID.UUID(), At: t.UpdatedAt, Resource: t})
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

func (b *batch) write(ctx context.Context, tx ports.Tx) error {
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

// Waiting is how many requests for quotes have not been taken up yet.
func (q *Quoting) Waiting() int { return q.create.Waiting() }
