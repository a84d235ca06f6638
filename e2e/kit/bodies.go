package kit

import (
	"fmt"
	"sync/atomic"

	"github.com/google/uuid"
)

// Object is a JSON object.
type Object map[string]any

var serialNumber atomic.Int64

// SerialNumber returns a number that this process has not used before.
func SerialNumber() int64 { return serialNumber.Add(1) }

// Person is the beneficiary of a bank account.
func Person() Object {
	return Object{"beneficiaryType": "INDIVIDUAL", "fullName": "Ana Silva", "birthDate": "1990-01-31", "nationality": "US"}
}

// CustomerBody is an individual, for POST /customers.
func CustomerBody() Object {
	return Object{
		"platformCustomerId": fmt.Sprintf("c-%d", SerialNumber()), "customerType": "INDIVIDUAL",
		"fullName": "Ana Silva", "birthDate": "1990-01-31", "nationality": "US",
		"address": Object{"line1": "123 Main Street", "city": "San Francisco", "state": "CA", "postalCode": "94105", "country": "US"},
	}
}

// AccountBody is an external account, for POST /customers/external-accounts.
func AccountBody(customerID, currency string, info Object) Object {
	return Object{"customerId": customerID, "currency": currency, "accountInfo": info}
}

// WalletBody is a bitcoin wallet whose address has a suffix. In the sandbox three digits at
// the end are a test value; a letter is none.
func WalletBody(customerID, suffix string) Object {
	return AccountBody(customerID, "BTC", Object{"accountType": "LAYER2_WALLET", "address": "spark1" + uuid.NewString()[:8] + "w" + suffix})
}

// USAccountBody is a US bank account whose number has a suffix of three digits, the test
// value in the sandbox. 555 is none.
func USAccountBody(customerID, suffix string) Object {
	return AccountBody(customerID, "USD", Object{
		"accountType": "US_ACCOUNT", "accountNumber": fmt.Sprintf("55%07d", SerialNumber()) + suffix, "routingNumber": "021000021",
		"beneficiary": Person(),
	})
}

// RampQuoteBody is a quote from US dollars to a wallet, for POST /quotes.
func RampQuoteBody(customerID, accountID, side string, amount int64) Object {
	return Object{
		"source":             Object{"customerId": customerID, "currency": "USD"},
		"destination":        Object{"destinationType": "ACCOUNT", "accountId": accountID},
		"lockedCurrencySide": side, "lockedCurrencyAmount": amount,
	}
}
