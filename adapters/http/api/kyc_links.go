package api

import (
	"context"

	httpapi "causeway/adapters/http"
	"causeway/app/customers"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/ports"
)

// KYCLinks holds the use case of the links to the pages of a verification.
type KYCLinks interface {
	Create(ctx context.Context, p ident.Platform, idempotent *ports.IdempotentRequest, id ident.Customer,
		redirectURI string) (customers.IssuedKYCLink, error)
}

// kycProvider is what the interface calls the provider of the pages, which are the service's own.
const kycProvider = "SUMSUB"

type kycLinkBody struct {
	KYCURL    string       `json:"kycUrl" format:"uri" doc:"URL to send the customer to. It can be opened once." example:"https://pay.example.com/verify/AZnjpMAvcACBgQ"`
	ExpiresAt httpapi.Time `json:"expiresAt" doc:"Time after which the URL can no longer be opened: 24 hours after its creation."`
	Provider  string       `json:"provider" enum:"SUMSUB" doc:"Always SUMSUB, the only value that this version of the interface has. The pages are the service's own."`
	Token     string       `json:"token,omitempty" doc:"Token for the SDK of the provider. Omitted: the pages need no SDK."`
}

type kycLinkCreateRequest struct {
	RedirectURI string `json:"redirectUri,omitempty" format:"uri" maxLength:"2048" doc:"URL to which the customer returns. Its origin must be one of kycRedirectOrigins in your configuration (PATCH /config), both now and when the customer returns; sandbox platforms without that list may use any https URL. Returning there does not mean that the customer is approved." example:"https://example.com/onboarding/done"`
}

// registerKYCLinks adds the operation; pages is the URL that the token of a link is added to.
func registerKYCLinks(a *httpapi.API, service KYCLinks, pages string) {
	type createInput struct {
		CustomerID httpapi.ID[ident.Customer] `path:"customerId" doc:"Id of the customer."`
		Body       *kycLinkCreateRequest
	}
	httpapi.Post(a, httpapi.Operation{
		ID: "createCustomerKycLink", Path: "/customers/{customerId}/kyc-link", Tag: tagVerification, Summary: "Create a verification link",
		Permission: platform.Manage, Status: 201,
		Description: "Returns a URL of the service where the customer enters its data and uploads its documents. It can be opened once, within " +
			"24 hours. Each call returns another one; earlier ones stay valid. " +
			"The status of the customer does not change before it is decided: wait for the event of the customer.\n\n" +
			"409 while the `contactVerification` of the customer is PENDING for its `email` or `phoneNumber`.",
		Errors: []fault.Code{fault.UserNotFound, fault.CustomerDeleted, fault.Conflict},
	}, func(ctx context.Context, call httpapi.Call, in *createInput) (customers.IssuedKYCLink, error) {
		redirectURI := ""
		if in.Body != nil {
			redirectURI = in.Body.RedirectURI
		}
		return service.Create(ctx, call.Principal.Platform, call.IdempotentRequest, in.CustomerID.Value, redirectURI)
	}, func(l customers.IssuedKYCLink) kycLinkBody {
		return kycLinkBody{KYCURL: pages + l.Token, ExpiresAt: httpapi.NewTime(l.ExpiresAt), Provider: kycProvider}
	})
}
