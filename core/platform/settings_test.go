package platform_test

import (
	"fmt"
	"testing"
	"time"

	"causeway/core/money"
	"causeway/core/platform"
)

func TestChangedSettings_NamesSettingsAsTheAPI(t *testing.T) {
	t.Parallel()
	// Amounts have their currency, fees are by type and currency, and of the query of an endpoint, which may be a password, there is only
	// that it was changed.
	before := platform.Platform{WebhookEndpoint: "https://a.test/hooks?key=old", Currencies: platform.DefaultCurrencies()[:1]}
	after := before
	after.WebhookEndpoint = "https://b.test/hooks?key=new"
	after.Currencies = []platform.Currency{{Code: "USD", MinAmount: 1_00, MaxAmount: 50_00, Directions: []string{"OUTGOING"},
		RequiredCounterpartyFields: []platform.CounterpartyField{{Name: "FULL_NAME", Mandatory: true}}}}
	after.Fees = []platform.FeeConfig{{Type: platform.CrossCurrencyTransaction, Source: "USD",
		Fee: platform.Fee{Fixed: money.Amount{Minor: 50, Currency: "USD"}, BasisPoints: 25}}}
	after.Wallets = &platform.Wallets{AppName: "Acme", CodeLength: 6}
	after.UpdatedAt = time.Unix(1, 0)

	got := fmt.Sprint(platform.ChangedSettings(before, after))

	want := "[embeddedWalletConfig.alphanumeric: none → false embeddedWalletConfig.appName: none → Acme " +
		"embeddedWalletConfig.expirationSeconds: none → 0 embeddedWalletConfig.otpLength: none → 6 " +
		"feeConfigs.CROSS_CURRENCY_TRANSACTION.USD: none → 0.50 USD + 25 basis points " +
		"supportedCurrencies.USD.enabledTransactionTypes: OUTGOING, INCOMING → OUTGOING " +
		"supportedCurrencies.USD.maxAmount: 10000000.00 USD → 50.00 USD " +
		"supportedCurrencies.USD.requiredCounterpartyFields.FULL_NAME: none → mandatory " +
		"webhookEndpoint: https://a.test/hooks → https://b.test/hooks webhookEndpoint.query changed]"
	if got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}
