package api_test

import (
	"slices"
	"strings"
	"testing"

	"causeway/core/platform"
)

func TestConfig_GetAndUpdate(t *testing.T) {
	t.Parallel()
	// An update returns the whole configuration; settings that are not sent do not change.
	c := newClient(t)
	c.must(200, "GET", "/config", "").assertBody(t, `{"id": "`+c.tenant.Platform.ID.String()+
		`", "umaDomain": "uma.acme.test", "webhookSignatures": ["ECDSA_P256_SHA256", "HMAC_SHA256"], "supportedCurrencies": ["*", "*", "*", "*"],
		"isRegulatedFinancialInstitution": false, "createdAt": "2026-03-14T12:00:00.000Z", "updatedAt": "2026-03-14T12:00:00.000Z"}`)

	changed := c.must(200, "PATCH", "/config",
		`{"webhookEndpoint": "http://127.0.0.1:9/hook", "supportedCurrencies": [{"currencyCode": "EUR", "minAmount": 1,
		"maxAmount": 9000000000000000, "requiredCounterpartyFields": [{"name": "FULL_NAME", "mandatory": true}], "enabledTransactionTypes": ["OUTGOING"], "unknown": 1}]}`)

	want := `{"id": "*", "umaDomain": "uma.acme.test", "webhookEndpoint": "http://127.0.0.1:9/hook", "webhookSignatures": ["ECDSA_P256_SHA256", "HMAC_SHA256"], "supportedCurrencies": [{"currencyCode": "EUR", "minAmount": 1,
		"maxAmount": 9000000000000000, "requiredCounterpartyFields": [{"name": "FULL_NAME", "mandatory": true}], "enabledTransactionTypes": ["OUTGOING"], "providerRequiredCustomerFields": ["FULL_NAME"]}],
		"isRegulatedFinancialInstitution": false, "createdAt": "*", "updatedAt": "*"}`
	changed.assertBody(t, want)
	c.must(200, "GET", "/config", "").assertBody(t, want)

	// An empty update changes nothing, and an empty endpoint removes it.
	c.must(200, "PATCH", "/config", `{"umaDomain": null}`).assertBody(t, want)
	if got := c.must(200, "PATCH", "/config", `{"webhookEndpoint": null}`).stringAt("webhookEndpoint"); got != "" {
		t.Errorf("after null the endpoint is %q", got)
	}
	if got := c.must(200, "PATCH", "/config", `{"webhookEndpoint": ""}`).stringAt("webhookEndpoint"); got != "" {
		t.Errorf("the endpoint is %q", got)
	}
}

func TestUpdateConfig_KYCRedirectOrigins(t *testing.T) {
	t.Parallel()
	// A redirectUri of a link must be of one of the origins that are stored; without any a production platform has none,
	// and a sandbox platform any.
	c := newClient(t)
	customer := c.must(201, "POST", "/customers", `{"customerType": "INDIVIDUAL", "fullName": "Ana Ng"}`).stringAt("id")
	link := func(status int) reply {
		return c.must(status, "POST", "/customers/"+customer+"/kyc-link", `{"redirectUri": "https://example.org/done"}`)
	}
	link(201)
	for _, origin := range []string{"https://example.com/done", "http://example.com", "example.com"} {
		c.must(400, "PATCH", "/config", `{"kycRedirectOrigins": ["`+origin+`"]}`)
	}

	c.must(200, "PATCH", "/config", `{"kycRedirectOrigins": ["https://example.com"]}`)

	c.must(200, "GET", "/config", "").assertBody(t,
		`{"id": "*", "umaDomain": "*", "webhookSignatures": "*", "supportedCurrencies": "*", "kycRedirectOrigins": ["https://example.com"],
		"isRegulatedFinancialInstitution": false, "createdAt": "*", "updatedAt": "*"}`)
	if got := link(400); !slices.Equal(got.invalidFields(), []string{"redirectUri"}) || !strings.Contains(got.rawBody, "PATCH /config") {
		t.Errorf("of another origin: %s", got.rawBody)
	}
	c.must(201, "POST", "/customers/"+customer+"/kyc-link", "")
	c.must(200, "PATCH", "/config", `{"kycRedirectOrigins": ["https://example.org"]}`)
	link(201)
	c.must(200, "PATCH", "/config", `{"kycRedirectOrigins": []}`)
	link(201)
}

func TestUpdateConfig_WebhookSignatures(t *testing.T) {
	t.Parallel()
	// A platform chooses the signatures of its webhooks; at least one, and none that is unknown.
	c := newClient(t)
	for _, body := range []string{`{"webhookSignatures": []}`, `{"webhookSignatures": ["HMAC_SHA256", "RSA"]}`} {
		if got := c.send("PATCH", "/config", body); got.status != 400 || got.stringAt("code") != "INVALID_INPUT" {
			t.Errorf("%s: %d %s", body, got.status, got.rawBody)
		}
	}

	c.must(200, "PATCH", "/config", `{"webhookSignatures": ["ED25519", "HMAC_SHA256"]}`)

	c.must(200, "GET", "/config", "").assertBody(t,
		`{"id": "*", "umaDomain": "*", "webhookSignatures": ["HMAC_SHA256", "ED25519"], "supportedCurrencies": ["*", "*", "*", "*"],
		"isRegulatedFinancialInstitution": false, "createdAt": "*", "updatedAt": "*"}`)
}

func TestUpdateConfig_ListsAllInvalidFields(t *testing.T) {
	t.Parallel()
	// All errors of an update are listed at once, including those found by core.
	c := newClient(t)
	for name, test := range map[string]struct {
		body string
		want []string
	}{
		"wrong types": {`{"umaDomain": 1, "supportedCurrencies": {}}`, []string{"supportedCurrencies", "umaDomain"}},
		"of every kind": {
			`{"umaDomain": "not a host", "webhookEndpoint": "ftp://x", "supportedCurrencies": [{"currencyCode": "usd", "minAmount": 5, "maxAmount": 1,
			"requiredCounterpartyFields": [{"name": "SHOE_SIZE"}], "enabledTransactionTypes": ["SIDEWAYS"]}]}`, []string{
				"supportedCurrencies[0].currencyCode", "supportedCurrencies[0].enabledTransactionTypes[0]", "supportedCurrencies[0].maxAmount",
				"supportedCurrencies[0].requiredCounterpartyFields[0].mandatory", "supportedCurrencies[0].requiredCounterpartyFields[0].name",
				"umaDomain", "webhookEndpoint"}},
		"missing fields": {`{"supportedCurrencies": [{}]}`, []string{"supportedCurrencies[0].currencyCode",
			"supportedCurrencies[0].enabledTransactionTypes",
			"supportedCurrencies[0].maxAmount", "supportedCurrencies[0].minAmount", "supportedCurrencies[0].requiredCounterpartyFields"}},
		"a currency twice": {`{"supportedCurrencies": [
			{"currencyCode": "USD", "minAmount": 1, "maxAmount": 2, "requiredCounterpartyFields": [], "enabledTransactionTypes": ["OUTGOING"]},
			{"currencyCode": "USD", "minAmount": 1, "maxAmount": 2, "requiredCounterpartyFields": [], "enabledTransactionTypes": ["OUTGOING"]}]}`,
			[]string{"supportedCurrencies[1].currencyCode"}},
		"a fraction of a cent": {
			`{"supportedCurrencies": [{"currencyCode": "USD", "minAmount": 1.5, "maxAmount": 9000000000000001, "requiredCounterpartyFields": [], "enabledTransactionTypes": []}]}`,
			[]string{"supportedCurrencies[0].enabledTransactionTypes", "supportedCurrencies[0].maxAmount", "supportedCurrencies[0].minAmount"}},
	} {
		a := c.send("PATCH", "/config", test.body)
		if a.status != 400 || a.stringAt("code") != "INVALID_INPUT" || !slices.Equal(a.invalidFields(), test.want) {
			t.Errorf("%s: %d %q\nwant %q\n%s", name, a.status, a.invalidFields(), test.want, a.rawBody)
		}
	}

	// In production the endpoint must use https.
	if a := c.createPlatform(t, platform.Production).send("PATCH", "/config", `{"webhookEndpoint": "http://example.com"}`); a.status != 400 ||
		!slices.Equal(a.invalidFields(), []string{"webhookEndpoint"}) {
		t.Errorf("http in production: %d %s", a.status, a.rawBody)
	}
}

func TestUpdateConfig_EmbeddedWallets(t *testing.T) {
	t.Parallel()
	// The settings of embedded wallets are shown once one is set. An update changes those it names, and
	// null sets a default.
	c := newClient(t)
	config := func(wallets string) string {
		return `{"id": "*", "umaDomain": "*", "webhookSignatures": "*", "supportedCurrencies": "*", "embeddedWalletConfig": ` + wallets + `,
			"isRegulatedFinancialInstitution": false, "createdAt": "*", "updatedAt": "*"}`
	}

	c.must(200, "PATCH", "/config", `{"embeddedWalletConfig": {}}`).assertBody(t,
		config(`{"otpLength": 6, "alphanumeric": false, "expirationSeconds": 300, "sendFromEmailSenderName": "Notifications"}`))

	all := `{"appName": "Acme Wallet", "otpLength": 8, "alphanumeric": true, "expirationSeconds": 600, "sendFromEmailAddress": "wallet@acme.test",
		"sendFromEmailSenderName": "Acme", "replyToEmailAddress": "help@acme.test", "logoUrl": "https://acme.test/logo.png", "passkeyRpId": "acme.test",
		"passkeyOrigins": ["https://app.acme.test"], "oauthClientIds": ["1-a.apps.googleusercontent.com"]}`
	c.must(200, "PATCH", "/config", `{"embeddedWalletConfig": `+all+`}`).assertBody(t, config(all))
	c.must(200, "PATCH", "/config", `{"webhookEndpoint": "", "embeddedWalletConfig": {"otpLength": 5}}`)
	c.must(200, "GET", "/config", "").assertBody(t, config(strings.Replace(all, `"otpLength": 8`, `"otpLength": 5`, 1)))

	c.must(
		200, "PATCH", "/config", `{"embeddedWalletConfig": {"appName": null, "otpLength": null, "alphanumeric": null, "expirationSeconds": null, "sendFromEmailAddress": null,
		"sendFromEmailSenderName": null, "replyToEmailAddress": null, "logoUrl": null, "passkeyRpId": null, "passkeyOrigins": null, "oauthClientIds": []}}`).assertBody(t,
		config(`{"otpLength": 6, "alphanumeric": false, "expirationSeconds": 300, "sendFromEmailSenderName": "Notifications"}`))
}

func TestUpdateConfig_InvalidEmbeddedWallets(t *testing.T) {
	t.Parallel()
	// Every invalid setting of embedded wallets is listed, those that the schema finds with those of core.
	c := newClient(t)
	for name, test := range map[string]struct {
		wallets string
		want    []string
	}{
		"of every kind": {
			`{"otpLength": 13, "expirationSeconds": 0, "appName": "a\nb", "sendFromEmailAddress": "x", "logoUrl": "http://acme.test/logo.png", "passkeyRpId": "https://acme.test",
			"passkeyOrigins": ["https://acme.test/x"], "oauthClientIds": [""]}`, []string{
				"embeddedWalletConfig.appName", "embeddedWalletConfig.expirationSeconds", "embeddedWalletConfig.logoUrl",
				"embeddedWalletConfig.oauthClientIds[0]",
				"embeddedWalletConfig.otpLength", "embeddedWalletConfig.passkeyOrigins[0]", "embeddedWalletConfig.passkeyRpId",
				"embeddedWalletConfig.sendFromEmailAddress"}},
		"wrong types": {`{"otpLength": "6", "appName": 1, "passkeyOrigins": "https://acme.test"}`, []string{
			"embeddedWalletConfig.appName", "embeddedWalletConfig.otpLength", "embeddedWalletConfig.passkeyOrigins"}},
		"an origin of another site": {`{"passkeyRpId": "acme.test", "passkeyOrigins": ["https://acme.test", "https://evil-acme.test"]}`,
			[]string{"embeddedWalletConfig.passkeyOrigins[1]"}},
	} {
		a := c.send("PATCH", "/config", `{"embeddedWalletConfig": `+test.wallets+`}`)
		if a.status != 400 || a.stringAt("code") != "INVALID_INPUT" || !slices.Equal(a.invalidFields(), test.want) {
			t.Errorf("%s: %d %q\nwant %q\n%s", name, a.status, a.invalidFields(), test.want, a.rawBody)
		}
	}

	// localhost is for sandbox platforms, and the stored origins must stay below the domain.
	local := `{"embeddedWalletConfig": {"passkeyRpId": "localhost", "passkeyOrigins": ["http://localhost:3000"]}}`
	c.must(200, "PATCH", "/config", local)
	if a := c.send("PATCH", "/config", `{"embeddedWalletConfig": {"passkeyRpId": "acme.test"}}`); a.status != 400 ||
		!slices.Equal(a.invalidFields(), []string{"embeddedWalletConfig.passkeyOrigins[0]"}) {
		t.Errorf("another domain: %d %s", a.status, a.rawBody)
	}
	if a := c.createPlatform(t, platform.Production).send("PATCH", "/config", local); a.status != 400 ||
		!slices.Equal(a.invalidFields(), []string{"embeddedWalletConfig.passkeyOrigins[0]", "embeddedWalletConfig.passkeyRpId"}) {
		t.Errorf("localhost in production: %d %s", a.status, a.rawBody)
	}
}
