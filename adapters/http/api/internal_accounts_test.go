package api_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"causeway/adapters/http/api"
	"causeway/adapters/pgembed/pgtest"
	"causeway/adapters/postgres"
	"causeway/core/account"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/sandbox"
	"causeway/ledger"
)

// depositClient is a client whose accounts can be funded.
type depositClient struct {
	*client
	store *postgres.DB
}

func newDepositClient(t *testing.T) *depositClient {
	t.Helper()
	b := &depositClient{}
	d := newTestServer(t, pgtest.New(t), func(_ *api.Deps, store *postgres.DB) { b.store = store })
	b.client = d.createPlatform(t, platform.Sandbox)
	return b
}

// deposit funds an account, as a rail does.
func (b *depositClient) deposit(id string, minor int64) {
	b.t.Helper()
	account, err := ident.ParseInternalAccount(id)
	if err != nil {
		b.t.Fatal(err)
	}
	is, err := b.store.InternalAccount(b.t.Context(), b.tenant.Platform.ID, account)
	if err != nil {
		b.t.Fatal(err)
	}
	posting := ledger.Deposit(ledger.Header{ID: idGenerator.New(noon), Platform: is.Platform, Effective: noon},
		ledger.IncomingFunds{Partner: ledger.Rail("RTP"), To: is.LedgerPath(), Amount: money.Amount{Minor: minor, Currency: is.Currency}})
	if err := b.store.Do(b.t.Context(), func(ctx context.Context, tx *postgres.Unit) error {
		return tx.Post(ctx,
			[]ledger.Posting{posting})
	}); err != nil {
		b.t.Fatal(err)
	}
}

func TestListCustomerInternalAccounts(t *testing.T) {
	t.Parallel()
	// A new customer has an account for each currency of the platform, with its balance
	// and funding instructions.
	b := newDepositClient(t)
	ana := b.must(201, "POST", "/customers", `{"customerType": "INDIVIDUAL", "fullName": "Ana Silva"}`).stringAt("id")
	b.must(201, "POST", "/customers", `{"customerType": "INDIVIDUAL"}`)
	list := "/customers/internal-accounts?customerId=" + ana
	dollars := b.must(200, "GET", list+"&currency=USD", "").dataStrings("id")[0]

	b.deposit(dollars, 10050)

	code := func(text string) string { return text[strings.LastIndex(text, "-")+1:] }
	listed := b.must(200, "GET", list+"&currency=USD", "")
	reference := firstInstruction(listed)["accountOrWalletInfo"].(map[string]any)["reference"].(string)
	if !strings.HasPrefix(reference, "FUND-") || len(code(reference)) != 12 {
		t.Errorf("the reference is %q", reference)
	}
	listed.assertBody(t, `{"data": [{"id": "`+dollars+`", "customerId": "`+ana+`", "type": "INTERNAL_FIAT", "status": "ACTIVE",
		"balance": {"amount": 10050, "currency": {"code": "USD", "name": "US Dollar", "symbol": "$", "decimals": 2}},
		"totalBalance": {"amount": 10050, "currency": {"code": "USD", "name": "US Dollar", "symbol": "$", "decimals": 2}},
		"fundingPaymentInstructions": [{"instructionsNotes": "*", "accountOrWalletInfo": {"accountType": "US_ACCOUNT", "accountNumber": "4210000017", "routingNumber": "021000021",
			"accountHolderName": "Causeway Client Money FBO Ana Silva", "bankName": "Causeway Sandbox Bank", "bankAddress": "*", "paymentRails": "*", "rail": "RTP", "reference": "`+
		reference+`"}}, "*"],
		"createdAt": "2026-03-14T12:00:00.000Z", "updatedAt": "2026-03-14T12:00:00.000Z"}], "hasMore": false, "totalCount": 1}`)
	wallet := b.must(200, "GET", list+"&type=EMBEDDED_WALLET", "")
	wallet.assertBody(t, `{"data": [{"id": "*", "customerId": "`+ana+
		`", "type": "EMBEDDED_WALLET", "status": "ACTIVE", "fundingPaymentInstructions": [], "privateEnabled": false,
		"balance": {"amount": 0, "currency": {"code": "USDB", "name": "*", "symbol": "*", "decimals": 6}}, "totalBalance": "*", "createdAt": "*", "updatedAt": "*"}], "hasMore": false, "totalCount": 1}`)
	chains := b.must(200, "GET", list+"&currency=USDC", "").body["data"].([]any)[0].(map[string]any)["fundingPaymentInstructions"].([]any)
	if len(chains) != 4 {
		t.Errorf("%d chains for USDC, want 4", len(chains))
	}
}

func TestListInternalAccounts_FiltersAndPagination(t *testing.T) {
	t.Parallel()
	// All filters must match, pages contain each account once, and accounts of the
	// platform and of customers are separate.
	b := newDepositClient(t)
	ana := b.must(201, "POST", "/customers", `{"customerType": "INDIVIDUAL"}`).stringAt("id")
	b.must(201, "POST", "/customers", `{"customerType": "INDIVIDUAL"}`)
	for query, want := range map[string]int{
		"": 8, "?customerId=" + ana: 4, "?currency=BTC": 2, "?type=INTERNAL_CRYPTO": 4, "?type=INTERNAL_CRYPTO&currency=USD": 0,
		"?customerId=" + ana + "&type=EMBEDDED_WALLET": 1, "?customerId=Customer:0199e3a4-7c5e-7d21-9f0b-3c1d2e4f5a6b": 0, "?currency=EUR": 0,
	} {
		var ids []string
		for cursor, more := "", true; more; {
			join := "?"
			if query != "" {
				join = "&"
			}
			page := b.must(200, "GET", "/customers/internal-accounts"+query+join+"limit=3&cursor="+cursor, "")
			ids = append(ids, page.dataStrings("id")...)
			cursor = page.stringAt("nextCursor")
			more = cursor != ""
		}
		sorted := slices.Clone(ids)
		slices.Sort(sorted)
		if len(slices.Compact(sorted)) != want || len(ids) != want {
			t.Errorf("%q lists %d, want %d", query, len(ids), want)
		}
	}
	for query, want := range map[string]int{"": 4, "?currency=USD": 1, "?type=INTERNAL_CRYPTO": 3, "?type=EMBEDDED_WALLET": 0} {
		own := b.must(200, "GET", "/platform/internal-accounts"+query, "")
		if n := len(own.dataStrings("id")); n != want || len(own.body) != 1 {
			t.Errorf("of the platform %q lists %d, want %d: %s", query, n, want, own.rawBody)
		}
	}
	for _, path := range []string{"/customers/internal-accounts?type=SAVINGS", "/customers/internal-accounts?currency=usd",
		"/customers/internal-accounts?customerId=ana",
		"/customers/internal-accounts?cursor=nonsense", "/customers/internal-accounts?limit=101", "/platform/internal-accounts?type=SAVINGS"} {
		b.must(400, "GET", path, "")
	}
	if n := len(b.createPlatform(t, platform.Sandbox).must(200, "GET", "/customers/internal-accounts?customerId="+ana,
		"").dataStrings("id")); n != 0 {
		t.Errorf("another platform lists %d", n)
	}
}

func TestPlatformInternalAccounts_CreatedForNewCurrency(t *testing.T) {
	t.Parallel()
	// Adding a currency opens an account at once, also without funding instructions.
	b := newDepositClient(t)
	own := b.must(200, "GET", "/platform/internal-accounts?currency=USD", "")
	if firstInstruction(own)["isPlatformAccount"] != true {
		t.Errorf("has a customer: %s", own.rawBody)
	}

	b.must(
		200, "PATCH", "/config", `{"supportedCurrencies": [{"currencyCode": "NGN", "minAmount": 1, "maxAmount": 1000, "requiredCounterpartyFields": [], "enabledTransactionTypes": ["OUTGOING"]}]}`)

	b.must(200, "GET", "/platform/internal-accounts?currency=NGN", "").assertBody(t,
		`{"data": [{"id": "*", "type": "INTERNAL_FIAT", "status": "ACTIVE", "fundingPaymentInstructions": [],
		"balance": {"amount": 0, "currency": {"code": "NGN", "name": "*", "symbol": "*", "decimals": 2}}, "totalBalance": "*", "createdAt": "*", "updatedAt": "*"}]}`)
	if n := len(b.must(200, "GET", "/platform/internal-accounts", "").dataStrings("id")); n != 5 {
		t.Errorf("%d accounts, want 5: those of currencies no longer used stay", n)
	}
}

func TestUpdateInternalAccount(t *testing.T) {
	t.Parallel()
	// Only wallets have the setting privateEnabled: it is refused for other accounts, has to be signed for
	// wallets, and an empty update returns the account.
	b := newDepositClient(t)
	ana := b.must(201, "POST", "/customers", `{"customerType": "INDIVIDUAL"}`).stringAt("id")
	list := "/customers/internal-accounts?customerId=" + ana
	dollars, wallet := b.must(200, "GET", list+"&currency=USD", "").dataStrings("id")[0], b.must(200, "GET", list+"&type=EMBEDDED_WALLET",
		"").dataStrings("id")[0]
	b.deposit(dollars, 7)

	if a := b.must(200, "PATCH", "/internal-accounts/"+dollars, `{}`); a.stringAt("id") != dollars || a.stringAt("balance.amount") != "7" {
		t.Errorf("no change: %s", a.rawBody)
	}
	if a := b.must(400, "PATCH", "/internal-accounts/"+dollars, `{"privateEnabled": true}`); !slices.Equal(a.invalidFields(),
		[]string{"privateEnabled"}) {
		t.Errorf("not a wallet: %s", a.rawBody)
	}
	first := b.must(202, "PATCH", "/internal-accounts/"+wallet, `{"privateEnabled": true}`)
	signed := b.signed(sandbox.WalletSignature, first.stringAt("requestId"))
	if a := signed.must(200, "PATCH", "/internal-accounts/"+wallet, `{"privateEnabled": true}`); a.stringAt("privateEnabled") != "true" {
		t.Errorf("a wallet: %s", a.rawBody)
	}
	if a := b.must(200, "GET", list+"&type=EMBEDDED_WALLET", ""); !slices.Equal(a.dataStrings("privateEnabled"), []string{"true"}) {
		t.Errorf("listed: %s", a.rawBody)
	}
	b.must(400, "PATCH", "/internal-accounts/"+dollars, `{"privateEnabled": "yes"}`)
	b.must(400, "PATCH", "/internal-accounts/1", `{}`)
	for name, a := range map[string]reply{
		"none":             b.must(404, "PATCH", "/internal-accounts/InternalAccount:0199e3a4-7c5e-7d21-9f0b-3c1d2e4f5a6b", `{}`),
		"somebody else's":  b.createPlatform(t, platform.Sandbox).must(404, "PATCH", "/internal-accounts/"+dollars, `{}`),
		"not for the kind": b.must(404, "PATCH", "/internal-accounts/InternalAccount:"+strings.TrimPrefix(ana, "Customer:"), `{}`),
	} {
		if a.stringAt("code") != "INTERNAL_ACCOUNT_NOT_FOUND" {
			t.Errorf("%s: %s", name, a.rawBody)
		}
	}
}

func TestEvents_InternalAccountMatchesList(t *testing.T) {
	t.Parallel()
	// The event of an account has the same body as the lists, and in addition
	// referenceCode.
	b := newDepositClient(t)
	id, err := ident.ParseInternalAccount(b.must(200, "GET", "/platform/internal-accounts?currency=USD", "").dataStrings("id")[0])
	if err != nil {
		t.Fatal(err)
	}
	is, err := b.store.InternalAccount(t.Context(), b.tenant.Platform.ID, id)
	if err != nil {
		t.Fatal(err)
	}

	rendered, err := api.Events.Render(account.WithBalance{Internal: is, Balance: 0}.BalanceUpdatedEvent(
		ident.NewWebhook(idGenerator.New, noon), noon))

	var event struct {
		Type, Event     string
		InternalAccount map[string]any
	}
	if err := json.Unmarshal(rendered.Body, &event); err != nil {
		t.Fatalf("%v: %s", err, rendered.Body)
	}
	if err != nil || event.Type != "INTERNAL_ACCOUNT_STATUS" || event.Event != "INTERNAL_ACCOUNT.BALANCE_UPDATED" {
		t.Errorf("%v: %s", err, rendered.Body)
	}
	for _, instruction := range event.InternalAccount["fundingPaymentInstructions"].([]any) {
		info := instruction.(map[string]any)["accountOrWalletInfo"].(map[string]any)
		if info["reference"] != is.Reference || info["referenceCode"] != is.Reference {
			t.Errorf("the code is %v and %v, want %s", info["reference"], info["referenceCode"], is.Reference)
		}
		delete(info, "referenceCode")
	}
	body, err := json.Marshal(event.InternalAccount)
	if err != nil {
		t.Fatal(err)
	}
	b.must(200, "GET", "/platform/internal-accounts?currency=USD", "").assertBody(t, `{"data": [`+string(body)+`]}`)
}

// firstInstruction returns the first funding instruction of the first account of a list.
func firstInstruction(listed reply) map[string]any {
	return listed.body["data"].([]any)[0].(map[string]any)["fundingPaymentInstructions"].([]any)[0].(map[string]any)
}
