package account_test

import (
	"slices"
	"strings"
	"testing"

	"causeway/core/account"
	"causeway/core/corridor"
	"causeway/core/fault"
)

// A case is one type with a valid account and several invalid ones. Each entry of bad is a
// change to the valid one, "field=value" or "field" to omit it, and must be refused for
// exactly that field, or for the field after an arrow.
type typeCase struct {
	name     account.Type
	currency string
	good     string
	rails    string
	country  string
	id       string
	bad      []string
}

var typeCases = []typeCase{
	{"AED_ACCOUNT", "AED", `{"iban": "AE070331234567890123456", "swiftCode": "EBILAEAD"}`, "BANK_TRANSFER", "AE", "AE070331234567890123456",
		[]string{"iban", "iban=AE080331234567890123456", "iban=AE07033123456789012345", "iban=DE89370400440532013000", "swiftCode=EBIL",
			"swiftCode=EBILXXAD"}},
	{"BDT_ACCOUNT", "BDT", `{"bankName": "bKash", "accountNumber": "123 456-7"}`, "BANK_TRANSFER", "BD", "123 456-7",
		[]string{"accountNumber > accountInfo", "accountNumber=12;34", "branchCode=123", "swiftCode=bracbddh", "phoneNumber=01712345678"}},
	{"BRL_ACCOUNT", "BRL", `{"pixKey": "52998224725", "pixKeyType": "CPF", "taxId": "52998224725"}`, "PIX", "BR", "52998224725",
		[]string{"pixKey", "pixKeyType", "taxId", "pixKey=52998224726", "pixKey=5299822472", "pixKey=ana@example.com", "pixKeyType=DNI",
			"taxId=52998224724", "taxId=529982247251",
			"taxId=11111111111", "taxId=11222333000182", "pixKeyType=CNPJ > pixKey", "pixKeyType=EMAIL > pixKey", "pixKeyType=PHONE > pixKey",
			"pixKeyType=RANDOM > pixKey"}},
	{"BWP_ACCOUNT", "BWP", `{"phoneNumber": "+26771234567", "provider": "Orange"}`, "MOBILE_MONEY", "BW", "+26771234567",
		[]string{"phoneNumber", "provider", "phoneNumber=26771234567", "phoneNumber=+26"}},
	{"CAD_ACCOUNT", "CAD", `{"bankCode": "001", "branchCode": "00012", "accountNumber": "1234567"}`, "BANK_TRANSFER", "CA", "1234567",
		[]string{"bankCode", "branchCode", "accountNumber", "bankCode=1", "branchCode=0001A", "accountNumber=123456",
			"accountNumber=1234567890123"}},
	{"CNY_ACCOUNT", "CNY", `{"bankName": "AliPay", "phoneNumber": "+8613812345678"}`, "MOBILE_MONEY", "CN", "+8613812345678",
		[]string{"bankName", "bankName=Alipay", "phoneNumber > accountInfo", "accountNumber=6222021234567890"}},
	{"COP_ACCOUNT", "COP", `{"bankName": "Bancolombia", "accountNumber": "12345678901", "bankAccountType": "SAVINGS"}`, "BANK_TRANSFER",
		"CO", "12345678901",
		[]string{"accountNumber > accountInfo", "bankAccountType=AHORROS", "phoneNumber=3001234567"}},
	{"DKK_ACCOUNT", "DKK", `{"iban": "DK5000400440116243"}`, "SEPA SEPA_INSTANT", "DK", "DK5000400440116243",
		[]string{"iban", "iban=DK5100400440116243", "iban=SE4550000000058398257466", "swiftCode=X"}},
	{"EGP_ACCOUNT", "EGP", `{"bankName": "Banque Misr", "iban": "EG380019000500000000263180002"}`, "BANK_TRANSFER", "EG",
		"EG380019000500000000263180002",
		[]string{"bankName", "iban > accountInfo", "iban=EG390019000500000000263180002", "iban=EG38", "phoneNumber=0100"}},
	{"EUR_ACCOUNT", "EUR", `{"iban": "DE89370400440532013000"}`, "SEPA SEPA_INSTANT", "DE", "DE89370400440532013000",
		[]string{"iban", "iban=DE89370400440532013001", "iban=DE8937040044053201300", "iban=DE89-3704-0044-0532-0130-00",
			"iban=GB29NWBK60161331926819", "iban=US89370400440532013000", "swiftCode=DEUT"}},
	{"GBP_ACCOUNT", "GBP", `{"sortCode": "200000", "accountNumber": "55779911"}`, "FASTER_PAYMENTS BANK_TRANSFER", "GB", "55779911",
		[]string{"sortCode", "accountNumber", "sortCode=20-00-00", "accountNumber=5577991"}},
	{"GHS_ACCOUNT", "GHS", `{"phoneNumber": "+233241234567"}`, "MOBILE_MONEY", "GH", "+233241234567",
		[]string{"phoneNumber > accountInfo", "phoneNumber=0241234567"}},
	{"GTQ_ACCOUNT", "GTQ", `{"accountNumber": "1234567890", "bankAccountType": "CHECKING"}`, "BANK_TRANSFER", "GT", "1234567890",
		[]string{"accountNumber", "bankAccountType", "bankAccountType=checking"}},
	{"HKD_ACCOUNT", "HKD", `{"bankName": "HSBC", "accountNumber": "123456789012", "swiftCode": "HSBCHKHH"}`, "BANK_TRANSFER",
		"HK", "123456789012",
		[]string{"bankName", "accountNumber", "swiftCode", "swiftCode=HSBCHKHHX"}},
	{"HTG_ACCOUNT", "HTG", `{"phoneNumber": "+50934123456"}`, "MOBILE_MONEY", "HT", "+50934123456",
		[]string{"phoneNumber", "phoneNumber=34123456"}},
	{"IDR_ACCOUNT", "IDR", `{"bankName": "BCA", "accountNumber": "1234567890", "swiftCode": "CENAIDJA", "phoneNumber": "+628123456789"}`,
		"BANK_TRANSFER", "ID", "1234567890",
		[]string{"bankName", "accountNumber", "swiftCode", "phoneNumber", "phoneNumber=+14155550123", "phoneNumber=+628"}},
	{"INR_ACCOUNT", "INR", `{"vpa": "ana.ng@okbank"}`, "UPI", "IN", "ana.ng@okbank",
		[]string{"vpa > accountInfo", "vpa=ana", "vpa=ana@ok.bank", "ifsc=HDFC1001234", "accountNumber=12345678", "rail=IMPS",
			"rail=NEFT > accountNumber", "rail=RTGS > accountNumber"}},
	{"JMD_ACCOUNT", "JMD", `{"accountNumber": "1234567890", "branchCode": "00216", "bankAccountType": "SAVINGS"}`, "BANK_TRANSFER",
		"JM", "1234567890",
		[]string{"accountNumber", "branchCode", "bankAccountType", "branchCode=216"}},
	{"KES_ACCOUNT", "KES", `{"phoneNumber": "+254712345678", "provider": "M-PESA"}`, "MOBILE_MONEY", "KE", "+254712345678",
		[]string{"phoneNumber", "provider", "phoneNumber=+255712345678", "provider=MPESA"}},
	{"MWK_ACCOUNT", "MWK", `{"phoneNumber": "+265991234567", "provider": "TNM"}`, "MOBILE_MONEY", "MW", "+265991234567",
		[]string{"phoneNumber", "provider", "phoneNumber=+26599123456", "provider=MTN"}},
	{"MXN_ACCOUNT", "MXN", `{"clabeNumber": "032180000118359719"}`, "SPEI", "MX", "032180000118359719",
		[]string{"clabeNumber", "clabeNumber=032180000118359718", "clabeNumber=03218000011835971", "clabeNumber=03218000011835971X"}},
	{"MYR_ACCOUNT", "MYR", `{"bankName": "Maybank", "accountNumber": "112233445566", "swiftCode": "MBBEMYKL"}`, "BANK_TRANSFER",
		"MY", "112233445566",
		[]string{"bankName", "accountNumber", "swiftCode", "swiftCode=mbbemykl"}},
	{"NGN_ACCOUNT", "NGN", `{"accountNumber": "0123456789", "bankName": "GTBank"}`, "BANK_TRANSFER", "NG", "0123456789",
		[]string{"accountNumber", "bankName", "accountNumber=123456789", "bankName=GTBANK PLC"}},
	{"PHP_ACCOUNT", "PHP", `{"bankName": "BDO Unibank", "accountNumber": "001234567890"}`, "BANK_TRANSFER", "PH", "001234567890",
		[]string{"bankName", "accountNumber", "accountNumber=1234567", "accountNumber=12345678901234567", "bankName=BDO"}},
	{"PKR_ACCOUNT", "PKR", `{"iban": "PK36SCBL0000001123456702"}`, "BANK_TRANSFER", "PK", "PK36SCBL0000001123456702",
		[]string{"iban > accountInfo", "iban=PK37SCBL0000001123456702", "phoneNumber=0300"}},
	{"RWF_ACCOUNT", "RWF", `{"phoneNumber": "+250781234567", "provider": "MTN"}`, "MOBILE_MONEY", "RW", "+250781234567",
		[]string{"phoneNumber", "provider", "phoneNumber=+25078123456", "provider=VODACOM"}},
	{"SGD_ACCOUNT", "SGD", `{"accountNumber": "1234567890", "swiftCode": "DBSSSGSG"}`, "PAYNOW FAST BANK_TRANSFER", "SG", "1234567890",
		[]string{"accountNumber", "swiftCode", "swiftCode=DBSS"}},
	{"SLV_ACCOUNT", "USD", `{"bankName": "Banco Agrícola", "accountNumber": "1234567890"}`, "BANK_TRANSFER", "SV", "1234567890",
		[]string{"accountNumber > accountInfo", "bankAccountType=OTHER"}},
	{"SWIFT_ACCOUNT", "USD", `{"country": "HK", "swiftCode": "HSBCHKHH", "bankName": "HSBC", "accountNumber": "123456789012"}`, "SWIFT",
		"HK", "123456789012",
		[]string{"country", "country=GB > iban", "country=hk", "swiftCode", "bankName", "iban=DE89370400440532013001"}},
	{"THB_ACCOUNT", "THB", `{"bankName": "Bangkok Bank", "accountNumber": "1234567890", "swiftCode": "BKKBTHBK"}`, "BANK_TRANSFER",
		"TH", "1234567890",
		[]string{"bankName", "accountNumber", "swiftCode"}},
	{"TZS_ACCOUNT", "TZS", `{"phoneNumber": "+255754123456", "provider": "VODACOM"}`, "MOBILE_MONEY", "TZ", "+255754123456",
		[]string{"phoneNumber", "provider", "phoneNumber=+254754123456", "provider=TIGO"}},
	{"UGX_ACCOUNT", "UGX", `{"phoneNumber": "+256772123456", "provider": "MTN"}`, "MOBILE_MONEY", "UG", "+256772123456",
		[]string{"phoneNumber", "provider", "phoneNumber=+25677212345", "provider=TNM"}},
	{"US_ACCOUNT", "USD", `{"accountNumber": "1234567890", "routingNumber": "021000021", "bankAccountType": "CHECKING", "bankName": "Chase"}`,
		"ACH WIRE RTP FEDNOW", "US", "1234567890",
		[]string{"accountNumber", "routingNumber", "accountNumber=123", "accountNumber=123456789012345678", "accountNumber=12345A",
			"routingNumber=021000022", "routingNumber=02100002", "routingNumber=000000000",
			"routingNumber=990000000", "bankAccountType=CURRENT", "intermediaryRoutingNumber=123456789", "bankName=\t"}},
	{"VND_ACCOUNT", "VND", `{"bankName": "Vietcombank", "accountNumber": "1234567890", "swiftCode": "BFTVVNVX"}`, "BANK_TRANSFER",
		"VN", "1234567890",
		[]string{"bankName", "accountNumber", "swiftCode"}},
	{"XAF_ACCOUNT", "XAF", `{"phoneNumber": "+237671234567", "provider": "MTN", "region": "CM"}`, "MOBILE_MONEY", "CM", "+237671234567",
		[]string{"phoneNumber", "provider", "region", "region=GA", "region=CG > phoneNumber", "phoneNumber=+23767123456"}},
	{"XOF_ACCOUNT", "XOF", `{"phoneNumber": "+221771234567", "provider": "Wave", "region": "SN"}`, "MOBILE_MONEY", "SN", "+221771234567",
		[]string{"phoneNumber", "provider", "region", "region=ML", "region=CI > phoneNumber", "region=BJ > phoneNumber",
			"region=TG > phoneNumber", "phoneNumber=+2217712345678"}},
	{"ZAR_ACCOUNT", "ZAR", `{"accountNumber": "1234567890", "bankName": "Capitec Bank"}`, "BANK_TRANSFER", "ZA", "1234567890",
		[]string{"accountNumber", "bankName", "accountNumber=12345678", "accountNumber=12345678901234"}},
	{"ZMW_ACCOUNT", "ZMW", `{"phoneNumber": "+260971234567", "provider": "ZAMTEL"}`, "MOBILE_MONEY", "ZM", "+260971234567",
		[]string{"phoneNumber", "provider", "phoneNumber=+2609712345678", "provider=M-PESA"}},

	{"LAYER2_WALLET", "BTC", `{"address": "layer2wallet1qw508d6qejxtdg4y5r3za"}`, "LAYER2", "", "layer2wallet1qw508d6qejxtdg4y5r3za",
		[]string{"address", "address=two words", "address=" + strings.Repeat("a", 129), "address=ü"}},
	{"ALTCHAIN_WALLET", "USDC", `{"address": "7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU"}`, "ALTCHAIN", "",
		"7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU",
		[]string{"address", "address= "}},
	{"BASE_WALLET", "USDC", `{"address": "0xAb5801a7D398351b8bE11C439e05C5B3259aeC9B"}`, "BASE", "",
		"0xAb5801a7D398351b8bE11C439e05C5B3259aeC9B",
		[]string{"address", "address=0xAb5801a7D398351b8bE11C439e05C5B3259aeC9", "address=Ab5801a7D398351b8bE11C439e05C5B3259aeC9B00"}},
	{"POLYGON_WALLET", "USDC", `{"address": "0xAb5801a7D398351b8bE11C439e05C5B3259aeC9B"}`, "POLYGON", "",
		"0xAb5801a7D398351b8bE11C439e05C5B3259aeC9B",
		[]string{"address", "address=0xZb5801a7D398351b8bE11C439e05C5B3259aeC9B"}},
	{"ETHEREUM_WALLET", "USDC", `{"address": "0xAb5801a7D398351b8bE11C439e05C5B3259aeC9B"}`, "ETHEREUM", "",
		"0xAb5801a7D398351b8bE11C439e05C5B3259aeC9B",
		[]string{"address", "address=vitalik.eth"}},
	{"PLASMA_WALLET", "USDT", `{"address": "0xAb5801a7D398351b8bE11C439e05C5B3259aeC9B"}`, "PLASMA", "",
		"0xAb5801a7D398351b8bE11C439e05C5B3259aeC9B",
		[]string{"address", "address=0xZb5801a7D398351b8bE11C439e05C5B3259aeC9B"}},
	{"TRON_WALLET", "USDT", `{"address": "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t"}`, "TRON", "", "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t",
		[]string{"address", "address=TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6", "address=XR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t",
			"address=TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj0t", "address=TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6u"}},
	{"BITCOIN_L1", "BTC", `{"address": "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"}`, "BITCOIN", "",
		"bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4",
		[]string{"address", "address=bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5", "address=0xAb5801a7D398351b8bE11C439e05C5B3259aeC9B",
			"address=1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN3"}},
	{"LIGHTNING", "BTC", `{"lightningAddress": "ana@wallet.example.com"}`, "LIGHTNING", "", "ana@wallet.example.com",
		[]string{"lightningAddress > accountInfo", "lightningAddress=ana", "bolt12=lno1pqps7sjqpgtyzm > accountInfo",
			"invoice=lnbc20u1p3y0x3hpp > accountInfo", "lightningAddress=a@b"}},
}

func TestValidate_EveryAccountType(t *testing.T) {
	// For every type, a valid account is accepted, with its rails, country and identifier,
	// and each invalid field is refused by its own path and no other.
	t.Parallel()
	for _, tt := range typeCases {
		t.Run(string(tt.name), func(t *testing.T) {
			t.Parallel()
			got, err := account.Validate(newRequest(string(tt.name), tt.currency, parseObject(tt.good)))
			if err != nil {
				t.Fatal(err)
			}
			var rails []string
			for _, rail := range got.Rails {
				rails = append(rails, string(rail))
			}
			if got.Type != tt.name || got.Status != account.Active || strings.Join(rails, " ") != tt.rails || got.Country() != tt.country ||
				got.Identifier() != tt.id {
				t.Errorf("%s, %s, rails %v, country %q, identifier %q", got.Type, got.Status, got.Rails, got.Country(), got.Identifier())
			}
			if (got.Type == account.LightningType) != (got.Beneficiary == nil) {
				t.Errorf("%s, beneficiary %v", got.Type, got.Beneficiary)
			}
			for _, change := range tt.bad {
				fields, want := applyChange(tt.good, change)
				refused := invalidPaths(t, newRequest(string(tt.name), tt.currency, fields))
				slices.Sort(refused)
				slices.Sort(want)
				if !slices.Equal(refused, want) {
					t.Errorf("%s: refused for %v; want %v", change, refused, want)
				}
			}
		})
	}
}

// applyChange applies one entry of bad to the good fields, and returns the invalid paths.
func applyChange(good, change string) (fields map[string]any, wrong []string) {
	fields = parseObject(good)
	change, at, elsewhere := strings.Cut(change, " > ")
	name, value, set := strings.Cut(change, "=")
	if delete(fields, name); set {
		fields[name] = value
	}
	switch {
	case !elsewhere:
		at = name
	case at == "accountInfo":
		return fields, []string{"accountInfo"}
	}
	for part := range strings.SplitSeq(at, ",") {
		wrong = append(wrong, "accountInfo."+part)
	}
	return fields, wrong
}

func TestCatalogue_EveryTypeIsCompleteAndTested(t *testing.T) {
	// Every type has a case above and a complete description, and its examples are valid.
	t.Parallel()
	for _, spec := range account.Catalogue() {
		if !slices.ContainsFunc(typeCases, func(c typeCase) bool { return c.name == spec.Type }) {
			t.Errorf("%s has no test", spec.Type)
		}
		if spec.Description == "" || len(spec.Currencies) == 0 || len(spec.Identifiers) == 0 || len(spec.Rails()) == 0 {
			t.Errorf("%s is incomplete: %+v", spec.Type, spec)
		}
		if none := spec.Type == account.LightningType; none != (spec.Individual == nil) || none != (spec.Business == nil) {
			t.Errorf("%s: payees on Lightning and nobody else have no beneficiary", spec.Type)
		}
		for _, name := range slices.Concat(spec.Identifiers, spec.AnyOf) {
			if _, ok := spec.Field(name); !ok {
				t.Errorf("%s has no field %s", spec.Type, name)
			}
		}
		for _, field := range spec.Fields {
			if field.Description == "" || field.Example == "" {
				t.Errorf("%s.%s lacks its description or example", spec.Type, field.Name)
			}
			if !slices.ContainsFunc(spec.Fields, func(f account.FieldSpec) bool { return f.InFingerprint }) {
				t.Errorf("%s: no field identifies an account", spec.Type)
			}
		}
		if refused := invalidPaths(t, newRequest(string(spec.Type), string(spec.Currencies[0]), exampleFields(spec))); refused != nil {
			t.Errorf("%s: its own examples are refused for %v", spec.Type, refused)
		}
	}
	if len(typeCases) != len(account.Catalogue()) {
		t.Errorf("%d cases for %d types", len(typeCases), len(account.Catalogue()))
	}
}

// exampleFields returns the examples of all fields, or of the first if exactly one is
// allowed.
func exampleFields(spec account.TypeSpec) map[string]any {
	fields := map[string]any{}
	for _, field := range spec.Fields {
		if spec.ExactlyOne && field.Name != spec.AnyOf[0] {
			continue
		}
		fields[field.Name] = field.Example
	}
	switch spec.Type {
	case "CNY_ACCOUNT": // bank accounts are for businesses, wallets for the rest
		delete(fields, "accountNumber")
		fields["bankName"] = "AliPay"
	case account.SWIFTAccount:
		delete(fields, "accountNumber")
	}
	return fields
}

func TestValidate_IndianAccounts(t *testing.T) {
	// A UPI address and a number with its branch each give their rails, a rail that is named is the only one, and what it needs is
	// required. A number without its branch is kept for the records if there is a UPI address.
	t.Parallel()
	for _, tt := range []struct{ fields, rails, id string }{
		{`{"accountNumber": "123456789012", "ifsc": "HDFC0001234"}`, "NEFT RTGS", "123456789012"},
		{`{"accountNumber": "123456789012", "ifsc": "HDFC0001234", "rail": "NEFT"}`, "NEFT", "123456789012"},
		{`{"accountNumber": "123456789012", "ifsc": "HDFC0001234", "rail": "RTGS"}`, "RTGS", "123456789012"},
		{`{"vpa": "ana.ng@okbank", "accountNumber": "123456789012", "ifsc": "HDFC0001234"}`, "UPI NEFT RTGS", "ana.ng@okbank"},
		{`{"vpa": "ana.ng@okbank", "accountNumber": "123456789012"}`, "UPI", "ana.ng@okbank"},
		{`{"vpa": "ana.ng@okbank", "rail": "UPI"}`, "UPI", "ana.ng@okbank"},
	} {
		got, err := account.Validate(newRequest("INR_ACCOUNT", "INR", parseObject(tt.fields)))
		if rails := strings.Join(corridor.PublicNames(got.Rails), " "); err != nil || rails != tt.rails || got.Identifier() != tt.id {
			t.Errorf("%s: %s, %s, %v; want %s", tt.fields, rails, got.Identifier(), err, tt.rails)
		}
	}
	for fields, want := range map[string]string{
		`{"accountNumber": "123456789012"}`:                                          "accountInfo.ifsc",
		`{"accountNumber": "123456789012", "ifsc": "HDFC0001234", "rail": "UPI"}`:    "accountInfo.vpa",
		`{"vpa": "ana.ng@okbank", "accountNumber": "123456789012", "rail": "NEFT"}`:  "accountInfo.ifsc",
		`{"vpa": "ana.ng@okbank", "ifsc": "HDFC0001234", "rail": "RTGS"}`:            "accountInfo.accountNumber",
		`{"vpa": "ana.ng@okbank", "accountNumber": "123456789012", "rail": "IMPS2"}`: "accountInfo.rail",
	} {
		if refused := invalidPaths(t, newRequest("INR_ACCOUNT", "INR", parseObject(fields))); !slices.Equal(refused, []string{want}) {
			t.Errorf("%s: refused for %v; want %s", fields, refused, want)
		}
	}
}

func TestResolveRail_NamesBankSystem(t *testing.T) {
	// A payment may name the system that carries a bank transfer, and is otherwise a bank transfer. The account does not list it.
	t.Parallel()
	fields := map[string]any{"bankName": "BDO Unibank", "accountNumber": "001234567890"}
	created, err := account.Validate(newRequest("PHP_ACCOUNT", "PHP", fields))
	if err != nil || !slices.Equal(created.Rails, []corridor.Rail{corridor.BankTransfer}) {
		t.Fatalf("%v, %v", created.Rails, err)
	}
	for wanted, want := range map[corridor.Rail]corridor.Rail{"": corridor.BankTransfer, corridor.InstaPay: corridor.InstaPay,
		corridor.PESONet: corridor.PESONet, corridor.BankTransfer: corridor.BankTransfer} {
		if got, err := created.ResolveRail(wanted, 1_000_00); got != want || err != nil {
			t.Errorf("%q: %q, %v", wanted, got, err)
		}
	}
	for wanted, code := range map[corridor.Rail]fault.Code{corridor.BreB: fault.InvalidInput, corridor.InstaPay: fault.AmountOutOfRange} {
		if got, err := created.ResolveRail(wanted, 60_000_00); !fault.Is(err, code) {
			t.Errorf("%q: %q, %v; want %s", wanted, got, err, code)
		}
	}
}

func TestRailFor_NeedsCorridor(t *testing.T) {
	// Accounts in announced and unsupported countries can be registered but not yet paid.
	t.Parallel()
	unavailable := []account.Type{
		"BDT_ACCOUNT", "BWP_ACCOUNT", "CAD_ACCOUNT", "CNY_ACCOUNT", "GHS_ACCOUNT", "GTQ_ACCOUNT",
		"HKD_ACCOUNT", "HTG_ACCOUNT", "JMD_ACCOUNT", "PKR_ACCOUNT", "SLV_ACCOUNT", "SWIFT_ACCOUNT",
	}
	for _, spec := range account.Catalogue() {
		created, err := account.Validate(newRequest(string(spec.Type), string(spec.Currencies[0]), exampleFields(spec)))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := created.RailFor(1); (err != nil) != slices.Contains(unavailable, spec.Type) {
			t.Errorf("%s: RailFor(1): %v", spec.Type, err)
		}
	}
}

func TestValidate_BanksOfDiscoveries(t *testing.T) {
	t.Parallel()
	// Where the bank must be a listed one, its code and its name are taken exactly, and an error names what is probably meant.
	for name, want := range map[string]string{
		"Zenith Bank": "", "ZENITH_BANK": "",
		"zenith bank":     "is no institution of GET /discoveries?country=NG; did you mean Zenith Bank?",
		"Zenith Bank PLC": "is no institution of GET /discoveries?country=NG; did you mean Zenith Bank?",
		"Bank of Nowhere": "is no institution of GET /discoveries?country=NG; send the bankName or displayName of one",
	} {
		_, err := account.Validate(newRequest("NGN_ACCOUNT", "NGN", map[string]any{"accountNumber": "0123456789", "bankName": name}))
		got := ""
		if f, ok := fault.As(err); ok && len(f.Fields) > 0 {
			got = f.Fields[0].Message
		}
		if got != want {
			t.Errorf("%q: %q (%v), want %q", name, got, err, want)
		}
	}
}
