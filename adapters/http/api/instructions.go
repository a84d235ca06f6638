package api

import (
	"slices"

	httpapi "causeway/adapters/http"
	"causeway/core/account"
	"causeway/core/corridor"
)

// paymentInstructions is one way of paying: a bank account with a reference, or a
// wallet address.
type paymentInstructions struct {
	InstructionsNotes   string                            `json:"instructionsNotes,omitempty" doc:"What the payer should know, for people."`
	IsPlatformAccount   bool                              `json:"isPlatformAccount,omitempty" doc:"Whether the account is the platform's own."`
	AccountOrWalletInfo httpapi.Union[paymentAccountInfo] `json:"accountOrWalletInfo" doc:"Where to pay to."`
}

// renderInstructions renders instructions. In a webhook the code is also named
// referenceCode.
func renderInstructions(instructions []account.Instruction, both bool) []paymentInstructions {
	if len(instructions) == 0 {
		return nil
	}
	bodies := make([]paymentInstructions, len(instructions))
	for i, way := range instructions {
		info := way.Info
		if reference, ok := info["reference"]; ok && both {
			info = make(map[string]any, len(way.Info)+1)
			for name, value := range way.Info {
				info[name] = value
			}
			info["referenceCode"] = reference
		}
		bodies[i] = paymentInstructions{InstructionsNotes: way.Notes, IsPlatformAccount: way.PlatformAccount,
			AccountOrWalletInfo: httpapi.NewUnion[paymentAccountInfo](info)}
	}
	return bodies
}

// paymentAccountInfo is where a payer pays to.
type paymentAccountInfo struct{}

// Union lists the forms: every bank account and wallet of the catalogue, with what
// a payer needs beside it.
func (paymentAccountInfo) Union() httpapi.UnionSpec {
	spec := httpapi.UnionSpec{
		Description:   "The account or wallet to pay to. Bank accounts carry the `reference` that must stand in the memo of the payment.",
		Discriminator: "accountType",
	}
	for _, t := range account.Catalogue() {
		spec.Branches = append(spec.Branches, paymentBranch(t))
	}
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
			httpapi.Field{Name: "assetType", Description: "The asset to send.", Enum: currencyCodes(t), Example: string(t.Currencies[0])})
		return branch
	}
	branch.Fields = append(branch.Fields,
		httpapi.Field{Name: "reference", Description: "The code that must stand, exactly, in the memo of the payment.", Required: true, Example: "4T9K2M7PXQ3A"},
		httpapi.Field{Name: "referenceCode", Description: "The same code, as webhooks also name it."},
		httpapi.Field{Name: "accountHolderName", Description: "Who holds the account."},
		httpapi.Field{Name: "paymentRails", Description: "The rails the account can be paid over.", Schema: stringListSchema()})
	if slices.Contains(t.Rails(), corridor.PIX) {
		branch.Fields = append(branch.Fields, httpapi.Field{Name: "qrCode", Description: "The text of the PIX code to scan or to copy; it carries the reference."})
	}
	if _, named := t.Field("bankName"); !named {
		branch.Fields = append(branch.Fields, httpapi.Field{Name: "bankName", Description: "The bank it is at."})
	}
	return branch
}
