package api

import (
	httpapi "causeway/adapters/http"
	"causeway/core/corridor"
	"causeway/core/ident"
	"causeway/core/transaction"
)

// paymentParty is the source or destination of a quote or transaction.
type paymentParty struct {
	SourceType      string                     `json:"sourceType,omitempty" enum:"ACCOUNT,REALTIME_FUNDING,UMA_ADDRESS" doc:"Type of source."`
	DestinationType string                     `json:"destinationType,omitempty" enum:"ACCOUNT,UMA_ADDRESS" doc:"Type of destination."`
	AccountID       string                     `json:"accountId,omitempty" doc:"Id of the internal or external account."`
	UMAAddress      string                     `json:"umaAddress,omitempty" doc:"UMA address of the person."`
	CustomerID      httpapi.ID[ident.Customer] `json:"customerId,omitzero" doc:"Customer who pays, for real-time funding."`
	Currency        string                     `json:"currency,omitempty" doc:"Currency of the source or destination." example:"USD"`
	CryptoNetwork   string                     `json:"cryptoNetwork,omitempty" doc:"Blockchain that a stablecoin is paid on."`
	PaymentRail     string                     `json:"paymentRail,omitempty" doc:"Payment rail of a payout to a bank account or mobile wallet." example:"RTP"`
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

// withPaymentRail adds the rail of a payout. Chains and UMA are not named.
func withPaymentRail(body paymentParty, rail corridor.Rail) paymentParty {
	if rail.Known() && !rail.IsChain() {
		body.PaymentRail = string(rail)
	}
	return body
}

func accountID(e transaction.Endpoint) string {
	if !e.ExternalAccount.IsZero() {
		return e.ExternalAccount.String()
	}
	return e.InternalAccount.String()
}
