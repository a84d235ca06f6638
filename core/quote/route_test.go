package quote_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/core/account"
	"causeway/core/corridor"
	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/quote"
	"causeway/core/transaction"
)

// testID returns the id of its kind with number n.
func testID[K ident.Kind](id ident.ID[K], n byte) ident.ID[K] {
	id.SetUUID(uuid.UUID{15: n})
	return id
}

var (
	platformID = testID(ident.Platform{}, 1)
	ana        = &customer.Customer{ID: testID(ident.Customer{}, 1), Platform: platformID, PlatformCustomerID: "ana",
		Type: customer.Individual, FullName: "Ana Silva", Status: customer.Approved}
	ben = &customer.Customer{ID: testID(ident.Customer{}, 2), Platform: platformID, PlatformCustomerID: "ben",
		Type: customer.Individual, FullName: "Ben Berg", Status: customer.Approved}
	noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
)

func internalAccount(owner *customer.Customer, currency money.Currency) *account.Internal {
	a := &account.Internal{ID: testID(ident.InternalAccount{}, 7), Platform: platformID, Currency: currency, Type: account.InternalFiat,
		Status: account.InternalActive}
	if owner != nil {
		a.Customer = owner.ID
	}
	return a
}

func bankAccount(owner *customer.Customer) *account.External {
	a := &account.External{ID: testID(ident.ExternalAccount{}, 8), Platform: platformID, Currency: "USD", Type: account.USAccount,
		Status: account.Active,
		Fields: map[string]string{"accountNumber": "000123456", "routingNumber": "021000021"}, Rails: []corridor.Rail{corridor.RTP, corridor.ACH}}
	if owner != nil {
		a.Customer = owner.ID
	}
	return a
}

func walletAccount(owner *customer.Customer) *account.External {
	a := &account.External{ID: testID(ident.ExternalAccount{}, 9), Platform: platformID, Currency: "BTC", Type: account.Layer2Wallet,
		Status: account.Active,
		Fields: map[string]string{"address": "spark1good"}, Rails: []corridor.Rail{corridor.Layer2}}
	if owner != nil {
		a.Customer = owner.ID
	}
	return a
}

// newRequest returns a request for a payment between the parties.
func newRequest(p quote.Parties) quote.Request {
	r := quote.Request{Platform: platformID, Side: quote.Sending, Amount: 10050}
	if p.FromInternal != nil {
		r.Source.Internal = p.FromInternal.ID
	}
	if p.FromExternal != nil {
		r.Source.External = p.FromExternal.ID
	}
	if p.ToInternal != nil {
		r.Destination.Internal = p.ToInternal.ID
	}
	if p.ToExternal != nil {
		r.Destination.External = p.ToExternal.ID
	}
	if r.Source.JustInTime() {
		r.Source.Currency = "USD"
		if p.Customer != nil {
			r.Source.Customer = p.Customer.ID
		}
	}
	return r
}

func TestRoute(t *testing.T) {
	t.Parallel()
	// A payment is funded just in time, by a balance or by a bank account, and goes to an internal or
	// an external account; each end has its rail or its ledger account.
	for name, c := range map[string]struct {
		parties  quote.Parties
		from, to string
		funding  transaction.Funding
		internal bool
	}{
		"just in time to a wallet": {quote.Parties{Customer: ana, ToExternal: walletAccount(ana)}, "rails/RTP", "",
			transaction.JustInTime, false},
		"just in time to a balance": {quote.Parties{Customer: ana, ToInternal: internalAccount(ana, "EUR")}, "rails/RTP",
			(*internalAccount(ana, "EUR")).LedgerPath(), transaction.JustInTime, true},
		"just in time for the platform": {quote.Parties{ToExternal: walletAccount(nil)}, "rails/RTP", "",
			transaction.JustInTime, false},
		"a balance to a wallet": {quote.Parties{Customer: ana, FromInternal: internalAccount(ana, "USD"),
			ToExternal: walletAccount(ana)}, (*internalAccount(ana, "USD")).LedgerPath(), "", transaction.Balance, false},
		"a balance to a balance": {quote.Parties{Customer: ana, FromInternal: internalAccount(ana, "USD"),
			ToInternal: internalAccount(ana, "EUR")}, (*internalAccount(ana, "USD")).LedgerPath(), (*internalAccount(ana, "EUR")).LedgerPath(),
			transaction.Balance, true},
		"the platform to a customer": {quote.Parties{Customer: ana, FromInternal: internalAccount(nil, "USD"),
			ToExternal: walletAccount(ana)}, (*internalAccount(nil, "USD")).LedgerPath(), "", transaction.Balance, false},
		"a bank account to a wallet": {quote.Parties{Customer: ana, FromExternal: bankAccount(ana),
			ToExternal: walletAccount(ana)}, "rails/ACH", "", transaction.Pull, false},
		"a customer to the platform's wallet": {quote.Parties{Customer: ana, FromInternal: internalAccount(ana, "USD"),
			ToExternal: walletAccount(nil)}, (*internalAccount(ana, "USD")).LedgerPath(), "", transaction.Balance, false},
		"a bank account to a balance": {quote.Parties{Customer: ana, FromExternal: bankAccount(ana),
			ToInternal: internalAccount(ana, "EUR")}, "rails/ACH", (*internalAccount(ana, "EUR")).LedgerPath(), transaction.Pull, true},
		"the platform's bank account to its wallet": {quote.Parties{FromExternal: bankAccount(nil), ToExternal: walletAccount(nil)}, "rails/ACH",
			"", transaction.Pull, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRequest(c.parties)

			route, err := r.Route(c.parties)
			if err != nil {
				t.Fatal(err)
			}
			q, tx, err := r.Make(c.parties, route, quote.MakeParams{Quote: testID(ident.Quote{}, 3), Transaction: testID(ident.Transaction{}, 4),
				Market: money.MustRate("10"), Terms: route.Corridor.Terms, Now: noon})
			if err != nil {
				t.Fatal(err)
			}

			if flow := tx.Flow(); flow.Funding != c.funding || flow.Internal != c.internal || !flow.Converts {
				t.Errorf("%+v", flow)
			}
			if (q.Reference != "") != (c.funding == transaction.JustInTime) {
				t.Errorf("reference %q", q.Reference)
			}
			if (tx.PlatformCustomerID == "ana") != (c.parties.Customer != nil) || tx.Customer != q.Customer {
				t.Errorf("%+v", tx)
			}
			if tx.SourceAccount != c.from || c.to != "" && tx.DestinationAccount != c.to {
				t.Errorf("from %q to %q, want %q to %q", tx.SourceAccount, tx.DestinationAccount, c.from, c.to)
			}
			// An internal account has no rail; otherwise the account is that of the rail.
			for _, end := range []struct {
				internal bool
				rail     corridor.Rail
				account  string
			}{{c.parties.FromInternal != nil, tx.SourceRail, tx.SourceAccount}, {c.parties.ToInternal != nil, tx.DestinationRail,
				tx.DestinationAccount}} {
				if (end.rail == "") != end.internal || !end.internal && end.rail.LedgerPath() != end.account {
					t.Errorf("rail %q with account %q", end.rail, end.account)
				}
			}
		})
	}
}

func TestRoute_RejectsInvalidParties(t *testing.T) {
	t.Parallel()
	// Every invalid party is refused with its own fault, which names the field.
	frozen, inactive := internalAccount(ana, "USD"), walletAccount(ana)
	frozen.Status, inactive.Status = account.InternalFrozen, account.Status("INACTIVE")
	pending := *ana
	pending.Status = customer.Pending
	wallet := internalAccount(ana, money.USDB)
	wallet.Type = account.EmbeddedWallet
	nigerian := bankAccount(ana)
	nigerian.Type, nigerian.Currency, nigerian.Rails = "NGN_ACCOUNT", "NGN", []corridor.Rail{corridor.BankTransfer}
	european := bankAccount(ana)
	european.Type = "EUR_ACCOUNT"
	unnamed := *ana
	unnamed.FullName = ""
	for name, c := range map[string]struct {
		parties quote.Parties
		change  func(*quote.Request)
		code    fault.Code
		field   string
	}{
		"a customer without a name pays in dollars": {quote.Parties{Customer: &unnamed, ToExternal: walletAccount(ana)}, nil,
			fault.MissingMandatoryUserInfo, "fullName"},
		"a customer without a name pays from an account": {quote.Parties{Customer: &unnamed, FromInternal: internalAccount(ana, "USDC"),
			ToExternal: walletAccount(ana)}, nil,
			fault.MissingMandatoryUserInfo, "fullName"},
		"a token on any of two chains": {quote.Parties{Customer: ana, ToExternal: bankAccount(ana), Networks: []corridor.Rail{corridor.Base,
			corridor.Ethereum}},
			func(r *quote.Request) { r.Source.Currency = money.USDC }, fault.InvalidInput, "source.cryptoNetwork"},
		"a token on a chain where it is not": {quote.Parties{Customer: ana, ToExternal: bankAccount(ana), Networks: []corridor.Rail{corridor.Base,
			corridor.Ethereum}},
			func(r *quote.Request) { r.Source.Currency, r.Source.Network = money.USDC, string(corridor.Tron) }, fault.InvalidInput,
			"source.cryptoNetwork"},
		"no such customer": {quote.Parties{ToExternal: walletAccount(ana)}, func(r *quote.Request) { r.Source.Customer = ana.ID },
			fault.UserNotFound, ""},
		"no such balance": {quote.Parties{Customer: ana, ToExternal: walletAccount(ana)},
			func(r *quote.Request) { r.Source.Internal = frozen.ID },
			fault.InternalAccountNotFound, ""},
		"no such bank account": {quote.Parties{Customer: ana, ToExternal: walletAccount(ana)},
			func(r *quote.Request) { r.Source.External = european.ID },
			fault.ExternalAccountNotFound, ""},
		"no such external account to pay": {quote.Parties{Customer: ana}, func(r *quote.Request) { r.Destination.External = inactive.ID },
			fault.ExternalAccountNotFound, ""},
		"no such internal account to pay": {quote.Parties{Customer: ana}, func(r *quote.Request) { r.Destination.Internal = frozen.ID },
			fault.InternalAccountNotFound, ""},
		"a customer who is not ready": {quote.Parties{Customer: &pending, ToExternal: walletAccount(ana)}, nil, fault.UserNotReady, ""},
		"a frozen account pays": {quote.Parties{Customer: ana, FromInternal: frozen, ToExternal: walletAccount(ana)}, nil,
			fault.InvalidInput, "source.accountId"},
		"an inactive account receives": {quote.Parties{Customer: ana, FromInternal: internalAccount(ana, "USD"), ToExternal: inactive},
			nil, fault.InvalidInput, "destination.accountId"},
		"another customer's account receives": {quote.Parties{Customer: ana, FromInternal: internalAccount(ana, "USD"),
			ToExternal: walletAccount(ben)}, nil, fault.InvalidInput, "destination.accountId"},
		"another customer's account pays": {quote.Parties{Customer: ben, FromInternal: internalAccount(ana, "USD"),
			ToExternal: walletAccount(nil)},
			func(r *quote.Request) { r.Source.Customer = ben.ID }, fault.InvalidInput, "source.customerId"},
		"an account that cannot be debited": {quote.Parties{Customer: ana, FromExternal: european, ToExternal: walletAccount(ana)}, nil,
			fault.InvalidInput, "source.accountId"},
		"another source currency expected": {quote.Parties{Customer: ana, FromInternal: internalAccount(ana, "USD"),
			ToExternal: walletAccount(ana)}, func(r *quote.Request) { r.Source.Currency = "EUR" }, fault.InvalidInput, "source.currency"},
		"another destination currency expected": {quote.Parties{Customer: ana, FromInternal: internalAccount(ana, "USD"),
			ToExternal: walletAccount(ana)}, func(r *quote.Request) { r.Destination.ExpectedCurrency = "EUR" }, fault.InvalidInput,
			"destination.currency"},
		"no purpose for Nigeria": {quote.Parties{Customer: ana, FromInternal: internalAccount(ana, "USD"), ToExternal: nigerian},
			nil, fault.InvalidInput, "purposeOfPayment"},
		"an embedded wallet pays at once": {quote.Parties{Customer: ana, FromInternal: wallet, ToExternal: walletAccount(ana)},
			func(r *quote.Request) { r.ExecuteImmediately = true }, fault.InvalidInput, "immediatelyExecute"},
		"an embedded wallet pays itself": {quote.Parties{Customer: ana, FromInternal: wallet, ToInternal: wallet}, nil, fault.InvalidInput,
			"destination.accountId"},
		"the same currency": {quote.Parties{Customer: ana, FromInternal: internalAccount(ana, "USD"),
			ToExternal: bankAccount(ana)}, nil, fault.InvalidCurrency, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRequest(c.parties)
			if c.change != nil {
				c.change(&r)
			}

			_, err := r.Route(c.parties)

			if !fault.Is(err, c.code) {
				t.Fatalf("got %v, want %s", err, c.code)
			}
			if refused, _ := fault.As(err); c.field != "" && (len(refused.Fields) != 1 || refused.Fields[0].Field != c.field) {
				t.Errorf("fields %+v, want %s", refused.Fields, c.field)
			}
		})
	}
}

func TestRoute_NetworkOfFunding(t *testing.T) {
	t.Parallel()
	// Just-in-time funding on a chain is on the chain that the request names, or on the only one on which the currency can be
	// received. A token on several needs one, and the refusal lists them; bitcoin is offered on each.
	altchain, base, ethereum := corridor.Altchain, corridor.Base, corridor.Ethereum
	for name, c := range map[string]struct {
		currency money.Currency
		network  corridor.Rail
		on       []corridor.Rail
		want     string // the network; empty for none
		rail     corridor.Rail
	}{
		"named":                {money.USDC, base, []corridor.Rail{altchain, base, ethereum}, "BASE", base},
		"the only one":         {money.USDC, "", []corridor.Rail{ethereum}, "ETHEREUM", ethereum},
		"dollars":              {"USD", "", nil, "", corridor.RTP},
		"bitcoin on several":   {money.BTC, "", []corridor.Rail{corridor.Layer2, corridor.Bitcoin}, "", corridor.Layer2},
		"bitcoin on its chain": {money.BTC, "", []corridor.Rail{corridor.Bitcoin}, "BITCOIN", corridor.Bitcoin},
		"nowhere yet":          {money.USDC, "", nil, "", altchain}, // refused by the rail, which receives none
	} {
		parties := quote.Parties{Customer: ana, ToExternal: bankAccount(ana), Networks: c.on}
		if c.currency == "USD" {
			parties.ToExternal = walletAccount(ana)
		}
		r := newRequest(parties)
		r.Source.Currency, r.Source.Network = c.currency, string(c.network)

		got, err := r.Route(parties)

		if err != nil || got.Network != c.want || got.SourceRail != c.rail {
			t.Errorf("%s: network %q and rail %s, %v", name, got.Network, got.SourceRail, err)
		}
	}
	several := quote.Parties{Customer: ana, ToExternal: bankAccount(ana), Networks: []corridor.Rail{altchain, ethereum}}
	r := newRequest(several)
	r.Source.Currency = money.USDC
	_, err := r.Route(several)
	if refused, _ := fault.As(err); refused == nil || !strings.Contains(refused.Message, "SOLANA, ETHEREUM") ||
		!slices.Equal(refused.Fields[0].Constraint["enum"].([]string), []string{"SOLANA", "ETHEREUM"}) {
		t.Errorf("on several: %v", err)
	}
}

func TestMake_OutOfRangeNamesLimits(t *testing.T) {
	t.Parallel()
	// An amount that cannot be priced is refused with the minimum and the maximum of the locked side.
	parties := quote.Parties{Customer: ana, ToExternal: walletAccount(ana)}
	for side, want := range map[quote.Side]string{quote.Sending: "between 100 (1.00 USD)", quote.Receiving: "BTC)"} {
		r := newRequest(parties)
		r.Side, r.Amount = side, 1
		if side == quote.Receiving {
			r.Amount = money.MaxMinor
		}
		route, err := r.Route(parties)
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = r.Make(parties, route, quote.MakeParams{Quote: testID(ident.Quote{}, 3), Transaction: testID(ident.Transaction{}, 4),
			Market: money.MustRate("0.1"), Terms: route.Corridor.Terms, Now: noon})
		refused, ok := fault.As(err)
		if !ok || refused.Code != fault.AmountOutOfRange || !strings.Contains(refused.Message, want) || refused.Details["minAmount"] == nil {
			t.Errorf("%s: %+v, want %q", side, err, want)
		}
	}
}

func TestMake_UsesRequestedRail(t *testing.T) {
	t.Parallel()
	// A request can name a rail of the receiving account, and no other rail.
	parties := quote.Parties{Customer: ana, FromInternal: internalAccount(ana, "EUR"), ToExternal: bankAccount(ana)}
	r := newRequest(parties)
	route, err := r.Route(parties)
	if err != nil {
		t.Fatal(err)
	}
	params := quote.MakeParams{Quote: testID(ident.Quote{}, 3), Transaction: testID(ident.Transaction{}, 4), Market: money.MustRate("1.1"),
		Terms: route.Corridor.Terms, Now: noon}

	for rail, path := range map[corridor.Rail]string{"": "rails/RTP", corridor.ACH: "rails/ACH", corridor.SEPA: ""} {
		r.Destination.Rail = rail
		_, tx, err := r.Make(parties, route, params)
		if tx.DestinationAccount != path || fault.Is(err, fault.InvalidInput) != (path == "") {
			t.Errorf("%q: %q, %v", rail, tx.DestinationAccount, err)
		}
	}
}
