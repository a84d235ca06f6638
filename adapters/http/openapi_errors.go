package httpapi

import (
	"net/http"
	"reflect"
	"slices"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"causeway/core/fault"
)

// addErrorResponses adds the error responses to a registered operation. They depend on
// its parameters and body, which huma adds at registration.
func (d *document) addErrorResponses(described *huma.Operation, op Operation) {
	d.operations = append(d.operations, described)
	for _, p := range described.Parameters {
		if p.In == "query" && p.Schema.Type == huma.TypeArray {
			repeated := true
			p.Explode = &repeated // as well as separated by commas; see Query
		}
	}
	delete(described.Responses, "default") // all responses are listed
	if op.Upload != nil {
		described.RequestBody = op.Upload.requestBody(described.Parameters)
		if op.Upload.Form {
			described.Parameters = slices.DeleteFunc(described.Parameters, func(p *huma.Param) bool { return p.In == "query" })
		}
	}
	codes := append([]fault.Code{fault.InvalidInput, fault.RateLimited, fault.InternalError, fault.ServiceUnavailable}, op.Errors...)
	if !op.Public {
		codes = append(codes, fault.Unauthorized)
	}
	if op.Permission != "" || len(op.AgentPermissions) > 0 {
		codes = append(codes, fault.Forbidden)
	}
	if described.Method == http.MethodPost && !op.Public {
		codes = append(codes, fault.IdempotencyKeyInUse, fault.IdempotencyKeyReused)
	}
	if described.RequestBody != nil {
		codes = append(codes, fault.PayloadTooLarge, fault.UnsupportedMediaType, fault.InvalidRequestFormat)
	}
	slices.Sort(codes)
	for _, code := range slices.Compact(codes) {
		status := strconv.Itoa(code.Status())
		response := described.Responses[status]
		if response == nil {
			response = &huma.Response{Content: map[string]*huma.MediaType{
				"application/json": {Schema: d.errorSchema(status)},
			}}
			described.Responses[status] = response
		} else {
			response.Description += ", "
		}
		response.Description += string(code)
	}
}

// errorSchema returns the reference to the error schema of a status, one for all operations: a schema
// takes half a kilobyte.
func (d *document) errorSchema(status string) *huma.Schema {
	schema, known := d.errorSchemas[status]
	if !known {
		schema = &huma.Schema{Ref: schemaPrefix + "Error" + status}
		d.errorSchemas[status] = schema
	}
	return schema
}

// addErrorSchemas adds one schema per status, so that generated clients know the codes.
func (d *document) addErrorSchemas() {
	registry := d.openapi.Components.Schemas
	delete(registry.Map(), schemaName(reflect.TypeFor[problem](), ""))
	fieldErrors := &huma.Schema{
		Type: huma.TypeArray, Items: registry.Schema(reflect.TypeFor[FieldError](), true, ""),
		Description: "Invalid fields of the request.",
	}
	base := registry.Schema(reflect.TypeFor[Error](), false, "")
	delete(registry.Map(), schemaName(reflect.TypeFor[Error](), ""))
	base.Properties["details"] = &huma.Schema{
		Type: huma.TypeObject, AdditionalProperties: &huma.Schema{}, Description: base.Properties["details"].Description,
		Properties: map[string]*huma.Schema{
			"errors": fieldErrors,
			"reason": {Type: huma.TypeString, Description: "Same as reason."},
		},
	}
	byStatus := map[int][]any{}
	for _, code := range fault.Codes() {
		if code != fault.MethodNotAllowed { // never a response of an operation
			byStatus[code.Status()] = append(byStatus[code.Status()], string(code))
		}
	}
	for status, codes := range byStatus {
		properties := map[string]*huma.Schema{}
		for name, property := range base.Properties {
			properties[name] = property
		}
		properties["status"] = &huma.Schema{Type: huma.TypeInteger, Enum: []any{status}, Description: base.Properties["status"].Description}
		properties["code"] = &huma.Schema{Type: huma.TypeString, Enum: codes, Description: base.Properties["code"].Description}
		registry.Map()["Error"+strconv.Itoa(status)] = &huma.Schema{
			Type: huma.TypeObject, Required: base.Required, Properties: properties,
			Description: "Error response with the status " + strconv.Itoa(status) + ".",
		}
	}
}
