package api_test

import (
	"slices"
	"strings"
	"testing"

	"causeway/core/account"
	"causeway/core/platform"
)

const layer2WalletInfo = `"accountInfo": {"accountType": "LAYER2_WALLET", "address": "spark1pgss"}`

func TestExternalAccount_WalletLifecycle(t *testing.T) {
	t.Parallel()
	// A customer's bitcoin wallet is ACTIVE at once and has the same content when read,
	// listed, and registered again after deletion.
	c := newClient(t)
	customer := c.must(201, "POST", "/customers", `{"customerType": "INDIVIDUAL", "fullName": "Ana Ng"}`).stringAt("id")
	body := `{"customerId": "` + customer + `", "currency": "BTC", "platformAccountId": "mine", "defaultUmaDepositAccount": true, ` +
		layer2WalletInfo + `}`

	created := c.must(201, "POST", "/customers/external-accounts", body)

	created.assertBody(t, `{"id": "*", "customerId": "`+customer+
		`", "status": "ACTIVE", "currency": "BTC", "platformAccountId": "mine", "defaultUmaDepositAccount": true,
		"accountInfo": {"accountType": "LAYER2_WALLET", "address": "spark1pgss", "paymentRails": "*"}}`)
	path := "/customers/external-accounts/" + created.stringAt("id")
	if read := c.must(200, "GET", path, ""); read.rawBody != created.rawBody {
		t.Errorf("read %s\nmade %s", read.rawBody, created.rawBody)
	}
	for query, count := range map[string]int{"": 1, "?customerId=" + customer: 1, "?currency=BTC": 1, "?currency=USD": 0,
		"?customerId=Customer:0199e3a4-7c5e-7d21-9f0b-3c1d2e4f5a6b": 0} {
		if n := len(c.must(200, "GET", "/customers/external-accounts"+query, "").dataStrings("id")); n != count {
			t.Errorf("listed by %q: %d, want %d", query, n, count)
		}
	}
	if a := c.must(409, "POST", "/customers/external-accounts", body); a.stringAt("code") != "CONFLICT" {
		t.Errorf("again: %s", a.rawBody)
	}
	c.must(204, "DELETE", path, "")
	for _, method := range []string{"GET", "DELETE"} {
		if a := c.must(404, method, path, ""); a.stringAt("code") != "EXTERNAL_ACCOUNT_NOT_FOUND" {
			t.Errorf("%s after the deletion: %s", method, a.rawBody)
		}
	}
	c.must(201, "POST", "/customers/external-accounts", body)
}

func TestExternalAccount_BankAccountResponse(t *testing.T) {
	t.Parallel()
	// Account details are returned as sent, with the canonical type, the rails and the
	// beneficiary check.
	c := newClient(t)

	created := c.must(201, "POST", "/platform/external-accounts",
		`{"currency": "USD", "accountInfo": {"accountType": "USD_ACCOUNT", "accountNumber": "123456103", "routingNumber": "021000021",
		"bankName": "First", "bankAccountType": "CHECKING", "paymentRails": ["WIRE"], "beneficiary": {"beneficiaryType": "INDIVIDUAL", "fullName": "Ana Silva", "birthDate": "1990-01-31",
		"nationality": "US", "address": {"line1": "1", "city": "B", "state": "C", "postalCode": "2", "country": "US"}}}}`)

	created.assertBody(
		t, `{"id": "*", "status": "ACTIVE", "currency": "USD", "beneficiaryVerificationStatus": "PARTIAL_MATCH", "beneficiaryVerifiedData": {"fullName": "Ana Silva Sandbox"},
		"accountInfo": {"accountType": "US_ACCOUNT", "accountNumber": "123456103", "routingNumber": "021000021", "bankName": "First", "bankAccountType": "CHECKING",
		"paymentRails": ["*", "*", "*", "*"], "beneficiary": {"beneficiaryType": "INDIVIDUAL", "fullName": "Ana Silva", "birthDate": "1990-01-31", "nationality": "US",
		"countryOfResidence": "US", "address": {"line1": "1", "city": "B", "state": "C", "postalCode": "2", "country": "US"}}}}`)
	if read := c.must(200, "GET", "/platform/external-accounts/"+created.stringAt("id"), ""); read.rawBody != created.rawBody {
		t.Errorf("read %s\nmade %s", read.rawBody, created.rawBody)
	}

	// The account belongs to the platform: the paths of customers do not find it.
	c.must(404, "GET", "/customers/external-accounts/"+created.stringAt("id"), "")
	c.must(404, "DELETE", "/customers/external-accounts/"+created.stringAt("id"), "")
	if n := len(c.must(200, "GET", "/customers/external-accounts", "").dataStrings("id")); n != 0 {
		t.Errorf("%d customers' accounts", n)
	}
	c.must(204, "DELETE", "/platform/external-accounts/"+created.stringAt("id"), "")

	// A business account without a customer also belongs to the platform.
	without := c.must(201, "POST", "/customers/external-accounts", `{"currency": "BTC", `+layer2WalletInfo+`}`)
	c.must(200, "GET", "/platform/external-accounts/"+without.stringAt("id"), "")
}

func TestCreateExternalAccount_ListsAllInvalidFields(t *testing.T) {
	t.Parallel()
	// All invalid fields are listed once: of the request and of the account details.
	c := newClient(t)
	for name, test := range map[string]struct {
		body string
		want []string
	}{
		"nothing":             {`{}`, []string{"accountInfo", "currency"}},
		"no type":             {`{"currency": "BTC", "accountInfo": {}}`, []string{"accountInfo.accountType"}},
		"no such type":        {`{"currency": "BTC", "accountInfo": {"accountType": "PIGGY_BANK"}}`, []string{"accountInfo.accountType"}},
		"no object":           {`{"currency": "BTC", "accountInfo": "spark1"}`, []string{"accountInfo"}},
		"a currency of crumb": {`{"currency": "btc", ` + layer2WalletInfo + `}`, []string{"currency"}},
		"the wrong currency":  {`{"currency": "USD", ` + layer2WalletInfo + `}`, []string{"currency"}},
		"a short routing number, a missing name and an odd e-mail": {
			`{"currency": "USD", "accountInfo": {"accountType": "US_ACCOUNT", "accountNumber": "12345", "routingNumber": "02100002",
			"beneficiary": {"beneficiaryType": "INDIVIDUAL", "email": "ana", "address": {"line1": 1, "country": "US"}}}}`,
			[]string{"accountInfo.beneficiary.address.city",
				"accountInfo.beneficiary.address.line1", "accountInfo.beneficiary.address.postalCode", "accountInfo.beneficiary.address.state",
				"accountInfo.beneficiary.email",
				"accountInfo.beneficiary.fullName", "accountInfo.routingNumber"}},
		"wrong inside and out": {
			`{"customerId": "Customer:1", "currency": "EUR", "platformAccountId": 5, "defaultUmaDepositAccount": "yes", "accountInfo": {"accountType": "EUR_ACCOUNT", "iban": 7}}`,
			[]string{"accountInfo.beneficiary", "accountInfo.iban", "customerId", "defaultUmaDepositAccount", "platformAccountId"}},
		"a default without customer": {`{"currency": "BTC", "defaultUmaDepositAccount": true, ` + layer2WalletInfo + `}`,
			[]string{"defaultUmaDepositAccount"}},
	} {
		a := c.send("POST", "/customers/external-accounts", test.body)
		if a.status != 400 || a.stringAt("code") != "INVALID_INPUT" || !slices.Equal(a.invalidFields(), test.want) {
			t.Errorf("%s: %d\ngot  %q\nwant %q\n%s", name, a.status, a.invalidFields(), test.want, a.rawBody)
		}
	}

	// The path of the platform lists the same errors.
	if a := c.send("POST", "/platform/external-accounts", `{"currency": 1, "accountInfo": {"accountType": "US_ACCOUNT"}}`); a.status != 400 ||
		!slices.Equal(a.invalidFields(), []string{"accountInfo.accountNumber", "accountInfo.beneficiary", "accountInfo.routingNumber",
			"currency"}) {
		t.Errorf("the platform's: %d %q", a.status, a.invalidFields())
	}
	if a := c.must(400, "POST", "/platform/external-accounts",
		`{"currency": "BTC", "accountInfo": {"accountType": "LAYER2_WALLET", "address": "spark1pgss105"}}`); a.stringAt(
		"code") != "INVALID_BANK_ACCOUNT" {
		t.Errorf("the sandbox's unknown account: %s", a.rawBody)
	}
	if n := len(c.must(200, "GET", "/platform/external-accounts", "").dataStrings("id")); n != 0 {
		t.Errorf("%d accounts after refusals", n)
	}
}

func TestExternalAccount_OtherPlatformNotFound(t *testing.T) {
	t.Parallel()
	// Another platform can neither read nor delete the account, nor add one to the
	// customer.
	c := newClient(t)
	customer := c.must(201, "POST", "/customers", `{"customerType": "INDIVIDUAL", "fullName": "Ana Ng"}`).stringAt("id")
	body := `{"customerId": "` + customer + `", "currency": "BTC", ` + layer2WalletInfo + `}`
	id := c.must(201, "POST", "/customers/external-accounts", body).stringAt("id")
	other := c.createPlatform(t, platform.Sandbox)

	for _, method := range []string{"GET", "DELETE"} {
		if a := other.must(404, method, "/customers/external-accounts/"+id, ""); a.stringAt("code") != "EXTERNAL_ACCOUNT_NOT_FOUND" {
			t.Errorf("%s: %s", method, a.rawBody)
		}
	}
	if a := other.must(404, "POST", "/customers/external-accounts", body); a.stringAt("code") != "USER_NOT_FOUND" {
		t.Errorf("an account for our customer: %s", a.rawBody)
	}
	if n := len(other.must(200, "GET", "/customers/external-accounts?customerId="+customer, "").dataStrings("id")); n != 0 {
		t.Errorf("%d foreign accounts are listed", n)
	}
	c.must(200, "GET", "/customers/external-accounts/"+id, "")
}

func TestCreateExternalAccount_EveryType(t *testing.T) {
	t.Parallel()
	// Every account type is accepted with the examples of its own description, or refused
	// for a named example.
	c := newClient(t)
	for _, spec := range account.Catalogue() {
		owner := account.Individual
		if spec.Type == "CNY_ACCOUNT" { // takes bank accounts of businesses alone
			owner = account.Business
		}
		var fields []string
		for i, f := range spec.Fields {
			if !spec.ExactlyOne || f.Required || i == slices.IndexFunc(spec.Fields,
				func(f account.FieldSpec) bool { return slices.Contains(spec.AnyOf, f.Name) }) {
				fields = append(fields, `"`+f.Name+`": "`+f.Example+`"`)
			}
		}
		if spec.Individual != nil {
			fields = append(fields, `"beneficiary": {"beneficiaryType": "`+string(owner)+
				`", "fullName": "Ana Silva", "legalName": "Acme", "phoneNumber": "+14155550123", "registrationNumber": "1",
				"address": {"line1": "1", "city": "B", "state": "C", "postalCode": "2", "country": "US"}}`)
		}
		body := `{"currency": "` + string(spec.Currencies[0]) + `", "accountInfo": {"accountType": "` + string(spec.Type) + `", ` +
			strings.Join(fields, ", ") + `}}`

		a := c.send("POST", "/platform/external-accounts", body)

		if a.status != 201 {
			t.Errorf("%s: %d %q\n%s", spec.Type, a.status, a.invalidFields(), a.rawBody)
			continue
		}
		if got := a.stringAt("accountInfo.accountType"); got != string(spec.Type) {
			t.Errorf("%s is returned as %s", spec.Type, got)
		}
	}
}
