package api

import (
	"github.com/danielgtaylor/huma/v2"

	httpapi "causeway/adapters/http"
	"causeway/core/corridor"
	"causeway/core/ident"
	"causeway/core/transaction"
)

// paymentSource is the source of a quote or transaction.
type paymentSource struct {
	SourceType    string                     `json:"sourceType"`
	AccountID     string                     `json:"accountId,omitempty"`
	UMAAddress    string                     `json:"umaAddress,omitempty"`
	CustomerID    httpapi.ID[ident.Customer] `json:"customerId,omitzero"`
	Currency      string                     `json:"currency,omitempty"`
	CryptoNetwork string                     `json:"cryptoNetwork,omitempty"`
}

// paymentDestination is the destination of a quote or transaction.
type paymentDestination struct {
	DestinationType string `json:"destinationType"`
	AccountID       string `json:"accountId,omitempty"`
	UMAAddress      string `json:"umaAddress,omitempty"`
	Currency        string `json:"currency,omitempty"`
	PaymentRail     string `json:"paymentRail,omitempty"`
}

// Schema returns the union of sources.
func (paymentSource) Schema(r huma.Registry) *huma.Schema {
	return httpapi.Union[paymentSources]{}.Schema(r)
}

// Schema returns the union of destinations.
func (paymentDestination) Schema(r huma.Registry) *huma.Schema {
	return httpapi.Union[paymentDestinations]{}.Schema(r)
}

type paymentSources struct{}

// Union returns a branch for every type of source.
func (paymentSources) Union() httpapi.UnionSpec {
	return httpapi.UnionSpec{
		Name: "PaymentSource", Description: "Source of the funds.", Discriminator: "sourceType",
		Branches: []httpapi.Branch{
			{Name: "AccountSource", Values: []string{"ACCOUNT"}, Description: "An internal or external account.",
				Fields: []httpapi.Field{partyAccount, partyCurrency}},
			{Name: "RealtimeFundingSource", Values: []string{"REALTIME_FUNDING"}, Description: "Just-in-time funding.", Fields: []httpapi.Field{
				{Name: "customerId", Description: "Customer who pays. Omitted if your platform pays.",
					Example: "Customer:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e11"},
				partyCurrency,
				{Name: "cryptoNetwork", Description: "Blockchain that a stablecoin is paid on."},
			}},
			{Name: "UmaAddressSource", Values: []string{"UMA_ADDRESS"}, Description: "A person with a UMA address.",
				Fields: []httpapi.Field{partyUMAAddress, partyCurrency}},
		},
	}
}

type paymentDestinations struct{}

// Union returns a branch for every type of destination.
func (paymentDestinations) Union() httpapi.UnionSpec {
	return httpapi.UnionSpec{
		Name: "PaymentDestination", Description: "Destination of the funds.", Discriminator: "destinationType",
		Branches: []httpapi.Branch{
			{Name: "AccountPaymentDestination", Values: []string{"ACCOUNT"}, Description: "An internal or external account.",
				Fields: []httpapi.Field{
					partyAccount, partyCurrency,
					{Name: "paymentRail", Description: "Payment rail of a payout to a bank account or mobile wallet.", Example: "RTP"},
				}},
			{Name: "UmaAddressPaymentDestination", Values: []string{"UMA_ADDRESS"}, Description: "A person with a UMA address.",
				Fields: []httpapi.Field{
					partyUMAAddress, partyCurrency,
					{Name: "paymentRail", Description: "Payment rail of a payout to a bank account or mobile wallet.", Example: "RTP"},
				}},
		},
	}
}

// Fields of several sources and destinations.
var (
	partyAccount = httpapi.Field{Name: "accountId", Required: true, Description: "Id of the internal or external account.",
		Example: "InternalAccount:0199f0a4-1c2d-7d3e-8f4a-5b6c7d8e9f03"}
	partyUMAAddress = httpapi.Field{Name: "umaAddress", Required: true, Description: "UMA address of the person.",
		Example: "$success.usd@sandbox.uma.test"}
	partyCurrency = httpapi.Field{Name: "currency", Required: true, Description: "Currency of the source or destination.", Example: "USD"}
)

func renderSource(e transaction.Endpoint) paymentSource {
	body := paymentSource{SourceType: "ACCOUNT", AccountID: accountID(e), Currency: string(e.Currency)}
	switch {
	case e.UMA != "":
		body.SourceType, body.UMAAddress = "UMA_ADDRESS", e.UMA
	case e.IsJustInTime():
		body.SourceType, body.CustomerID = "REALTIME_FUNDING", httpapi.NewID(e.Customer)
		body.CryptoNetwork = corridor.Rail(e.Network).PublicName()
	}
	return body
}

func renderDestination(e transaction.Endpoint) paymentDestination {
	if e.UMA != "" && e.InternalAccount.IsZero() {
		return paymentDestination{DestinationType: "UMA_ADDRESS", UMAAddress: e.UMA, Currency: string(e.Currency)}
	}
	return paymentDestination{DestinationType: "ACCOUNT", AccountID: accountID(e), Currency: string(e.Currency)}
}

// withPaymentRail adds the rail of a payout. Chains and UMA are not named.
func withPaymentRail(body paymentDestination, rail corridor.Rail) paymentDestination {
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
