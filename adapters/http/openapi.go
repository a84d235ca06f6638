package httpapi

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"causeway/core/fault"
)

// Tag is a chapter of the published description.
type Tag struct{ Name, Description string }

// Tags gives the chapters in the order in which they are read.
func (a *API) Tags(tags ...Tag) {
	for _, tag := range tags {
		a.document.openapi.Tags = append(a.document.openapi.Tags, &huma.Tag{Name: tag.Name, Description: tag.Description})
	}
}

// Webhook describes a request that the service sends to the platform.
func Webhook[Body any](a *API, name, tag, summary, description string) {
	registry := a.document.openapi.Components.Schemas
	media := &huma.MediaType{Schema: registry.Schema(reflect.TypeFor[Body](), true, name+"Request")}
	a.document.openapi.Webhooks[name] = &huma.PathItem{Post: &huma.Operation{
		OperationID: name, Tags: []string{tag}, Summary: summary, Description: description,
		RequestBody: &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{"application/json": media}},
		Responses: map[string]*huma.Response{
			"2XX": {Description: "Accepted; it is not sent again."},
			"409": {Description: "Had it already; it is not sent again."},
		},
	}}
}

// document is the published description of the interface: OpenAPI 3.1, made from
// the operations as they are registered, and rendered once.
type document struct {
	api          *API
	openapi      *huma.OpenAPI
	operations   []*huma.Operation // as they were registered
	exampleFiles fs.FS             // examples; nil: none
}

const (
	basicAuth      = "BasicAuth"
	idempotencyKey = "IdempotencyKey"
	schemaPrefix   = "#/components/schemas/"
)

func newDocument(a *API) *document {
	server := a.config.PublicURL
	if server == "" {
		server = BasePath
	}
	one, most := 1, maxKeyLength
	return &document{api: a, openapi: &huma.OpenAPI{
		OpenAPI: "3.1.0",
		Info: &huma.Info{
			Title:       "Causeway",
			Version:     strings.TrimPrefix(BasePath, "/"),
			Description: introduction,
		},
		Servers:  []*huma.Server{{URL: server}},
		Webhooks: map[string]*huma.PathItem{},
		Components: &huma.Components{
			Schemas: huma.NewMapRegistry(schemaPrefix, schemaName),
			SecuritySchemes: map[string]*huma.SecurityScheme{basicAuth: {
				Type: "http", Scheme: "basic",
				Description: "The client id of a token is the user, its client secret the password.",
			}},
			Parameters: map[string]*huma.Param{idempotencyKey: {
				Name: "Idempotency-Key", In: "header",
				Description: "Any text of your own, best a new UUID, that names this request. Sent again with the same key, the request is not carried out again: its first answer is repeated, with the header Idempotent-Replayed: true. Answers are kept for 7 days.",
				Schema:      &huma.Schema{Type: huma.TypeString, MinLength: &one, MaxLength: &most, Examples: []any{"0199e3a4-7c5e-7d21-9f0b-3c1d2e4f5a6b"}},
			}},
		},
	}}
}

// schemaName names the schema of a type as the type, without the word that only our
// own code needs to tell bodies from what they show.
func schemaName(t reflect.Type, hint string) string {
	return strings.TrimSuffix(huma.DefaultSchemaNamer(t, hint), "Body")
}

// introduction is what a reader must know before the first operation.
var introduction = strings.ReplaceAll(`Causeway moves money across currencies and payment rails for the customers of a platform.

**Authentication.** Every request carries the client id and the client secret of a token with HTTP Basic authentication. A token has some of the permissions 'VIEW', 'TRANSACT' and 'MANAGE'; each operation says which one it needs.

**Amounts** are integers in the smallest unit of their currency: '10050' is 100.50 USD, '100000' is 0.00100000 BTC. Rates are exact decimal numbers. Currency codes are in upper case.

**Ids** have the form '<Type>:<uuid>'. **Times** are UTC, as in '2025-10-13T09:30:00.000Z'.

**Errors** are JSON objects with 'status', 'code', 'message' and, where it applies, 'reason' and 'details'. Everything wrong with a request is listed at once in 'details.errors'. What belongs to another platform does not exist for yours.

**Repeating a request.** Send an 'Idempotency-Key' with every POST. If the connection breaks, send the same request with the same key again: it is carried out once, and you get its answer.

**Lists** answer 'data' and 'hasMore'; send 'nextCursor' as 'cursor' to go on.

**Request ids.** Every answer carries a 'Request-Id'; send a UUID of your own in that header, or tell us ours when something goes wrong.

**Limits.** A token may make a limited number of requests a second; beyond that the answer is 429 with 'Retry-After' in seconds.`, "'", "`")

// commonErrors are the errors that most operations can answer, and why.
var commonErrors = map[fault.Code]string{
	fault.InvalidInput:         "Something in the request is wrong; `details.errors` lists all of it.",
	fault.InvalidRequestFormat: "The body did not arrive whole.",
	fault.Unauthorized:         "The credentials are missing or wrong.",
	fault.Forbidden:            "The token lacks the permission, or the operation is for sandbox platforms only.",
	fault.IdempotencyKeyInUse:  "The first request with this `Idempotency-Key` is still running.",
	fault.IdempotencyKeyReused: "The `Idempotency-Key` belongs to another request.",
	fault.PayloadTooLarge:      "The body is too large.",
	fault.UnsupportedMediaType: "The body is not declared as what the operation takes.",
	fault.RateLimited:          "Too many requests; wait as long as `Retry-After` says.",
	fault.InternalError:        "Something failed on our side. Repeat the request with the same `Idempotency-Key`.",
	fault.ServiceUnavailable:   "The service cannot answer now. Repeat the request with the same `Idempotency-Key`.",
}

// describe makes huma's description of an operation.
func (d *document) describe(method string, op Operation, body reflect.Type, rt *route) huma.Operation {
	registry := d.openapi.Components.Schemas
	described := huma.Operation{
		OperationID: op.ID, Method: method, Path: op.Path, Tags: []string{op.Tag},
		Summary: op.Summary, Description: op.Description, DefaultStatus: op.Status,
		Metadata:   map[string]any{routeKey: rt},
		Responses:  map[string]*huma.Response{},
		Extensions: map[string]any{},
		// The body has been read, and measured, before huma sees it.
		MaxBodyBytes: -1, BodyReadTimeout: -1,
	}
	if !op.Public {
		described.Security = []map[string][]string{{basicAuth: {}}}
		described.Extensions["x-permission"] = string(op.Permission)
	}
	if op.SandboxOnly {
		described.Extensions["x-sandbox-only"] = true
	}
	if op.Experimental {
		described.Extensions["x-experimental"] = true
	}
	if method == http.MethodPost {
		described.Parameters = append(described.Parameters, &huma.Param{Ref: "#/components/parameters/" + idempotencyKey})
	}

	outcomes := op.Outcomes
	switch body {
	case reflect.TypeFor[Reply]():
	case reflect.TypeFor[NoBody]():
		outcomes = append([]Outcome{{Status: op.Status}}, outcomes...)
	default:
		outcomes = append([]Outcome{{Status: op.Status, Body: reflect.New(body).Elem().Interface()}}, outcomes...)
	}
	for _, outcome := range outcomes {
		response := &huma.Response{Description: outcome.Description}
		if response.Description == "" {
			response.Description = http.StatusText(outcome.Status)
		}
		if outcome.Body != nil {
			hint := op.ID + "Response"
			media := &huma.MediaType{Schema: registry.Schema(reflect.TypeOf(outcome.Body), true, hint)}
			contentType := "application/json"
			if reflect.TypeOf(outcome.Body) == reflect.TypeFor[Text]() {
				contentType = "text/plain"
			}
			response.Content = map[string]*huma.MediaType{contentType: media}
		}
		described.Responses[strconv.Itoa(outcome.Status)] = response
	}
	return described
}

// addErrorResponses adds what only the registered operation shows: its errors, which depend
// on what it takes.
func (d *document) addErrorResponses(described *huma.Operation, op Operation) {
	d.operations = append(d.operations, described)
	delete(described.Responses, "default") // ours are all named
	if op.Upload != nil {
		described.RequestBody = op.Upload.requestBody(described.Parameters)
	}
	codes := append([]fault.Code{fault.RateLimited, fault.InternalError, fault.ServiceUnavailable}, op.Errors...)
	if !op.Public {
		codes = append(codes, fault.Unauthorized, fault.Forbidden)
	}
	if described.Method == http.MethodPost {
		codes = append(codes, fault.IdempotencyKeyInUse, fault.IdempotencyKeyReused)
	}
	if described.RequestBody != nil {
		codes = append(codes, fault.PayloadTooLarge, fault.UnsupportedMediaType, fault.InvalidRequestFormat)
	}
	if described.RequestBody != nil || len(described.Parameters) > 0 {
		codes = append(codes, fault.InvalidInput)
	}
	slices.Sort(codes)
	for _, code := range slices.Compact(codes) {
		status := strconv.Itoa(code.Status())
		response := described.Responses[status]
		if response == nil {
			response = &huma.Response{Content: map[string]*huma.MediaType{
				"application/json": {Schema: &huma.Schema{Ref: schemaPrefix + "Error" + status}},
			}}
			described.Responses[status] = response
		} else {
			response.Description += ", "
		}
		response.Description += string(code)
	}
}

// publish checks the description, adds the schemas of errors, and serves both the
// document and the page made from it.
func (d *document) publish() error {
	if err := d.checkTags(); err != nil {
		return err
	}
	d.addErrorSchemas()
	examples, err := d.readExamples()
	if err != nil {
		return err
	}
	defer d.removeExamples()
	text, err := json.Marshal(d.openapi)
	if err != nil {
		return fmt.Errorf("render the description of the interface: %w", err)
	}
	page, err := renderReference(d.openapi, d.operations, examples, d.api.config.Version)
	if err != nil {
		return fmt.Errorf("render the reference page: %w", err)
	}
	for _, file := range []struct {
		path, contentType string
		body              []byte
	}{
		{"/openapi.json", "application/json", text},
		{"/docs", "text/html; charset=utf-8", page},
	} {
		served, err := newStaticFile(file.contentType, file.body)
		if err != nil {
			return err
		}
		d.api.Mount(http.MethodGet, BasePath+file.path, served)
	}
	return nil
}

// checkTags finds what a reader would miss.
func (d *document) checkTags() error {
	known := map[string]bool{}
	for _, tag := range d.openapi.Tags {
		known[tag.Name] = true
	}
	for _, op := range d.operations {
		if !known[op.Tags[0]] {
			return fmt.Errorf("%s %s has the tag %q, which was not given to Tags", op.Method, op.Path, op.Tags[0])
		}
	}
	return nil
}

// Undescribed lists the parameters and fields of the description that say nothing
// about themselves, for a test to find.
func (a *API) Undescribed() []string {
	var list []string
	for _, op := range a.document.operations {
		if op.Description == "" {
			list = append(list, op.Method+" "+op.Path)
		}
		for _, p := range op.Parameters {
			if p.Ref == "" && p.Description == "" {
				list = append(list, op.Method+" "+op.Path+" "+p.Name)
			}
		}
	}
	for name, schema := range a.document.openapi.Components.Schemas.Map() {
		for field, property := range schema.Properties {
			if name != schemaName(reflect.TypeFor[problem](), "") && property.Description == "" {
				list = append(list, name+"."+field)
			}
		}
	}
	slices.Sort(list)
	return list
}

// addErrorSchemas makes one schema a status, so that generated clients know the codes.
func (d *document) addErrorSchemas() {
	registry := d.openapi.Components.Schemas
	delete(registry.Map(), schemaName(reflect.TypeFor[problem](), ""))
	fieldErrors := &huma.Schema{
		Type: huma.TypeArray, Items: registry.Schema(reflect.TypeFor[FieldError](), true, ""),
		Description: "Every bad field of the request.",
	}
	base := registry.Schema(reflect.TypeFor[Error](), false, "")
	base.Properties["details"] = &huma.Schema{
		Type: huma.TypeObject, AdditionalProperties: true, Description: base.Properties["details"].Description,
		Properties: map[string]*huma.Schema{
			"errors": fieldErrors,
			"reason": {Type: huma.TypeString, Description: "The same as reason above."},
		},
	}
	byStatus := map[int][]any{}
	for _, code := range fault.Codes() {
		byStatus[code.Status()] = append(byStatus[code.Status()], string(code))
	}
	for status, codes := range byStatus {
		properties := map[string]*huma.Schema{}
		for name, property := range base.Properties {
			properties[name] = property
		}
		properties["status"] = &huma.Schema{Type: huma.TypeInteger, Enum: []any{status}, Description: base.Properties["status"].Description}
		properties["code"] = &huma.Schema{Type: huma.TypeString, Enum: codes, Description: base.Properties["code"].Description}
		registry.Map()["Error"+strconv.Itoa(status)] = &huma.Schema{
			Type: huma.TypeObject, Required: base.Required, Properties: properties, AdditionalProperties: true,
			Description: "An answer with the status " + strconv.Itoa(status) + ".",
		}
	}
}
