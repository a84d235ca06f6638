package main

import (
	"context"
	"slices"
	"time"

	"causeway/core/money"
	"causeway/ledger"
)

// measureExchange measures how long the exchange result of a month takes, whose conversions were all recorded later
// than they are effective, and how long a repetition takes that posts nothing.
func (p *pastMonth) measureExchange(ctx context.Context) {
	to := p.createPlatform(ctx)
	header := func(effective time.Time, memo string) ledger.Header {
		return ledger.Header{ID: p.ids.New(time.Now()), Platform: to.id, Effective: effective, Memo: memo}
	}
	postings := conversions(p.statementLines, p.month.Start(), header)
	for i := range postings {
		if i%2 == 1 { // one way and back, with a fee in the foreign currency
			postings[i] = ledger.Converted(header(postings[i].Effective, ""), ledger.Conversion{From: ledger.FundingJIT, To: ledger.TransitPayouts,
				Sent: money.Amount{Minor: 99_000, Currency: money.BTC}, Fees: 100, Received: usd(rampAmount)})
		}
	}
	for batch := range slices.Chunk(postings, 2_000) {
		p.commit(ctx, batch)
	}
	check(to.Call(ctx, "PUT", "/ledger/settings", map[string]any{"functionalCurrency": "USD", "unrealisedResult": "REVERSE",
		"feeRecognition": "CONVERSION", "yearEndMonth": 12, "fourEyes": []string{}}, nil))
	check(to.Call(ctx, "GET", "/ledger/fx-position", nil, nil)) // keeps rates
	p.changePeriod(ctx, to, "soft-close")
	post := func() time.Duration {
		began := time.Now()
		check(to.Call(ctx, "POST", "/ledger/exchange-result/"+p.month.String()+"/post", nil, nil))
		return time.Since(began)
	}
	took := post()
	p.report.add(exchangeResult, "Conversions in the month", len(postings))
	p.report.add(exchangeResult, "`POST /ledger/exchange-result/{month}/post`", took)
	p.report.add(exchangeResult, "Conversions/s", int(float64(len(postings))/took.Seconds()))
	p.report.add(exchangeResult, "The same again, which posts nothing", post())
}
