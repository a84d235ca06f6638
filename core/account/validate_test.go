package account_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"causeway/core/account"
	"causeway/core/corridor"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/party"
)

func TestValidate_KeepsRequestValues(t *testing.T) {
	// A registered account has the values of the request, the canonical name of its type and only the fields of the type.
	t.Parallel()
	r := newRequest("USD_ACCOUNT", "USD", map[string]any{
		"accountNumber": "1234567890", "routingNumber": "021000021", "bankName": "", "paymentRails": []any{"ACH"}, "colour": "blue",
	})
	r.PlatformAccountID, r.DefaultUMADeposit = "acct-1", true

	got, err := account.Validate(r)

	if err != nil {
		t.Fatal(err)
	}
	if got.ID != externalID || got.Platform != platformID || got.Customer != customerID || got.PlatformAccountID != "acct-1" ||
		!got.DefaultUMADeposit {
		t.Errorf("values: %+v", got)
	}
	if got.Type != account.USAccount || got.Currency != "USD" || !got.CreatedAt.Equal(now) || !got.UpdatedAt.Equal(now) || got.Deleted() {
		t.Errorf("%s %s at %s", got.Type, got.Currency, got.CreatedAt)
	}
	if want := map[string]string{"accountNumber": "1234567890", "routingNumber": "021000021"}; !maps.Equal(got.Fields, want) {
		t.Errorf("fields %v; want %v", got.Fields, want)
	}
	want := account.Beneficiary{
		Type: account.Individual, FullName: "Ana Ng", BirthDate: "1990-02-28", Nationality: "PH", Email: "ana@example.com",
		PhoneNumber: "+639171234567", CountryOfResidence: "PH",
	}
	address := party.Address{Line1: "1 Main St", City: "Manila", State: "NCR", PostalCode: "1000", Country: "PH"}
	owner := *got.Beneficiary
	if owner.Address == nil || *owner.Address != address {
		t.Errorf("address %+v", owner.Address)
	}
	if owner.Address = nil; owner != want || owner.Name() != "Ana Ng" {
		t.Errorf("beneficiary %+v", owner)
	}
}

func TestValidate_ListsEveryInvalidField(t *testing.T) {
	// A request with many errors is refused once, with all of them.
	t.Parallel()
	r := newRequest("US_ACCOUNT", "EUR", map[string]any{
		"accountNumber": 1234567890.0,
		"routingNumber": "021000022",
		"beneficiary": parseObject(
			`{"beneficiaryType": "INDIVIDUAL", "birthDate": "tomorrow", "email": "ana", "phoneNumber": "555", "nationality": "Peru",
			"address": {"line1": "1 Main St", "city": 5, "country": "US"}}`),
	})
	r.PlatformAccountID = strings.Repeat("x", 256)

	got := invalidPaths(t, r)

	want := []string{
		"accountInfo.accountNumber", "accountInfo.beneficiary.address.city",
		"accountInfo.beneficiary.address.postalCode", "accountInfo.beneficiary.address.state", "accountInfo.beneficiary.birthDate",
		"accountInfo.beneficiary.email", "accountInfo.beneficiary.fullName", "accountInfo.beneficiary.nationality",
		"accountInfo.beneficiary.phoneNumber", "accountInfo.routingNumber", "currency", "platformAccountId",
	}
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Errorf("refused for %v; want %v", got, want)
	}
}

func TestValidate_RejectsInvalidTopLevelFields(t *testing.T) {
	// Errors outside the type's fields are refused by their path too.
	t.Parallel()
	wallet := map[string]any{"address": "layer2wallet1qw508d6"}
	tests := []struct {
		name   string
		change func(*account.CreateRequest)
		want   string
	}{
		{"no currency", func(r *account.CreateRequest) { r.Currency = "" }, "currency"},
		{"lower case", func(r *account.CreateRequest) { r.Currency = "btc" }, "currency"},
		{"a currency of fees", func(r *account.CreateRequest) { r.Currency = "ETH" }, "currency"},
		{"unknown currency", func(r *account.CreateRequest) { r.Currency = "DOGE" }, "currency"},
		{"a currency the type cannot hold", func(r *account.CreateRequest) { r.Currency = "USDC" }, "currency"},
		{"no account info", func(r *account.CreateRequest) { r.Info = nil }, "accountInfo"},
		{"no type", func(r *account.CreateRequest) { delete(r.Info, "accountType") }, "accountInfo.accountType"},
		{"null type", func(r *account.CreateRequest) { r.Info["accountType"] = nil }, "accountInfo.accountType"},
		{"unknown type", func(r *account.CreateRequest) { r.Info["accountType"] = "PIGGY_BANK" }, "accountInfo.accountType"},
		{"a type that is no text", func(r *account.CreateRequest) { r.Info["accountType"] = 7.0 }, "accountInfo.accountType"},
		{"an agent's choice of the deposit account",
			func(r *account.CreateRequest) { r.Agent.SetUUID(externalID.UUID()); r.DefaultUMADeposit = true }, "defaultUmaDepositAccount"},
		{"the platform's own as a deposit account", func(r *account.CreateRequest) { r.Customer, r.DefaultUMADeposit = ident.Customer{}, true },
			"defaultUmaDepositAccount"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := newRequest("LAYER2_WALLET", "BTC", wallet)
			tt.change(&r)

			if got := invalidPaths(t, r); !slices.Equal(got, []string{tt.want}) {
				t.Errorf("refused for %v; want %s", got, tt.want)
			}
		})
	}
}

func TestValidate_WrongCurrencyListsAllowedOnes(t *testing.T) {
	// The error for a wrong currency lists the currencies of the type.
	t.Parallel()
	_, err := account.Validate(newRequest("LAYER2_WALLET", "USD", map[string]any{"address": "layer2wallet1qw508d6"}))
	refusal, ok := fault.As(err)
	if !ok || len(refusal.Fields) != 1 || !strings.Contains(refusal.Fields[0].Message, "BTC or USDB") {
		t.Errorf("%v", err)
	}
	if _, err := account.Validate(newRequest("LAYER2_WALLET", "USDB", map[string]any{"address": "layer2wallet1qw508d6"})); err != nil {
		t.Errorf("USDB: %v", err)
	}
}

func TestValidate_BeneficiaryFieldsByType(t *testing.T) {
	// Each type requires the beneficiary fields that its country requires, for people and for businesses.
	t.Parallel()
	const address = `"address": {"line1": "1 Main St", "city": "X", "state": "Y", "postalCode": "1", "country": "DE"}`
	tests := []struct {
		name     string
		accounts string
		owner    string
		want     []string
	}{
		{"none", "US_ACCOUNT", `null`, []string{""}},
		{"a text", "US_ACCOUNT", `"Ana"`, []string{""}},
		{"no type", "US_ACCOUNT", `{"fullName": "Ana Ng"}`, []string{".beneficiaryType"}},
		{"an unknown type", "US_ACCOUNT", `{"beneficiaryType": "ROBOT", "fullName": "Ana Ng"}`, []string{".beneficiaryType"}},
		{"a person by name alone", "US_ACCOUNT", `{"beneficiaryType": "INDIVIDUAL", "fullName": "Ana Ng"}`, nil},
		{"a person under a legal name", "US_ACCOUNT", `{"beneficiaryType": "INDIVIDUAL", "legalName": "Ana Ng"}`, []string{".fullName"}},
		{"a name with markup", "US_ACCOUNT", `{"beneficiaryType": "INDIVIDUAL", "fullName": "<b>Ana</b>"}`, []string{".fullName"}},
		{"a name in letters that no rail carries", "US_ACCOUNT", `{"beneficiaryType": "INDIVIDUAL", "fullName": "李小龙"}`, []string{".fullName"}},
		{"a legal name in letters that no rail carries", "EUR_ACCOUNT", `{"beneficiaryType": "BUSINESS", "legalName": "東京電力"}`,
			[]string{".legalName"}},
		{"a name in Greek letters, which banks convert", "US_ACCOUNT", `{"beneficiaryType": "INDIVIDUAL", "fullName": "Ελευθέριος Ψαρράς"}`, nil},
		{"a name in letters of the country", "CNY_ACCOUNT", `{"beneficiaryType": "INDIVIDUAL", "fullName": "李小龙"}`, nil},
		{"a business", "US_ACCOUNT", `{"beneficiaryType": "BUSINESS", "legalName": "Acme & Sons, Inc."}`, nil},
		{"a business without a name", "US_ACCOUNT", `{"beneficiaryType": "BUSINESS", "fullName": "Acme"}`, []string{".legalName"}},
		{"a business is not born", "US_ACCOUNT", `{"beneficiaryType": "BUSINESS", "legalName": "Acme", "birthDate": "ignored"}`, nil},
		{"an address that is no object", "US_ACCOUNT", `{"beneficiaryType": "INDIVIDUAL", "fullName": "Ana Ng", "address": "Main St"}`,
			[]string{".address"}},
		{"euro without residence", "EUR_ACCOUNT", `{"beneficiaryType": "INDIVIDUAL", "fullName": "Ana Ng"}`, []string{".countryOfResidence"}},
		{"euro with residence", "EUR_ACCOUNT", `{"beneficiaryType": "INDIVIDUAL", "fullName": "Ana Ng", "countryOfResidence": "DE"}`, nil},
		{"euro with the country in the address", "EUR_ACCOUNT", `{"beneficiaryType": "INDIVIDUAL", "fullName": "Ana Ng", ` + address + `}`, nil},
		{"euro to a business", "EUR_ACCOUNT", `{"beneficiaryType": "BUSINESS", "legalName": "Acme GmbH"}`, nil},
		{"dirham without an address", "AED_ACCOUNT", `{"beneficiaryType": "INDIVIDUAL", "fullName": "Ana Ng"}`, []string{".address"}},
		{"dirham with one", "AED_ACCOUNT", `{"beneficiaryType": "INDIVIDUAL", "fullName": "Ana Ng", ` + address + `}`, nil},
		{"pounds without an address", "GBP_ACCOUNT", `{"beneficiaryType": "INDIVIDUAL", "fullName": "Ana Ng"}`, []string{".address"}},
		{"Guatemala", "GTQ_ACCOUNT", `{"beneficiaryType": "INDIVIDUAL", "fullName": "Ana Ng"}`, []string{".phoneNumber", ".countryOfResidence"}},
		{"Jamaica", "JMD_ACCOUNT", `{"beneficiaryType": "INDIVIDUAL", "fullName": "Ana Ng"}`, []string{".address", ".phoneNumber"}},
		{"Colombia's documents", "COP_ACCOUNT",
			`{"beneficiaryType": "INDIVIDUAL", "fullName": "Ana Ng", "documentType": "XX", "documentNumber": "1"}`, []string{".documentType"}},
		{"documents of other countries are ignored", "US_ACCOUNT",
			`{"beneficiaryType": "INDIVIDUAL", "fullName": "Ana Ng", "documentType": "XX"}`, nil},
		{"texts that are none", "CAD_ACCOUNT", `{"beneficiaryType": "INDIVIDUAL", "fullName": 1, "registrationNumber": [], "email": {}}`,
			[]string{".fullName", ".registrationNumber", ".email"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			i := slices.IndexFunc(typeCases, func(c typeCase) bool { return string(c.name) == tt.accounts })
			r := newRequest(tt.accounts, typeCases[i].currency, parseObject(typeCases[i].good))
			r.Info["beneficiary"] = parseObject(`{"owner": ` + tt.owner + `}`)["owner"]

			got := invalidPaths(t, r)

			want := make([]string, len(tt.want))
			for i, path := range tt.want {
				want[i] = "accountInfo.beneficiary" + path
			}
			if slices.Sort(want); !slices.Equal(slices.Sorted(slices.Values(got)), want) {
				t.Errorf("refused for %v; want %v", got, want)
			}
		})
	}
}

func TestValidate_ChineseBankAccountsAreBusinessOnly(t *testing.T) {
	// A bank account in China can be registered for a business with any bank's name.
	t.Parallel()
	r := newRequest("CNY_ACCOUNT", "CNY", map[string]any{"bankName": "ICBC", "accountNumber": "6222021234567890"})
	r.Info["beneficiary"] = parseObject(`{"beneficiaryType": "BUSINESS", "legalName": "Acme Ltd"}`)
	if got := invalidPaths(t, r); got != nil {
		t.Errorf("refused for %v", got)
	}
}

func TestValidate_SWIFTRequiresIBANWhereCountryHasThem(t *testing.T) {
	// Countries with IBANs need one of their own; Jersey, Guernsey and the Isle of Man use British ones.
	t.Parallel()
	tests := []struct{ country, iban, want string }{
		{"GB", "GB29NWBK60161331926819", ""},
		{"JE", "GB29NWBK60161331926819", ""},
		{"JE", "", "accountInfo.iban"},
		{"FR", "GB29NWBK60161331926819", "accountInfo.iban"},
		{"BR", "", "accountInfo.iban"},
	}
	for _, tt := range tests {
		fields := map[string]any{"country": tt.country, "swiftCode": "NWBKGB2L", "bankName": "NatWest", "accountNumber": "31926819"}
		if tt.iban != "" {
			fields["iban"] = tt.iban
		}
		if got := strings.Join(invalidPaths(t, newRequest("SWIFT_ACCOUNT", "GBP", fields)), ","); got != tt.want {
			t.Errorf("%s with IBAN %q: refused for %q; want %q", tt.country, tt.iban, got, tt.want)
		}
	}
}

func TestValidate_AcceptsTestValues(t *testing.T) {
	// The check digits and the form of a test value may be wrong if the caller accepts test
	// values. A malformed value is always refused.
	t.Parallel()
	ends := func(value string) bool { return strings.HasSuffix(value, "002") }
	tests := []struct {
		name, currency, fields string
		waived                 bool
	}{
		{"EUR_ACCOUNT", "EUR", `{"iban": "DE89370400440532013002"}`, true},
		{"EUR_ACCOUNT", "EUR", `{"iban": "DE89370400440532013003"}`, false},
		{"EUR_ACCOUNT", "EUR", `{"iban": "DE-8937040044053201300002"}`, false},
		{"MXN_ACCOUNT", "MXN", `{"clabeNumber": "032180000118359002"}`, true},
		{"MXN_ACCOUNT", "MXN", `{"clabeNumber": "03218000011835002"}`, false},
		{"BRL_ACCOUNT", "BRL", `{"pixKey": "52998224002", "pixKeyType": "CPF", "taxId": "52998224725"}`, true},
		{"BRL_ACCOUNT", "BRL", `{"pixKey": "529982242002", "pixKeyType": "CPF", "taxId": "52998224725"}`, false},
		{"BRL_ACCOUNT", "BRL", `{"pixKey": "11222333000002", "pixKeyType": "CNPJ", "taxId": "52998224725"}`, true},
		{"TRON_WALLET", "USDT", `{"address": "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjL002"}`, true},
		{"BASE_WALLET", "USDC", `{"address": "any-wallet-002"}`, true},
		{"BASE_WALLET", "USDC", `{"address": "any wallet 002"}`, false},
	}
	for _, tt := range tests {
		r := newRequest(tt.name, tt.currency, parseObject(tt.fields))
		if got := invalidPaths(t, r); got == nil {
			t.Errorf("%s %s passed as no test value", tt.name, tt.fields)
		}
		r.AcceptsTestValue = ends
		if got := invalidPaths(t, r); (got == nil) != tt.waived {
			t.Errorf("%s %s as a test value: refused for %v", tt.name, tt.fields, got)
		}
	}
}

func TestValidate_FormatOnly(t *testing.T) {
	// Without the check digits an identifier still needs its format. With them, only a correct one
	// passes.
	t.Parallel()
	for _, tt := range []struct {
		name, currency, fields string
		hasFormat              bool
	}{
		{"US_ACCOUNT", "USD", `{"accountNumber": "12345678", "routingNumber": "123456789"}`, true},
		{"US_ACCOUNT", "USD", `{"accountNumber": "12345678", "routingNumber": "12345678"}`, false},
		{"MXN_ACCOUNT", "MXN", `{"clabeNumber": "123456789012345678"}`, true},
		{"MXN_ACCOUNT", "MXN", `{"clabeNumber": "12345678901234567"}`, false},
		{"BRL_ACCOUNT", "BRL", `{"pixKey": "12345678900", "pixKeyType": "CPF", "taxId": "12345678900"}`, true},
		{"BRL_ACCOUNT", "BRL", `{"pixKey": "123", "pixKeyType": "CPF", "taxId": "12345678900"}`, false},
		{"EUR_ACCOUNT", "EUR", `{"iban": "DE00123456781234567890"}`, true},
		{"EUR_ACCOUNT", "EUR", `{"iban": "DE001234567812345678"}`, false},
		{"TRON_WALLET", "USDT", `{"address": "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6u"}`, true},
		{"TRON_WALLET", "USDT", `{"address": "R7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6u"}`, false},
	} {
		r := newRequest(tt.name, tt.currency, parseObject(tt.fields))
		if invalidPaths(t, r) == nil {
			t.Errorf("%s %s has correct check digits", tt.name, tt.fields)
		}
		r.FormatOnly = true
		if got := invalidPaths(t, r); (got == nil) != tt.hasFormat {
			t.Errorf("%s %s by its format: refused for %v", tt.name, tt.fields, got)
		}
	}
}

func TestValidate_WithoutIDOrPlatformIsInternalError(t *testing.T) {
	// An account without id or platform is a mistake of this program, not of the caller.
	t.Parallel()
	r := newRequest("LAYER2_WALLET", "BTC", map[string]any{"address": "x"})
	r.ID = ident.ExternalAccount{}
	_, err := account.Validate(r)
	if _, callers := fault.As(err); err == nil || callers {
		t.Errorf("without an id: %v", err)
	}
}

func TestRailFor(t *testing.T) {
	// The rail to an account follows from the amount, among those that reach the account.
	t.Parallel()
	tests := []struct {
		name  account.Type
		minor int64
		want  corridor.Rail
	}{
		{"US_ACCOUNT", 100_50, corridor.RTP},
		{"US_ACCOUNT", 10_000_000_01, corridor.Wire},
		{"EUR_ACCOUNT", 100_000_01, corridor.SEPA},
		{"KES_ACCOUNT", 1, corridor.MobileMoney},
		{"GBP_ACCOUNT", 1_000_000_01, corridor.BankTransfer},
		{"LAYER2_WALLET", 100_000, corridor.Layer2},
		{"POLYGON_WALLET", 100_000, corridor.Polygon},
		{"LIGHTNING", 100_000, corridor.Lightning},
	}
	for _, tt := range tests {
		i := slices.IndexFunc(typeCases, func(c typeCase) bool { return c.name == tt.name })
		created, err := account.Validate(newRequest(string(tt.name), typeCases[i].currency, parseObject(typeCases[i].good)))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := created.RailFor(tt.minor); err != nil || got != tt.want {
			t.Errorf("%s for %d: %q, %v; want %s", tt.name, tt.minor, got, err, tt.want)
		}
	}
}

func TestValidate_IBANsWithSpacesAndWrongLengths(t *testing.T) {
	t.Parallel()
	// An IBAN may have the spaces with which it is printed, and is kept without. One that is too short or too long
	// is refused with both lengths, whatever its other faults.
	spaced, err := account.Validate(newRequest("EUR_ACCOUNT", "EUR", map[string]any{"iban": "DE89 3704 0044 0532 0130 00"}))
	if err != nil || spaced.Fields["iban"] != "DE89370400440532013000" {
		t.Errorf("with spaces: %v, %v", spaced.Fields, err)
	}
	for iban, want := range map[string]string{
		"DE8937040044":            "is too short: it has 12 characters, and an IBAN of DE has 22",
		"DE893704004405320130001": "is too long: it has 23 characters, and an IBAN of DE has 22",
		"DE88370400440532013000":  "has wrong check digits; compare it with the original",
	} {
		_, err := account.Validate(newRequest("EUR_ACCOUNT", "EUR", map[string]any{"iban": iban}))
		if got, ok := fault.As(err); !ok || len(got.Fields) != 1 || got.Fields[0].Message != want {
			t.Errorf("%s: %v, want %s", iban, err, want)
		}
	}
}

func TestValidate_NamesAllowedValues(t *testing.T) {
	t.Parallel()
	// An account type that is missing or unknown, and a missing field that has a few values, are refused with what is allowed.
	for _, c := range []struct {
		typeName, field, begins string
		fields                  map[string]any
	}{
		{"FOO", "accountInfo.accountType", "must be one of AED_ACCOUNT, ALTCHAIN_WALLET, ", nil},
		{"", "accountInfo.accountType", "is required; one of AED_ACCOUNT, ALTCHAIN_WALLET, ", nil},
		{"BRL_ACCOUNT", "accountInfo.pixKeyType", "is required; CPF or CNPJ or EMAIL or PHONE or RANDOM",
			map[string]any{"pixKey": "ana@example.com", "taxId": "12345678909"}},
	} {
		_, err := account.Validate(newRequest(c.typeName, "BRL", c.fields))
		got, ok := fault.As(err)
		if !ok || len(got.Fields) != 1 || got.Fields[0].Field != c.field || !strings.HasPrefix(got.Fields[0].Message, c.begins) ||
			got.Fields[0].Constraint["enum"] == nil {
			t.Errorf("%q: %+v", c.typeName, got)
		}
	}
}
