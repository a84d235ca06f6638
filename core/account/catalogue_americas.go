package account

import "causeway/core/corridor"

var americas = []TypeSpec{
	{
		Type: "BRL_ACCOUNT", Description: "A Brazilian account, reached by its PIX key.",
		Currencies: currencies("BRL"), Country: "BR",
		Fields: []FieldSpec{
			{Name: "pixKey", Description: "The PIX key, in the form its type has.", Example: "ana.souza@example.com", Required: true,
				MinLength: 1, MaxLength: 77, InFingerprint: true, Masked: true},
			{Name: "pixKeyType", Description: "CPF: 11 digits. CNPJ: 14 digits. EMAIL. PHONE: +55 and 10 or 11 digits. RANDOM: a UUID.",
				Example:  "EMAIL",
				Required: true, Enum: []string{"CPF", "CNPJ", "EMAIL", "PHONE", "RANDOM"}, InFingerprint: true},
			{Name: "taxId", Description: "The owner's CPF (11 digits) or CNPJ (14 digits).", Example: "52998224725", Required: true,
				Pattern: `^[0-9]{11,14}$`, Masked: true, check: checkBrazilianTaxID},
		},
		Identifiers: []string{"pixKey"}, Individual: anyIndividual, Business: anyBusiness,
		rails: []railOption{{corridor.PIX, ""}}, rule: pixKeyRule,
	},
	{
		Type: "CAD_ACCOUNT", Description: "A Canadian bank account.",
		Currencies: currencies("CAD"), Country: "CA",
		Fields: []FieldSpec{
			{Name: "bankCode", Description: "The institution number, 3 digits.", Example: "001", Required: true, Pattern: `^[0-9]{3}$`,
				InFingerprint: true},
			{Name: "branchCode", Description: "The transit number, 5 digits.", Example: "00012", Required: true, Pattern: `^[0-9]{5}$`,
				InFingerprint: true},
			required(withPattern(accountNumber(), `^[0-9]{7,12}$`, "1234567")),
		},
		Identifiers: []string{"accountNumber"},
		Individual:  &BeneficiarySpec{Optional: append([]string{"registrationNumber"}, individualFields...)}, Business: anyBusiness,
		rails: []railOption{{corridor.BankTransfer, ""}},
	},
	{
		Type: "COP_ACCOUNT", Description: "A Colombian bank account or mobile wallet.",
		Currencies: currencies("COP"), Country: "CO",
		Fields: []FieldSpec{
			inFingerprint(bankName()), accountNumber(), bankAccountType(), phoneNumber(anyPhone, "+573001234567"),
		},
		AnyOf: []string{"accountNumber", "phoneNumber"}, Identifiers: []string{"accountNumber", "phoneNumber"},
		Individual: &BeneficiarySpec{Optional: append([]string{"documentType", "documentNumber"}, individualFields...)}, Business: anyBusiness,
		rails: []railOption{{corridor.BankTransfer, "accountNumber"}, {corridor.MobileMoney, "phoneNumber !accountNumber"}},
	},
	{
		Type: "GTQ_ACCOUNT", Description: "A Guatemalan bank account.",
		Currencies: currencies("GTQ"), Country: "GT",
		Fields:      []FieldSpec{required(accountNumber()), required(bankAccountType()), inFingerprint(bankName())},
		Identifiers: []string{"accountNumber"},
		Individual:  beneficiarySpec(individualFields, "phoneNumber", "countryOfResidence"), Business: anyBusiness,
		rails: []railOption{{corridor.BankTransfer, ""}},
	},
	{
		Type: "HTG_ACCOUNT", Description: "A Haitian mobile money account.",
		Currencies: currencies("HTG"), Country: "HT",
		Fields:      []FieldSpec{required(phoneNumber(anyPhone, "+50934123456"))},
		Identifiers: []string{"phoneNumber"}, Individual: anyIndividual, Business: anyBusiness,
		rails: []railOption{{corridor.MobileMoney, ""}},
	},
	{
		Type: "JMD_ACCOUNT", Description: "A Jamaican bank account.",
		Currencies: currencies("JMD"), Country: "JM",
		Fields: []FieldSpec{
			required(accountNumber()),
			{Name: "branchCode", Description: "The branch's transit number, 5 digits.", Example: "00216", Required: true, Pattern: `^[0-9]{5}$`,
				InFingerprint: true},
			required(bankAccountType()), inFingerprint(bankName()),
		},
		Identifiers: []string{"accountNumber"},
		Individual:  beneficiarySpec(individualFields, "phoneNumber", "address"), Business: anyBusiness,
		rails: []railOption{{corridor.BankTransfer, ""}},
	},
	{
		Type: "MXN_ACCOUNT", Description: "A Mexican bank account, by its CLABE.",
		Currencies: currencies("MXN"), Country: "MX",
		Fields: []FieldSpec{{Name: "clabeNumber", Description: "The CLABE: 18 digits, the last a check digit.", Example: "032180000118359719",
			Required: true, Pattern: `^[0-9]{18}$`, InFingerprint: true, Masked: true, check: checkCLABE}},
		Identifiers: []string{"clabeNumber"}, Individual: anyIndividual, Business: anyBusiness,
		rails: []railOption{{corridor.SPEI, ""}},
	},
	{
		Type: "SLV_ACCOUNT", Description: "A bank account or mobile wallet in El Salvador, which uses the US dollar.",
		Currencies: currencies("USD"), Country: "SV",
		Fields: []FieldSpec{
			inFingerprint(bankName()), accountNumber(), bankAccountType(), phoneNumber(anyPhone, "+50370123456"),
		},
		AnyOf: []string{"accountNumber", "phoneNumber"}, Identifiers: []string{"accountNumber", "phoneNumber"},
		Individual: anyIndividual, Business: anyBusiness,
		rails: []railOption{{corridor.BankTransfer, "accountNumber"}, {corridor.MobileMoney, "phoneNumber"}},
	},
	{
		Type: USAccount, Aliases: []Type{"USD_ACCOUNT"}, Description: "A bank account in the United States.",
		Currencies: currencies("USD"), Country: "US",
		Fields: []FieldSpec{
			required(withPattern(accountNumber(), `^[0-9]{4,17}$`, "1234567890")),
			{Name: "routingNumber", Description: "The ABA routing number: 9 digits, the last a check digit.", Example: "021000021",
				Required: true, Pattern: `^[0-9]{9}$`, InFingerprint: true, check: checkABA},
			{Name: "bankName", Description: "The bank.", Example: "Chase", MinLength: 1, MaxLength: 140},
			bankAccountType(),
			{Name: "intermediaryBankName", Description: "The bank a wire goes through, if any.", Example: "Citibank", MinLength: 1, MaxLength: 140},
			{Name: "intermediaryRoutingNumber", Description: "The ABA routing number of the bank a wire goes through.", Example: "021000089",
				Pattern: `^[0-9]{9}$`, check: checkABA},
			{Name: "fiToFiInformation", Description: "Instructions from bank to bank on a wire.", Example: "For further credit to 12345",
				MaxLength: 210},
		},
		Identifiers: []string{"accountNumber"}, Individual: anyIndividual, Business: anyBusiness,
		rails: []railOption{{corridor.ACH, ""}, {corridor.Wire, ""}, {corridor.RTP, ""}, {corridor.FedNow, ""}},
	},
}
