package rails

import (
	"context"
	"slices"

	"causeway/core/corridor"
	"causeway/core/money"
	"causeway/core/rail"
	"causeway/ports"
)

// OpenPayments are the payments of a connection and rail in a currency that have not ended.
type OpenPayments struct {
	// Connection is empty for those that none serves.
	Connection string
	Rail       corridor.Rail
	Currency   money.Currency
	// Held can still be stopped: they wait, or their adapter has them. Left can not.
	Held, Left Sum
}

// Sum is a number of payments and what they come to.
type Sum struct {
	Count  int64
	Amount money.Total
}

func (s *Sum) add(t ports.RailTotal) {
	s.Count, s.Amount = s.Count+t.Count, s.Amount.Add(t.Amount)
}

// OpenPayments returns the payments that have not ended of a connection or, by its name, of a rail; of all for an empty name.
func (s *Service) OpenPayments(ctx context.Context, name string) ([]OpenPayments, error) {
	totals, err := s.Store.RailTotals(ctx)
	if err != nil {
		return nil, err
	}
	var open []OpenPayments
	for _, t := range totals {
		if name != "" && t.Connection != name && string(t.Rail) != name {
			continue
		}
		i := slices.IndexFunc(open, func(o OpenPayments) bool {
			return o.Connection == t.Connection && o.Rail == t.Rail && o.Currency == t.Currency
		})
		if i < 0 {
			i, open = len(open), append(open, OpenPayments{Connection: t.Connection, Rail: t.Rail, Currency: t.Currency})
		}
		if t.State == rail.Sent {
			open[i].Left.add(t)
		} else {
			open[i].Held.add(t)
		}
	}
	return open, nil
}
