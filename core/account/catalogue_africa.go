package account

import "causeway/core/corridor"

// mobileMoneyType returns a type of mobile money accounts, which are phone numbers.
func mobileMoneyType(spec TypeSpec) TypeSpec {
	spec.Identifiers = []string{"phoneNumber"}
	spec.Individual, spec.Business = anyIndividual, anyBusiness
	spec.rails = []railOption{{corridor.MobileMoney, ""}}
	return spec
}

var africa = []TypeSpec{
	mobileMoneyType(TypeSpec{
		Type: "BWP_ACCOUNT", Description: "A mobile money account in Botswana.",
		Currencies: currencies("BWP"), Country: "BW",
		Fields: []FieldSpec{required(phoneNumber(anyPhone, "+26771234567")), required(provider())},
	}),
	{
		Type: "EGP_ACCOUNT", Description: "An Egyptian bank account or mobile wallet.",
		Currencies: currencies("EGP"), Country: "EG",
		Fields: []FieldSpec{
			inFingerprint(required(bankName())), accountNumber(), iban(`^EG[0-9]{27}$`, "EG380019000500000000263180002"), swiftCode(),
			phoneNumber(anyPhone, "+201001234567"),
		},
		AnyOf: []string{"iban", "accountNumber", "phoneNumber"}, Identifiers: []string{"iban", "accountNumber", "phoneNumber"},
		Individual: anyIndividual, Business: anyBusiness,
		rails: []railOption{{corridor.BankTransfer, "iban"}, {corridor.BankTransfer, "accountNumber"},
			{corridor.MobileMoney, "phoneNumber !accountNumber !iban"}},
	},
	{
		Type: "GHS_ACCOUNT", Description: "A Ghanaian bank account or mobile wallet.",
		Currencies: currencies("GHS"), Country: "GH",
		Fields: []FieldSpec{inFingerprint(bankName()), accountNumber(), phoneNumber(anyPhone, "+233241234567")},
		AnyOf:  []string{"accountNumber", "phoneNumber"}, Identifiers: []string{"accountNumber", "phoneNumber"},
		Individual: anyIndividual, Business: anyBusiness,
		rails: []railOption{{corridor.BankTransfer, "accountNumber"}, {corridor.MobileMoney, "phoneNumber"}},
	},
	mobileMoneyType(TypeSpec{
		Type: "KES_ACCOUNT", Description: "A Kenyan M-PESA account.",
		Currencies: currencies("KES"), Country: "KE",
		Fields: []FieldSpec{required(phoneNumber(`^\+254[0-9]{9}$`, "+254712345678")), required(provider("M-PESA"))},
	}),
	mobileMoneyType(TypeSpec{
		Type: "MWK_ACCOUNT", Description: "A mobile money account in Malawi.",
		Currencies: currencies("MWK"), Country: "MW",
		Fields: []FieldSpec{required(phoneNumber(`^\+265[0-9]{9}$`, "+265991234567")), required(provider("AIRTEL", "TNM"))},
	}),
	{
		Type: "NGN_ACCOUNT", Description: "A Nigerian bank account.",
		Currencies: currencies("NGN"), Country: "NG",
		Fields: []FieldSpec{
			required(withPattern(accountNumber(), `^[0-9]{10}$`, "0123456789")),
			listedBank("NG"),
		},
		Identifiers: []string{"accountNumber"}, Individual: anyIndividual, Business: anyBusiness,
		rails: []railOption{{corridor.BankTransfer, ""}},
	},
	mobileMoneyType(TypeSpec{
		Type: "RWF_ACCOUNT", Description: "A mobile money account in Rwanda.",
		Currencies: currencies("RWF"), Country: "RW",
		Fields: []FieldSpec{required(phoneNumber(`^\+250[0-9]{9}$`, "+250781234567")), required(provider("MTN", "AIRTEL"))},
	}),
	mobileMoneyType(TypeSpec{
		Type: "TZS_ACCOUNT", Description: "A mobile money account in Tanzania.",
		Currencies: currencies("TZS"), Country: "TZ",
		Fields: []FieldSpec{required(phoneNumber(`^\+255[0-9]{9}$`, "+255754123456")), required(provider("AIRTEL", "VODACOM"))},
	}),
	mobileMoneyType(TypeSpec{
		Type: "UGX_ACCOUNT", Description: "A mobile money account in Uganda.",
		Currencies: currencies("UGX"), Country: "UG",
		Fields: []FieldSpec{required(phoneNumber(`^\+256[0-9]{9}$`, "+256772123456")), required(provider("MTN", "AIRTEL"))},
	}),
	mobileMoneyType(TypeSpec{
		Type: "XAF_ACCOUNT", Description: "A mobile money account in Cameroon or Congo.",
		Currencies: currencies("XAF"), CountryFrom: "region",
		Fields: []FieldSpec{required(phoneNumber(anyPhone, "+237671234567")), required(provider()), region("CM", "CG")},
		rule:   regionPhoneRule,
	}),
	mobileMoneyType(TypeSpec{
		Type: "XOF_ACCOUNT", Description: "A mobile money account in Benin, Côte d'Ivoire, Senegal or Togo.",
		Currencies: currencies("XOF"), CountryFrom: "region",
		Fields: []FieldSpec{required(phoneNumber(anyPhone, "+221771234567")), required(provider()), region("SN", "CI", "BJ", "TG")},
		rule:   regionPhoneRule,
	}),
	{
		Type: "ZAR_ACCOUNT", Description: "A South African bank account.",
		Currencies: currencies("ZAR"), Country: "ZA",
		Fields: []FieldSpec{
			required(withPattern(accountNumber(), `^[0-9]{9,13}$`, "1234567890")),
			listedBank("ZA"),
		},
		Identifiers: []string{"accountNumber"}, Individual: anyIndividual, Business: anyBusiness,
		rails: []railOption{{corridor.BankTransfer, ""}},
	},
	mobileMoneyType(TypeSpec{
		Type: "ZMW_ACCOUNT", Description: "A mobile money account in Zambia.",
		Currencies: currencies("ZMW"), Country: "ZM",
		Fields: []FieldSpec{required(phoneNumber(`^\+260[0-9]{9}$`, "+260971234567")), required(provider("TNM", "AIRTEL", "ZAMTEL", "MTN"))},
	}),
}

// region returns the field for the country of a currency that several countries share.
func region(codes ...string) FieldSpec {
	return FieldSpec{Name: "region", Description: "The country of the account.", Example: codes[0], Required: true, Enum: codes}
}
