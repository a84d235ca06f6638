package api

import (
	"context"

	httpapi "causeway/adapters/http"
	"causeway/app/accounts"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/sca"
)

type beneficiaryTrustStart struct {
	SCAChallenge *scaChallengeBody `json:"scaChallenge,omitempty" doc:"What the customer is asked to prove. Omitted if the account is already as wanted."`
}

type beneficiaryTrustConfirmRequest struct {
	SCAProofRequest
	ChallengeID httpapi.ID[ident.SCAChallenge] `json:"challengeId,omitzero" doc:"Id of the challenge that is answered. Defaults to the latest."`
}

type beneficiaryTrustConfirm struct {
	Trusted bool `json:"trusted" doc:"Whether the customer trusts the account now."`
}

func registerTrust(a *httpapi.API, service ExternalAccounts) {
	registerTrustChange(a, service, true, "trust", "Trust", "Trust a beneficiary",
		"Lets a customer who needs strong customer authentication say that it trusts an account: if the operator has set that exemption for "+
			"the platform, payments to it need no further proof. A trusted account cannot be deleted.")
	registerTrustChange(a, service, false, "untrust", "Untrust", "Withdraw the trust in a beneficiary",
		"Lets a customer say that it trusts an account no longer.")
}

// registerTrustChange registers both steps of a change of trust.
func registerTrustChange(a *httpapi.API, service ExternalAccounts, wanted bool, path, name, summary, description string) {
	errors := []fault.Code{fault.ExternalAccountNotFound, fault.Conflict, fault.SCASessionRequired, fault.AccountLocked, fault.NotImplemented}
	httpapi.Post(a, httpapi.Operation{
		ID: "startBeneficiary" + name, Path: "/customers/external-accounts/{externalAccountId}/" + path, Tag: tagAccounts, Summary: summary,
		Permission:  platform.Manage,
		Description: description + " Answer the `scaChallenge` with the operation that confirms it, within ten minutes.", Errors: errors,
	}, func(ctx context.Context, call httpapi.Call, in *externalAccountParams) (*sca.Asked, error) {
		return service.StartTrust(ctx, accounts.Trust{Platform: call.Principal.Platform, Account: in.ExternalAccountID.Value, Wanted: wanted},
			call.IdempotentRequest)
	}, func(asked *sca.Asked) beneficiaryTrustStart { return beneficiaryTrustStart{renderSCAChallenge(asked)} })

	type confirmInput struct {
		ExternalAccountID httpapi.ID[ident.ExternalAccount] `path:"externalAccountId" doc:"Id of the account."`
		Body              beneficiaryTrustConfirmRequest
	}
	httpapi.Post(a, httpapi.Operation{
		ID: "confirmBeneficiary" + name, Path: "/customers/external-accounts/{externalAccountId}/" + path + "/confirm", Tag: tagAccounts,
		Summary: summary + ": confirm", Permission: platform.Manage,
		Description: "Gives the answer of the customer. A wrong one is 400 and counts as a failed attempt.", Errors: errors,
	}, func(ctx context.Context, call httpapi.Call, in *confirmInput) (bool, error) {
		proof, err := in.Body.proof()
		if err != nil {
			return false, err
		}
		return service.ConfirmTrust(ctx, accounts.Trust{Platform: call.Principal.Platform, Account: in.ExternalAccountID.Value, Wanted: wanted,
			Challenge: in.Body.ChallengeID.Value}, proof, call.IdempotentRequest)
	}, func(trusted bool) beneficiaryTrustConfirm { return beneficiaryTrustConfirm{trusted} })
}
