package httpapi

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// referenceExamples is the file docs/examples.json, which the reference page loads when a person chooses another language
// than that of the shell, or tries an operation.
type referenceExamples struct {
	// Clients says for each language how the client of the samples is made.
	Clients map[string]string `json:"clients"`
	// Operations has the examples of each operation, in the order of the page.
	Operations map[string][]requestExample `json:"operations"`
}

// requestExample is the request of an example, and its sample for each language; none if the request is refused, unless all
// requests of the operation are.
type requestExample struct {
	Title   string            `json:"title,omitempty"`
	Method  string            `json:"method"`
	Path    string            `json:"path"`
	Headers map[string]string `json:"headers,omitempty"`
	Body    json.RawMessage   `json:"body,omitempty"`
	Samples map[string]string `json:"samples,omitempty"`
	upload  string            // the type of an uploaded file or form; empty for JSON
}

// sampleClients makes the client that samples call.
func sampleClients(base string) map[string]string {
	return map[string]string{
		"typescript": `import { Causeway } from "@causeway/client";

const { CLIENT_ID = "", CLIENT_SECRET = "" } = process.env;
const causeway = new Causeway({ baseUrl: "` + base + `", clientId: CLIENT_ID, clientSecret: CLIENT_SECRET });`,
		"python": `import os
from causeway import Causeway

causeway = Causeway("` + base + `", client_id=os.environ["CLIENT_ID"], client_secret=os.environ["CLIENT_SECRET"])`,
		"go": `import (
	causeway "causeway/clients/go"
	"causeway/clients/go/api"
)

client, err := causeway.New(causeway.Config{
	BaseURL: "` + base + `", ClientID: os.Getenv("CLIENT_ID"), ClientSecret: os.Getenv("CLIENT_SECRET"),
})`,
	}
}

// requestExample returns the request of an example, with its samples if it has some.
func (r *referenceRenderer) requestExample(path string, op *huma.Operation, e Example, hasSamples bool) requestExample {
	example := requestExample{Title: e.Title, Method: e.Method, Path: e.Path, Headers: e.Headers, Body: e.Body}
	if hasSamples {
		s := r.newSample(path, op, e)
		if example.upload = s.upload; isForm(op) {
			example.upload = formType
		}
		example.Samples = map[string]string{"curl": r.curl(op, e), "typescript": s.typeScript(), "python": s.python(), "go": s.goCode()}
	}
	return example
}

// sample is a call of an operation by a client: what all languages have in common.
type sample struct {
	op         *huma.Operation
	path       string // with the names of parameters in braces
	status     int
	parameters []sampleParameter // in the order of the description; those of the path first
	body       json.RawMessage   // of JSON, or the parts of a form
	upload     string            // the type of an uploaded file; empty unless the body is that file
	item       string            // the schema of the items of a list; empty for other operations
	isFile     bool              // the response is a file
	rates      map[string]bool   // the names of the fields that are decimal numbers
}

// sampleParameter is a parameter with the values that the example gives it.
type sampleParameter struct {
	*huma.Param
	values []string
}

// fileTypes are the types of uploaded files that samples use, with the name of such a file.
var fileTypes = []struct{ kind, name string }{{"text/csv", "file.csv"}, {"application/octet-stream", "file"}}

func (r *referenceRenderer) newSample(path string, op *huma.Operation, e Example) *sample {
	s := &sample{op: op, path: path, status: e.Status, body: e.Body, rates: r.rateNames()}
	called, query, _ := strings.Cut(e.Path, "?")
	asked, err := url.ParseQuery(query)
	if err != nil {
		panic(fmt.Sprintf("the example of %s has the query %s: %v", op.OperationID, query, err)) // a test renders it
	}
	given := strings.Split(called, "/")
	var others []sampleParameter
	for _, p := range op.Parameters {
		if name, isShared := strings.CutPrefix(p.Ref, parameterPrefix); isShared {
			p = r.api.Components.Parameters[name]
		}
		found := sampleParameter{Param: p}
		switch p.In {
		case "path":
			at := slices.Index(strings.Split(path, "/"), "{"+p.Name+"}")
			value, err := url.PathUnescape(given[at])
			if err != nil {
				panic(fmt.Sprintf("the example of %s has the path %s: %v", op.OperationID, called, err)) // a test renders it
			}
			found.values = []string{value}
			s.parameters = append(s.parameters, found)
			continue
		case "query":
			found.values = asked[p.Name]
		case "header":
			if value, ok := e.Headers[p.Name]; ok {
				found.values = []string{value}
			}
		}
		others = append(others, found)
	}
	s.parameters = append(s.parameters, others...)
	s.upload = uploadType(op)
	if response := op.Responses[strconv.Itoa(e.Status)]; response != nil {
		media := response.Content["application/json"]
		s.isFile = media == nil && len(response.Content) > 0
		if media != nil && s.parameter("cursor") != nil {
			if data := r.resolve(media.Schema).Properties["data"]; data != nil {
				s.item = strings.TrimPrefix(data.Items.Ref, schemaPrefix)
			}
		}
	}
	return s
}

// rateNames returns the names of the fields that are decimal numbers, which the clients keep as text or decimals.
func (r *referenceRenderer) rateNames() map[string]bool {
	if r.rates == nil {
		r.rates = map[string]bool{}
		for _, schema := range r.api.Components.Schemas.Map() {
			for name, field := range schema.Properties {
				if field.Type == huma.TypeNumber {
					r.rates[name] = true
				}
			}
		}
	}
	return r.rates
}

func (s *sample) parameter(name string) *sampleParameter {
	i := slices.IndexFunc(s.parameters, func(p sampleParameter) bool { return p.Name == name })
	if i < 0 {
		return nil
	}
	return &s.parameters[i]
}

// given returns the parameters of a place that the example gives a value.
func (s *sample) given(place string) []sampleParameter {
	return slices.DeleteFunc(slices.Clone(s.parameters), func(p sampleParameter) bool { return p.In != place || p.values == nil })
}

// member returns a parameter as the member of an object.
func (p sampleParameter) member() member {
	values := make([]any, len(p.values))
	for i, value := range p.values {
		values[i] = value
		if kind := p.scalar().Type; kind == huma.TypeInteger || kind == huma.TypeBoolean {
			values[i] = json.RawMessage(value)
		}
	}
	if p.Schema.Type == huma.TypeArray {
		return member{p.Name, values}
	}
	return member{p.Name, values[0]}
}

// scalar is the schema of the parameter, or of the items of a list.
func (p sampleParameter) scalar() *huma.Schema {
	if p.Schema.Type == huma.TypeArray {
		return p.Schema.Items
	}
	return p.Schema
}

// uploadType returns the type of the file that is the body of an operation; empty for others.
func uploadType(op *huma.Operation) string {
	if op.RequestBody == nil || op.RequestBody.Content["application/json"] != nil || isForm(op) {
		return ""
	}
	for _, file := range fileTypes {
		if op.RequestBody.Content[file.kind] != nil {
			return file.kind
		}
	}
	return ""
}

func (s *sample) fileName() string { return fileName(s.upload) }

// fileName returns the name of a file of a type that samples upload.
func fileName(kind string) string {
	i := slices.IndexFunc(fileTypes, func(f struct{ kind, name string }) bool { return f.kind == kind })
	return fileTypes[i].name
}

// formFields returns the fields of a form, with an expression for its file.
func (s *sample) formFields(file func(name string) any) orderedObject {
	var fields orderedObject
	for _, m := range decodeObject(s.body) {
		if m.name == filePart {
			name, _ := strconv.Unquote(string(m.value.(json.RawMessage))) // as recorded: a plain name
			m.value = file(name)
		}
		fields = append(fields, m)
	}
	return fields
}
