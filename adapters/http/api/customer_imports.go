package api

import (
	"context"
	"fmt"
	"io"
	"strings"

	httpapi "causeway/adapters/http"
	"causeway/app/customers"
	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/ports"
)

// CustomerImports holds the use cases of the bulk operations.
type CustomerImports interface {
	Upload(ctx context.Context, platformID ident.Platform, idempotent *ports.IdempotentRequest, file io.Reader) (customer.Import, error)
	Get(ctx context.Context, platformID ident.Platform, id ident.CustomerImport) (customer.ImportWithErrors, error)
}

type customerImportAcceptedBody struct {
	JobID  httpapi.ID[ident.CustomerImport] `json:"jobId" doc:"Id of the import."`
	Status string                           `json:"status" enum:"PENDING,PROCESSING" doc:"Status of the import."`
}

type customerImportBody struct {
	ID             httpapi.ID[ident.CustomerImport] `json:"id" doc:"Id of the import."`
	Status         string                           `json:"status" enum:"PENDING,PROCESSING,COMPLETED,FAILED" doc:"COMPLETED when every row was imported or refused; FAILED if the file was refused and no row was imported." example:"COMPLETED"`
	Progress       customerImportProgress           `json:"progress" doc:"Numbers of rows."`
	Errors         []customerImportErrorBody        `json:"errors,omitempty" doc:"Rows that were refused, or what is wrong with the file. At most the first 1000 of a job are listed; progress.failed counts all."`
	IgnoredColumns []string                         `json:"ignoredColumns,omitempty" doc:"Columns of the file that are not used." example:"[\"description\"]"`
	CreatedAt      httpapi.Time                     `json:"createdAt" doc:"Time of the upload."`
	CompletedAt    *httpapi.Time                    `json:"completedAt,omitempty" doc:"Time the import was completed or failed."`
}

type customerImportProgress struct {
	Total      int `json:"total" doc:"Number of rows in the file." example:"5000"`
	Processed  int `json:"processed" doc:"Number of rows imported or refused so far." example:"5000"`
	Successful int `json:"successful" doc:"Number of customers created." example:"4990"`
	Failed     int `json:"failed" doc:"Number of rows refused." example:"10"`
}

type customerImportErrorBody struct {
	CorrelationID string                     `json:"correlationId" doc:"platformCustomerId of the row; row_ and the number of the row if it has none, or another number of values than the header; file if the whole file was refused." example:"user-42"`
	Code          string                     `json:"code" doc:"INVALID_INPUT for invalid values, CONFLICT for a platformCustomerId in use, UMA_ADDRESS_EXISTS for a UMA address in use, INVALID_REQUEST_FORMAT for the file." example:"INVALID_INPUT"`
	Message       string                     `json:"message" doc:"What is wrong." example:"birthDate: must be a valid date, YYYY-MM-DD."`
	Details       customerImportErrorDetails `json:"details" doc:"Where it is wrong."`
}

type customerImportErrorDetails struct {
	Row    int                   `json:"row,omitempty" doc:"Number of the row; the first one below the header is 1." example:"42"`
	Line   int                   `json:"line,omitempty" doc:"Line of the file on which the row begins. It differs from the row if values contain line breaks." example:"43"`
	Reason string                `json:"reason,omitempty" doc:"Why the file was refused: empty_file, no_rows, too_many_rows, invalid_encoding, malformed_csv, row_too_long, missing_required_column or duplicate_column. Or why a row was." example:"missing_required_column"`
	Column string                `json:"column,omitempty" doc:"Column that is missing or repeated." example:"birthDate"`
	Errors []customerImportField `json:"errors,omitempty" doc:"Invalid values."`
}

type customerImportField struct {
	Field   string `json:"field" doc:"Name of the column; row if the number of values is wrong." example:"birthDate"`
	Message string `json:"message" doc:"What the value must be." example:"must be a valid date, YYYY-MM-DD"`
}

func renderCustomerImport(i customer.ImportWithErrors) customerImportBody {
	body := customerImportBody{
		ID: httpapi.NewID(i.ID), Status: string(i.Status), CreatedAt: httpapi.NewTime(i.CreatedAt), CompletedAt: optionalTime(i.CompletedAt),
		Progress: customerImportProgress{Total: i.Total, Processed: i.Processed(), Successful: i.Successful, Failed: i.Failed},
	}
	header, _ := customer.ParseImportHeader(i.Columns)
	body.IgnoredColumns = header.Ignored
	for _, e := range i.Errors {
		rendered := customerImportErrorBody{CorrelationID: e.CorrelationID(), Code: string(e.Code), Message: e.Message,
			Details: customerImportErrorDetails{Row: e.Row, Line: e.Line, Reason: e.Reason, Column: e.Column}}
		for _, f := range e.Fields {
			rendered.Details.Errors = append(rendered.Details.Errors, customerImportField{f.Field, f.Message})
		}
		body.Errors = append(body.Errors, rendered)
	}
	return body
}

// maxImportBytes is the maximum size of a file of customers.
const maxImportBytes = 256 << 20

func registerCustomerImports(a *httpapi.API, service CustomerImports) {
	httpapi.Post(a, httpapi.Operation{
		ID: "uploadCustomersCsv", Path: "/customers/bulk/csv", Tag: tagCustomers, Summary: "Import customers from a CSV file",
		Permission: platform.Manage, Status: 202,
		Description: "Stores the file and returns. Its rows are then imported one after the other, as POST /customers creates customers; the " +
			"event BULK_UPLOAD says when that is done. " +
			"A row that is refused does not prevent the others.\n\n" +
			"The file is UTF-8, with values separated by commas, and quotation marks around values with commas, quotation marks or line breaks. " +
			"Its first row has the names of the columns, in any order. Spaces at the ends of values are removed, and so is an apostrophe before = " +
			"+ - or @. " +
			"Other columns are ignored. A required column must be in the header.\n\n" + importColumnsList() + "\n\n" +
			fmt.Sprintf("At most %d rows of %d KiB, and %d imports that are not completed.", customers.MaxImportRows,
				customers.MaxImportRowBytes>>10, customers.MaxUnfinishedImports),
		MaxBody: maxImportBytes, Timeout: customers.UploadTimeout,
		Upload: &httpapi.Upload{Types: []string{"text/csv", "application/octet-stream"}, Description: "CSV file of at most 256 MiB.",
			Stream: true},
		Errors: []fault.Code{fault.RateLimited},
	}, func(ctx context.Context, call httpapi.Call, _ *struct{}) (customer.Import, error) {
		return service.Upload(ctx, call.Principal.Platform, call.IdempotentRequest, call.File)
	}, func(i customer.Import) customerImportAcceptedBody {
		return customerImportAcceptedBody{httpapi.NewID(i.ID), string(i.Status)}
	})

	type getParams struct {
		JobID httpapi.ID[ident.CustomerImport] `path:"jobId" doc:"Id of the import."`
	}
	httpapi.Get(a, httpapi.Operation{
		ID: "getBulkCustomerImportJob", Path: "/customers/bulk/jobs/{jobId}", Tag: tagCustomers, Summary: "Get the progress of an import",
		Permission:  platform.View,
		Description: "Returns the numbers of rows so far, and the rows that were refused.", Errors: []fault.Code{fault.BulkUploadJobNotFound},
	}, func(ctx context.Context, call httpapi.Call, in *getParams) (customer.ImportWithErrors, error) {
		return service.Get(ctx, call.Principal.Platform, in.JobID.Value)
	}, renderCustomerImport)
}

// importColumnsList returns the columns of a file as a list in Markdown.
func importColumnsList() string {
	lines := make([]string, len(customer.ImportColumns))
	for i, c := range customer.ImportColumns {
		lines[i] = "- `" + c.Name + "`: " + c.Doc
	}
	return strings.Join(lines, "\n")
}
