package api

import (
	"context"

	httpapi "causeway/adapters/http"
	"causeway/app/customers"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/invitation"
	"causeway/core/platform"
	"causeway/ports"
)

// Invitations holds the use cases of the invitation operations.
type Invitations interface {
	Create(ctx context.Context, platformID ident.Platform, idempotent *ports.IdempotentRequest,
		r invitation.Request) (customers.StatedInvitation, error)
	Get(ctx context.Context, caller ident.Platform, code string) (customers.StatedInvitation, error)
	Claim(ctx context.Context, caller ident.Platform, idempotent *ports.IdempotentRequest, code,
		inviteeUMA string) (customers.StatedInvitation, error)
	Cancel(ctx context.Context, caller ident.Platform, idempotent *ports.IdempotentRequest, code string) (customers.StatedInvitation, error)
}

type invitationCreateRequest struct {
	InviterUMA   string         `json:"inviterUma" doc:"UMA address of the inviter, who is your customer." example:"$ana@uma.example.com"`
	FirstName    string         `json:"firstName,omitempty" maxLength:"255" doc:"First name of the invited person." example:"Maya"`
	AmountToSend *httpapi.Minor `json:"amountToSend,omitempty" minimum:"1" doc:"Amount to show to the invited person, in the smallest unit of the inviter's first currency, or of yours. When the invitation is claimed, you send it." example:"1250"`
	ExpiresAt    *httpapi.Time  `json:"expiresAt,omitempty" doc:"Time from which the invitation can no longer be claimed, within two years. Set one if there is an amount."`
}

type invitationClaimRequest struct {
	InviteeUMA string `json:"inviteeUma" doc:"UMA address of the invited person, who is your customer." example:"$maya@uma.example.net"`
}

type invitationBody struct {
	Code         string          `json:"code" doc:"Code of the invitation. Upper and lower case are the same." example:"7KQ2M9XD4RTB"`
	URL          string          `json:"url" doc:"Page of the inviter's platform for the invited person." example:"https://example.com/invitations/7KQ2M9XD4RTB"`
	Status       string          `json:"status" enum:"PENDING,CLAIMED,EXPIRED,CANCELLED" doc:"Only a PENDING invitation can be claimed or cancelled."`
	InviterUMA   string          `json:"inviterUma" doc:"UMA address of the inviter." example:"$ana@uma.example.com"`
	InviteeUMA   string          `json:"inviteeUma,omitempty" doc:"UMA address of the customer who claimed the invitation." example:"$maya@uma.example.net"`
	FirstName    string          `json:"firstName,omitempty" doc:"First name of the invited person." example:"Maya"`
	AmountToSend *currencyAmount `json:"amountToSend,omitempty" doc:"Amount that the inviter's platform sends when the invitation is claimed."`
	CreatedAt    httpapi.Time    `json:"createdAt" doc:"Time the invitation was created."`
	ExpiresAt    *httpapi.Time   `json:"expiresAt,omitempty" doc:"Time from which the invitation can no longer be claimed."`
	ClaimedAt    *httpapi.Time   `json:"claimedAt,omitempty" doc:"Time the invitation was claimed."`
}

func renderInvitation(i customers.StatedInvitation) invitationBody {
	body := invitationBody{
		Code: i.Code, URL: i.URL, Status: string(i.Status), InviterUMA: i.InviterUMA, InviteeUMA: i.InviteeUMA, FirstName: i.FirstName,
		CreatedAt: httpapi.NewTime(i.CreatedAt), ExpiresAt: optionalTime(i.ExpiresAt), ClaimedAt: optionalTime(i.ClaimedAt),
	}
	if i.Amount.Currency != "" {
		amount := renderAmount(i.Amount)
		body.AmountToSend = &amount
	}
	return body
}

func registerInvitations(a *httpapi.API, service Invitations) {
	type createInput struct{ Body invitationCreateRequest }
	httpapi.Post(a, httpapi.Operation{
		ID: "createInvitation", Path: "/invitations", Tag: tagInvitations, Summary: "Create an invitation", Permission: platform.Manage,
		Status: 201,
		Description: "A customer of yours invites a person to become a customer of any platform. Send the person the `url`: your " +
			"`invitationUrl` (PATCH /config) with the code.",
		Errors: []fault.Code{fault.InvitationsNotConfigured},
	}, func(ctx context.Context, call httpapi.Call, in *createInput) (customers.StatedInvitation, error) {
		r := invitation.Request{InviterUMA: in.Body.InviterUMA, FirstName: in.Body.FirstName}
		if in.Body.AmountToSend != nil {
			amount := int64(*in.Body.AmountToSend)
			r.Amount = &amount
		}
		if in.Body.ExpiresAt != nil {
			r.ExpiresAt = in.Body.ExpiresAt.Time
		}
		return service.Create(ctx, call.Principal.Platform, call.IdempotentRequest, r)
	}, renderInvitation)

	type codeParams struct {
		Code string `path:"invitationCode" maxLength:"64" doc:"Code of the invitation." example:"7KQ2M9XD4RTB"`
	}
	httpapi.Get(a, httpapi.Operation{
		ID: "getInvitation", Path: "/invitations/{invitationCode}", Tag: tagInvitations, Summary: "Get an invitation", Permission: platform.View,
		Description: "Returns an invitation of any platform of the same environment. After many unknown codes, requests of your platform are " +
			"refused for some seconds.",
		Errors: []fault.Code{fault.InvitationNotFound},
	}, func(ctx context.Context, call httpapi.Call, in *codeParams) (customers.StatedInvitation, error) {
		return service.Get(ctx, call.Principal.Platform, in.Code)
	}, renderInvitation)

	type claimInput struct {
		Code string `path:"invitationCode" maxLength:"64" doc:"Code of the invitation." example:"7KQ2M9XD4RTB"`
		Body invitationClaimRequest
	}
	httpapi.Post(a, httpapi.Operation{
		ID: "claimInvitation", Path: "/invitations/{invitationCode}/claim", Tag: tagInvitations, Summary: "Claim an invitation",
		Permission: platform.Manage,
		Description: "A customer of yours accepts an invitation, of whatever platform. The platform of the inviter gets the event " +
			"INVITATION.CLAIMED and sends the amount, if there is one.",
		Errors: []fault.Code{fault.InvitationNotFound, fault.InvitationAlreadyClaimed, fault.InvitationCancelled, fault.InvitationExpired},
	}, func(ctx context.Context, call httpapi.Call, in *claimInput) (customers.StatedInvitation, error) {
		return service.Claim(ctx, call.Principal.Platform, call.IdempotentRequest, in.Code, in.Body.InviteeUMA)
	}, renderInvitation)

	httpapi.Post(a, httpapi.Operation{
		ID: "cancelInvitation", Path: "/invitations/{invitationCode}/cancel", Tag: tagInvitations, Summary: "Cancel an invitation",
		Permission:  platform.Manage,
		Description: "Only the platform of the inviter can cancel an invitation.",
		Errors: []fault.Code{fault.Forbidden, fault.InvitationNotFound, fault.InvitationAlreadyClaimed, fault.InvitationCancelled,
			fault.InvitationExpired},
	}, func(ctx context.Context, call httpapi.Call, in *codeParams) (customers.StatedInvitation, error) {
		return service.Cancel(ctx, call.Principal.Platform, call.IdempotentRequest, in.Code)
	}, renderInvitation)
}
