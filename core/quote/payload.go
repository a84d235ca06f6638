package quote

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"causeway/core/account"
	"causeway/core/transaction"
	"causeway/core/wallet"
	"causeway/ledger"
)

// newPayload returns the canonical text that the owner of a wallet signs: JSON with the fields in a fixed
// order and no spaces. It is stored with the quote, and never built again. to is the external account that
// receives, if there is one. Version 2 is of a payment that moves on a chain, and says how.
func newPayload(q Quote, to *account.External, via *wallet.Settlement) (string, error) {
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
	p := wallet.Payment{QuoteID: q.ID.String(), TransactionID: q.Transaction.String(), PlatformID: q.Platform.String(),
		AccountID: q.Source.InternalAccount.String(), TotalSendingAmount: q.Pricing.Sent.Minor, SendingCurrency: string(q.Pricing.Sent.Currency),
		FeesIncluded: q.Pricing.Fees, TotalReceivingAmount: q.Pricing.Received.Minor, ReceivingCurrency: string(q.Pricing.Received.Currency),
		ExchangeRate: q.Pricing.Rate.String(), Destination: "{" + destination + "}", ExpiresAt: payloadTime(q.ExpiresAt)}
	if via != nil {
		settlement := via.For(q.ExpiresAt)
		p.Settlement = &settlement
	}
	return p.Payload(), nil
}

// payloadTime returns a time as the API shows it, so that a client can compare the two.
func payloadTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// jsonString returns a string of JSON, in which no more is escaped than must be.
func jsonString(text string) (string, error) {
	var encoded strings.Builder
	encoder := json.NewEncoder(&encoded)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(text)
	return strings.TrimSuffix(encoded.String(), "\n"), err
}

// PayloadMatches reports whether a payload says what a transaction does, also with the ledger: everything but
// the address of an account that receives, which the transaction does not have.
func PayloadMatches(text string, t transaction.Transaction) bool {
	var p struct {
		Type, QuoteID, TransactionID, PlatformID, AccountID, SendingCurrency, ReceivingCurrency, ExpiresAt string
		Version                                                                                            int
		TotalSendingAmount, TotalReceivingAmount, FeesIncluded                                             int64
		ExchangeRate                                                                                       json.Number
		Destination                                                                                        struct{ AccountID, UMAAddress string }
	}
	if json.Unmarshal([]byte(text), &p) != nil {
		return false
	}
	to, credited := "", t.DestinationAccount == t.DestinationRail.LedgerPath()
	switch {
	case !t.Destination.ExternalAccount.IsZero():
		to = t.Destination.ExternalAccount.String()
	case !t.Destination.InternalAccount.IsZero():
		to = t.Destination.InternalAccount.String()
		owned, _ := ledger.Account{Path: t.DestinationAccount}.InternalAccount()
		credited = owned == t.Destination.InternalAccount
	}
	return p.Type == "PAYMENT" && (p.Version == 1 || p.Version == 2) && p.QuoteID == t.Quote.String() && p.TransactionID == t.ID.String() &&
		p.PlatformID == t.Platform.String() && p.AccountID == t.Source.InternalAccount.String() &&
		p.TotalSendingAmount == t.Pricing.Sent.Minor && p.SendingCurrency == string(t.Pricing.Sent.Currency) &&
		p.FeesIncluded == t.Pricing.Fees &&
		p.TotalReceivingAmount == t.Pricing.Received.Minor && p.ReceivingCurrency == string(t.Pricing.Received.Currency) &&
		p.ExchangeRate.String() == t.Pricing.Rate.String() && p.ExpiresAt == payloadTime(t.ExpiresAt) &&
		t.SourceAccount == ledger.Wallet(t.Source.InternalAccount) && credited &&
		p.Destination.AccountID == to && isUMA(t.Destination.UMA, p.Destination.UMAAddress)
}

// isUMA reports whether an address is another one, also if its name was erased since.
func isUMA(address, signed string) bool {
	_, host, _ := strings.Cut(signed, "@")
	return address == signed || address == "$erased@"+host
}
