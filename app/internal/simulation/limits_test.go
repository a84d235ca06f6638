package simulation_test

import (
	"context"
	"slices"

	"causeway/core/ident"
	"causeway/core/limit"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/transaction"
)

// limitTables is what the service stores about limits.
type limitTables struct {
	limits      []limit.Rule
	limitCounts map[limitKey]limit.Count
}

// limitKey is a counter of limits.
type limitKey struct {
	platform ident.Platform
	day      string
	counter  limit.Counter
}

// maxEuros is what a platform may send in euros on a day.
const maxEuros = 500_00

// addLimits limits a platform, and each of its customers, to some payments a day. In euros it is quoted more than may be paid.
func (w *world) addLimits(p platform.Platform) {
	k := limit.Key{Platform: p.ID, Currency: money.USD}
	each := k
	each.Customer = limit.EachCustomer
	w.limits = append(w.limits, limit.Rule{Key: k, PerPayment: 190_00, Daily: 190_00, ChangedAt: w.now},
		limit.Rule{Key: each, Daily: 190_00, ChangedAt: w.now})
	k.Currency = money.EUR
	w.limits = append(w.limits, limit.Rule{Key: k, Daily: maxEuros, ChangedAt: w.now})
}

func (s store) LimitRules(context.Context) ([]limit.Rule, error) { return s.world.limits, nil }

func (s store) LimitRulesOf(_ context.Context, p ident.Platform) (limit.Rules, error) {
	return slices.DeleteFunc(slices.Clone(s.world.limits), func(r limit.Rule) bool { return r.Platform != p }), nil
}

func (u *tx) LimitCounts(_ context.Context, p ident.Platform, day string, counters []limit.Counter) (limit.Counts, error) {
	found := limit.Counts{}
	for _, c := range counters {
		found[c] = u.limitCounts[limitKey{p, day, c}]
	}
	return found, nil
}

func (u *tx) LockLimitCounts(ctx context.Context, p ident.Platform, day string, counters []limit.Counter) (limit.Counts, error) {
	u.writes(p)
	return u.LimitCounts(ctx, p, day, counters)
}

// AddLimitUsage counts payments, and fails the run if a limit is then exceeded.
func (u *tx) AddLimitUsage(_ context.Context, sent []transaction.Transaction) error {
	for _, t := range sent {
		u.writes(t.Platform)
		if t.LimitUsage.Day != limit.DayOf(u.now) {
			u.world.fail("a payment of %s is counted on %s", u.now, t.LimitUsage.Day)
		}
		u.addLimitUsage(t, t.LimitUsage, 1)
	}
	for key, count := range u.limitCounts {
		for _, r := range u.limits {
			ofPlatform := r.Customer == ""
			if r.Platform == key.platform && r.Currency == key.counter.Currency && ofPlatform == (key.counter.Scope == limit.WholePlatform) &&
				count.Sent > r.Daily {
				u.world.fail("%s has sent %d on %s, and the limit is %d", key.counter.Scope, count.Sent, key.day, r.Daily)
			}
		}
	}
	return nil
}

func (m *memory) addLimitUsage(t transaction.Transaction, usage *transaction.LimitUsage, n int64) {
	for _, scope := range usage.Scopes {
		key := limitKey{t.Platform, usage.Day, limit.Counter{Scope: scope, Currency: t.Pricing.Sent.Currency}}
		count := m.limitCounts[key]
		put(m, m.limitCounts, key, limit.Count{Transactions: count.Transactions + n, Sent: count.Sent + n*t.Pricing.Sent.Minor})
	}
}

// GiveBackUsage implements uow.Tx.
func (u *tx) GiveBackUsage(ctx context.Context, transactions []transaction.Transaction) error {
	for _, t := range transactions {
		u.writes(t.Platform)
		before := u.transactions[t.ID]
		if before.State.Status == transaction.Failed {
			u.world.fail("%s had failed before, and is taken out of its counters again", t.ID)
		}
		if before.LimitUsage != nil {
			u.addLimitUsage(t, before.LimitUsage, -1)
		}
	}
	return u.giveBackAgentUsage(ctx, transactions)
}

// exceedsLimit reports whether a quote that is open cannot be paid any more today.
func (w *world) exceedsLimit(t transaction.Transaction) bool {
	sent := w.limitCounts[limitKey{t.Platform, limit.DayOf(w.now), limit.Counter{Scope: limit.WholePlatform, Currency: money.EUR}}].Sent
	return t.State == transaction.Initial && t.Pricing.Sent.Currency == money.EUR && sent+t.Pricing.Sent.Minor > maxEuros
}

// checkLimits checks that the counters of limits are what the transactions say.
func (w *world) checkLimits() {
	derived := newMemory()
	for _, t := range w.transactions {
		if t.LimitUsage == nil {
			continue
		}
		if t.LimitUsage.GivenBack() != (t.State.Status == transaction.Failed) {
			w.fail("%s is %s, and counts for limits: %v", t.ID, t.State, t.LimitUsage.Scopes)
		}
		derived.addLimitUsage(t, t.LimitUsage, 1)
	}
	for key, count := range w.limitCounts {
		if count != derived.limitCounts[key] {
			w.fail("%s has the counter %+v on %s, and its transactions are %+v", key.counter.Scope, count, key.day, derived.limitCounts[key])
		}
		delete(derived.limitCounts, key)
	}
	if len(derived.limitCounts) > 0 {
		w.fail("not counted: %v", derived.limitCounts)
	}
}

// limitOutcomes counts what limits have decided.
func (w *world) limitOutcomes(counts map[string]int) {
	for _, t := range w.transactions {
		switch {
		case t.State.Reason == transaction.LimitExceeded:
			counts["refund because of LIMIT_EXCEEDED"]++
		case t.LimitUsage.GivenBack():
			counts["payment that limits count no more"]++
		case t.LimitUsage != nil:
			counts["payment that limits count"]++
		}
	}
	for _, r := range w.responses {
		counts["response "+string(r.Body)]++
	}
}
