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

// newLookup is the result of a lookup of Bob for Ana.
func newLookup(currencies ...money.Currency) *quote.Lookup {
	return &quote.Lookup{ID: testID(ident.Lookup{}, 5), Customer: ana.ID, ReceiverUMA: receiverAddress, Currencies: currencies,
		Fields: []transaction.InfoField{{Name: "NATIONALITY", Mandatory: true}, {Name: "EMAIL"}}, Facts: map[string]string{"FULL_NAME": "Bob"}}
}

// umaRequest asks to pay Bob from Ana's dollars.
func umaRequest(lookup *quote.Lookup) (quote.Request, quote.Parties) {
	parties := quote.Parties{Customer: ana, FromInternal: internalAccount(ana, "USD"), Receiver: lookup}
	r := newRequest(parties)
	r.Destination.UMA, r.Lookup, r.Payer = receiverAddress, lookup.ID, map[string]string{"NATIONALITY": "PT"}
	return r, parties
}

func TestRoute_UMAReceiver(t *testing.T) {
	t.Parallel()
	// A person elsewhere is paid in a currency that reaches them; in the payer's own it
	// costs nothing and nothing is exchanged.
	for name, c := range map[string]struct {
		lookup   *quote.Lookup
		expect   money.Currency
		receives money.Currency
		converts bool
	}{
		"in the only currency":     {newLookup("EUR"), "", "EUR", true},
		"in the one that is named": {newLookup("EUR", "MXN"), "MXN", "MXN", true},
		"in the payer's own":       {newLookup("USD"), "USD", "USD", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, parties := umaRequest(c.lookup)
			r.Destination.ExpectedCurrency = c.expect

			route, err := r.Route(parties)
			if err != nil {
				t.Fatal(err)
			}
			_, made, err := r.Make(parties, route, quote.MakeParams{Quote: testID(ident.Quote{}, 3), Transaction: testID(ident.Transaction{}, 4),
				Market: money.MustRate("1"), Terms: route.Corridor.Terms, Now: noon})
			if err != nil {
				t.Fatal(err)
			}

			if made.Pricing.Received.Currency != c.receives || made.Flow().Converts != c.converts || made.DestinationAccount != "rails/UMA" ||
				made.Destination.UMA != receiverAddress || made.Counterparty["FULL_NAME"] != "Bob" || made.Payer["NATIONALITY"] != "PT" {
				t.Errorf("%+v", made)
			}
			if !c.converts && (made.Pricing.Fees != 0 || made.Pricing.Sent != made.Pricing.Received) {
				t.Errorf("%+v", made.Pricing)
			}
		})
	}
}

func TestRoute_RejectsInvalidUMAReceiver(t *testing.T) {
	t.Parallel()
	// The lookup must exist and be for this receiver and payer, and the fields that it requests
	// must be given.
	for name, c := range map[string]struct {
		change func(*quote.Request, *quote.Parties)
		code   fault.Code
		field  string
	}{
		"no lookup":                   {func(_ *quote.Request, p *quote.Parties) { p.Receiver = nil }, fault.LookupRequestNotFound, ""},
		"of another receiver":         {func(r *quote.Request, _ *quote.Parties) { r.Destination.UMA = "$eve@other.example" }, fault.InvalidInput, "lookupId"},
		"for another payer":           {func(_ *quote.Request, p *quote.Parties) { p.Receiver.Customer = ben.ID }, fault.InvalidInput, "lookupId"},
		"currency is not deliverable": {func(r *quote.Request, _ *quote.Parties) { r.Destination.ExpectedCurrency = "GBP" }, fault.InvalidInput, "destination.currency"},
		"no currency named of two":    {func(_ *quote.Request, p *quote.Parties) { p.Receiver.Currencies = []money.Currency{"EUR", "MXN"} }, fault.InvalidInput, "destination.currency"},
		"a fact is missing":           {func(r *quote.Request, _ *quote.Parties) { r.Payer = map[string]string{"EMAIL": "a@b.example"} }, fault.MissingMandatoryUserInfo, "senderCustomerInfo.NATIONALITY"},
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
