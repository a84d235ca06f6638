package quote

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"causeway/core/account"
	"causeway/core/transaction"
)

// payloadText has the fields in the order of the text, which must not change within a version. Amounts are
// in minor units.
const payloadText = `{"type":"PAYMENT","version":1,"quoteId":"%s","transactionId":"%s","platformId":"%s","accountId":"%s",` +
	`"totalSendingAmount":%d,"sendingCurrency":"%s","feesIncluded":%d,"totalReceivingAmount":%d,"receivingCurrency":"%s","exchangeRate":%s,` +
	`"destination":{%s},"expiresAt":"%s"}`

// newPayload returns the canonical text that the owner of a wallet signs: JSON with the fields in a fixed
// order and no spaces. It is stored with the quote, and never built again. to is the external account that
// receives, if there is one.
func newPayload(q Quote, to *account.External) (string, error) {
	var destination string
	switch {
	case q.Destination.UMA != "":
		address, err := jsonString(q.Destination.UMA)
		if err != nil {
			return "", err
		}
		destination = `"umaAddress":` + address
	case to == nil:
		destination = fmt.Sprintf(`"accountId":"%s"`, q.Destination.InternalAccount)
	default:
		destination = fmt.Sprintf(`"accountId":"%s"`, to.ID)
		if on := to.Fields["address"]; on != "" {
			address, err := jsonString(on)
			if err != nil {
				return "", err
			}
			destination += `,"address":` + address
		}
	}
	p := q.Pricing
	return fmt.Sprintf(payloadText, q.ID, q.Transaction, q.Platform, q.Source.InternalAccount,
		p.Sent.Minor, p.Sent.Currency, p.Fees, p.Received.Minor, p.Received.Currency, p.Rate,
		destination, q.ExpiresAt.UTC().Format(time.RFC3339Nano)), nil
}

// jsonString returns a string of JSON, in which no more is escaped than must be.
func jsonString(text string) (string, error) {
	var encoded strings.Builder
	encoder := json.NewEncoder(&encoded)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(text)
	return strings.TrimSuffix(encoded.String(), "\n"), err
}

// PayloadMatches reports whether a payload names a transaction, its wallet and its amounts.
func PayloadMatches(text string, t transaction.Transaction) bool {
	var p struct {
		Type, TransactionID, PlatformID, AccountID, SendingCurrency, ReceivingCurrency string
		Version                                                                        int
		TotalSendingAmount, TotalReceivingAmount                                       int64
	}
	if json.Unmarshal([]byte(text), &p) != nil {
		return false
	}
	return p.Type == "PAYMENT" && p.Version == 1 && p.TransactionID == t.ID.String() && p.PlatformID == t.Platform.String() && p.AccountID == t.Source.InternalAccount.String() &&
		p.TotalSendingAmount == t.Pricing.Sent.Minor && p.SendingCurrency == string(t.Pricing.Sent.Currency) &&
		p.TotalReceivingAmount == t.Pricing.Received.Minor && p.ReceivingCurrency == string(t.Pricing.Received.Currency)
}
