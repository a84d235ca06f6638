package api

import (
	"context"

	httpapi "causeway/adapters/http"
	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
)

// contactVerification has the status of each channel that a customer has.
type contactVerification struct {
	Email string `json:"email,omitempty" enum:"PENDING,VERIFIED" doc:"Whether email is verified. Omitted without one."`
	Phone string `json:"phone,omitempty" enum:"PENDING,VERIFIED" doc:"Whether phoneNumber is verified. Omitted without one."`
}

func renderContacts(c customer.Customer) *contactVerification {
	if !c.NeedsSCA {
		return nil
	}
	return &contactVerification{Email: string(c.ContactStatus(customer.EmailChannel)), Phone: string(c.ContactStatus(customer.PhoneChannel))}
}

type contactConfirmRequest struct {
	Code string `json:"code" minLength:"1" maxLength:"20" doc:"The code that the customer has got." example:"123456"`
}

type contactConfirmInput struct {
	CustomerID httpapi.ID[ident.Customer] `path:"customerId" doc:"Id of the customer."`
	Body       contactConfirmRequest
}

func registerContacts(a *httpapi.API, service Customers) {
	for _, o := range []struct {
		channel                         customer.Channel
		operation, path, contact, field string
	}{
		{customer.EmailChannel, "CustomerEmailVerification", "verify-email", "e-mail address", "email"},
		{customer.PhoneChannel, "CustomerPhoneVerification", "verify-phone", "phone number", "phoneNumber"},
	} {
		httpapi.Post(a, httpapi.Operation{
			ID: "send" + o.operation, Path: "/customers/{customerId}/" + o.path, Tag: tagVerification, Summary: "Send a code to the " + o.contact,
			Permission: platform.Manage,
			Description: "Sends a code of six digits, which is valid for ten minutes, to `" + o.field + "` of the customer. Another call sends " +
				"another code, which replaces the one before: five at once, then one in 15 seconds, and ten in an hour; more get 429. In the sandbox " +
				"the code is 123456, and nothing is sent.\n\n" +
				"409 if the customer has no `contactVerification`, no `" + o.field + "`, or has verified it. 501 if the operator has connected " +
				"nothing that sends.",
			Errors: []fault.Code{fault.UserNotFound, fault.CustomerDeleted, fault.Conflict, fault.RateLimited, fault.NotImplemented},
		}, func(ctx context.Context, call httpapi.Call, in *customerParams) (struct{}, error) {
			return struct{}{}, service.SendContactCode(ctx, call.Principal.Platform, call.IdempotentRequest, in.CustomerID.Value, o.channel)
		}, renderNoBody)

		httpapi.Post(a, httpapi.Operation{
			ID: "confirm" + o.operation, Path: "/customers/{customerId}/" + o.path + "/confirm", Tag: tagVerification,
			Summary: "Verify the " + o.contact, Permission: platform.Manage,
			Description: "Verifies `" + o.field + "` with the latest code, and returns the customer. A code that is wrong or expired gets 400. " +
				"Five wrong codes end a code; the fifth is followed by a delay of a minute, and each further one by twice that, up to a day, in " +
				"which no code is sent or accepted: 429.\n\n" +
				"409 if the customer has no `contactVerification`, no `" + o.field + "`, or has verified it.",
			Errors: []fault.Code{fault.UserNotFound, fault.CustomerDeleted, fault.Conflict, fault.RateLimited},
		}, func(ctx context.Context, call httpapi.Call, in *contactConfirmInput) (customer.Customer, error) {
			return service.ConfirmContact(ctx, call.Principal.Platform, call.IdempotentRequest, in.CustomerID.Value, o.channel, in.Body.Code)
		}, renderCustomer)
	}
}
