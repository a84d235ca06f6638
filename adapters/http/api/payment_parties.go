package api

import (
	"strings"

	httpapi "causeway/adapters/http"
	"causeway/core/corridor"
	"causeway/core/ident"
	"causeway/core/transaction"
)

// paymentParty is one end of a quote or transaction.
type paymentParty struct {
	SourceType      string                     `json:"sourceType,omitempty" enum:"ACCOUNT,REALTIME_FUNDING,UMA_ADDRESS" doc:"What kind of source it is."`
	DestinationType string                     `json:"destinationType,omitempty" enum:"ACCOUNT,UMA_ADDRESS" doc:"What kind of destination it is."`
	AccountID       string                     `json:"accountId,omitempty" doc:"The external or internal account."`
	UMAAddress      string                     `json:"umaAddress,omitempty" doc:"The person at another provider."`
	CustomerID      httpapi.ID[ident.Customer] `json:"customerId,omitzero" doc:"Who pays, for real-time funding."`
	Currency        string                     `json:"currency,omitempty" doc:"The currency at this end." example:"USD"`
	CryptoNetwork   string                     `json:"cryptoNetwork,omitempty" doc:"The chain a stablecoin is paid on."`
	PaymentRail     string                     `json:"paymentRail,omitempty" doc:"The rail that the money is paid out by, to a bank account or mobile wallet." example:"RTP"`
}

func renderSource(e transaction.Endpoint) paymentParty {
	body := paymentParty{SourceType: "ACCOUNT", AccountID: accountID(e), Currency: string(e.Currency)}
	switch {
	case e.UMA != "":
		body.SourceType, body.UMAAddress = "UMA_ADDRESS", e.UMA
	case e.IsJustInTime():
		body.SourceType, body.CustomerID = "REALTIME_FUNDING", httpapi.NewID(e.Customer)
		for name, rail := range networks {
			if e.Network == string(rail) {
				body.CryptoNetwork = name
			}
		}
	}
	return body
}

func renderDestination(e transaction.Endpoint) paymentParty {
	if e.UMA != "" && e.InternalAccount.IsZero() {
		return paymentParty{DestinationType: "UMA_ADDRESS", UMAAddress: e.UMA, Currency: string(e.Currency)}
	}
	return paymentParty{DestinationType: "ACCOUNT", AccountID: accountID(e), Currency: string(e.Currency)}
}

// withPaymentRail names the rail of banks that a payout takes; path is where it lies in the
// books.
func withPaymentRail(body paymentParty, path string) paymentParty {
	name, isRail := strings.CutPrefix(path, "rails/")
	if isRail && corridor.Rail(name).Known() {
		body.PaymentRail = name
	}
	return body
}

func accountID(e transaction.Endpoint) string {
	if !e.ExternalAccount.IsZero() {
		return e.ExternalAccount.String()
	}
	return e.InternalAccount.String()
}
