package api

import (
	"maps"
	"slices"

	httpapi "causeway/adapters/http"
	"causeway/core/account"
	"causeway/core/corridor"
)

// paymentInstructions is one way to pay: a bank account with a reference, or a wallet
// address.
type paymentInstructions struct {
	InstructionsNotes   string                            `json:"instructionsNotes,omitempty" doc:"Instructions for the payer."`
	IsPlatformAccount   bool                              `json:"isPlatformAccount,omitempty" doc:"Whether the account belongs to the platform."`
	AccountOrWalletInfo httpapi.Union[paymentAccountInfo] `json:"accountOrWalletInfo" doc:"Account or wallet to pay to."`
}

// renderInstructions renders instructions. Webhooks also carry the reference as
// referenceCode.
func renderInstructions(instructions []account.Instruction, webhook bool) []paymentInstructions {
	if len(instructions) == 0 {
		return nil
	}
	bodies := make([]paymentInstructions, len(instructions))
	for i, instruction := range instructions {
		info := instruction.Info
		reference, found := info["reference"]
		if network := networkOf(info["accountType"]); network != "" {
			info = withField(info, "cryptoNetwork", network)
			if chain := corridor.RailNamed(network).OnChainNetwork(); chain != "" {
				info = withField(info, "network", chain)
			}
		} else if found && webhook {
			info = withField(info, "referenceCode", reference)
		}
		if rail := preferredRail(info["paymentRails"]); rail != "" {
			info = withField(info, "rail", rail)
		}
		bodies[i] = paymentInstructions{InstructionsNotes: instruction.Notes, IsPlatformAccount: instruction.PlatformAccount,
			AccountOrWalletInfo: httpapi.NewUnion[paymentAccountInfo](info)}
	}
	return bodies
}

// networkOf returns the name of the network of a type of wallets; empty for another account.
func networkOf(accountType any) string {
	name, _ := accountType.(string)
	if spec, found := account.Spec(account.Type(name)); found && spec.IsWallet() {
		return spec.Rails()[0].PublicName()
	}
	return ""
}

// preferredRail returns the first of the payment rails of an account: the fastest.
func preferredRail(rails any) string {
	switch list := rails.(type) {
	case []string:
		if len(list) > 0 {
			return list[0]
		}
	case []any: // as it was stored
		if len(list) > 0 {
			name, _ := list[0].(string)
			return name
		}
	}
	return ""
}

// withField returns the fields of an account with one more.
func withField(info map[string]any, name string, value any) map[string]any {
	info = maps.Clone(info)
	info[name] = value
	return info
}

// paymentAccountInfo is the union of accounts and wallets that a payer can pay to.
type paymentAccountInfo struct{}

// Union returns a branch for every account type, with the fields that a payer needs.
func (paymentAccountInfo) Union() httpapi.UnionSpec {
	spec := httpapi.UnionSpec{
		Name:          "PaymentAccountInfo",
		Description:   "Account or wallet to pay to. For bank accounts, the memo of the payment must contain the `reference`.",
		Discriminator: "accountType",
	}
	for _, t := range account.Catalogue() {
		spec.Branches = append(spec.Branches, paymentBranch(t))
	}
	spec.Branches = append(spec.Branches, httpapi.Branch{Name: "PaymentEmbeddedWallet", Values: []string{string(account.EmbeddedWallet)},
		Description: "An embedded wallet, whose owner authorises the payment with a signature.",
		Fields: []httpapi.Field{{Name: "payloadToSign", Required: true,
			Description: "Text to sign, byte for byte: the terms of the payment as JSON. Show them to the customer, and send the signature in the " +
				"header Service-Wallet-Signature when you execute the quote.",
			Example: `{"type":"PAYMENT","version":1,"quoteId":"Quote:0199f0a5-2d3e-7e4f-9a5b-6c7d8e9f0a14"}`}}})
	return spec
}

func paymentBranch(t account.TypeSpec) httpapi.Branch {
	branch := httpapi.Branch{Name: "Payment" + schemaName(t.Type), Description: t.Description, Values: []string{string(t.Type)}}
	for _, alias := range t.Aliases {
		branch.Values = append(branch.Values, string(alias))
	}
	for _, f := range t.Fields {
		branch.Fields = append(branch.Fields, httpapi.Field{Name: f.Name, Description: f.Description, Example: f.Example})
	}
	if t.IsWallet() {
		branch.Fields = append(branch.Fields,
			httpapi.Field{Name: "assetType", Description: "Asset to send.", Enum: toStrings(t.Currencies), Example: string(t.Currencies[0])},
			httpapi.Field{Name: "cryptoNetwork", Description: "Network to send it on, as in the source of a quote.",
				Enum: corridor.PublicNames(t.Rails()), Example: t.Rails()[0].PublicName()})
		if chain := t.Rails()[0].OnChainNetwork(); chain != "" {
			branch.Fields = append(branch.Fields, httpapi.Field{Name: "network", Description: "The blockchain, as in onChainTransaction.",
				Enum: []string{chain}, Example: chain})
		}
		return branch
	}
	branch.Fields = append(branch.Fields,
		httpapi.Field{Name: "reference", Description: "Reference that the memo of the payment must contain exactly.", Required: true,
			Example: "4T9K2M7PXQ3A"},
		httpapi.Field{Name: "referenceCode", Description: "Same as reference; in webhooks only."},
		httpapi.Field{Name: "accountHolderName", Description: "Name of the account holder."},
		httpapi.Field{Name: "paymentRails", Description: "Payment rails that reach the account.", Schema: stringListSchema()})
	if _, found := t.Field("rail"); !found {
		branch.Fields = append(branch.Fields, httpapi.Field{Name: "rail", Description: "Fastest payment rail that reaches the account."})
	}
	branch.Fields = append(branch.Fields, httpapi.Field{Name: "bankAddress", Description: "Address of the bank, for payers that need it."})
	if slices.Contains(t.Rails(), corridor.PIX) {
		branch.Fields = append(branch.Fields, httpapi.Field{Name: "qrCode", Description: "PIX code to scan or copy. It contains the reference."})
	}
	if t.Country == "CO" {
		branch.Fields = append(branch.Fields, httpapi.Field{Name: "paymentUrl", Format: "uri",
			Description: "Page on which the payer pays. Present if the partner that receives the pesos has one.",
			Example:     "https://pay.partner.example/4T9K2M7PXQ3A"})
	}
	if t.Type == account.SWIFTAccount || t.Type == account.USAccount {
		branch.Fields = append(branch.Fields, httpapi.Field{Name: "bankAddress", Description: "Address of the bank."})
	}
	if _, found := t.Field("bankName"); !found {
		branch.Fields = append(branch.Fields, httpapi.Field{Name: "bankName", Description: "Name of the bank."})
	}
	return branch
}
