package receivers_test

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	people "causeway/adapters/counterparties/sandbox"
	"causeway/adapters/ids"
	"causeway/adapters/pgembed/pgtest"
	"causeway/adapters/postgres"
	"causeway/app/receivers"
	"causeway/core/account"
	"causeway/core/corridor"
	"causeway/core/customer"
	"causeway/core/event"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/lookup"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/transaction"
	"causeway/ports"
	"causeway/ports/portstest"
)

var noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

// env is a platform with a customer, and what can be asked there.
type env struct {
	*receivers.Service
	store    *postgres.DB
	clock    *portstest.FakeClock
	ids      *ids.Generator
	platform platform.Platform
	ana      customer.Customer
}

// fakeTerms is a corridor where a dollar buys 0.92 euro or ten satoshi a cent, for half a
// percent; pesos have no rate today.
func fakeTerms(_ context.Context, _ ident.Platform, from, to money.Currency, country string) (corridor.Terms, money.Rate, error) {
	way, err := corridor.Find(from, to, country)
	if err != nil {
		return corridor.Terms{}, money.Rate{}, err
	}
	if to == "MXN" {
		return corridor.Terms{}, money.Rate{}, fault.New(fault.QuoteRequestFailed, "no rate")
	}
	way.Terms.Fee, way.Terms.MinSending, way.Terms.MaxSending = corridor.Fee{Percent: money.MustFraction("0.005")}, 100, 1_000_00
	return way.Terms, map[money.Currency]money.Rate{"EUR": money.MustRate("0.92"), "BTC": money.MustRate("10")}[to], nil
}

func newEnv(t *testing.T) *env {
	t.Helper()
	d := &env{clock: portstest.NewFakeClock(noon), ids: ids.New()}
	var err error
	d.store, err = postgres.Open(t.Context(), postgres.Options{URL: pgtest.New(t), MaxConnections: 4, Clock: d.clock, IDs: d.ids,
		Render: func(event.Event) ([]byte, error) { return []byte("{}"), nil }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.store.Close)
	d.Service = receivers.New(receivers.Config{Store: d.store, CurrentTerms: fakeTerms, Clock: d.clock, IDs: d.ids,
		Counterparties: ports.CounterpartiesByEnvironment{platform.Sandbox: people.New(people.DefaultDomain)}})
	d.platform = portstest.SandboxPlatform(t, d.ids, noon)
	d.platform.Currencies[0].RequiredCounterpartyFields = []platform.CounterpartyField{{Name: "FULL_NAME", Mandatory: true}}
	d.ana = d.newCustomer("ana")
	d.ana.FullName = "Ana Silva"
	d.do(t, func(ctx context.Context, tx ports.Tx) error {
		if err := tx.CreatePlatform(ctx, d.platform); err != nil {
			return err
		}
		return tx.CreateCustomer(ctx, d.ana)
	})
	return d
}

func (d *env) do(t *testing.T, fn func(context.Context, ports.Tx) error) {
	t.Helper()
	portstest.MustDo(t, d.store, fn)
}

func (d *env) newCustomer(name string) customer.Customer {
	return portstest.ApprovedCustomer(d.ids, noon, d.platform.ID, name)
}

func (d *env) createAccount(t *testing.T, a account.External) account.External {
	t.Helper()
	a.ID, a.Platform, a.CreatedAt, a.UpdatedAt = ident.NewExternalAccount(d.ids.New, noon), d.platform.ID, noon, noon
	if a.Status == "" {
		a.Status = account.Active
	}
	d.do(t, func(ctx context.Context, tx ports.Tx) error { return tx.CreateExternalAccount(ctx, a) })
	return a
}

func (d *env) viewer() platform.Principal {
	return platform.Principal{Platform: d.platform.ID, Environment: platform.Sandbox, Permissions: []platform.Permission{platform.View}}
}

func TestService_LookupExpiresAfterTenMinutes(t *testing.T) {
	t.Parallel()
	// What is told of a person names the sender, the currencies and the fields, and is
	// found again under its id for ten minutes, by its platform alone.
	d := newEnv(t)
	told, err := d.LookupUMAAddress(t.Context(), d.viewer(), "$Success.EUR@sandbox.uma.test", receivers.Sender{UMA: "$ANA@uma.test"})
	if err != nil {
		t.Fatal(err)
	}

	want := lookup.Lookup{ID: told.ID, Platform: d.platform.ID, Customer: d.ana.ID, SenderUMA: d.ana.UMAAddress,
		ReceiverUMA: "$success.eur@sandbox.uma.test", Fields: []transaction.InfoField{{Name: "BIRTH_DATE"}},
		Currencies: []money.Currency{"EUR"}, Facts: map[string]string{"FULL_NAME": "Success Eur"},
		CreatedAt: noon, ExpiresAt: noon.Add(10 * time.Minute)}
	if !reflect.DeepEqual(told.Lookup, want) {
		t.Errorf("told %+v\nwant %+v", told.Lookup, want)
	}
	if p := told.Currencies; len(p) != 1 || p[0].Currency != "EUR" || p[0].Rate != money.MustRate("0.92") || p[0].Min != 91 || p[0].Max != 91_540 {
		t.Errorf("preferences %+v", p)
	}
	d.clock.Advance(10*time.Minute - time.Millisecond)
	if kept, err := d.store.Lookup(t.Context(), d.platform.ID, told.ID); err != nil || !reflect.DeepEqual(kept, want) {
		t.Errorf("kept %+v, %v", kept, err)
	}
	if _, err := d.store.Lookup(t.Context(), ident.NewPlatform(d.ids.New, noon), told.ID); !fault.Is(err, fault.LookupRequestNotFound) {
		t.Errorf("another platform: %v", err)
	}
	d.clock.Advance(time.Millisecond)
	if _, err := d.store.Lookup(t.Context(), d.platform.ID, told.ID); !fault.Is(err, fault.LookupRequestNotFound) {
		t.Errorf("ten minutes later: %v", err)
	}
}

func TestService_LookupExternalAccount(t *testing.T) {
	t.Parallel()
	// An account of the sender or of the platform is priced from the sender's first
	// currency; in the sender's own nothing is exchanged, within the platform's limits.
	d := newEnv(t)
	by := receivers.Sender{Customer: d.ana.ID}
	wallet := d.createAccount(t, account.External{Customer: d.ana.ID, Currency: "BTC", Type: account.Layer2Wallet, Fields: map[string]string{"address": "spark1"}})
	bank := d.createAccount(t, account.External{Currency: "USD", Type: account.USAccount, Fields: map[string]string{"accountNumber": "1", "routingNumber": "2"}})

	bitcoin, err := d.LookupExternalAccount(t.Context(), d.viewer(), wallet.ID, by)
	if err != nil {
		t.Fatal(err)
	}
	dollars, err := d.LookupExternalAccount(t.Context(), d.viewer(), bank.ID, by)
	if err != nil {
		t.Fatal(err)
	}

	if want := []receivers.SupportedCurrency{{Currency: "BTC", Rate: money.MustRate("10"), Min: 990, Max: 995_000}}; !slices.Equal(bitcoin.Currencies, want) || bitcoin.External != wallet.ID {
		t.Errorf("%+v", bitcoin)
	}
	if want := []receivers.SupportedCurrency{{Currency: "USD", Rate: money.MustRate("1"), Min: 100, Max: 1_000_000_000}}; !slices.Equal(dollars.Currencies, want) || len(dollars.Fields) > 0 {
		t.Errorf("%+v", dollars)
	}
}

func TestService_LookupOwnCustomer(t *testing.T) {
	t.Parallel()
	// A customer of the same platform is paid in the currencies that may come in and that
	// the customer has, and what is wanted of other payers is wanted of this one.
	d := newEnv(t)
	bo := d.newCustomer("bo")
	bo.FullName, bo.Currencies = "Bo Berg", []money.Currency{"BTC", "USD", "EUR"}
	nameless := d.newCustomer("nameless")
	d.do(t, func(ctx context.Context, tx ports.Tx) error {
		if err := tx.CreateCustomer(ctx, bo); err != nil {
			return err
		}
		return tx.CreateCustomer(ctx, nameless)
	})

	told, err := d.LookupUMAAddress(t.Context(), d.viewer(), "$bo@uma.test", receivers.Sender{Customer: d.ana.ID})
	if err != nil {
		t.Fatal(err)
	}
	byNameless, err := d.LookupUMAAddress(t.Context(), d.viewer(), "$bo@uma.test", receivers.Sender{Customer: nameless.ID})
	if err != nil {
		t.Fatal(err)
	}

	if !slices.Equal(told.Lookup.Currencies, []money.Currency{"USD", "BTC"}) || told.Facts["FULL_NAME"] != "Bo Berg" || len(told.Fields) != 0 {
		t.Errorf("%+v", told.Lookup)
	}
	if want := []transaction.InfoField{{Name: "FULL_NAME", Mandatory: true}}; !slices.Equal(byNameless.Fields, want) {
		t.Errorf("wanted of somebody without a name: %v", byNameless.Fields)
	}
}

func TestService_LookupRejections(t *testing.T) {
	t.Parallel()
	// Nothing is told without a sender who may pay, about nobody, oneself or somebody who
	// cannot be paid, and not where no providers are connected.
	d := newEnv(t)
	bo, late := d.newCustomer("bo"), d.newCustomer("late")
	late.Status = customer.Pending
	d.do(t, func(ctx context.Context, tx ports.Tx) error {
		if err := tx.CreateCustomer(ctx, bo); err != nil {
			return err
		}
		return tx.CreateCustomer(ctx, late)
	})
	bos := d.createAccount(t, account.External{Customer: bo.ID, Currency: "BTC", Type: account.Layer2Wallet, Fields: map[string]string{"address": "spark2"}})
	idle := d.createAccount(t, account.External{Customer: d.ana.ID, Currency: "BTC", Type: account.Layer2Wallet, Status: account.Inactive, Fields: map[string]string{"address": "spark3"}})
	real, nobody := d.viewer(), d.viewer()
	real.Environment, nobody.Permissions = platform.Production, nil
	ana := receivers.Sender{Customer: d.ana.ID}
	const euros = "$success.eur@sandbox.uma.test"

	for what, test := range map[string]struct {
		who     platform.Principal
		address string
		account ident.ExternalAccount
		by      receivers.Sender
		code    fault.Code
	}{
		"no permission":      {who: nobody, address: euros, by: ana, code: fault.Forbidden},
		"no address":         {who: d.viewer(), address: "ana", by: ana, code: fault.InvalidUMAAddress},
		"nobody":             {who: d.viewer(), address: "$nobody@sandbox.uma.test", by: ana, code: fault.UMANotFound},
		"elsewhere":          {who: d.viewer(), address: "$success.eur@bank.example", by: ana, code: fault.UMANotFound},
		"oneself":            {who: d.viewer(), address: "$Ana@uma.test", by: ana, code: fault.SelfPayment},
		"receiver not ready": {who: d.viewer(), address: late.UMAAddress, by: ana, code: fault.InvalidReceiver},
		"no sender":          {who: d.viewer(), address: euros, code: fault.InvalidInput},
		"two senders":        {who: d.viewer(), address: euros, by: receivers.Sender{UMA: "$ana@uma.test", Customer: d.ana.ID}, code: fault.InvalidInput},
		"sender unknown":     {who: d.viewer(), address: euros, by: receivers.Sender{UMA: "$eve@uma.test"}, code: fault.UserNotFound},
		"sender no address":  {who: d.viewer(), address: euros, by: receivers.Sender{UMA: "eve"}, code: fault.InvalidInput},
		"sender not ready":   {who: d.viewer(), address: euros, by: receivers.Sender{Customer: late.ID}, code: fault.UserNotReady},
		"no rate today":      {who: d.viewer(), address: "$success.mxn@sandbox.uma.test", by: ana, code: fault.QuoteRequestFailed},
		"not connected":      {who: real, address: euros, by: ana, code: fault.NotImplemented},
		"no such account":    {who: d.viewer(), account: ident.NewExternalAccount(d.ids.New, noon), by: ana, code: fault.ExternalAccountNotFound},
		"another's account":  {who: d.viewer(), account: bos.ID, by: ana, code: fault.InvalidReceiver},
		"account not in use": {who: d.viewer(), account: idle.ID, by: ana, code: fault.InvalidReceiver},
	} {
		var err error
		if test.account.IsZero() {
			_, err = d.LookupUMAAddress(t.Context(), test.who, test.address, test.by)
		} else {
			_, err = d.LookupExternalAccount(t.Context(), test.who, test.account, test.by)
		}
		if !fault.Is(err, test.code) {
			t.Errorf("%s: %v, want %s", what, err, test.code)
		}
	}
	var kept int
	if err := d.store.Pool().QueryRow(t.Context(), "SELECT count(*) FROM lookups").Scan(&kept); err != nil || kept != 0 {
		t.Errorf("%d lookups are kept, %v", kept, err)
	}
}

// fakeProviders are ten providers, every third of them blocked.
type fakeProviders struct{ people.Counterparties }

func (fakeProviders) Providers(context.Context) ([]ports.Provider, error) {
	var all []ports.Provider
	for i := range 10 {
		all = append(all, ports.Provider{Domain: fmt.Sprintf("p%d.example", i), Regions: []string{[]string{"DE", "US"}[i%2]},
			Currencies: []money.Currency{[]money.Currency{"EUR", "USD"}[i%2]}, Allowed: i%3 != 0})
	}
	return all, nil
}

func TestService_ProvidersPagination(t *testing.T) {
	t.Parallel()
	// Every provider that passes the filter stands on one page, in either order.
	e := receivers.New(receivers.Config{Counterparties: ports.CounterpartiesByEnvironment{platform.Sandbox: fakeProviders{}}})
	who := platform.Principal{Environment: platform.Sandbox, Permissions: platform.Permissions}
	for what, test := range map[string]struct {
		wanted receivers.ProviderFilter
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
			test.wanted.Limit, test.wanted.After = limit, ""
			got := ""
			for {
				page, err := e.Providers(t.Context(), who, test.wanted)
				if err != nil || int(page.Total) != len(test.want) || len(page.Items) > limit {
					t.Fatalf("%s: %+v, %v", what, page, err)
				}
				for _, p := range page.Items {
					got += p.Domain[1:2]
					test.wanted.After = p.Domain
				}
				if !page.More {
					break
				}
			}
			if got != test.want {
				t.Errorf("%s by %d: %s, want %s", what, limit, got, test.want)
			}
		}
	}
	if _, err := e.Providers(t.Context(), who, receivers.ProviderFilter{Limit: 1, Country: "XX", Currency: "XXX"}); !fault.Is(err, fault.InvalidInput) {
		t.Errorf("unknown codes: %v", err)
	}
}

func TestService_EstimateWithdrawalFee(t *testing.T) {
	t.Parallel()
	// The estimate of every currency on every chain it lives on adds up to the amount; bad
	// fields are named at once, and the account must be there and hold the currency.
	d := newEnv(t)
	accounts := map[money.Currency]account.Internal{}
	for _, currency := range []money.Currency{"USD", "BTC", "USDC", "USDT", "USDB"} {
		a, err := account.NewInternal(ident.NewInternalAccount(d.ids.New, noon), d.platform.ID, ident.Customer{}, currency, noon)
		if err != nil {
			t.Fatal(err)
		}
		accounts[currency] = a
		d.do(t, func(ctx context.Context, tx ports.Tx) error {
			return tx.OpenInternalAccounts(ctx, []account.Internal{a})
		})
	}
	addresses := map[corridor.Rail]string{corridor.Layer2: "spark1qw508d6qejxtdg4y5r3zarvary0c5xw7k", corridor.Lightning: "ana@wallet.example.com",
		corridor.Altchain: "7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU", corridor.Tron: "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t"}
	for _, evm := range []corridor.Rail{corridor.Base, corridor.Polygon, corridor.Ethereum} {
		addresses[evm] = "0xAb5801a7D398351b8bE11C439e05C5B3259aeC9B"
	}
	for currency, from := range accounts {
		for _, chain := range corridor.Chains(currency) {
			cost, err := d.EstimateWithdrawalFee(t.Context(), d.viewer(), receivers.Withdrawal{From: from.ID, Currency: currency, Chain: chain, Amount: 1_000_000, Address: addresses[chain]})
			if err != nil || cost.Total+cost.Net != 1_000_000 || cost.NetworkFeeAsset == "" || cost.ApplicationFee > cost.Total {
				t.Errorf("%s over %s: %+v, %v", currency, chain, cost, err)
			}
		}
	}

	good := receivers.Withdrawal{From: accounts["USDC"].ID, Currency: "USDC", Chain: corridor.Base, Amount: 1, Address: addresses[corridor.Base]}
	for what, test := range map[string]struct {
		change func(*receivers.Withdrawal)
		code   fault.Code
		fields []string
	}{
		"nothing at nowhere": {func(w *receivers.Withdrawal) { w.Amount, w.Address = 0, "0x" }, fault.InvalidInput, []string{"amount", "destinationAddress"}},
		"fiat":               {func(w *receivers.Withdrawal) { w.Currency = "USD" }, fault.InvalidInput, []string{"currency"}},
		"another chain":      {func(w *receivers.Withdrawal) { w.Chain = corridor.Tron }, fault.InvalidInput, []string{"cryptoNetwork"}},
		"no chain":           {func(w *receivers.Withdrawal) { w.Chain = "" }, fault.InvalidInput, []string{"cryptoNetwork"}},
		"another currency":   {func(w *receivers.Withdrawal) { w.From = accounts["BTC"].ID }, fault.InvalidInput, []string{"currency"}},
		"no account":         {func(w *receivers.Withdrawal) { w.From = ident.NewInternalAccount(d.ids.New, noon) }, fault.InternalAccountNotFound, nil},
	} {
		w := good
		test.change(&w)
		_, err := d.EstimateWithdrawalFee(t.Context(), d.viewer(), w)
		f, _ := fault.As(err)
		if !fault.Is(err, test.code) {
			t.Errorf("%s: %v, want %s", what, err, test.code)
			continue
		}
		var fields []string
		for _, field := range f.Fields {
			fields = append(fields, field.Field)
		}
		if !slices.Equal(fields, test.fields) {
			t.Errorf("%s: %v, want %v", what, fields, test.fields)
		}
	}
}
