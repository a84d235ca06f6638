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

	AccountHolderName     string              `json:"accountHolderName,omitempty"`
	AccountIdentifier     string              `json:"accountIdentifier,omitempty"`
	BankName              string              `json:"bankName,omitempty"`
	BankIdentifier        string              `json:"bankIdentifier,omitempty"`
	PaymentRail           string              `json:"paymentRail,omitempty"`
	RemittanceInformation string              `json:"remittanceInformation,omitempty"`
	EndToEndID            string              `json:"endToEndId,omitempty"`
	TraceNumber           string              `json:"traceNumber,omitempty"`
	OnChainTransaction    *onChainTransaction `json:"onChainTransaction,omitempty"`
}

// onChainTransaction is a transfer on a chain.
type onChainTransaction struct {
	TransactionHash string `json:"transactionHash"`
	Network         string `json:"network"`
}

// paymentDestination is the destination of a quote or transaction.
type paymentDestination struct {
	DestinationType string `json:"destinationType"`
	AccountID       string `json:"accountId,omitempty"`
	UMAAddress      string `json:"umaAddress,omitempty"`
	Currency        string `json:"currency,omitempty"`
	PaymentRail     string `json:"paymentRail,omitempty"`

	OnChainTransaction *onChainTransaction `json:"onChainTransaction,omitempty"`
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
				Fields: []httpapi.Field{partyAccount, partyCurrency, partyOnChain}},
			{Name: "RealtimeFundingSource", Values: []string{"REALTIME_FUNDING"}, Description: "Just-in-time funding.", Fields: []httpapi.Field{
				{Name: "customerId", Description: "Customer who pays. Omitted if your platform pays.",
					Example: "Customer:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e11"},
				partyCurrency,
				{Name: "cryptoNetwork", Description: "Blockchain that a stablecoin is paid on."},
				{Name: "accountHolderName", Description: "Name of the payer. This and the following are present once money was received, as far as " +
					"the bank or partner has said them.", Example: "Ana Silva"},
				{Name: "accountIdentifier", Description: "Number of the account that it came from, or its address: the last characters.",
					Example: "****3000"},
				{Name: "bankName", Description: "Name of the payer's bank.", Example: "Commerzbank"},
				{Name: "bankIdentifier", Description: "BIC of the payer's bank, or its number in the payment system.", Example: "COBADEFFXXX"},
				{Name: "paymentRail", Description: "Payment rail on which it was received.", Example: "SEPA"},
				{Name: "remittanceInformation", Description: "What the payer wrote.", Example: "4T9K2M7PXQ3A"},
				{Name: "endToEndId", Description: "Id that the payer has given to the payment.", Example: "INV-2026-0117"},
				{Name: "traceNumber", Description: "Id of the payment in the payment system.", Example: "021000020000001"},
				partyOnChain,
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
					partyOnChain,
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
	partyOnChain = httpapi.Field{Name: "onChainTransaction", Description: "Transfer on a blockchain, once it is known.",
		Fields: []httpapi.Field{
			{Name: "transactionHash", Required: true, Description: "Hash of the transaction on the blockchain."},
			{Name: "network", Required: true, Description: "The blockchain. LAYER2 is Spark.", Enum: onChainNetworks(), Example: "BASE"},
		}}
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

// renderTransactionSource renders the source of a transaction with what is known of the money that was received.
func renderTransactionSource(t transaction.Transaction) paymentSource {
	body := renderSource(t.Source)
	body.OnChainTransaction = renderOnChain(t.SourceHash, t.SourceRail)
	if body.SourceType != "REALTIME_FUNDING" || t.Receipt.IsZero() {
		return body
	}
	body.PaymentRail = bankRail(t.SourceRail)
	if o := t.Originator; o != nil {
		body.AccountHolderName, body.AccountIdentifier, body.BankName, body.BankIdentifier = o.Name, o.Account, o.BankName, o.Bank
		body.RemittanceInformation, body.EndToEndID, body.TraceNumber = o.Remittance, o.EndToEndID, o.TraceNumber
	}
	return body
}

// withPaymentRail adds the rail of a payout.
func withPaymentRail(body paymentDestination, rail corridor.Rail) paymentDestination {
	body.PaymentRail = bankRail(rail)
	return body
}

// bankRail returns the name of a rail of banks or mobile operators. Chains and UMA are not named.
func bankRail(rail corridor.Rail) string {
	if !rail.Known() || rail.IsChain() {
		return ""
	}
	return string(rail)
}

func renderOnChain(hash string, rail corridor.Rail) *onChainTransaction {
	if hash == "" || rail.OnChainNetwork() == "" { // of Lightning, for instance
		return nil
	}
	return &onChainTransaction{hash, rail.OnChainNetwork()}
}

func onChainNetworks() []string {
	var networks []string
	for _, rail := range corridor.Rails() {
		if name := rail.OnChainNetwork(); name != "" {
			networks = append(networks, name)
		}
	}
	return networks
}

func accountID(e transaction.Endpoint) string {
	if !e.ExternalAccount.IsZero() {
		return e.ExternalAccount.String()
	}
	return e.InternalAccount.String()
}
