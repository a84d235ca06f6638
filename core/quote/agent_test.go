package quote_test

import (
	"testing"

	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/quote"
	"causeway/core/transaction"
)

var anasAgent = testID(ident.Agent{}, 1)

// byAgent makes a request one of Ana's agent.
func byAgent(r *quote.Request) { r.Agent, r.Owner = anasAgent, ana.ID }

func TestRoute_AgentSeesItsCustomerOnly(t *testing.T) {
	t.Parallel()
	// For Ana's agent, accounts of others and of the platform, other customers and their lookups do not exist,
	// whatever else is wrong with them.
	foreign := newLookup("EUR")
	foreign.Customer = ben.ID
	frozen := internalAccount(ben, "USD")
	frozen.Status = "FROZEN"
	for name, c := range map[string]struct {
		parties quote.Parties
		edit    func(*quote.Request)
		want    fault.Code
	}{
		"own accounts": {quote.Parties{Customer: ana, FromInternal: internalAccount(ana, "USD"), ToExternal: walletAccount(ana)},
			nil, ""},
		"just in time": {quote.Parties{Customer: ana, ToExternal: walletAccount(ana)}, nil, ""},
		"named customer": {quote.Parties{Customer: ana, FromInternal: internalAccount(ana, "USD"), ToExternal: walletAccount(ana)},
			func(r *quote.Request) { r.Source.Customer = ana.ID }, ""},
		"other customer": {quote.Parties{Customer: ben, FromInternal: internalAccount(ana, "USD"), ToExternal: walletAccount(ana)},
			func(r *quote.Request) { r.Source.Customer = ben.ID }, fault.UserNotFound},
		"other payer": {quote.Parties{Customer: ana, FromInternal: frozen, ToExternal: walletAccount(ana)}, nil,
			fault.InternalAccountNotFound},
		"platform pays": {quote.Parties{Customer: ana, FromInternal: internalAccount(nil, "USD"), ToExternal: walletAccount(ana)}, nil,
			fault.InternalAccountNotFound},
		"other bank pays": {quote.Parties{Customer: ana, FromExternal: bankAccount(ben), ToExternal: walletAccount(ana)}, nil,
			fault.ExternalAccountNotFound},
		"other receiver": {quote.Parties{Customer: ana, Owner: ben, FromInternal: internalAccount(ana, "USD"),
			ToExternal: walletAccount(ben)}, nil, fault.ExternalAccountNotFound},
		"platform receives": {quote.Parties{Customer: ana, FromInternal: internalAccount(ana, "USD"), ToExternal: walletAccount(nil)}, nil,
			fault.ExternalAccountNotFound},
		"other's balance": {quote.Parties{Customer: ana, Owner: ben, FromInternal: internalAccount(ana, "USD"),
			ToInternal: internalAccount(ben, "EUR")}, nil, fault.InternalAccountNotFound},
		"platform's balance": {quote.Parties{Customer: ana, FromInternal: internalAccount(ana, "USD"), ToInternal: internalAccount(nil, "EUR")},
			nil, fault.InternalAccountNotFound},
		"other's lookup": {quote.Parties{Customer: ana, FromInternal: internalAccount(ana, "USD"), Receiver: foreign},
			func(r *quote.Request) { r.Destination.UMA, r.Lookup = receiverAddress, foreign.ID }, fault.LookupRequestNotFound},
		"agent of no customer": {quote.Parties{FromInternal: internalAccount(nil, "USD"), ToExternal: walletAccount(nil)},
			func(r *quote.Request) { r.Owner = ident.Customer{} }, fault.InternalAccountNotFound},
	} {
		r := newRequest(c.parties)
		r.Source.Customer = ident.Customer{}
		byAgent(&r)
		if c.edit != nil {
			c.edit(&r)
		}
		route, err := r.Route(c.parties)
		if c.want == "" && (err != nil || route.Customer != ana.ID) || c.want != "" && !fault.Is(err, c.want) {
			t.Errorf("%s: %+v, %v, want %q", name, route, err, c.want)
		}
	}
}

func TestRoute_AgentPaysUMAAddress(t *testing.T) {
	t.Parallel()
	// A UMA address is paid with a lookup for the agent's customer.
	r, parties := umaRequest(newLookup("EUR"))
	byAgent(&r)
	if route, err := r.Route(parties); err != nil || route.Corridor.To != "EUR" {
		t.Errorf("%+v, %v", route, err)
	}
}

func TestRequest_AgentsDoNotExecuteAtOnce(t *testing.T) {
	t.Parallel()
	// A quote of an agent is executed by a request of its own, which its policy decides about.
	r := newRequest(quote.Parties{Customer: ana, FromInternal: internalAccount(ana, "USD"), ToExternal: walletAccount(ana)})
	r.ExecuteImmediately = true
	if err := r.Check(); err != nil {
		t.Errorf("the platform: %v", err)
	}
	byAgent(&r)
	refused, ok := fault.As(r.Check())
	if !ok || refused.Code != fault.InvalidInput || refused.Fields[0].Field != "immediatelyExecute" {
		t.Errorf("an agent: %+v", refused)
	}
}

func TestMake_KnowsItsAgent(t *testing.T) {
	t.Parallel()
	// The transaction of an agent's quote knows the agent, and does not count as long as nobody executes it.
	parties := quote.Parties{Customer: ana, FromInternal: internalAccount(ana, "USD"), ToExternal: walletAccount(ana)}
	for want, edits := range map[ident.Agent][]func(*quote.Request){anasAgent: {byAgent}, {}: nil} {
		_, tx := makeQuote(t, parties, money.MustRate("10"), append(edits, func(r *quote.Request) { r.Amount = 100_50 })...)
		if tx.Agent != want || tx.AgentUsage != nil || tx.Customer != ana.ID || tx.State != transaction.Initial {
			t.Errorf("%+v, want the agent %s", tx, want)
		}
	}
}
