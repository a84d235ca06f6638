package api

import (
	"context"

	"github.com/danielgtaylor/huma/v2"

	httpapi "causeway/adapters/http"
	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/platform"
)

// termsConsent is a consent to the terms for end users, in requests and responses.
type termsConsent struct {
	TermsVersion     string           `json:"termsVersion" maxLength:"64" doc:"Version of the terms." example:"2026-03"`
	AcceptanceMethod acceptanceMethod `json:"acceptanceMethod" doc:"What the customer did to accept them."`
	IPAddress        string           `json:"ipAddress" maxLength:"45" doc:"IPv4 or IPv6 address of the customer at that time." example:"203.0.113.7"`
	AcceptedAt       httpapi.Time     `json:"acceptedAt" doc:"Time of the consent."`
}

type acceptanceMethod string

// Schema returns the enum of values.
func (acceptanceMethod) Schema(huma.Registry) *huma.Schema {
	return enumSchema(customer.AcceptanceMethods)
}

func (c *termsConsent) consent() *customer.Consent {
	if c == nil {
		return nil
	}
	return &customer.Consent{Version: c.TermsVersion, Method: string(c.AcceptanceMethod), IPAddress: c.IPAddress,
		AcceptedAt: c.AcceptedAt.Time}
}

type endUserTermsBody struct {
	Version string `json:"version" doc:"Version of the terms, for the consent of a customer." example:"2026-03"`
	URL     string `json:"url" format:"uri" doc:"Address of their text." example:"https://example.com/terms"`
}

func registerEndUserTerms(a *httpapi.API, service Customers) {
	httpapi.Get(a, httpapi.Operation{
		ID: "getEndUserTerms", Path: "/customers/end-user-terms", Tag: tagCustomers, Summary: "Get the terms for end users",
		Permission: platform.View,
		Description: "Returns the terms of the operator of the service that your customers have to accept if your platform is not regulated. " +
			"Show them, and send `endUserTermsConsent` with the customer: without one its quotes are refused with 403 " +
			"`END_USER_TERMS_NOT_ACCEPTED`. 404 if the operator has set none: then no consent is needed.",
		Errors: []fault.Code{fault.NotFound},
	}, func(ctx context.Context, _ httpapi.Call, _ *struct{}) (customer.EndUserTerms, error) {
		return service.EndUserTerms(ctx)
	}, func(t customer.EndUserTerms) endUserTermsBody { return endUserTermsBody{t.Version, t.URL} })
}
