// Package limiting checks payments against the limits of their platform, and counts them, in the unit of work that commits them.
package limiting

import (
	"context"
	"slices"
	"time"

	"causeway/core/customer"
	"causeway/core/ident"
	"causeway/core/limit"
	"causeway/core/money"
	"causeway/core/transaction"
)

// Tx reads and adds to the counters of limits.
type Tx interface {
	// LimitCounts returns counters of a day of a platform; one without payments has no entry.
	LimitCounts(ctx context.Context, p ident.Platform, day string, counters []limit.Counter) (limit.Counts, error)
	// LockLimitCounts is LimitCounts that locks the counters until the unit of work ends, also those without payments.
	LockLimitCounts(ctx context.Context, p ident.Platform, day string, counters []limit.Counter) (limit.Counts, error)
	// AddLimitUsage adds transactions to the locked counters of their LimitUsage.
	AddLimitUsage(ctx context.Context, transactions []transaction.Transaction) error
}

// Limiter checks payments of one platform, one after the other, and collects what they add to the counters.
type Limiter struct {
	// Rules are those of the platform. Read and Lock set them.
	Rules limit.Rules
	day   string
	sent  limit.Counts
	added []transaction.Transaction
}

// New returns a limiter of payments that start now.
func New(now time.Time) *Limiter { return &Limiter{day: limit.DayOf(now)} }

// Read reads the counters of payments without locking them. It reads nothing if there are none.
func (l *Limiter) Read(ctx context.Context, tx Tx, p ident.Platform, rules limit.Rules, payments []limit.Payment) error {
	return l.load(ctx, p, rules, payments, tx.LimitCounts)
}

// Lock locks the counters of payments until the unit of work ends, after the balances. It locks nothing if there are none.
func (l *Limiter) Lock(ctx context.Context, tx Tx, p ident.Platform, rules limit.Rules, payments []limit.Payment) error {
	return l.load(ctx, p, rules, payments, tx.LockLimitCounts)
}

func (l *Limiter) load(ctx context.Context, p ident.Platform, rules limit.Rules, payments []limit.Payment,
	read func(context.Context, ident.Platform, string, []limit.Counter) (limit.Counts, error)) (err error) {
	l.Rules, l.sent = rules, limit.Counts{}
	var counters []limit.Counter
	for _, payment := range payments {
		for _, scope := range rules.Scopes(payment, l.day) {
			if c := (limit.Counter{Scope: scope, Currency: payment.Sent.Currency}); !slices.Contains(counters, c) {
				counters = append(counters, c)
			}
		}
	}
	if len(counters) > 0 {
		l.sent, err = read(ctx, p, l.day, counters)
	}
	return err
}

// Allows returns a fault if a limit does not allow a payment of a customer now.
func (l *Limiter) Allows(t transaction.Transaction, c *customer.Customer) error {
	return l.Rules.Check(PaymentOf(t.Pricing.Sent, c), l.sent)
}

// Check is Allows for a payment that starts, which it marks with the counters that it adds to.
func (l *Limiter) Check(t *transaction.Transaction, c *customer.Customer) error {
	if t.Type == transaction.Incoming {
		return nil
	}
	if err := l.Allows(*t, c); err != nil {
		return err
	}
	if scopes := l.Rules.Scopes(PaymentOf(t.Pricing.Sent, c), l.day); len(scopes) > 0 {
		t.LimitUsage = &transaction.LimitUsage{Day: l.day, Scopes: scopes}
	}
	return nil
}

// Count counts a payment that was checked, and that is now certain to start.
func (l *Limiter) Count(t transaction.Transaction) {
	if t.LimitUsage != nil {
		l.sent.Add(t.LimitUsage.Scopes, t.Pricing.Sent)
		l.added = append(l.added, t)
	}
}

// Write adds what was counted to the counters.
func (l *Limiter) Write(ctx context.Context, tx Tx) error {
	if len(l.added) == 0 {
		return nil
	}
	return tx.AddLimitUsage(ctx, l.added)
}

// PaymentOf is what limits know of a payment.
func PaymentOf(sent money.Amount, c *customer.Customer) limit.Payment {
	p := limit.Payment{Sent: sent}
	if c != nil {
		p.Customer, p.Region = c.ID, c.Region
	}
	return p
}
