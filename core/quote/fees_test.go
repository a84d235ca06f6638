package quote_test

import (
	"testing"

	"pgregory.net/rapid"

	"causeway/core/corridor"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/quote"
)

// feeQuote makes a quote from dollars to bitcoin at a price, or one of dollars to a bank account.
func feeQuote(r quote.Request, crossCurrency bool, market money.Rate, terms corridor.Terms) (quote.Quote, error) {
	parties := quote.Parties{Customer: ana, ToExternal: walletAccount(ana)}
	if !crossCurrency {
		parties.ToExternal, market = bankAccount(ana), money.MustRate("1")
	}
	r.Platform, r.Source.Customer, r.Source.Currency, r.Destination.External = platformID, ana.ID, "USD", parties.ToExternal.ID
	route, err := r.Route(parties)
	if err != nil {
		return quote.Quote{}, err
	}
	terms.Lock = route.Corridor.Terms.Lock
	q, _, err := r.Make(parties, route, quote.MakeParams{Quote: testID(ident.Quote{}, 3), Transaction: testID(ident.Transaction{}, 4),
		Market: market, Terms: terms, Now: noon})
	return q, err
}

func TestMake_PlatformFees(t *testing.T) {
	t.Parallel()
	// The platform charges beside the service: of 100.50 sent, or on top of what is received; an override replaces its settings.
	terms := corridor.Terms{Fee: corridor.Fee{Fixed: 50, Percent: money.MustRate("0.01")}, MinSending: 1, MaxSending: 1_000_000}
	usual := terms
	usual.PlatformFee = platform.Fee{Fixed: money.Amount{Minor: 20, Currency: "USD"}, BasisPoints: 100}
	override := &platform.Fee{Fixed: money.Amount{Minor: 5, Currency: "USD"}}
	nothing := &platform.Fee{Fixed: money.Amount{Currency: "USD"}}
	for name, c := range map[string]struct {
		request                                quote.Request
		terms                                  corridor.Terms
		sent, received, service, platformsPart int64
	}{
		"none":           {quote.Request{Side: quote.Sending, Amount: 10050}, terms, 10050, 9899, 151, 0},
		"of the total":   {quote.Request{Side: quote.Sending, Amount: 10050}, usual, 10050, 9779, 151, 120},
		"on top":         {quote.Request{Side: quote.Receiving, Amount: 9779}, usual, 10050, 9779, 151, 120},
		"override":       {quote.Request{Side: quote.Sending, Amount: 10050, PlatformFee: override}, usual, 10050, 9894, 151, 5},
		"override: none": {quote.Request{Side: quote.Sending, Amount: 10050, PlatformFee: nothing}, usual, 10050, 9899, 151, 0},
	} {
		q, err := feeQuote(c.request, false, money.Rate{}, c.terms)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		p := q.Pricing
		if p.Sent.Minor != c.sent || p.Received.Minor != c.received || p.FixedFee+p.VariableFee != c.service ||
			p.PlatformFees != c.platformsPart || p.Fees != c.service+c.platformsPart {
			t.Errorf("%s: %+v", name, p)
		}
	}
}

func TestMake_PlatformFeesRefused(t *testing.T) {
	t.Parallel()
	// A fee in another currency, out of range, of an agent, or that leaves nothing is refused.
	terms := corridor.Terms{Fee: corridor.Fee{Percent: money.MustRate("0.01")}, MinSending: 1, MaxSending: 1_000_000}
	request := func(fee platform.Fee) quote.Request {
		return quote.Request{Side: quote.Sending, Amount: 10050, PlatformFee: &fee}
	}
	usd := func(minor int64) money.Amount { return money.Amount{Minor: minor, Currency: "USD"} }
	euros := request(platform.Fee{Fixed: money.Amount{Minor: 1, Currency: "EUR"}})
	if _, err := feeQuote(euros, true, money.MustRate("10"), terms); !fault.Is(err, fault.InvalidInput) {
		t.Errorf("another currency: %v", err)
	}
	for name, fee := range map[string]platform.Fee{"more than all": {Fixed: usd(0), BasisPoints: 10_000},
		"all": {Fixed: usd(0), BasisPoints: 9_900}, "more than is sent": {Fixed: usd(20_000)}} {
		if _, err := feeQuote(request(fee), true, money.MustRate("10"), terms); !fault.Is(err, fault.AmountOutOfRange) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, r := range map[string]quote.Request{"too many basis points": request(platform.Fee{Fixed: usd(0), BasisPoints: 10_001}),
		"below zero": request(platform.Fee{Fixed: usd(-1)}),
		"an agent's": {Side: quote.Sending, Amount: 1, PlatformFee: new(platform.Fee), Agent: testID(ident.Agent{}, 1)}} {
		r.Source.Currency = "USD"
		if err := r.Check(); !fault.Is(err, fault.InvalidInput) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestMake_PlatformFeesAddUp(t *testing.T) {
	t.Parallel()
	// Whatever both charge, the parts add up to what is sent beyond the converted amount, neither is below zero, and the service has
	// as much as if it charged alone.
	rapid.Check(t, func(t *rapid.T) {
		terms := corridor.Terms{MinSending: 1, MaxSending: money.MaxMinor,
			Fee: corridor.Fee{Fixed: rapid.Int64Range(0, 500).Draw(t, "fixed"),
				Percent: money.MustFraction(rapid.SampledFrom([]string{"0", "0.003", "0.0001", "0.333333333", "0.5"}).Draw(t, "percent"))},
			PlatformFee: platform.Fee{Fixed: money.Amount{Minor: rapid.Int64Range(0, 500).Draw(t, "platform fixed"), Currency: "USD"},
				BasisPoints: rapid.Int64Range(0, 5_000).Draw(t, "basis points")}}
		r := quote.Request{Side: rapid.SampledFrom([]quote.Side{quote.Sending, quote.Receiving}).Draw(t, "side"),
			Amount: rapid.Int64Range(1, 1_000_000_000).Draw(t, "amount")}
		market := money.MustRate(rapid.SampledFrom([]string{"0.007", "1.0001", "9.95", "1234.5"}).Draw(t, "rate"))

		q, err := feeQuote(r, true, market, terms)

		if fault.Is(err, fault.AmountOutOfRange) {
			t.Skip("no price")
		}
		if err != nil {
			t.Fatal(err)
		}
		p := q.Pricing
		alone, err := terms.Fee.Percent.Ceil(p.Sent.Minor)
		if err != nil {
			t.Fatal(err)
		}
		if p.FixedFee != terms.Fee.Fixed || p.VariableFee != alone || p.PlatformFees < terms.PlatformFee.Fixed.Minor ||
			p.Fees != p.FixedFee+p.VariableFee+p.PlatformFees {
			t.Fatalf("%+v", p)
		}
		if r.Side == quote.Receiving && p.Received.Minor != r.Amount || r.Side == quote.Sending && p.Sent.Minor != r.Amount {
			t.Fatalf("the locked side is %+v", p)
		}
	})
}
