package account

import (
	"causeway/core/corridor"
	"causeway/core/money"
	"causeway/core/party"
)

// worldwide holds the types of bank accounts in any country.
var worldwide = []TypeSpec{{
	Type: SWIFTAccount, Description: "A bank account anywhere, reached through correspondent banks.",
	Currencies: allFiat(), CountryFrom: "country",
	Fields: []FieldSpec{
		{Name: "country", Description: "The country of the bank, two letters.", Example: "GB", Required: true, Pattern: `^[A-Z]{2}$`,
			check: checkCountry},
		inFingerprint(required(swiftCode())),
		required(bankName()),
		accountNumber(),
		iban(anyIBAN, "GB29NWBK60161331926819"),
	},
	AnyOf: []string{"iban", "accountNumber"}, Identifiers: []string{"iban", "accountNumber"},
	Individual: anyIndividual, Business: anyBusiness,
	rails: []railOption{{corridor.SWIFT, ""}}, rule: ibanCountryRule,
}}

// wallets holds the types of wallets on chains. The form of an address is checked because a
// payment on a chain cannot be returned. LAYER2 and ALTCHAIN addresses are accepted in any
// printable form.
var wallets = []TypeSpec{
	wallet(Layer2Wallet, corridor.Layer2, "A wallet on Spark, a network on top of Bitcoin (layer 2). As a network it is named SPARK.",
		FieldSpec{Example: "layer2wallet1qw508d6qejxtdg4y5r3zarvary0c5xw7k", CaseSensitive: true}),
	wallet(AltchainWallet, corridor.Altchain, "A wallet on Solana, the alternative chain. As a network it is named SOLANA.",
		FieldSpec{Example: "7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU", CaseSensitive: true}),
	wallet(BaseWallet, corridor.Base, "A wallet on Base.",
		FieldSpec{Example: "0xAb5801a7D398351b8bE11C439e05C5B3259aeC9B", check: checkEVMAddress}),
	wallet(PolygonWallet, corridor.Polygon, "A wallet on Polygon.",
		FieldSpec{Example: "0xAb5801a7D398351b8bE11C439e05C5B3259aeC9B", check: checkEVMAddress}),
	wallet(EthereumWallet, corridor.Ethereum, "A wallet on Ethereum.",
		FieldSpec{Example: "0xAb5801a7D398351b8bE11C439e05C5B3259aeC9B", check: checkEVMAddress}),
	wallet(PlasmaWallet, corridor.Plasma, "A wallet on Plasma.",
		FieldSpec{Example: "0xAb5801a7D398351b8bE11C439e05C5B3259aeC9B", check: checkEVMAddress}),
	wallet(TronWallet, corridor.Tron, "A wallet on Tron.",
		FieldSpec{Example: "TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t", CaseSensitive: true, check: checkTronAddress}),
	wallet(BitcoinAddress, corridor.Bitcoin, "An address on the Bitcoin chain itself.",
		FieldSpec{Example: "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4", spelling: bitcoinSpelling, check: checkBitcoinAddress}),
	{
		Type: LightningType, Aliases: []Type{"LIGHTNING_ACCOUNT"},
		Description: "A payee on the Lightning network: exactly one of a one-time invoice, a reusable offer and an address.",
		Currencies:  corridor.Lightning.ChainCurrencies(),
		Fields: []FieldSpec{
			{Name: "invoice", Description: "A BOLT 11 invoice, good for one payment.",
				Example: "lnbc20u1p3y0x3hpp5743k2g0fsqqxj7n8qzuhns5gmkk4djeejk3wkp64ppevgekvc0js",
				Pattern: `^[lL][nN][0-9A-Za-z]+$`, MinLength: 12, MaxLength: 4096, InFingerprint: true},
			{Name: "bolt12", Description: "A BOLT 12 offer.",
				Example: "lno1pqps7sjqpgtyzm3qv4uxzmtsd3jjqer9wd3hy6tsw35k7msjzfpy7nz5yqcnygrfdej82um5wf5k2uckyypwa3eyt44h6txtxquqh7lz5djge4afgfjn7k4rgrkuag0jsd5xvxg",
				Pattern: `^[lL][nN][oO]1[0-9A-Za-z]+$`, MinLength: 12, MaxLength: 4096, InFingerprint: true},
			{Name: "lightningAddress", Description: "A Lightning address.", Example: "ana@wallet.example.com",
				MaxLength: 254, Pattern: `^[!-~]+$`, InFingerprint: true, check: checkLightningAddress},
		},
		AnyOf: []string{"invoice", "bolt12", "lightningAddress"}, ExactlyOne: true,
		Identifiers: []string{"lightningAddress", "invoice", "bolt12"},
		rails:       []railOption{{corridor.Lightning, ""}},
	},
}

// wallet returns a type whose accounts are addresses on one chain.
func wallet(name Type, chain corridor.Rail, description string, address FieldSpec) TypeSpec {
	address.Name, address.Description = "address", "The wallet's address."
	address.Pattern, address.MinLength, address.MaxLength = `^[!-~]+$`, 1, 128
	address.Required, address.InFingerprint = true, true
	return TypeSpec{
		Type: name, Description: description, Currencies: chain.ChainCurrencies(),
		Fields: []FieldSpec{address, {Name: "vaspName", Example: "Kraken", MaxLength: MaxVASPName,
			Description: "Custodian that holds the wallet, by its name in GET /vasps. Omit it for a wallet whose owner holds the keys."}},
		Identifiers: []string{"address"},
		Individual:  &BeneficiarySpec{Required: []string{"countryOfResidence"}}, Business: anyBusiness,
		rails: []railOption{{chain, ""}},
	}
}

// MaxVASPName is the longest name of a custodian, in characters.
const MaxVASPName = 200

func allFiat() []money.Currency {
	fiat := currencies("USD", "EUR", "GBP")
	for _, currency := range money.Currencies() {
		if !currency.IsCrypto() && currency != "USD" && currency != "EUR" && currency != "GBP" {
			fiat = append(fiat, currency)
		}
	}
	return fiat
}

func checkCountry(value string) string {
	if !party.KnownCountry(value) {
		return "must be a country code of ISO 3166-1"
	}
	return ""
}
