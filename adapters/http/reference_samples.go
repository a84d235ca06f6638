package httpapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

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
		example.Samples = map[string]string{"typescript": s.typeScript(), "python": s.python(), "go": s.goCode()}
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
	if op.RequestBody != nil && op.RequestBody.Content["application/json"] == nil && !isForm(op) {
		for _, file := range fileTypes {
			if op.RequestBody.Content[file.kind] != nil {
				s.upload = file.kind
				break
			}
		}
	}
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

func (s *sample) typeScript() string {
	var imports string
	var parameters orderedObject
	for _, place := range []string{"path", "query", "header"} {
		var members orderedObject
		for _, p := range s.given(place) {
			members = append(members, p.member())
		}
		if members != nil {
			parameters = append(parameters, member{place, members})
		}
	}
	l := literals{identifierKeys: true, indent: "  ", null: "null", yes: "true", no: "false", rate: strconv.Quote, rates: s.rates}
	var options orderedObject
	if parameters != nil {
		options = append(options, member{"params", parameters})
	}
	switch {
	case s.upload != "":
		imports = "import { openAsBlob } from \"node:fs\";\n\n"
		options = append(options, member{"body", verbatim(fmt.Sprintf("await openAsBlob(%q, { type: %q })", s.fileName(), s.upload))})
	case s.body != nil && isForm(s.op):
		imports = "import { openAsBlob } from \"node:fs\";\n\n"
		options = append(options, member{"body", s.formFields(func(file string) any {
			return verbatim(fmt.Sprintf("await openAsBlob(%q)", file))
		})})
	case s.body != nil:
		options = append(options, member{"body", s.body})
	}
	if s.isFile {
		options = append(options, member{"parseAs", "blob"})
	}
	arguments := strconv.Quote(s.path)
	if options != nil {
		arguments += ", " + l.text(options, 0)
	}
	switch {
	case s.item != "":
		return imports + "for await (const item of causeway.list(" + arguments + ")) console.log(item);"
	case s.status == http.StatusNoContent:
		return imports + "await causeway." + strings.ToLower(s.op.Method) + "(" + arguments + ");"
	}
	return imports + "const result = await causeway." + strings.ToLower(s.op.Method) + "(" + arguments + ");"
}

func (s *sample) fileName() string {
	i := slices.IndexFunc(fileTypes, func(f struct{ kind, name string }) bool { return f.kind == s.upload })
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

func (s *sample) python() string {
	l := literals{indent: "    ", null: "None", yes: "True", no: "False", rates: s.rates,
		rate: func(text string) string { return "Decimal(" + strconv.Quote(text) + ")" }}
	var imports string
	var arguments []string
	for _, p := range s.given("path") {
		arguments = append(arguments, l.text(p.member().value, 0))
	}
	readFile := func(name string) string { return "Path(" + strconv.Quote(name) + ").read_bytes()" }
	switch {
	case s.upload != "":
		imports = "from pathlib import Path\n\n"
		arguments = append(arguments, readFile(s.fileName()), strconv.Quote(s.upload))
	case s.body != nil && isForm(s.op):
		imports = "from pathlib import Path\n\n"
		arguments = append(arguments, l.text(s.formFields(func(file string) any {
			return verbatim(fmt.Sprintf("(%q, %s)", file, readFile(file)))
		}), 0))
	case s.body != nil:
		body := l.text(s.body, 0)
		if strings.Contains(body, "Decimal(") {
			imports = "from decimal import Decimal\n\n"
		}
		arguments = append(arguments, body)
	}
	for _, place := range []string{"query", "header"} {
		for _, p := range s.given(place) {
			arguments = append(arguments, snakeCase(p.Name)+"="+l.text(p.member().value, 0))
		}
	}
	call := "causeway." + snakeCase(s.op.OperationID)
	if s.item != "" {
		call += "_iter"
	}
	if len(arguments) == 1 {
		call += "(" + arguments[0] + ")"
	} else {
		call += l.join("(", arguments, ")", 0)
	}
	switch {
	case s.item != "":
		return imports + "for item in " + call + ":\n    print(item)"
	case s.status == http.StatusNoContent:
		return imports + call
	}
	return imports + "result = " + call
}

var wordStart = regexp.MustCompile(`([a-z0-9])([A-Z])|-`)

// snakeCase returns a name as the client in Python has it.
func snakeCase(name string) string {
	name = strings.ToLower(wordStart.ReplaceAllString(name, "${1}_${2}"))
	if slices.Contains([]string{"from", "as", "in", "is", "class", "import", "global", "with"}, name) {
		return name + "_"
	}
	return name
}

func (s *sample) goCode() string {
	method := goName(s.op.OperationID)
	arguments := []string{"ctx"}
	for _, p := range s.given("path") {
		arguments = append(arguments, goValue(p.Schema, p.values[0]))
	}
	if slices.ContainsFunc(s.parameters, func(p sampleParameter) bool { return p.In != "path" }) {
		arguments = append(arguments, s.goParameters(method+"Params"))
	}
	var before string
	call := "client." + method
	switch {
	case s.upload != "":
		call += "WithBody"
		before = goOpen(s.fileName())
		arguments = append(arguments, strconv.Quote(s.upload), "file")
	case s.body != nil && isForm(s.op):
		call += "WithBody"
		before = s.goForm()
		arguments = append(arguments, "form.FormDataContentType()", "&body")
	case s.body != nil:
		call += "WithBody"
		arguments = append(arguments, `"application/json"`, "strings.NewReader("+goText(string(indentJSON(s.body)))+")")
	case s.op.RequestBody != nil:
		call += "WithBody"
		arguments = append(arguments, `"application/json"`, "nil")
	}
	call += "WithResponse(" + strings.Join(arguments, ", ") + ")"
	switch {
	case s.status == http.StatusNoContent:
		return before + "if _, err := " + call + "; err != nil {\n\treturn err\n}"
	case s.item == "":
		return before + "response, err := " + call + "\nif err != nil {\n\treturn err\n}\nfmt.Printf(\"%s\\n\", response.Body)"
	}
	return "for item, err := range causeway.All(func(cursor *string) ([]api." + goName(s.item) + ", *string, error) {\n" +
		"\tpage, err := " + call + "\n\tif err != nil {\n\t\treturn nil, nil, err\n\t}\n" +
		fmt.Sprintf("\treturn page.JSON%d.Data, page.JSON%d.NextCursor, nil\n}) {\n", s.status, s.status) +
		"\tif err != nil {\n\t\treturn err\n\t}\n\tjson.NewEncoder(os.Stdout).Encode(&item)\n}"
}

// goParameters returns the parameters beside those of the path.
func (s *sample) goParameters(kind string) string {
	var fields []string
	for _, p := range s.parameters {
		if p.In == "path" || p.values == nil {
			continue
		}
		values := make([]string, len(p.values))
		for i, value := range p.values {
			values[i] = goValue(p.scalar(), value)
		}
		named := kind + goName(p.Name)
		enum := len(p.scalar().Enum) > 0
		value := values[0]
		switch {
		case p.Schema.Type == huma.TypeArray:
			item := "string"
			if enum {
				item = "api." + named
			}
			value = "[]" + item + "{" + strings.Join(values, ", ") + "}"
		case enum:
			value = "api." + named + "(" + value + ")"
		case p.Schema.Type == huma.TypeInteger:
			value = "int64(" + value + ")"
		}
		if !p.Required {
			value = "causeway.Ptr(" + value + ")"
		}
		fields = append(fields, goName(p.Name)+": "+value)
	}
	if s.item != "" {
		fields = append(fields, "Cursor: cursor")
	}
	if fields == nil && !slices.ContainsFunc(s.parameters, func(p sampleParameter) bool { return p.Required && p.In != "path" }) {
		return "nil"
	}
	depth := 0
	if s.item != "" { // within a function
		depth = 1
	}
	return literals{indent: "\t"}.join("&api."+kind+"{", fields, "}", depth)
}

func goValue(schema *huma.Schema, value string) string {
	switch {
	case schema.Type == huma.TypeInteger || schema.Type == huma.TypeBoolean:
		return value
	case schema.Format == "date-time":
		if at, err := time.Parse(time.RFC3339Nano, value); err == nil {
			return fmt.Sprintf("time.Date(%d, %d, %d, %d, %d, %d, %d, time.UTC)", at.Year(), at.Month(), at.Day(), at.Hour(), at.Minute(),
				at.Second(), at.Nanosecond())
		}
	}
	return strconv.Quote(value)
}

func goOpen(name string) string {
	return "file, err := os.Open(" + strconv.Quote(name) + ")\nif err != nil {\n\treturn err\n}\ndefer file.Close()\n"
}

// goForm returns the statements that write a form.
func (s *sample) goForm() string {
	var fields strings.Builder
	var file string
	for _, m := range s.formFields(func(name string) any { return verbatim(name) }) {
		if name, isFile := m.value.(verbatim); isFile {
			file = string(name)
			continue
		}
		fmt.Fprintf(&fields, "form.WriteField(%q, %s)\n", m.name, m.value)
	}
	return goOpen(file) + "var body bytes.Buffer\nform := multipart.NewWriter(&body)\n" + fields.String() +
		"part, err := form.CreateFormFile(" + strconv.Quote(filePart) + ", " + strconv.Quote(file) + ")\nif err != nil {\n\treturn err\n}\n" +
		"if _, err := io.Copy(part, file); err != nil {\n\treturn err\n}\nform.Close()\n"
}

// goText returns a text as a literal of Go.
func goText(text string) string {
	if strings.Contains(text, "`") {
		return strconv.Quote(text)
	}
	return "`" + text + "`"
}

var (
	goSeparator = regexp.MustCompile(`[-_. ]+.`)
	goPart      = regexp.MustCompile(`[\p{Lu}\d]+([\p{Ll}\d]+|$)`)
)

// goName returns a name as the generator of the client in Go writes it.
func goName(name string) string {
	name = goSeparator.ReplaceAllStringFunc(name, func(part string) string {
		last, _ := utf8.DecodeLastRuneInString(part)
		return string(unicode.ToUpper(last))
	})
	first, size := utf8.DecodeRuneInString(name)
	name = string(unicode.ToUpper(first)) + name[size:]
	return goPart.ReplaceAllStringFunc(name, func(part string) string {
		switch part {
		case "Id", "Ip", "Url", "Uri", "Api", "Json", "Uid", "Db":
			return strings.ToUpper(part)
		}
		return part
	})
}
