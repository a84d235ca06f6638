package api

import (
	"context"

	httpapi "causeway/adapters/http"
	"causeway/app/accounting"
	"causeway/core/books"
	"causeway/core/fault"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/proposal"
	"causeway/ports"
)

type glMappingLine struct {
	Path     string           `json:"path" minLength:"1" maxLength:"100" doc:"Path of an account, such as rails/RTP, or of a group, such as rails/*: all accounts whose path begins alike." example:"rails/*"`
	Currency httpapi.Currency `json:"currency,omitempty" doc:"Currency of the accounts. Omitted: all currencies."`
	Code     string           `json:"code" minLength:"1" maxLength:"40" doc:"Code of the account in the general ledger." example:"1100"`
	Name     string           `json:"name" minLength:"1" maxLength:"100" doc:"Name of that account: one for each code." example:"Funds at payment partners"`
}

type glMappingBody struct {
	Lines []glMappingLine `json:"lines,omitempty" doc:"Lines by path and currency. Omitted in lists of versions."`
	ChangeRecord
}

func renderGLMapping(v books.MappingVersion) glMappingBody {
	body := renderGLMappingVersion(v)
	for _, l := range v.Lines() {
		body.Lines = append(body.Lines, glMappingLine{l.Path, httpapi.Currency(l.Currency), l.Code, l.Name})
	}
	return body
}

func renderGLMappingVersion(v books.MappingVersion) glMappingBody {
	return glMappingBody{ChangeRecord: renderChange(v.Version, v.At, v.By, v.Approval, v.Note)}
}

type glMappingUpdateRequest struct {
	BaseVersion int             `json:"baseVersion" minimum:"0" maximum:"2147483646" doc:"Version that the lines were made from. If it is no longer the present one, the request is refused with 409." example:"0"`
	Lines       []glMappingLine `json:"lines" minItems:"1" maxItems:"2000" doc:"All lines. Every account of the chart must have a line without currency, its own or that of its group."`
	Note        string          `json:"note,omitempty" maxLength:"500" doc:"Reason, stored with the change." example:"Codes of the new general ledger"`
}

func (r glMappingUpdateRequest) lines() []books.MappingLine {
	lines := make([]books.MappingLine, len(r.Lines))
	for i, l := range r.Lines {
		lines[i] = books.MappingLine{Path: l.Path, Currency: money.Currency(l.Currency), GLAccount: books.GLAccount{Code: l.Code, Name: l.Name}}
	}
	return lines
}

// glMappingPrecedence describes which line counts.
const glMappingPrecedence = "Of the lines for an account the most exact one counts: path and currency, then path, then group and " +
	"currency, then group."

// maxGLMappingBytes is the maximum size of a mapping as a file.
const maxGLMappingBytes = 1 << 20

func registerGLMapping(a *httpapi.API, service Books) {
	type getParams struct {
		httpapi.ReportFormat
		Version int `query:"version" minimum:"-1" maximum:"2147483647" default:"-1" doc:"Version of the mapping. 0: the built-in one. Defaults to the present one." example:"3"`
	}
	httpapi.GetReport(a, httpapi.Operation{
		ID: "getGLMapping", Path: "/ledger/gl-mapping", Tag: tagLedger, Summary: "Get the mapping to the general ledger",
		Permission: platform.View,
		Description: "Returns which account of the general ledger each account belongs to. " + glMappingPrecedence +
			" Until it is set it is the built-in mapping, so that every account always has a code. " +
			"With format=csv, the file is one that PUT /ledger/gl-mapping/csv accepts.",
		Errors: []fault.Code{fault.NotFound},
	}, func(ctx context.Context, call httpapi.Call, in *getParams) (books.MappingVersion, error) {
		return service.GLMapping(ctx, call.Principal.Platform, optionalVersion(in.Version))
	}, renderGLMapping, func(v books.MappingVersion) accounting.Table {
		return accounting.Table{Header: books.MappingColumns, Rows: books.MappingRows(v.Lines())}
	})

	type setInput struct{ Body glMappingUpdateRequest }
	httpapi.Put(a, withFourEyes(httpapi.Operation{
		ID: "setGLMapping", Path: "/ledger/gl-mapping", Tag: tagLedger, Summary: "Set the mapping to the general ledger",
		Permission:  platform.Manage,
		Description: "Replaces the whole mapping by a new version; the former ones stay. " + glMappingPrecedence,
	}, 200, glMappingBody{}), func(ctx context.Context, call httpapi.Call, in *setInput) (proposal.Outcome[books.MappingVersion], error) {
		return service.SetGLMapping(ctx, call.Principal.Platform, booksChange(call, in.Body.Note), in.Body.BaseVersion, in.Body.lines())
	}, renderOutcome(200, renderGLMapping))

	type importParams struct {
		BaseVersion int    `query:"baseVersion" required:"true" minimum:"0" maximum:"2147483646" doc:"Version that the file was made from. If it is no longer the present one, the request is refused with 409." example:"0"`
		Note        string `query:"note" maxLength:"500" doc:"Reason, stored with the change."`
	}
	httpapi.Put(a, withFourEyes(httpapi.Operation{
		ID: "importGLMapping", Path: "/ledger/gl-mapping/csv", Tag: tagLedger,
		Summary: "Import the mapping to the general ledger from a CSV file", Permission: platform.Manage,
		Description: "Replaces the whole mapping by the rows of a CSV file in UTF-8 (RFC 4180). Its first row has the names of the columns in " +
			"any order: path, code, name and, optionally, currency. " +
			"Every invalid row is listed; then nothing is changed.",
		MaxBody: maxGLMappingBytes, Upload: &httpapi.Upload{Types: []string{"text/csv", "text/plain", "application/octet-stream"},
			Description: "CSV file of at most 1 MiB."},
	}, 200, glMappingBody{}), func(ctx context.Context, call httpapi.Call, in *importParams) (proposal.Outcome[books.MappingVersion], error) {
		return service.ImportGLMapping(ctx, call.Principal.Platform, booksChange(call, in.Note), in.BaseVersion, call.File)
	}, renderOutcome(200, renderGLMapping))

	type listParams struct {
		Limit  int            `query:"limit" minimum:"1" maximum:"100" default:"20" doc:"Maximum number of versions to return."`
		Cursor httpapi.Cursor `query:"cursor" doc:"Cursor of the next page: nextCursor of the previous response."`
	}
	httpapi.Get(a, httpapi.Operation{
		ID: "listGLMappingVersions", Path: "/ledger/gl-mapping/versions", Tag: tagLedger, Summary: "List the versions of the mapping to the " +
			"general ledger", Permission: platform.View,
		Description: "Returns every version with who changed the mapping and why, newest first, without the lines. The built-in mapping has no " +
			"version of its own.",
	}, func(ctx context.Context, call httpapi.Call, in *listParams) (ports.VersionPage[books.MappingVersion], error) {
		filter, err := versionFilter(mappingCursor, in.Cursor, in.Limit)
		if err != nil {
			return ports.VersionPage[books.MappingVersion]{}, err
		}
		return service.GLMappingVersions(ctx, call.Principal.Platform, filter)
	}, func(p ports.VersionPage[books.MappingVersion]) httpapi.Page[glMappingBody] {
		return renderUncountedPage(p.Versions, p.More, renderGLMappingVersion, func(v books.MappingVersion) httpapi.Cursor {
			return numberCursor(mappingCursor, int64(v.Version))
		})
	})
}

// optionalVersion returns the number of a version, or nil for -1.
func optionalVersion(version int) *int {
	if version < 0 {
		return nil
	}
	return &version
}
