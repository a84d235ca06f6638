package api

import (
	"context"

	"github.com/danielgtaylor/huma/v2"

	httpapi "causeway/adapters/http"
	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/verification"
	"causeway/ports"
)

// Verifications holds the use cases of the operations on verifications.
type Verifications interface {
	Submit(ctx context.Context, principal platform.Principal, idempotent *ports.IdempotentRequest,
		id ident.Customer) (verification.Verification, error)
	Verification(ctx context.Context, p ident.Platform, id ident.Verification) (verification.Verification, error)
	List(ctx context.Context, p ident.Platform, f ports.VerificationFilter) (ports.Page[verification.Verification], error)
}

// The enums of a verification; core defines their values.
type (
	verificationStatus    string
	verificationErrorType string
)

// Schema returns the enum of values.
func (verificationStatus) Schema(huma.Registry) *huma.Schema {
	return enumSchema(verification.Statuses)
}
func (verificationErrorType) Schema(huma.Registry) *huma.Schema {
	return enumSchema(customer.CheckErrorTypes)
}

type verificationError struct {
	ResourceID            string                `json:"resourceId" doc:"Id of the customer, beneficial owner or document." example:"Customer:0199f0a2-7b1c-7e55-9d6b-2f1f6a0c4e11"`
	Type                  verificationErrorType `json:"type" doc:"What is missing or wrong."`
	Field                 string                `json:"field,omitempty" doc:"Path of the field, for MISSING_FIELD and INVALID_FIELD." example:"businessInfo.taxId"`
	AcceptedDocumentTypes []documentType        `json:"acceptedDocumentTypes,omitempty" doc:"Types of documents of which one is needed."`
	Reason                string                `json:"reason" doc:"What is wrong and what to do." example:"The field is required. Set it with PATCH /customers/{customerId}."`
}

type verificationBody struct {
	ID                 httpapi.ID[ident.Verification] `json:"id" doc:"Id of the verification."`
	CustomerID         httpapi.ID[ident.Customer]     `json:"customerId" doc:"Id of the customer."`
	VerificationStatus verificationStatus             `json:"verificationStatus" doc:"Status. RESOLVE_ERRORS: correct the errors and submit again. READY_FOR_VERIFICATION: complete. IN_PROGRESS: submitted. PENDING_MANUAL_REVIEW: a person decides. APPROVED and REJECTED are final."`
	Errors             []verificationError            `json:"errors" doc:"What to correct, or why it was rejected. Empty otherwise."`
	CreatedAt          httpapi.Time                   `json:"createdAt" doc:"Time the verification began."`
	UpdatedAt          httpapi.Time                   `json:"updatedAt" doc:"Time of the last change."`
}

func renderVerification(v verification.Verification) verificationBody {
	body := verificationBody{
		ID: httpapi.NewID(v.ID), CustomerID: httpapi.NewID(v.Customer), VerificationStatus: verificationStatus(v.Status),
		Errors: []verificationError{}, CreatedAt: httpapi.NewTime(v.CreatedAt), UpdatedAt: httpapi.NewTime(v.UpdatedAt),
	}
	for _, e := range v.Errors {
		rendered := verificationError{ResourceID: e.Resource, Type: verificationErrorType(e.Type), Field: e.Field, Reason: e.Reason}
		for _, name := range e.AcceptedDocuments {
			rendered.AcceptedDocumentTypes = append(rendered.AcceptedDocumentTypes, documentType(name))
		}
		body.Errors = append(body.Errors, rendered)
	}
	return body
}

type listVerificationsParams struct {
	httpapi.Paging
	CustomerID         httpapi.ID[ident.Customer] `query:"customerId" doc:"Id of the customer."`
	VerificationStatus verificationStatus         `query:"verificationStatus" doc:"Status of the verification."`
}

type verificationRequest struct {
	CustomerID httpapi.ID[ident.Customer] `json:"customerId" doc:"Id of the customer to verify."`
}

func registerVerifications(a *httpapi.API, service Verifications) {
	type submitInput struct{ Body verificationRequest }
	httpapi.Post(a, httpapi.Operation{
		ID: "createVerification", Path: "/verifications", Tag: tagVerification, Summary: "Submit a customer for verification",
		Permission: platform.Manage, Status: 200,
		Description: "Submits an individual (KYC) or a business (KYB) with its beneficial owners and documents. If anything is missing, " +
			"nothing is submitted: `errors` lists everything, " +
			"and after correcting it the same request continues the same verification. A submitted verification is returned as it is.\n\n" +
			"The first one is refused with 409 while the `contactVerification` of the customer is PENDING for its `email` or `phoneNumber`.\n\n" +
			"A verification goes on with the data as it was submitted. If you change a field that is verified before the decision, an approval " +
			"does not count: the verification gets " +
			"RESOLVE_ERRORS with each changed field, and you submit again. Submitted documents can be replaced, and not deleted.",
		Errors: []fault.Code{fault.UserNotFound, fault.CustomerDeleted, fault.Conflict},
	}, func(ctx context.Context, call httpapi.Call, in *submitInput) (verification.Verification, error) {
		return service.Submit(ctx, call.Principal, call.IdempotentRequest, in.Body.CustomerID.Value)
	}, renderVerification)

	httpapi.GetPage(a, httpapi.Operation{
		ID: "listVerifications", Path: "/verifications", Tag: tagVerification, Summary: "List verifications", Permission: platform.View,
		Description: "Newest first. All filters must match.",
	}, func(ctx context.Context, call httpapi.Call, in *listVerificationsParams, page ports.Paging) (
		ports.Page[verification.Verification], error) {
		return service.List(ctx, call.Principal.Platform, ports.VerificationFilter{
			Paging: page, Customer: in.CustomerID.Value,
			Status: verification.Status(in.VerificationStatus),
		})
	}, renderVerification, func(v verification.Verification) ident.Verification { return v.ID })

	type getParams struct {
		ID httpapi.ID[ident.Verification] `path:"verificationId" doc:"Id of the verification."`
	}
	httpapi.Get(a, httpapi.Operation{
		ID: "getVerification", Path: "/verifications/{verificationId}", Tag: tagVerification, Summary: "Get a verification",
		Permission:  platform.View,
		Description: "Returns a verification.", Errors: []fault.Code{fault.VerificationNotFound},
	}, func(ctx context.Context, call httpapi.Call, in *getParams) (verification.Verification, error) {
		return service.Verification(ctx, call.Principal.Platform, in.ID.Value)
	}, renderVerification)
}
