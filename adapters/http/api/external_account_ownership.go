package api

import (
	"context"

	"github.com/danielgtaylor/huma/v2"

	httpapi "causeway/adapters/http"
	"causeway/app/accounts"
	"causeway/core/account"
	"causeway/core/bitcoin"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/transaction"
	"causeway/core/vasp"
)

type ownershipType string

// Schema returns the enum of values.
func (ownershipType) Schema(huma.Registry) *huma.Schema { return enumSchema(account.OwnershipTypes) }

type proofMethod string

// Schema returns the enum of values.
func (proofMethod) Schema(huma.Registry) *huma.Schema { return enumSchema(account.ProofMethods) }

type ownershipChallengeRequest struct {
	Method proofMethod `json:"method" doc:"How the owner proves that the wallet is theirs. WALLET_SIGNATURE: the wallet signs a message. LIVENESS: the owner shows the identity provider that they are present."`
}

type ownershipVerifyRequest struct {
	Signature       string `json:"signature" minLength:"1" maxLength:"1000" doc:"Signature of messageToSign: of an EVM chain as personal_sign returns it (EIP-191, hexadecimal), of Bitcoin base64, of Solana base58 of the Ed25519 signature." example:"0x3a5f…1b"`
	SignatureScheme string `json:"signatureScheme,omitempty" enum:"bip137,electrum" default:"bip137" doc:"Bitcoin only: how the signature names the kind of address. electrum is what Electrum writes for SegWit addresses."`
}

// ownershipChallengeOutput is the union of challenges.
type ownershipChallengeOutput struct{}

// Union returns a branch for every method.
func (ownershipChallengeOutput) Union() httpapi.UnionSpec {
	expires := httpapi.Field{Name: "expiresAt", Required: true, Format: "date-time", Description: "Time from which the challenge cannot be " +
		"answered.", Example: "2026-03-01T12:30:00Z"}
	return httpapi.UnionSpec{Name: "OwnershipChallenge", Description: "What the owner of a wallet has to do.", Discriminator: "method",
		Branches: []httpapi.Branch{
			{Name: "WalletSignatureChallenge", Description: "A message that the wallet signs.", Values: []string{string(account.WalletSignature)},
				Fields: []httpapi.Field{{Name: "messageToSign", Required: true, Description: "Text to sign, byte for byte. It has several lines.",
					Example: "Acme asks you to prove that this wallet is yours."}, expires}},
			{Name: "LivenessChallenge", Description: "A page of the identity provider.", Values: []string{string(account.Liveness)},
				Fields: []httpapi.Field{{Name: "verificationLink", Required: true, Format: "uri", Description: "Page where the owner shows that they " +
					"are present.", Example: "https://identity.example.com/liveness/4T9K2M7P"},
					{Name: "token", Description: "Token for the SDK of the provider, if it has one.", Example: "eyJhbGciOiJIUzI1NiJ9"}, expires}},
		}}
}

func renderOwnershipChallenge(c accounts.IssuedChallenge) httpapi.Union[ownershipChallengeOutput] {
	values := map[string]any{"method": string(c.Method), "expiresAt": httpapi.NewTime(c.ExpiresAt)}
	if c.Method == account.WalletSignature {
		values["messageToSign"] = c.Message
		return httpapi.NewUnion[ownershipChallengeOutput](values)
	}
	values["verificationLink"] = c.Link
	if c.Token != "" {
		values["token"] = c.Token
	}
	return httpapi.NewUnion[ownershipChallengeOutput](values)
}

// ownershipOperations names the two operations for accounts of a kind of owner.
type ownershipOperations struct {
	path, challenge, verify, of string
	owner                       accounts.Owner
}

func registerOwnership(a *httpapi.API, service ExternalAccounts) {
	for _, o := range []ownershipOperations{
		{"/customers/external-accounts", "createExternalAccountOwnershipChallenge", "verifyExternalAccountOwnership", "a customer",
			accounts.OwnedByCustomers},
		{"/platform/external-accounts", "createPlatformExternalAccountOwnershipChallenge", "verifyPlatformExternalAccountOwnership",
			"the platform", accounts.OwnedByPlatform},
	} {
		o.register(a, service)
	}
}

func (o ownershipOperations) register(a *httpapi.API, service ExternalAccounts) {
	type challengeInput struct {
		ExternalAccountID httpapi.ID[ident.ExternalAccount] `path:"externalAccountId" doc:"Id of the account."`
		Body              ownershipChallengeRequest
	}
	httpapi.Post(a, httpapi.Operation{
		ID: o.challenge, Path: o.path + "/{externalAccountId}/challenge", Tag: tagAccounts, Permission: platform.Manage, Status: 201,
		Summary: "Ask for a proof that a wallet of " + o.of + " is its owner's",
		Description: "Only for wallets registered with `ownershipType` FIRST_PARTY and without `vaspName` that are " +
			"PENDING_OWNERSHIP_VERIFICATION or UNVERIFIED; 409 for others. An earlier challenge is void. Answer WALLET_SIGNATURE with " +
			"`verify`. The result of LIVENESS, which is for accounts of customers, comes with the event `EXTERNAL_ACCOUNT.STATUS_UPDATED`.",
		Errors: []fault.Code{fault.ExternalAccountNotFound, fault.Conflict, fault.NotImplemented},
	}, func(ctx context.Context, call httpapi.Call, in *challengeInput) (accounts.IssuedChallenge, error) {
		return service.Challenge(ctx, call.Principal, o.owner, call.IdempotentRequest, in.ExternalAccountID.Value,
			account.ProofMethod(in.Body.Method))
	}, renderOwnershipChallenge)

	type verifyInput struct {
		ExternalAccountID httpapi.ID[ident.ExternalAccount] `path:"externalAccountId" doc:"Id of the account."`
		Body              ownershipVerifyRequest
	}
	httpapi.Post(a, httpapi.Operation{
		ID: o.verify, Path: o.path + "/{externalAccountId}/verify", Tag: tagAccounts, Permission: platform.Manage,
		Summary: "Prove with a signature that a wallet of " + o.of + " is its owner's",
		Description: "Makes the account ACTIVE. A signature that is wrong or late is refused with 400, and the account is UNVERIFIED. 409 if " +
			"no message waits for a signature. In the sandbox the signature `sandbox-valid-signature` is valid too.",
		Errors: []fault.Code{fault.ExternalAccountNotFound, fault.Conflict},
	}, func(ctx context.Context, call httpapi.Call, in *verifyInput) (account.External, error) {
		return service.Verify(ctx, call.Principal, o.owner, call.IdempotentRequest, in.ExternalAccountID.Value, in.Body.Signature,
			bitcoin.MessageScheme(in.Body.SignatureScheme))
	}, renderExternalAccount)
}

type vaspBody struct {
	Name string `json:"vaspName" doc:"Name of the custodian, for accountInfo of its wallets." example:"Kraken"`
	URL  string `json:"url,omitempty" format:"uri" doc:"Its site." example:"https://www.kraken.com"`
}

// vaspListResponse has no total, unlike other pages.
type vaspListResponse struct {
	Data       []vaspBody `json:"data" doc:"Items of the page."`
	HasMore    bool       `json:"hasMore" doc:"Whether there are more items."`
	NextCursor string     `json:"nextCursor,omitempty" doc:"Cursor of the next page. Only if hasMore is true."`
}

func registerVASPs(a *httpapi.API, service ExternalAccounts) {
	type page struct {
		vasp.Directory
		more bool
	}
	httpapi.Get(a, httpapi.Operation{
		ID: "listVasps", Path: "/vasps", Tag: tagAccounts, Summary: "List custodians of wallets", Permission: platform.View,
		Description: "Returns the directory of custodians (virtual asset service providers), in the order of names. Register a wallet that one " +
			"of them holds with its `vaspName`: it needs no proof of ownership. The operator of the service maintains the directory.",
	}, func(ctx context.Context, _ httpapi.Call, in *httpapi.Paging) (page, error) {
		directory, err := service.VASPs(ctx)
		providers, more := directory.After(in.Cursor.ID, in.Limit)
		return page{providers, more}, err
	}, func(p page) vaspListResponse {
		body := vaspListResponse{Data: []vaspBody{}, HasMore: p.more}
		for _, provider := range p.Directory {
			body.Data = append(body.Data, vaspBody{provider.Name, provider.URL})
		}
		if p.more {
			body.NextCursor = httpapi.Cursor{ID: p.Directory[len(p.Directory)-1].Name}.String()
		}
		return body
	})
}

type travelRuleBody struct {
	Originator  travelPartyBody  `json:"originator" doc:"Who pays."`
	Beneficiary *travelPartyBody `json:"beneficiary,omitempty" doc:"Who is paid, if it is known."`
	Ownership   ownershipType    `json:"ownershipType" doc:"Whose the wallet is, as you have registered it."`
	VASP        string           `json:"vaspName,omitempty" doc:"Custodian that holds the wallet." example:"Kraken"`
	Proof       proofMethod      `json:"proofMethod,omitempty" doc:"How the owner of the wallet has proven that it is theirs."`
	ProvenAt    *httpapi.Time    `json:"provenAt,omitempty" doc:"Time of that proof."`
}

type travelPartyBody struct {
	ID        string   `json:"id,omitempty" doc:"Id of the customer, or of your platform." example:"Customer:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e11"`
	Name      string   `json:"name,omitempty" doc:"Full or legal name." example:"Ana Silva"`
	BirthDate string   `json:"birthDate,omitempty" format:"date" doc:"Date of birth." example:"1990-01-31"`
	Country   string   `json:"country,omitempty" doc:"Country: ISO 3166-1 alpha-2." example:"DE"`
	Address   *address `json:"address,omitempty" doc:"Postal address."`
}

func renderTravelRule(r *transaction.TravelRule) *travelRuleBody {
	if r == nil {
		return nil
	}
	body := &travelRuleBody{Originator: renderTravelParty(r.Originator), Ownership: ownershipType(r.Ownership), VASP: r.VASP,
		Proof: proofMethod(r.Proof), ProvenAt: optionalTime(r.ProvenAt)}
	if r.Beneficiary != (transaction.TravelParty{}) {
		beneficiary := renderTravelParty(r.Beneficiary)
		body.Beneficiary = &beneficiary
	}
	return body
}

func renderTravelParty(p transaction.TravelParty) travelPartyBody {
	return travelPartyBody{p.ID, p.Name, p.BirthDate, p.Country, renderAddress(p.Address)}
}
