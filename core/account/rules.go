package account

import (
	"regexp"
	"slices"
	"strings"

	"github.com/google/uuid"

	"causeway/core/corridor"
	"causeway/core/party"
)

// checkBIC checks that the fifth and sixth letters are a country. Kosovo has BICs but is not
// in ISO 3166.
func checkBIC(bic string) string {
	if len(bic) < 6 || (!party.KnownCountry(bic[4:6]) && bic[4:6] != "XK") {
		return "must have a country code as its fifth and sixth letter"
	}
	return ""
}

var evmAddress = regexp.MustCompile(`^0x[0-9a-fA-F]{40}$`)

func checkEVMAddress(address string) string {
	if !evmAddress.MatchString(address) {
		return "must be 0x and 40 hexadecimal digits"
	}
	return ""
}

func checkLightningAddress(address string) string {
	if !party.IsEmail(address) {
		return "must have the form name@host"
	}
	return ""
}

var pixPhone = regexp.MustCompile(`^\+55[0-9]{10,11}$`)

// pixKeyRule checks that a PIX key has the form of its type.
func pixKeyRule(a External, waives func(string) bool, bad func(field, message string)) {
	key, problem := a.Fields["pixKey"], ""
	switch a.Fields["pixKeyType"] {
	case "CPF":
		if problem = checkCPF(key); problem == wrongCheckDigits && waives(key) {
			problem = ""
		}
	case "CNPJ":
		if problem = checkCNPJ(key); problem == wrongCheckDigits && waives(key) {
			problem = ""
		}
	case "EMAIL":
		if !party.IsEmail(key) {
			problem = "must be an e-mail address, as pixKeyType says"
		}
	case "PHONE":
		if !pixPhone.MatchString(key) {
			problem = "must be +55 and 10 or 11 digits, as pixKeyType says"
		}
	case "RANDOM":
		if _, err := uuid.Parse(key); err != nil || len(key) != 36 {
			problem = "must be a UUID, as pixKeyType says"
		}
	}
	if problem != "" {
		bad("pixKey", problem)
	}
}

// euroCountryRule checks that the IBAN is of a country that euro can be sent to.
func euroCountryRule(a External, _ func(string) bool, bad func(field, message string)) {
	if iban := a.Fields["iban"]; len(iban) >= 2 && !corridor.Live("EUR", iban[:2]) {
		bad("iban", "is of "+printable(iban[:2])+", which no SEPA corridor reaches")
	}
}

// regionPhonePatterns are the patterns of phone numbers in countries that share a currency.
var regionPhonePatterns = map[string]*regexp.Regexp{
	"BJ": regexp.MustCompile(`^\+229[0-9]{8,10}$`), // ten digits since the end of 2024
	"CI": regexp.MustCompile(`^\+225[0-9]{10}$`),
	"SN": regexp.MustCompile(`^\+221[0-9]{9}$`),
	"TG": regexp.MustCompile(`^\+228[0-9]{8}$`),
	"CG": regexp.MustCompile(`^\+242[0-9]{9}$`),
	"CM": regexp.MustCompile(`^\+237[0-9]{9}$`),
}

func regionPhoneRule(a External, _ func(string) bool, bad func(field, message string)) {
	region := a.Fields["region"]
	if form, known := regionPhonePatterns[region]; known && !form.MatchString(a.Fields["phoneNumber"]) {
		bad("phoneNumber", "must be a phone number of the region "+region+", of the form "+strings.Trim(form.String(), "^$"))
	}
}

// ibanCountryRule checks that the account has an IBAN of its country, if that has IBANs.
// Guernsey, the Isle of Man and Jersey use British ones.
func ibanCountryRule(a External, _ func(string) bool, bad func(field, message string)) {
	country, iban := a.Fields["country"], a.Fields["iban"]
	issuer := country
	if slices.Contains([]string{"GG", "IM", "JE"}, country) {
		issuer = "GB"
	}
	_, hasIBANs := ibanLengths[issuer]
	switch {
	case hasIBANs && iban == "":
		bad("iban", "is required: banks in "+printable(country)+" are reached by IBAN")
	case !hasIBANs && a.Fields["accountNumber"] == "":
		bad("accountNumber", "is required: banks in "+printable(country)+" have no IBANs")
	case hasIBANs && !strings.HasPrefix(iban, issuer):
		bad("iban", "must be of the country of the account, "+printable(country))
	}
}

var chineseWallets = []string{"AliPay", "WechatPay"}

// chineseWalletRule checks that a bank account belongs to a business, and that a phone number
// has the name of one of two wallets.
func chineseWalletRule(a External, _ func(string) bool, bad func(field, message string)) {
	switch bank := a.Fields["bankName"]; {
	case a.Fields["accountNumber"] != "":
		if a.Beneficiary != nil && a.Beneficiary.Type == Individual {
			bad("accountNumber", "is only allowed for a BUSINESS beneficiary; give a phoneNumber for an individual")
		}
	case a.Fields["phoneNumber"] != "" && !slices.Contains(chineseWallets, bank):
		bad("bankName", "must be AliPay or WechatPay for a phoneNumber")
	}
}

// indianRule checks that a rail reaches the account: UPI by the address, NEFT and RTGS by number and branch. With a UPI address,
// one of the two alone is kept for the records.
func indianRule(a External, _ func(string) bool, bad func(field, message string)) {
	rail, hasNumber := a.Fields["rail"], a.Fields["accountNumber"] != ""
	byNumber := rail == "NEFT" || rail == "RTGS"
	switch {
	case rail == "UPI" && a.Fields["vpa"] == "":
		bad("vpa", "is required for the rail UPI")
	case byNumber && !hasNumber:
		bad("accountNumber", "is required for the rails NEFT and RTGS")
	case (byNumber || hasNumber && a.Fields["vpa"] == "") && a.Fields["ifsc"] == "":
		bad("ifsc", "is required with an accountNumber: it names the branch")
	}
}
