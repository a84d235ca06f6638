package api

import (
	"context"
	"time"

	"github.com/danielgtaylor/huma/v2"

	httpapi "causeway/adapters/http"
	"causeway/app/customers"
	"causeway/core/document"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/ports"
)

// Documents holds the use cases of the document operations.
type Documents interface {
	Upload(ctx context.Context, p ident.Platform, idempotent *ports.IdempotentRequest, r customers.DocumentRequest) (document.Document, error)
	Replace(ctx context.Context, p ident.Platform, id ident.Document, r customers.DocumentRequest) (document.Document, error)
	Get(ctx context.Context, p ident.Platform, id ident.Document) (document.Document, error)
	List(ctx context.Context, p ident.Platform, f ports.DocumentFilter) (ports.Page[document.Document], error)
	Delete(ctx context.Context, p ident.Platform, id ident.Document) error
}

// documentHolder is the id of a customer or a beneficial owner.
type documentHolder string

// Schema returns the schema of either id.
func (documentHolder) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString,
		Pattern:            "^(Customer|BeneficialOwner):[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$",
		PatternDescription: "the id of a customer or a beneficial owner", Examples: []any{"Customer:0199e3a4-7c5e-7d21-9f0b-3c1d2e4f5a6b"}}
}

// documentType is a type of document; core defines the values.
type documentType string

// Schema returns the enum of values.
func (documentType) Schema(huma.Registry) *huma.Schema { return enumSchema(document.Types()) }

// DocumentFields are the parts of a form beside the file. Core validates them together with the file.
type DocumentFields struct {
	Type             documentType    `query:"documentType" required:"true" doc:"Type of the document." example:"PASSPORT"`
	Country          httpapi.Country `query:"country" required:"true" doc:"Country that issued the document."`
	Side             string          `query:"side" enum:"FRONT,BACK" doc:"Side that the file shows: required for DRIVERS_LICENSE and NATIONAL_ID, each side of which is a document of its own. A PASSPORT has its photo page only, the FRONT."`
	DocumentNumber   string          `query:"documentNumber" maxLength:"64" doc:"Number of the document. Required for PASSPORT, DRIVERS_LICENSE and NATIONAL_ID." example:"C01X00T47"`
	IssuingAuthority string          `query:"issuingAuthority" maxLength:"255" doc:"Authority that issued the document. Required for PASSPORT, DRIVERS_LICENSE and NATIONAL_ID." example:"U.S. Department of State"`
}

func (f DocumentFields) request(file *httpapi.FormFile) customers.DocumentRequest {
	r := customers.DocumentRequest{Details: document.Details{Type: document.Type(f.Type), Side: document.Side(f.Side),
		Country: string(f.Country),
		Number:  f.DocumentNumber, IssuingAuthority: f.IssuingAuthority}}
	if file != nil {
		r.File = &customers.DocumentFile{Name: file.Name, Size: file.Size, ReaderAt: file.ReaderAt}
	}
	return r
}

type documentBody struct {
	ID               httpapi.ID[ident.Document] `json:"id" doc:"Id of the document."`
	Holder           documentHolder             `json:"documentHolder" doc:"Customer or beneficial owner whom the document is about."`
	Type             documentType               `json:"documentType" doc:"Type of the document."`
	Side             string                     `json:"side,omitempty" enum:"FRONT,BACK" doc:"Side that the file shows."`
	Country          httpapi.Country            `json:"country" doc:"Country that issued the document."`
	DocumentNumber   string                     `json:"documentNumber,omitempty" doc:"Number of the document." example:"C01X00T47"`
	IssuingAuthority string                     `json:"issuingAuthority,omitempty" doc:"Authority that issued the document." example:"U.S. Department of State"`
	FileName         string                     `json:"fileName" doc:"Name of the file, without folders and special characters." example:"passport.jpg"`
	CreatedAt        httpapi.Time               `json:"createdAt" doc:"Time the document was uploaded."`
	UpdatedAt        httpapi.Time               `json:"updatedAt" doc:"Time it was last replaced."`
}

func renderDocument(d document.Document) documentBody {
	return documentBody{ID: httpapi.NewID(d.ID), Holder: documentHolder(d.Holder.String()), Type: documentType(d.Type), Side: string(d.Side),
		Country: httpapi.Country(d.Country), DocumentNumber: d.Number, IssuingAuthority: d.IssuingAuthority, FileName: d.File.Name,
		CreatedAt: httpapi.NewTime(d.CreatedAt), UpdatedAt: httpapi.NewTime(d.UpdatedAt)}
}

// DocumentParams names one document.
type DocumentParams struct {
	DocumentID httpapi.ID[ident.Document] `path:"documentId" doc:"Id of the document."`
}

// maxDocumentBytes is the maximum size of a file.
const maxDocumentBytes = 10 << 20

// documentTimeout is the timeout of an upload, for senders on slow connections.
const documentTimeout = 2 * time.Minute

const documentFileDescription = "The file is a PDF, JPEG or PNG file of at most 10 MiB; what it is depends on its content. Images have " +
	"at most 64 million pixels. " +
	"Of an image the pixels and the orientation are kept, and nothing else: not the place where a photo was taken. " +
	"A PDF file must not be encrypted, and must not contain scripts, attached files or dynamic forms. No operation returns the file.\n\n" +
	"The parts of the form can have any order. All parts that are not valid are listed at once."

var documentErrors = []fault.Code{fault.UserNotFound, fault.BeneficialOwnerNotFound, fault.CustomerDeleted, fault.Conflict,
	fault.NotImplemented}

func documentUpload() *httpapi.Upload {
	return &httpapi.Upload{Form: true, Description: "PDF, JPEG or PNG file of at most 10 MiB."}
}

func registerDocuments(a *httpapi.API, service Documents) {
	type uploadInput struct {
		DocumentFields
		Holder documentHolder `query:"documentHolder" required:"true" doc:"Customer or beneficial owner whom the document is about."`
	}
	httpapi.Post(a, httpapi.Operation{
		ID: "uploadDocument", Path: "/documents", Tag: tagDocuments, Summary: "Upload a document", Permission: platform.Manage, Status: 201,
		Description: "Adds a document of a customer or a beneficial owner, who can have 50.\n\n" + documentFileDescription,
		MaxBody:     maxDocumentBytes, Timeout: documentTimeout, Upload: documentUpload(), Errors: documentErrors,
	}, func(ctx context.Context, call httpapi.Call, in *uploadInput) (document.Document, error) {
		r := in.request(call.FormFile)
		r.Holder = string(in.Holder)
		return service.Upload(ctx, call.Principal.Platform, call.IdempotentRequest, r)
	}, renderDocument)

	type listParams struct {
		httpapi.Paging
		Holder documentHolder `query:"documentHolder" doc:"Customer or beneficial owner whom the documents are about."`
	}
	httpapi.GetPage(a, httpapi.Operation{
		ID: "listDocuments", Path: "/documents", Tag: tagDocuments, Summary: "List documents", Permission: platform.View,
		Description: "Newest first.",
	}, func(ctx context.Context, call httpapi.Call, in *listParams, page ports.Paging) (ports.Page[document.Document], error) {
		f := ports.DocumentFilter{Paging: page}
		if in.Holder != "" {
			var err error
			if f.Holder, err = document.ParseHolder(string(in.Holder)); err != nil {
				return ports.Page[document.Document]{}, fault.Invalid(fault.Field{Field: "documentHolder", Message: err.Error()})
			}
		}
		return service.List(ctx, call.Principal.Platform, f)
	}, renderDocument, func(d document.Document) ident.Document { return d.ID })

	httpapi.Get(a, httpapi.Operation{
		ID: "getDocument", Path: "/documents/{documentId}", Tag: tagDocuments, Summary: "Get a document", Permission: platform.View,
		Description: "Returns a document, without its file.", Errors: []fault.Code{fault.DocumentNotFound},
	}, func(ctx context.Context, call httpapi.Call, in *DocumentParams) (document.Document, error) {
		return service.Get(ctx, call.Principal.Platform, in.DocumentID.Value)
	}, renderDocument)

	type replaceInput struct {
		DocumentParams
		DocumentFields
	}
	httpapi.Put(a, httpapi.Operation{
		ID: "replaceDocument", Path: "/documents/{documentId}", Tag: tagDocuments, Summary: "Replace a document", Permission: platform.Manage,
		Description: "Replaces all fields and the file; the holder stays. A document that was submitted for verification is then not submitted " +
			"any more; " +
			"the file that was is kept as evidence.\n\n" + documentFileDescription,
		MaxBody: maxDocumentBytes, Timeout: documentTimeout, Upload: documentUpload(), Errors: append([]fault.Code{fault.DocumentNotFound},
			documentErrors...),
	}, func(ctx context.Context, call httpapi.Call, in *replaceInput) (document.Document, error) {
		return service.Replace(ctx, call.Principal.Platform, in.DocumentID.Value, in.request(call.FormFile))
	}, renderDocument)

	httpapi.Delete(a, httpapi.Operation{
		ID: "deleteDocument", Path: "/documents/{documentId}", Tag: tagDocuments, Summary: "Delete a document", Permission: platform.Manage,
		Description: "Deletes a document and its file. One that was submitted for verification cannot be deleted, but replaced.",
		Errors:      []fault.Code{fault.DocumentNotFound, fault.Conflict},
	}, func(ctx context.Context, call httpapi.Call, in *DocumentParams) (struct{}, error) {
		return struct{}{}, service.Delete(ctx, call.Principal.Platform, in.DocumentID.Value)
	}, renderNoBody)
}
