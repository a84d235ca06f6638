package quoting

import (
	"context"

	"causeway/core/corridor"
	"causeway/core/ident"
	"causeway/core/money"
)

// CurrentTerms is what a corridor to a country (empty: to none in particular) costs a platform
// now: the terms that quotes made now get, and the market's rate. The faults are those
// of corridor.Find, and QUOTE_REQUEST_FAILED when there is no rate to quote on.
func (q *QuoteService) CurrentTerms(ctx context.Context, p ident.Platform, from, to money.Currency, country string) (corridor.Terms, money.Rate, error) {
	if err := q.refreshTerms(ctx); err != nil {
		return corridor.Terms{}, money.Rate{}, err
	}
	way, err := corridor.Find(from, to, country)
	if err != nil {
		return corridor.Terms{}, money.Rate{}, err
	}
	market, err := q.Market.Rate(ctx, way.From, way.To, q.Clock.Now())
	return q.terms(p, way), market.Rate, err
}
