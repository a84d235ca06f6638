package quote_test

import (
	"testing"

	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/quote"
	"causeway/core/transaction"
)

const receiverAddress = "$bob@other.example"

// newLookup returns Ana's lookup of Bob, who accepts the currencies.
func newLookup(currencies ...money.Currency) *quote.Lookup {
	return &quote.Lookup{ID: testID(ident.Lookup{}, 5), Customer: ana.ID, ReceiverUMA: receiverAddress, Currencies: currencies,
		Fields: []transaction.InfoField{{Name: "NATIONALITY", Mandatory: true}, {Name: "EMAIL"}}, Facts: map[string]string{"FULL_NAME": "Bob"}}
}

// umaRequest returns a request to pay Bob from Ana's dollar account.
func umaRequest(lookup *quote.Lookup) (quote.Request, quote.Parties) {
	parties := quote.Parties{Customer: ana, FromInternal: internalAccount(ana, "USD"), Receiver: lookup}
	r := newRequest(parties)
	r.Destination.UMA, r.Lookup, r.Payer = receiverAddress, lookup.ID, map[string]string{"NATIONALITY": "PT"}
	return r, parties
}

func TestRoute_UMAReceiver(t *testing.T) {
	t.Parallel()
	// A UMA address is paid in a currency that it accepts. A payment in the payer's own currency has no
	// fee and no conversion.
	for name, c := range map[string]struct {
		lookup   *quote.Lookup
		expect   money.Currency
		receives money.Currency
		converts bool
	}{
		"in the only currency": {newLookup("EUR"), "", "EUR", true},
		"in the requested one": {newLookup("EUR", "MXN"), "MXN", "MXN", true},
		"in the payer's own":   {newLookup("USD"), "USD", "USD", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, parties := umaRequest(c.lookup)
			r.Destination.ExpectedCurrency = c.expect

			route, err := r.Route(parties)
			if err != nil {
				t.Fatal(err)
			}
			_, tx, err := r.Make(parties, route, quote.MakeParams{Quote: testID(ident.Quote{}, 3), Transaction: testID(ident.Transaction{}, 4),
				Market: money.MustRate("1"), Terms: route.Corridor.Terms, Now: noon})
			if err != nil {
				t.Fatal(err)
			}

			if tx.Pricing.Received.Currency != c.receives || tx.Flow().Converts != c.converts || tx.DestinationAccount != "rails/UMA" ||
				tx.Destination.UMA != receiverAddress || tx.Counterparty["FULL_NAME"] != "Bob" || tx.Payer["NATIONALITY"] != "PT" {
				t.Errorf("%+v", tx)
			}
			if !c.converts && (tx.Pricing.Fees != 0 || tx.Pricing.Sent != tx.Pricing.Received) {
				t.Errorf("%+v", tx.Pricing)
			}
		})
	}
}

func TestRoute_RejectsInvalidUMAReceiver(t *testing.T) {
	t.Parallel()
	// A lookup must exist and be for this receiver and this payer, and the request must have every
	// mandatory fact that it names.
	for name, c := range map[string]struct {
		change func(*quote.Request, *quote.Parties)
		code   fault.Code
		field  string
	}{
		"the lookup does not exist": {func(_ *quote.Request, p *quote.Parties) { p.Receiver = nil }, fault.LookupRequestNotFound, ""},
		"it is for another receiver": {func(r *quote.Request, _ *quote.Parties) { r.Destination.UMA = "$eve@other.example" },
			fault.InvalidInput, "lookupId"},
		"it is for another customer": {func(_ *quote.Request, p *quote.Parties) { p.Receiver.Customer = ben.ID },
			fault.InvalidInput, "lookupId"},
		"a currency that is not accepted": {func(r *quote.Request, _ *quote.Parties) { r.Destination.ExpectedCurrency = "GBP" },
			fault.InvalidInput, "destination.currency"},
		"neither of two currencies requested": {func(_ *quote.Request, p *quote.Parties) {
			p.Receiver.Currencies = []money.Currency{"EUR",
				"MXN"}
		}, fault.InvalidInput, "destination.currency"},
		"a mandatory fact is missing": {func(r *quote.Request, _ *quote.Parties) { r.Payer = map[string]string{"EMAIL": "a@b.example"} },
			fault.MissingMandatoryUserInfo, "senderCustomerInfo.NATIONALITY"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, parties := umaRequest(newLookup("EUR"))
			c.change(&r, &parties)

			_, err := r.Route(parties)

			if !fault.Is(err, c.code) {
				t.Fatalf("got %v, want %s", err, c.code)
			}
			if refused, _ := fault.As(err); c.field != "" && (len(refused.Fields) != 1 || refused.Fields[0].Field != c.field) {
				t.Errorf("fields %+v, want %s", refused.Fields, c.field)
			}
		})
	}
	r, _ := umaRequest(newLookup("EUR"))
	r.Lookup = ident.Lookup{}
	if err := r.Check(); !fault.Is(err, fault.InvalidInput) {
		t.Errorf("without a lookup: %v", err)
	}
}
