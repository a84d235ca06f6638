package payments

import (
	"context"
	"slices"

	"causeway/core/customer"
	"causeway/core/ident"
	"causeway/core/limit"
	"causeway/core/money"
	"causeway/core/transaction"
)

// limits returns what the operator of the service allows a platform to send. Call it before the unit of work that checks them.
func (s *Service) limits(ctx context.Context, p ident.Platform) (limit.Rules, error) {
	if err := s.Prices.Refresh(ctx, ident.Platform{}); err != nil {
		return nil, err
	}
	return s.Prices.LimitsOf(p), nil
}

// limiter checks payments of one platform, one after the other, and collects what they add to the counters.
type limiter struct {
	rules limit.Rules
	day   string
	sent  limit.Counts
	added []transaction.Transaction
}

// read reads the counters of payments without locking them. It reads nothing if there are none.
func (l *limiter) read(ctx context.Context, tx Tx, p ident.Platform, rules limit.Rules, payments []limit.Payment) error {
	return l.load(ctx, p, rules, payments, tx.LimitCounts)
}

// lock locks the counters of payments until the unit of work ends, after the balances. It locks nothing if there are none.
func (l *limiter) lock(ctx context.Context, tx Tx, p ident.Platform, rules limit.Rules, payments []limit.Payment) error {
	return l.load(ctx, p, rules, payments, tx.LockLimitCounts)
}

func (l *limiter) load(ctx context.Context, p ident.Platform, rules limit.Rules, payments []limit.Payment,
	read func(context.Context, ident.Platform, string, []limit.Counter) (limit.Counts, error)) (err error) {
	l.rules, l.sent = rules, limit.Counts{}
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

// allows returns a fault if a limit does not allow a payment of a customer now.
func (l *limiter) allows(t transaction.Transaction, c *customer.Customer) error {
	return l.rules.Check(limitedPayment(t.Pricing.Sent, c), l.sent)
}

// check is allows for a payment that starts, which it marks with the counters that it adds to.
func (l *limiter) check(t *transaction.Transaction, c *customer.Customer) error {
	if t.Type == transaction.Incoming {
		return nil
	}
	if err := l.allows(*t, c); err != nil {
		return err
	}
	if scopes := l.rules.Scopes(limitedPayment(t.Pricing.Sent, c), l.day); len(scopes) > 0 {
		t.LimitUsage = &transaction.LimitUsage{Day: l.day, Scopes: scopes}
	}
	return nil
}

// count counts a payment that was checked, and that is now certain to start.
func (l *limiter) count(t transaction.Transaction) {
	if t.LimitUsage != nil {
		l.sent.Add(t.LimitUsage.Scopes, t.Pricing.Sent)
		l.added = append(l.added, t)
	}
}

// limitedPayment is what limits know of a payment.
func limitedPayment(sent money.Amount, c *customer.Customer) limit.Payment {
	p := limit.Payment{Sent: sent}
	if c != nil {
		p.Customer, p.Region = c.ID, c.Region
	}
	return p
}
