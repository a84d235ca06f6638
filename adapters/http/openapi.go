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
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"causeway/core/fault"
	"causeway/core/requestlog"
)

// Tag is a group of operations in the published description.
type Tag struct{ Name, Description string }

// Tags adds tags, in the order of the reference page.
func (a *API) Tags(tags ...Tag) {
	for _, tag := range tags {
		a.document.openapi.Tags = append(a.document.openapi.Tags, &huma.Tag{Name: tag.Name, Description: tag.Description})
	}
}

// Webhook describes a request that the service sends to the platform. It returns the schema of its body.
func Webhook[Body any](a *API, name, tag, summary, description string) *huma.Schema {
	registry := a.document.openapi.Components.Schemas
	media := &huma.MediaType{Schema: registry.Schema(reflect.TypeFor[Body](), true, name+"Request")}
	a.document.openapi.Webhooks[name] = &huma.PathItem{Post: &huma.Operation{
		OperationID: name, Tags: []string{tag}, Summary: summary, Description: description,
		Security:    []map[string][]string{}, // events are signed
		RequestBody: &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{"application/json": media}},
		Responses: map[string]*huma.Response{
			"2XX": {Description: "Accepted. The event is not sent again."},
			"409": {Description: "Duplicate. The event is not sent again."},
		},
	}}
	return registry.SchemaFromRef(media.Schema.Ref)
}

// document is the published description of the interface: OpenAPI 3.1, generated from
// the registered operations, and rendered on the first request.
type document struct {
	api          *API
	openapi      *huma.OpenAPI
	operations   []*huma.Operation // in the order of registration
	exampleFiles fs.FS             // nil if there are no examples
	errorSchemas map[string]*huma.Schema
	maskedWhole  []string        // see MaskWhole
	logRule      requestlog.Rule // of the log of requests
}

const (
	basicAuth      = "BasicAuth"
	agentAuth      = "AgentAuth"
	idempotencyKey = "IdempotencyKey"
	schemaPrefix   = "#/components/schemas/"

	parameterPrefix = "#/components/parameters/"
)

// agentScheme is published if there is an operation for agents.
var agentScheme = &huma.SecurityScheme{
	Type: "http", Scheme: "bearer", Description: "The access token of an agent, which redeeming a device code returns.",
}

func newDocument(a *API) *document {
	server := a.config.PublicURL
	if server == "" {
		server = BasePath
	}
	minLength, maxLength := 1, maxKeyLength
	return &document{api: a, errorSchemas: map[string]*huma.Schema{}, openapi: &huma.OpenAPI{
		OpenAPI: "3.1.0",
		Info: &huma.Info{
			Title:       "Causeway",
			Version:     strings.TrimPrefix(BasePath, "/"),
			Description: introduction,
			Contact:     &huma.Contact{Name: "Operator of this service"},
			License:     &huma.License{Name: "Apache License 2.0", Identifier: "Apache-2.0"},
		},
		Servers:  []*huma.Server{{URL: server}},
		Webhooks: map[string]*huma.PathItem{},
		Components: &huma.Components{
			Schemas: huma.NewMapRegistry(schemaPrefix, schemaName),
			SecuritySchemes: map[string]*huma.SecurityScheme{basicAuth: {
				Type: "http", Scheme: "basic",
				Description: "The user name is the client id of a token, the password its client secret.",
			}},
			Parameters: map[string]*huma.Param{actor: actorParameter, walletSignature: walletSignatureParameter,
				walletRequestID: walletRequestIDParameter, idempotencyKey: {
					Name: "Idempotency-Key", In: "header",
					Description: "Unique key of the request, such as a new UUID. A request with the same key runs only once; repeating it returns the " +
						"first response, with the header Idempotent-Replayed: true. Responses are stored for 7 days.",
					Schema: &huma.Schema{Type: huma.TypeString, MinLength: &minLength, MaxLength: &maxLength,
						Examples: []any{"0199e3a4-7c5e-7d21-9f0b-3c1d2e4f5a6b"}},
				}},
		},
	}}
}

// schemaName returns the name of the schema of a type: the name of the type without the
// suffix Body. The schema of Page[customerBody] is CustomerListResponse.
func schemaName(t reflect.Type, hint string) string {
	name := strings.TrimSuffix(huma.DefaultSchemaNamer(t, hint), "Body")
	if item, isPage := strings.CutPrefix(name, "Page"); isPage && strings.HasPrefix(t.Name(), "Page[") {
		return item + "ListResponse"
	}
	return name
}

// introduction is the description of the whole interface.
var introduction = strings.ReplaceAll(`Causeway moves money across currencies and payment rails for the customers of your platform.

**Authentication.** Send the client id and client secret of a token with HTTP Basic authentication. A token has one or more of the permissions 'VIEW', 'TRANSACT' and 'MANAGE'; each operation states the one it requires. An agent sends its access token instead, with 'Authorization: Bearer', to the operations below '/agents/me' only; its policy says what it may do.

**Amounts** are integers in the smallest unit of their currency: '10050' is 100.50 USD, '100000' is 0.00100000 BTC. Rates are exact decimal numbers. Currency codes are in upper case.

**Ids** have the form '<Type>:<uuid>'. **Times** are RFC 3339 timestamps in UTC, such as '2025-10-13T09:30:00.000Z'.

**Errors** are JSON objects with 'status', 'code', 'message' and, if applicable, 'reason' and 'details'. All invalid fields of a request are listed in 'details.errors'. Resources of other platforms return 404.

**Idempotency.** Send an 'Idempotency-Key' with every POST. If you receive no response, send the same request with the same key again: it runs only once, and you get its response.

**Persons.** Requests that change the books accept the name of the person who makes them in the header 'Causeway-Actor'. It is stored with the change, beside the id of the token.

**Unknown fields** of a body are ignored and named in the response header 'Causeway-Ignored-Fields'; one within two letters of a known field is refused with its name. Unknown query parameters are refused, and so are repeated ones that are not lists.

**Retries.** Errors have the header 'x-should-retry': 'true' if the same request may succeed later.

**Pagination.** Lists return 'data' and 'hasMore'. To get the next page, send 'nextCursor' as 'cursor'.

**Request ids.** Every response has the header 'Request-Id'. You can send your own UUID in that header. Include the id when you contact support. In operations of wallets, the header of a request is the id of a challenge or of a request to sign.

**Rate limits.** Requests beyond the rate limit of a token or an agent return 429 with 'Retry-After' in seconds.`, "'", "`")

// commonErrors describes the errors that most operations can return.
var commonErrors = map[fault.Code]string{
	fault.InvalidInput:         "The request is invalid. `details.errors` lists all invalid fields.",
	fault.InvalidRequestFormat: "The request body is incomplete or malformed.",
	fault.Unauthorized:         "The credentials are missing or invalid.",
	fault.Forbidden: "The token lacks the required permission, or the operation is for sandbox platforms only. For agents: the " +
		"policy does not allow it; `details.reasons` lists why.",
	fault.IdempotencyKeyInUse:  "The first request with this `Idempotency-Key` is still running.",
	fault.IdempotencyKeyReused: "The `Idempotency-Key` was used for another request.",
	fault.PayloadTooLarge:      "The request body is too large.",
	fault.UnsupportedMediaType: "The `Content-Type` is not supported.",
	fault.RateLimited:          "Too many requests. Wait for the number of seconds in `Retry-After`.",
	fault.InternalError:        "Internal error. Send the request again with the same `Idempotency-Key`.",
	fault.ServiceUnavailable:   "The service is unavailable. Send the request again with the same `Idempotency-Key`.",
}

// describe returns the description of an operation.
func (d *document) describe(method string, op Operation, body reflect.Type, rt *route) huma.Operation {
	registry := d.openapi.Components.Schemas
	described := huma.Operation{
		OperationID: op.ID, Method: method, Path: op.Path, Tags: []string{op.Tag},
		Summary: op.Summary, Description: op.Description, DefaultStatus: op.Status,
		Metadata:   map[string]any{routeKey: rt},
		Responses:  map[string]*huma.Response{},
		Extensions: map[string]any{},
		// The body is read and limited before huma runs.
		MaxBodyBytes: -1, BodyReadTimeout: -1,
		SkipValidateParams: op.Upload != nil && op.Upload.Form,
	}
	described.Security = []map[string][]string{}
	switch {
	case op.Agent:
		d.openapi.Components.SecuritySchemes[agentAuth] = agentScheme
		described.Security = []map[string][]string{{agentAuth: {}}}
		if len(op.AgentPermissions) > 0 {
			described.Extensions["x-agent-permissions"] = op.AgentPermissions
		}
	case !op.Public:
		described.Security = []map[string][]string{{basicAuth: {}}}
		described.Extensions["x-permission"] = string(op.Permission)
	}
	if op.SandboxOnly {
		described.Extensions["x-sandbox-only"] = true
	}
	if op.Experimental {
		described.Extensions["x-experimental"] = true
	}
	if method == http.MethodPost && !op.Public {
		described.Parameters = append(described.Parameters, &huma.Param{Ref: parameterPrefix + idempotencyKey})
	}

	if op.Actor {
		described.Parameters = append(described.Parameters, &huma.Param{Ref: parameterPrefix + actor})
	}

	outcomes := op.Outcomes
	switch body {
	case reflect.TypeFor[Reply]():
		described.DefaultStatus = outcomes[0].Status // for any other one huma would describe a response
	case reflect.TypeFor[NoBody]():
		outcomes = append([]Outcome{{Status: op.Status}}, outcomes...)
	default:
		outcomes = append([]Outcome{{Status: op.Status, Body: reflect.New(body).Elem().Interface()}}, outcomes...)
	}
	if op.SignedRetry {
		described.Parameters = append(described.Parameters, &huma.Param{Ref: parameterPrefix + walletSignature},
			&huma.Param{Ref: parameterPrefix + walletRequestID})
		outcomes = append(outcomes, signatureRequiredOutcome)
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

// publish checks the description, adds the error schemas, and mounts the document, the
// reference page and the guides. They are rendered on the first request for one of them,
// because that takes longer than the rest of the start.
func (d *document) publish() error {
	if err := d.checkTags(); err != nil {
		return err
	}
	d.addErrorSchemas()
	d.tidySchemas()
	for _, op := range d.operations {
		rt := op.Metadata[routeKey].(*route)
		rt.known = newKnownNames(op, d.openapi.Components.Schemas)
	}
	if err := d.buildLogRule(); err != nil {
		return err
	}
	rendered := sync.OnceValues(d.render)
	mount := func(path string, file func(renderedDocument) *staticFile) {
		d.api.Mount(http.MethodGet, BasePath+path, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			files, err := rendered()
			if err != nil {
				panic(err) // a test renders the whole description
			}
			file(files).ServeHTTP(w, r)
		}))
	}
	mount("/openapi.json", func(d renderedDocument) *staticFile { return d.openapi })
	mount("/docs", func(d renderedDocument) *staticFile { return d.reference })
	mount("/docs/postman.json", func(d renderedDocument) *staticFile { return d.postman })
	mount("/docs/examples.json", func(d renderedDocument) *staticFile { return d.examples })
	names, err := guideNames(d.api.config.Guides)
	if err != nil {
		return err
	}
	for _, name := range names {
		mount("/docs/"+name, func(d renderedDocument) *staticFile { return d.guides[name] })
	}
	return nil
}

// renderedDocument holds the files made from the description, and the guides by their names.
type renderedDocument struct {
	openapi, reference, examples, postman *staticFile
	guides                                map[string]*staticFile
}

// Description returns the OpenAPI document that is published at BasePath + /openapi.json. Call Build before.
func (a *API) Description() ([]byte, error) {
	if _, err := a.document.readExamples(); err != nil {
		return nil, err
	}
	defer a.document.removeExamples()
	return a.document.marshal()
}

func (d *document) marshal() ([]byte, error) {
	text, err := json.Marshal(d.openapi)
	if err != nil {
		return nil, fmt.Errorf("render the OpenAPI document: %w", err)
	}
	return text, nil
}

// render renders the OpenAPI document and the reference page, with the examples, and the guides.
func (d *document) render() (files renderedDocument, err error) {
	examples, err := d.readExamples()
	if err != nil {
		return files, err
	}
	defer d.removeExamples()
	text, err := d.marshal()
	if err != nil {
		return files, err
	}
	guides, err := readGuides(d.api.config.Guides)
	if err != nil {
		return files, err
	}
	rendered, err := renderReference(d.openapi, d.operations, examples, guides, d.api.config.Version)
	if err != nil {
		return files, fmt.Errorf("render the reference page: %w", err)
	}
	if files.openapi, err = newStaticFile("application/json", text); err != nil {
		return files, err
	}
	if files.reference, err = newStaticFile(htmlType, rendered.page); err != nil {
		return files, err
	}
	if files.postman, err = newStaticFile("application/json", rendered.postman); err != nil {
		return files, err
	}
	if files.examples, err = newStaticFile("application/json", rendered.examples); err != nil {
		return files, err
	}
	files.guides = map[string]*staticFile{}
	for _, g := range guides {
		page, err := renderGuide(g, guides)
		if err != nil {
			return files, fmt.Errorf("render the guide %s: %w", g.Name, err)
		}
		if files.guides[g.Name], err = newStaticFile(htmlType, page); err != nil {
			return files, err
		}
	}
	return files, nil
}

const htmlType = "text/html; charset=utf-8"

// checkTags returns an error if an operation has an unknown tag.
func (d *document) checkTags() error {
	known := map[string]bool{}
	for _, tag := range d.openapi.Tags {
		known[tag.Name] = true
	}
	for _, op := range d.operations {
		if !known[op.Tags[0]] {
			return fmt.Errorf("%s %s has the tag %q, which is not one of Tags", op.Method, op.Path, op.Tags[0])
		}
	}
	return nil
}

// Undescribed lists the operations, parameters and fields without a description, for
// tests.
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
