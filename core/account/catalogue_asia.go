package account

import "causeway/core/corridor"

var asia = []TypeSpec{
	{
		Type: "AED_ACCOUNT", Description: "A bank account in the United Arab Emirates.",
		Currencies: currencies("AED"), Country: "AE",
		Fields:      []FieldSpec{required(iban(`^AE[0-9]{21}$`, "AE070331234567890123456")), swiftCode()},
		Identifiers: []string{"iban"},
		Individual:  beneficiarySpec(individualFields, "address"), Business: anyBusiness,
		rails: []railOption{{corridor.BankTransfer, ""}},
	},
	{
		Type: "BDT_ACCOUNT", Description: "A Bangladeshi bank account or mobile wallet.",
		Currencies: currencies("BDT"), Country: "BD",
		Fields: []FieldSpec{
			inFingerprint(bankName()), accountNumber(),
			{Name: "branchCode", Description: "The branch, 5 digits.", Example: "00123", Pattern: `^[0-9]{5}$`},
			swiftCode(), phoneNumber(anyPhone, "+8801712345678"),
		},
		AnyOf: []string{"accountNumber", "phoneNumber"}, Identifiers: []string{"accountNumber", "phoneNumber"},
		Individual: anyIndividual, Business: anyBusiness,
		rails: []railOption{{corridor.BankTransfer, "accountNumber"}, {corridor.MobileMoney, "phoneNumber"}},
	},
	{
		Type: "CNY_ACCOUNT", Description: "A Chinese bank account, of businesses alone, or an AliPay or WechatPay wallet.",
		Currencies: currencies("CNY"), Country: "CN",
		Fields: []FieldSpec{inFingerprint(required(bankName())), accountNumber(), phoneNumber(anyPhone, "+8613812345678")},
		AnyOf:  []string{"accountNumber", "phoneNumber"}, Identifiers: []string{"accountNumber", "phoneNumber"},
		Individual: anyIndividual, Business: anyBusiness,
		rails: []railOption{{corridor.BankTransfer, "accountNumber"}, {corridor.MobileMoney, "phoneNumber"}}, rule: chineseWalletRule,
	},
	{
		Type: "HKD_ACCOUNT", Description: "A bank account in Hong Kong.",
		Currencies: currencies("HKD"), Country: "HK",
		Fields:      []FieldSpec{required(bankName()), required(accountNumber()), inFingerprint(required(swiftCode()))},
		Identifiers: []string{"accountNumber"}, Individual: anyIndividual, Business: anyBusiness,
		rails: []railOption{{corridor.BankTransfer, ""}},
	},
	{
		Type: "IDR_ACCOUNT", Description: "An Indonesian bank account.",
		Currencies: currencies("IDR"), Country: "ID",
		Fields: []FieldSpec{
			required(bankName()), required(accountNumber()), inFingerprint(required(swiftCode())),
			{Name: "phoneNumber", Description: "The owner's phone number.", Example: "+628123456789", Required: true, Pattern: `^\+62[0-9]{9,12}$`,
				Masked: true},
		},
		Identifiers: []string{"accountNumber"}, Individual: anyIndividual, Business: anyBusiness,
		rails: []railOption{{corridor.BankTransfer, ""}},
	},
	{
		Type: "INR_ACCOUNT", Description: "An Indian account, by its UPI address.",
		Currencies: currencies("INR"), Country: "IN",
		Fields: []FieldSpec{
			{Name: "vpa", Description: "The UPI address (virtual payment address).", Example: "ana.ng@okbank", Required: true,
				Pattern: `^[a-zA-Z0-9.\-_]+@[a-zA-Z0-9]+$`, MinLength: 3, MaxLength: 255, InFingerprint: true, Masked: true},
			{Name: "accountNumber", Description: "The account number behind the UPI address, for the records.", Example: "123456789012",
				Pattern: `^[0-9]{9,18}$`, Masked: true},
			{Name: "ifsc", Description: "The bank branch behind the UPI address.", Example: "HDFC0001234", Pattern: `^[A-Z]{4}0[A-Z0-9]{6}$`},
			bankName(),
		},
		Identifiers: []string{"vpa"}, Individual: anyIndividual, Business: anyBusiness,
		rails: []railOption{{corridor.UPI, ""}},
	},
	{
		Type: "MYR_ACCOUNT", Description: "A Malaysian bank account.",
		Currencies: currencies("MYR"), Country: "MY",
		Fields:      []FieldSpec{required(bankName()), required(accountNumber()), inFingerprint(required(swiftCode()))},
		Identifiers: []string{"accountNumber"}, Individual: anyIndividual, Business: anyBusiness,
		rails: []railOption{{corridor.BankTransfer, ""}},
	},
	{
		Type: "PHP_ACCOUNT", Description: "A Philippine bank account.",
		Currencies: currencies("PHP"), Country: "PH",
		Fields:      []FieldSpec{listedBank("PH"), required(withPattern(accountNumber(), `^[0-9]{8,16}$`, "001234567890"))},
		Identifiers: []string{"accountNumber"}, Individual: anyIndividual, Business: anyBusiness,
		rails: []railOption{{corridor.BankTransfer, ""}},
	},
	{
		Type: "PKR_ACCOUNT", Description: "A Pakistani bank account or mobile wallet.",
		Currencies: currencies("PKR"), Country: "PK",
		Fields: []FieldSpec{
			inFingerprint(bankName()), accountNumber(), iban(`^PK[0-9]{2}[A-Z]{4}[0-9]{16}$`, "PK36SCBL0000001123456702"),
			phoneNumber(anyPhone, "+923001234567"),
		},
		AnyOf: []string{"iban", "accountNumber", "phoneNumber"}, Identifiers: []string{"iban", "accountNumber", "phoneNumber"},
		Individual: anyIndividual, Business: anyBusiness,
		rails: []railOption{{corridor.BankTransfer, "iban"}, {corridor.BankTransfer, "accountNumber"}, {corridor.MobileMoney, "phoneNumber"}},
	},
	{
		Type: "SGD_ACCOUNT", Description: "A bank account in Singapore.",
		Currencies: currencies("SGD"), Country: "SG",
		Fields:      []FieldSpec{required(accountNumber()), inFingerprint(required(swiftCode())), bankName()},
		Identifiers: []string{"accountNumber"}, Individual: anyIndividual, Business: anyBusiness,
		rails: []railOption{{corridor.PayNow, ""}, {corridor.FAST, ""}, {corridor.BankTransfer, ""}},
	},
	{
		Type: "THB_ACCOUNT", Description: "A Thai bank account.",
		Currencies: currencies("THB"), Country: "TH",
		Fields:      []FieldSpec{required(bankName()), required(accountNumber()), inFingerprint(required(swiftCode()))},
		Identifiers: []string{"accountNumber"}, Individual: anyIndividual, Business: anyBusiness,
		rails: []railOption{{corridor.BankTransfer, ""}},
	},
	{
		Type: "VND_ACCOUNT", Description: "A Vietnamese bank account.",
		Currencies: currencies("VND"), Country: "VN",
		Fields:      []FieldSpec{required(bankName()), required(accountNumber()), inFingerprint(required(swiftCode()))},
		Identifiers: []string{"accountNumber"}, Individual: anyIndividual, Business: anyBusiness,
		rails: []railOption{{corridor.BankTransfer, ""}},
	},
}
