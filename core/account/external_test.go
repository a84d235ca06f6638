package account_test

import (
	"slices"
	"testing"
	"time"

	"causeway/core/account"
	"causeway/core/corridor"
)

func newExternal(t *testing.T, name, currency, fields string) account.External {
	t.Helper()
	a, err := account.Validate(newRequest(name, currency, parseObject(fields)))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestFingerprint_EqualOnlyForSameAccount(t *testing.T) {
	// Two spellings of one account have one fingerprint; two accounts have two.
	t.Parallel()
	tests := []struct {
		name              string
		first, secondType string
		currency, second  string // the currencies of the first and the second
		a, b              string
		same              bool
	}{
		{"another name for the type", "US_ACCOUNT", "USD_ACCOUNT", "USD", "USD",
			`{"accountNumber": "1234567890", "routingNumber": "021000021"}`,
			`{"accountNumber": "1234567890", "routingNumber": "021000021", "bankName": "Chase"}`, true},
		{"another bank", "US_ACCOUNT", "US_ACCOUNT", "USD", "USD",
			`{"accountNumber": "1234567890", "routingNumber": "021000021"}`, `{"accountNumber": "1234567890", "routingNumber": "021000089"}`, false},
		{"digits that move between fields", "CAD_ACCOUNT", "CAD_ACCOUNT", "CAD", "CAD",
			`{"bankCode": "001", "branchCode": "00012", "accountNumber": "1234567"}`,
			`{"bankCode": "001", "branchCode": "00001", "accountNumber": "21234567"}`, false},
		{"an IBAN with and without its BIC", "EUR_ACCOUNT", "EUR_ACCOUNT", "EUR", "EUR",
			`{"iban": "DE89370400440532013000"}`, `{"iban": "DE89370400440532013000", "swiftCode": "DEUTDEFF"}`, true},
		{"an IBAN with and without its bank", "PKR_ACCOUNT", "PKR_ACCOUNT", "PKR", "PKR",
			`{"iban": "PK36SCBL0000001123456702"}`, `{"iban": "PK36SCBL0000001123456702", "bankName": "Standard Chartered"}`, true},
		{"letters of an IBAN", "EUR_ACCOUNT", "EUR_ACCOUNT", "EUR", "EUR",
			`{"iban": "NL91ABNA0417164300"}`, `{"iban": "NL91abna0417164300"}`, true},
		{"spaces in an account number", "THB_ACCOUNT", "THB_ACCOUNT", "THB", "THB",
			`{"bankName": "A", "accountNumber": "123-4-56789-0", "swiftCode": "BKKBTHBK"}`,
			`{"bankName": "B", "accountNumber": "1234567890", "swiftCode": "BKKBTHBK"}`, true},
		{"another currency in one wallet", "LAYER2_WALLET", "LAYER2_WALLET", "BTC", "USDB",
			`{"address": "layer2wallet1qw508d6"}`, `{"address": "layer2wallet1qw508d6"}`, false},
		{"one address on two chains", "BASE_WALLET", "POLYGON_WALLET", "USDC", "USDC",
			`{"address": "0xAb5801a7D398351b8bE11C439e05C5B3259aeC9B"}`, `{"address": "0xAb5801a7D398351b8bE11C439e05C5B3259aeC9B"}`, false},
		{"an address with and without its checksum letters", "BASE_WALLET", "BASE_WALLET", "USDC", "USDC",
			`{"address": "0xAb5801a7D398351b8bE11C439e05C5B3259aeC9B"}`, `{"address": "0xab5801a7d398351b8be11c439e05c5b3259aec9b"}`, true},
		{"an address where letters matter", "ALTCHAIN_WALLET", "ALTCHAIN_WALLET", "USDC", "USDC",
			`{"address": "7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU"}`, `{"address": "7XKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU"}`, false},
		{"a SegWit address in upper case", "BITCOIN_L1", "BITCOIN_L1", "BTC", "BTC",
			`{"address": "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"}`, `{"address": "BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4"}`, true},
		{"operators of one number", "ZMW_ACCOUNT", "ZMW_ACCOUNT", "ZMW", "ZMW",
			`{"phoneNumber": "+260971234567", "provider": "MTN"}`, `{"phoneNumber": "+260971234567", "provider": "AIRTEL"}`, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			a, b := newExternal(t, tt.first, tt.currency, tt.a), newExternal(t, tt.secondType, tt.second, tt.b)

			if got := a.Fingerprint() == b.Fingerprint(); got != tt.same {
				t.Errorf("same fingerprint: %v; want %v", got, tt.same)
			}
			if len(a.Fingerprint()) != 64 {
				t.Errorf("fingerprint %q", a.Fingerprint())
			}
		})
	}
}

func TestFingerprint_OfStoredBitcoinAddresses(t *testing.T) {
	t.Parallel()
	// Fingerprints are stored, so those of addresses in lower case and in base58 stay what they are.
	for address, want := range map[string]string{
		"bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4": "793cf987bece44f1d9ab71c79201fc9079ddd98d244d0a3df1c1a27216e6e699",
		"1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2":         "661886a0509172ea26bd3c55892971028807b0358ecf52716db110ea0d48caff",
	} {
		if got := newExternal(t, "BITCOIN_L1", "BTC", `{"address": "`+address+`"}`).Fingerprint(); got != want {
			t.Errorf("%s has the fingerprint %s, want %s", address, got, want)
		}
	}
}

func TestFingerprint_DiffersBetweenTypes(t *testing.T) {
	// No two of the valid accounts of the table have the same fingerprint.
	t.Parallel()
	seen := map[string]account.Type{}
	for _, tt := range typeCases {
		print := newExternal(t, string(tt.name), tt.currency, tt.good).Fingerprint()
		if other, taken := seen[print]; taken {
			t.Errorf("%s and %s have the same fingerprint", tt.name, other)
		}
		seen[print] = tt.name
	}
}

func TestMaskedIdentifier(t *testing.T) {
	// Four characters are shown, or half of a short identifier.
	t.Parallel()
	tests := map[string]string{"1234567890": "****7890", "123456": "****456", "1234": "****34"}
	for number, want := range tests {
		a := newExternal(t, "US_ACCOUNT", "USD", `{"accountNumber": "`+number+`", "routingNumber": "021000021"}`)
		if got := a.MaskedIdentifier(); got != want {
			t.Errorf("%s is shown as %s; want %s", number, got, want)
		}
	}
}

func TestValidate_RailsDependOnIdentifier(t *testing.T) {
	// The rails of a type with bank accounts and phone numbers depend on which is given.
	t.Parallel()
	tests := map[string]int{
		`{"bankName": "X", "accountNumber": "123"}`:                                 1,
		`{"phoneNumber": "+233241234567"}`:                                          1,
		`{"bankName": "X", "accountNumber": "123", "phoneNumber": "+233241234567"}`: 2,
	}
	for fields, want := range tests {
		if got := newExternal(t, "GHS_ACCOUNT", "GHS", fields).Rails; len(got) != want {
			t.Errorf("%s: %v", fields, got)
		}
	}
	// The phone number beside a Colombian or Egyptian bank account is not paid.
	for _, a := range []account.External{
		newExternal(t, "COP_ACCOUNT", "COP", `{"bankName": "X", "accountNumber": "123456789", "bankAccountType": "SAVINGS",
			"phoneNumber": "+573001234567"}`),
		newExternal(t, "EGP_ACCOUNT", "EGP", `{"bankName": "X", "accountNumber": "123456789", "phoneNumber": "+201001234567"}`),
	} {
		if !slices.Equal(a.Rails, []corridor.Rail{corridor.BankTransfer}) {
			t.Errorf("%s is reached by %v", a.Type, a.Rails)
		}
	}
}

func TestFingerprint_OfIndianAccounts(t *testing.T) {
	t.Parallel()
	// A UPI address alone identifies an account; beside it a bank account that is paid too does not go unseen.
	of := func(fields string) string { return newExternal(t, "INR_ACCOUNT", "INR", fields).Fingerprint() }
	alone := of(`{"vpa": "ana@okbank"}`)
	if of(`{"vpa": "ana@okbank", "bankName": "X"}`) != alone {
		t.Error("the name of the bank changes a UPI account")
	}
	first := of(`{"vpa": "ana@okbank", "accountNumber": "123456789012", "ifsc": "HDFC0001234"}`)
	if first == alone || first == of(`{"vpa": "ana@okbank", "accountNumber": "123456789013", "ifsc": "HDFC0001234"}`) {
		t.Error("another bank account has the same fingerprint")
	}
}

func TestPullRail(t *testing.T) {
	t.Parallel()
	// Money can be collected from bank accounts in the United States only, while they are
	// active.
	for name, test := range map[string]struct {
		account account.External
		want    corridor.Rail
	}{
		"a bank account in the US": {account.External{Type: account.USAccount, Status: account.Active}, corridor.ACH},
		"one that is not active":   {account.External{Type: account.USAccount, Status: account.UnderReview}, ""},
		"one that was deleted":     {account.External{Type: account.USAccount, Status: account.Active, DeletedAt: time.Unix(1, 0)}, ""},
		"an account in Europe":     {account.External{Type: "EUR_ACCOUNT", Status: account.Active}, ""},
		"a wallet":                 {account.External{Type: account.Layer2Wallet, Status: account.Active}, ""},
	} {
		rail, can := test.account.PullRail()
		if can != (test.want != "") || can && rail != test.want {
			t.Errorf("%s: %q, %v; want %q", name, rail, can, test.want)
		}
	}
}
