package receivers_test

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	counterparties "causeway/adapters/counterparties/sandbox"
	"causeway/app/internal/apptest"
	"causeway/app/internal/prices"
	"causeway/app/receivers"
	"causeway/core/account"
	"causeway/core/corridor"
	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/limit"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/quote"
	"causeway/core/transaction"
	"causeway/ports"
)

// env is the environment of a test with the use cases on it.
type env struct {
	*apptest.Env
	receivers *receivers.Service
}

// fakeMarket is a market on which a cent buys 0.92 euro cents or 10 satoshi. Mexican pesos have
// no rate.
type fakeMarket struct{}

func (fakeMarket) Rate(_ context.Context, _, to money.Currency, now time.Time) (ports.MarketRate, error) {
	if to == "MXN" {
		return ports.MarketRate{}, fault.New(fault.QuoteRequestFailed, "no rate")
	}
	return ports.MarketRate{Rate: map[money.Currency]money.Rate{"EUR": money.MustRate("0.92"), "BTC": money.MustRate("10")}[to], At: now}, nil
}

// fakeTerms is a store whose operator charges half a percent for dollars, of which between 1 and
// 1,000 can be sent at once.
type fakeTerms struct{ prices.Store }

func (fakeTerms) LimitRules(context.Context) ([]limit.Rule, error) { return nil, nil }

func (fakeTerms) CorridorOverrides(context.Context) ([]ports.CorridorOverride, error) {
	var overrides []ports.CorridorOverride
	for _, to := range []money.Currency{"EUR", "BTC", "MXN"} {
		overrides = append(overrides, ports.CorridorOverride{From: "USD", To: to, Terms: corridor.Override{
			Fixed: new(int64(0)), Percent: new(money.MustFraction("0.005")), MinSending: new(int64(100)), MaxSending: new(int64(1_000_00))}})
	}
	return overrides, nil
}

// newEnv is an environment whose platform wants to know the full name of payers in its first
// currency.
func newEnv(t *testing.T) *env {
	t.Helper()
	e := apptest.New(t, apptest.EditPlatform(func(p *platform.Platform) {
		p.Currencies[0].RequiredCounterpartyFields = []platform.CounterpartyField{{Name: "FULL_NAME", Mandatory: true}}
	}))
	return &env{Env: e, receivers: receivers.New(receivers.Config{Store: e.Store,
		Prices: prices.New(fakeTerms{e.Store}, fakeMarket{}, e.Clock), Clock: e.Clock, IDs: e.IDs,
		Counterparties: ports.CounterpartiesByEnvironment{platform.Sandbox: counterparties.New(counterparties.DefaultDomain)}})}
}

func TestService_LookupExpiresAfterTenMinutes(t *testing.T) {
	t.Parallel()
	// The lookup of a person names the sender, the currencies and the required fields. It is
	// found under its id for ten minutes, by its own platform only.
	env := newEnv(t)
	result, err := env.receivers.LookupUMAAddress(t.Context(), env.Platform.ID, "$Success.EUR@sandbox.uma.test",
		receivers.Sender{UMA: "$ANA@uma.test"})
	if err != nil {
		t.Fatal(err)
	}

	want := quote.Lookup{ID: result.ID, Platform: env.Platform.ID, Customer: env.Customer.ID, SenderUMA: env.Customer.UMAAddress,
		ReceiverUMA: "$success.eur@sandbox.uma.test", Fields: []transaction.InfoField{{Name: "BIRTH_DATE"}},
		Currencies: []money.Currency{"EUR"}, Facts: map[string]string{"FULL_NAME": "Success Eur"},
		CreatedAt: apptest.Noon, ExpiresAt: apptest.Noon.Add(10 * time.Minute)}
	if !reflect.DeepEqual(result.Lookup, want) {
		t.Errorf("lookup %+v\nwant %+v", result.Lookup, want)
	}
	if p := result.Currencies; len(p) != 1 || p[0].Currency != "EUR" || p[0].Rate != money.MustRate("0.92") || p[0].Min != 91 ||
		p[0].Max != 91_540 {
		t.Errorf("currencies %+v", p)
	}
	env.Clock.Advance(10*time.Minute - time.Millisecond)
	if stored, err := env.Store.Lookup(t.Context(), env.Platform.ID, result.ID); err != nil || !reflect.DeepEqual(stored, want) {
		t.Errorf("stored %+v, %v", stored, err)
	}
	if _, err := env.Store.Lookup(t.Context(), ident.NewPlatform(env.IDs.New, apptest.Noon), result.ID); !fault.Is(err,
		fault.LookupRequestNotFound) {
		t.Errorf("another platform: %v", err)
	}
	env.Clock.Advance(time.Millisecond)
	if _, err := env.Store.Lookup(t.Context(), env.Platform.ID, result.ID); !fault.Is(err, fault.LookupRequestNotFound) {
		t.Errorf("ten minutes later: %v", err)
	}
}

func TestService_LookupExternalAccount(t *testing.T) {
	t.Parallel()
	// An account of the sender or of the platform is priced from the sender's first currency.
	// In the sender's own currency nothing is exchanged; the platform's limits and the corridor's fees
	// apply, because the payment is funded just in time.
	env := newEnv(t)
	sender := receivers.Sender{Customer: env.Customer.ID}
	wallet := env.NewExternalAccount(account.External{Customer: env.Customer.ID, Currency: "BTC", Type: account.Layer2Wallet,
		Fields: map[string]string{"address": "spark1"}})
	bank := env.NewExternalAccount(account.External{Currency: "USD", Type: account.USAccount, Fields: map[string]string{"accountNumber": "1",
		"routingNumber": "2"}})

	bitcoin, err := env.receivers.LookupExternalAccount(t.Context(), env.Platform.ID, wallet.ID, sender)
	if err != nil {
		t.Fatal(err)
	}
	dollars, err := env.receivers.LookupExternalAccount(t.Context(), env.Platform.ID, bank.ID, sender)
	if err != nil {
		t.Fatal(err)
	}

	if want := []receivers.SupportedCurrency{{Currency: "BTC", Rate: money.MustRate("10"), Min: 990, Max: 995_000}}; !slices.Equal(
		bitcoin.Currencies, want) || bitcoin.External != wallet.ID {
		t.Errorf("%+v", bitcoin)
	}
	if want := []receivers.SupportedCurrency{{Currency: "USD", Rate: money.MustRate("1"), Min: 49, Max: 996_999_950}}; !slices.Equal(
		dollars.Currencies, want) || len(dollars.Fields) > 0 {
		t.Errorf("%+v", dollars)
	}
}

func TestService_LookupOwnCustomer(t *testing.T) {
	t.Parallel()
	// A customer of the same platform is paid in the currencies that are enabled for incoming
	// payments and that the customer has. The fields required of other payers are required.
	env := newEnv(t)
	env.NewCustomer("bo", func(c *customer.Customer) {
		c.FullName, c.Currencies = "Bo Berg", []money.Currency{"BTC", "USD", "EUR"}
	})
	nameless := env.NewCustomer("nameless", func(c *customer.Customer) { c.FullName = "" })

	result, err := env.receivers.LookupUMAAddress(t.Context(), env.Platform.ID, "$bo@uma.test", receivers.Sender{Customer: env.Customer.ID})
	if err != nil {
		t.Fatal(err)
	}
	byNameless, err := env.receivers.LookupUMAAddress(t.Context(), env.Platform.ID, "$bo@uma.test", receivers.Sender{Customer: nameless.ID})
	if err != nil {
		t.Fatal(err)
	}

	if !slices.Equal(result.Lookup.Currencies, []money.Currency{"USD", "BTC"}) || result.Facts["FULL_NAME"] != "Bo Berg" ||
		len(result.Fields) != 0 {
		t.Errorf("%+v", result.Lookup)
	}
	if want := []transaction.InfoField{{Name: "FULL_NAME", Mandatory: true}}; !slices.Equal(byNameless.Fields, want) {
		t.Errorf("required of a sender without a name: %v", byNameless.Fields)
	}
}

func TestService_LookupRejections(t *testing.T) {
	t.Parallel()
	// A lookup is rejected without a sender who may pay, for an unknown receiver, for the
	// sender itself or a receiver who cannot be paid, and where no providers are connected.
	env := newEnv(t)
	bo := env.NewCustomer("bo")
	pending := env.NewCustomer("pending", func(c *customer.Customer) { c.Status = customer.Pending })
	rejected := env.NewCustomer("rejected", func(c *customer.Customer) { c.Status = customer.Rejected })
	gone := env.NewCustomer("gone", func(c *customer.Customer) { c.DeletedAt = apptest.Noon })
	bos := env.NewExternalAccount(account.External{Customer: bo.ID, Currency: "BTC", Type: account.Layer2Wallet,
		Fields: map[string]string{"address": "spark2"}})
	inactive := env.NewExternalAccount(account.External{Customer: env.Customer.ID, Currency: "BTC", Type: account.Layer2Wallet,
		Status: account.Inactive, Fields: map[string]string{"address": "spark3"}})
	sandbox := env.Platform.ID
	production := env.NewPlatform(func(p *platform.Platform) { p.Environment = platform.Production }).ID
	producer := env.NewCustomer("pro", func(c *customer.Customer) { c.Platform = production })
	ana := receivers.Sender{Customer: env.Customer.ID}
	const euros = "$success.eur@sandbox.uma.test"

	for name, test := range map[string]struct {
		platform ident.Platform
		address  string
		account  ident.ExternalAccount
		sender   receivers.Sender
		code     fault.Code
	}{
		"invalid address":    {platform: sandbox, address: "ana", sender: ana, code: fault.InvalidUMAAddress},
		"unknown receiver":   {platform: sandbox, address: "$nobody@sandbox.uma.test", sender: ana, code: fault.UMANotFound},
		"unknown provider":   {platform: sandbox, address: "$success.eur@bank.example", sender: ana, code: fault.UMANotFound},
		"sender as receiver": {platform: sandbox, address: "$Ana@uma.test", sender: ana, code: fault.SelfPayment},
		"pending receiver":   {platform: sandbox, address: pending.UMAAddress, sender: ana, code: fault.InvalidReceiver},
		"no sender":          {platform: sandbox, address: euros, code: fault.InvalidInput},
		"two senders": {platform: sandbox, address: euros, sender: receivers.Sender{UMA: "$ana@uma.test", Customer: env.Customer.ID},
			code: fault.InvalidInput},
		"unknown sender":     {platform: sandbox, address: euros, sender: receivers.Sender{UMA: "$eve@uma.test"}, code: fault.UserNotFound},
		"invalid sender":     {platform: sandbox, address: euros, sender: receivers.Sender{UMA: "eve"}, code: fault.InvalidInput},
		"pending sender":     {platform: sandbox, address: euros, sender: receivers.Sender{Customer: pending.ID}, code: fault.UserNotReady},
		"pending by address": {platform: sandbox, address: euros, sender: receivers.Sender{UMA: pending.UMAAddress}, code: fault.UserNotReady},
		"rejected sender":    {platform: sandbox, address: euros, sender: receivers.Sender{Customer: rejected.ID}, code: fault.UserNotReady},
		"rejected, account": {platform: sandbox, account: inactive.ID, sender: receivers.Sender{Customer: rejected.ID},
			code: fault.UserNotReady},
		"deleted sender":   {platform: sandbox, address: euros, sender: receivers.Sender{Customer: gone.ID}, code: fault.CustomerDeleted},
		"deleted, account": {platform: sandbox, account: inactive.ID, sender: receivers.Sender{Customer: gone.ID}, code: fault.CustomerDeleted},
		"deleted receiver": {platform: sandbox, address: gone.UMAAddress, sender: ana, code: fault.UMANotFound},
		"no rate":          {platform: sandbox, address: "$success.mxn@sandbox.uma.test", sender: ana, code: fault.QuoteRequestFailed},
		"not connected":    {platform: production, address: euros, sender: receivers.Sender{Customer: producer.ID}, code: fault.NotImplemented},
		"unknown account": {platform: sandbox, account: ident.NewExternalAccount(env.IDs.New, apptest.Noon), sender: ana,
			code: fault.ExternalAccountNotFound},
		"account of another": {platform: sandbox, account: bos.ID, sender: ana, code: fault.InvalidReceiver},
		"inactive account":   {platform: sandbox, account: inactive.ID, sender: ana, code: fault.InvalidReceiver},
	} {
		var err error
		if test.account.IsZero() {
			_, err = env.receivers.LookupUMAAddress(t.Context(), test.platform, test.address, test.sender)
		} else {
			_, err = env.receivers.LookupExternalAccount(t.Context(), test.platform, test.account, test.sender)
		}
		if !fault.Is(err, test.code) {
			t.Errorf("%s: %v, want %s", name, err, test.code)
		}
	}
	if stored := env.QueryStrings("SELECT id::text FROM lookups"); len(stored) > 0 {
		t.Errorf("lookups %q are stored", stored)
	}
}

// fakeProviders are ten providers. Every third is blocked.
type fakeProviders struct{ counterparties.Counterparties }

func (fakeProviders) Providers(context.Context, ident.Platform) ([]ports.Provider, error) {
	var all []ports.Provider
	for i := range 10 {
		all = append(all, ports.Provider{Domain: fmt.Sprintf("p%d.example", i), Regions: []string{[]string{"DE", "US"}[i%2]},
			Currencies: []money.Currency{[]money.Currency{"EUR", "USD"}[i%2]}, Allowed: i%3 != 0})
	}
	return all, nil
}

func TestService_ProvidersPagination(t *testing.T) {
	t.Parallel()
	// Every provider that matches the filter is on exactly one page, in either order.
	service := receivers.New(receivers.Config{Counterparties: ports.CounterpartiesByEnvironment{platform.Sandbox: fakeProviders{}}})
	for name, test := range map[string]struct {
		filter receivers.ProviderFilter
		want   string
	}{
		"all":        {receivers.ProviderFilter{Ascending: true}, "0123456789"},
		"descending": {receivers.ProviderFilter{}, "9876543210"},
		"a country":  {receivers.ProviderFilter{Ascending: true, Country: "DE"}, "02468"},
		"a currency": {receivers.ProviderFilter{Ascending: true, Currency: "USD"}, "13579"},
		"allowed":    {receivers.ProviderFilter{Ascending: true, AllowedOnly: true}, "124578"},
		"none":       {receivers.ProviderFilter{Country: "FR"}, ""},
	} {
		for limit := 1; limit <= 11; limit++ {
			test.filter.Limit, test.filter.After = limit, ""
			got := ""
			for {
				page, err := service.Providers(t.Context(), ident.Platform{}, platform.Sandbox, test.filter)
				if err != nil || int(page.Total) != len(test.want) || len(page.Items) > limit {
					t.Fatalf("%s: %+v, %v", name, page, err)
				}
				for _, p := range page.Items {
					got += p.Domain[1:2]
					test.filter.After = p.Domain
				}
				if !page.More {
					break
				}
			}
			if got != test.want {
				t.Errorf("%s by %d: %s, want %s", name, limit, got, test.want)
			}
		}
	}
	if _, err := service.Providers(t.Context(), ident.Platform{}, platform.Sandbox, receivers.ProviderFilter{Limit: 1, Country: "XX",
		Currency: "XXX"}); !fault.Is(err, fault.InvalidInput) {
		t.Errorf("unknown codes: %v", err)
	}
}

func TestService_EstimateWithdrawalFee(t *testing.T) {
	t.Parallel()
	// The estimate adds up to the amount for every currency on every chain it has. All invalid
	// fields are named, and the account must exist and hold the currency.
	env := newEnv(t)
	accounts := map[money.Currency]account.Internal{}
	for _, currency := range []money.Currency{"USD", "BTC", "USDC", "USDT", "USDB"} {
		accounts[currency] = env.NewInternalAccount(ident.Customer{}, currency, 0)
	}
	addresses := map[corridor.Rail]string{corridor.Layer2: "spark1qw508d6qejxtdg4y5r3zarvary0c5xw7k",
		corridor.Lightning: "ana@wallet.example.com",
		corridor.Altchain:  "7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU", corridor.Bitcoin: "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4",
		corridor.Tron: "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t"}
	for _, evm := range []corridor.Rail{corridor.Base, corridor.Polygon, corridor.Ethereum, corridor.Plasma} {
		addresses[evm] = "0xAb5801a7D398351b8bE11C439e05C5B3259aeC9B"
	}
	for currency, from := range accounts {
		for _, chain := range corridor.Chains(currency) {
			cost, err := env.receivers.EstimateWithdrawalFee(t.Context(), env.Platform.ID, receivers.Withdrawal{From: from.ID, Currency: currency,
				Chain: chain, Amount: 1_000_000, Address: addresses[chain]})
			if err != nil || cost.Total+cost.Net != 1_000_000 || cost.NetworkFeeAsset == "" || cost.ApplicationFee > cost.Total {
				t.Errorf("%s over %s: %+v, %v", currency, chain, cost, err)
			}
		}
	}

	valid := receivers.Withdrawal{From: accounts["USDC"].ID, Currency: "USDC", Chain: corridor.Base, Amount: 1,
		Address: addresses[corridor.Base]}
	for name, test := range map[string]struct {
		change func(*receivers.Withdrawal)
		code   fault.Code
		fields []string
	}{
		"amount and address": {func(w *receivers.Withdrawal) { w.Amount, w.Address = 0, "0x" }, fault.InvalidInput,
			[]string{"amount", "destinationAddress"}},
		"not on a chain":    {func(w *receivers.Withdrawal) { w.Currency = "USD" }, fault.InvalidInput, []string{"currency"}},
		"unsupported chain": {func(w *receivers.Withdrawal) { w.Chain = corridor.Tron }, fault.InvalidInput, []string{"cryptoNetwork"}},
		"no chain":          {func(w *receivers.Withdrawal) { w.Chain = "" }, fault.InvalidInput, []string{"cryptoNetwork"}},
		"other currency":    {func(w *receivers.Withdrawal) { w.From = accounts["BTC"].ID }, fault.InvalidInput, []string{"currency"}},
		"unknown account": {func(w *receivers.Withdrawal) { w.From = ident.NewInternalAccount(env.IDs.New, apptest.Noon) },
			fault.InternalAccountNotFound, nil},
	} {
		w := valid
		test.change(&w)
		_, err := env.receivers.EstimateWithdrawalFee(t.Context(), env.Platform.ID, w)
		apptest.WantFault(t, name, err, test.code, test.fields...)
	}
}
