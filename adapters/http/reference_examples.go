package httpapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// examplesFor returns the recorded examples of an operation or, if there are none, one
// generated from its schemas.
func (r *referenceRenderer) examplesFor(method, path string, op *huma.Operation) []Example {
	if recorded := r.examples[op.OperationID]; len(recorded) > 0 {
		return recorded
	}
	example := Example{Method: method, Path: r.examplePath(path, op)}
	if op.RequestBody != nil {
		example.Body = r.exampleBody(op.RequestBody.Content)
	}
	for _, status := range sortedKeys(op.Responses) {
		if n, err := strconv.Atoi(status); err == nil && n < 300 {
			example.Status, example.Response = n, r.exampleBody(op.Responses[status].Content)
			break
		}
	}
	return []Example{example}
}

// examplePath returns the path with example values of its required parameters.
func (r *referenceRenderer) examplePath(path string, op *huma.Operation) string {
	var query []string
	for _, p := range op.Parameters {
		switch {
		case p.In == "path":
			path = strings.ReplaceAll(path, "{"+p.Name+"}", fmt.Sprint(r.exampleValue(p.Schema, 0)))
		case p.In == "query" && p.Required:
			query = append(query, p.Name+"="+fmt.Sprint(r.exampleValue(p.Schema, 0)))
		}
	}
	if query != nil {
		path += "?" + strings.Join(query, "&")
	}
	return path
}

// exampleBody returns an example of a body, or nil if there is no body.
func (r *referenceRenderer) exampleBody(content map[string]*huma.MediaType) json.RawMessage {
	media := content["application/json"]
	if media == nil {
		return nil
	}
	text, err := json.Marshal(r.exampleValue(media.Schema, 0))
	if err != nil {
		return []byte(strconv.Quote(err.Error()))
	}
	return text
}

func (r *referenceRenderer) exampleView(op *huma.Operation, e Example) exampleView {
	view := exampleView{Title: e.Title, Curl: r.curl(op, e)}
	if e.Body != nil && !isForm(op) {
		view.Body = highlight(indentJSON(e.Body))
	}
	if e.Status != 0 {
		view.Status = strconv.Itoa(e.Status)
	}
	if e.Response != nil {
		view.Response = highlight(indentJSON(e.Response))
	}
	return view
}

// curl returns the request as a curl command.
func (r *referenceRenderer) curl(op *huma.Operation, e Example) string {
	var command strings.Builder
	command.WriteString("curl")
	if e.Method != http.MethodGet {
		command.WriteString(" -X " + e.Method)
	}
	command.WriteString(" " + shellQuote(r.base+e.Path))
	switch {
	case isForAgents(op):
		command.WriteString(" \\\n  -H \"Authorization: Bearer $ACCESS_TOKEN\"")
	case len(op.Security) > 0:
		command.WriteString(" \\\n  -u \"$CLIENT_ID:$CLIENT_SECRET\"")
	}
	if slices.ContainsFunc(op.Parameters, func(p *huma.Param) bool { return strings.HasSuffix(p.Ref, "/"+idempotencyKey) }) {
		command.WriteString(" \\\n  -H \"Idempotency-Key: $(uuidgen)\"")
	}
	for _, name := range slices.Sorted(maps.Keys(e.Headers)) {
		command.WriteString(" \\\n  -H " + shellQuote(name+": "+e.Headers[name]))
	}
	switch {
	case e.Body != nil && isForm(op):
		for _, part := range formParts(e.Body) {
			command.WriteString(" \\\n  -F " + shellQuote(part))
		}
	case e.Body != nil:
		command.WriteString(" \\\n  -H 'Content-Type: application/json' \\\n  -d " + shellQuote(string(indentJSON(e.Body))))
	case uploadType(op) != "":
		kind := uploadType(op)
		command.WriteString(" \\\n  -H " + shellQuote("Content-Type: "+kind) + " \\\n  --data-binary @" + fileName(kind))
	}
	return command.String()
}

// isForAgents reports whether an operation is for agents.
func isForAgents(op *huma.Operation) bool {
	return slices.ContainsFunc(op.Security, func(schemes map[string][]string) bool { return schemes[agentAuth] != nil })
}

// isForm reports whether an operation accepts a form only.
func isForm(op *huma.Operation) bool {
	return op.RequestBody != nil && len(op.RequestBody.Content) == 1 && op.RequestBody.Content[formType] != nil
}

// formParts returns the parts of a form, in the syntax of curl.
func formParts(body json.RawMessage) []string {
	var fields map[string]string
	if err := json.Unmarshal(body, &fields); err != nil {
		return []string{err.Error()}
	}
	parts := make([]string, 0, len(fields))
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if name == filePart {
			parts = append(parts, name+"=@"+fields[name])
			continue
		}
		parts = append(parts, name+"="+fields[name])
	}
	return parts
}

// shellQuote quotes a text as one word of a shell command.
func shellQuote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// indentJSON indents JSON.
func indentJSON(text json.RawMessage) []byte {
	var out bytes.Buffer
	if err := json.Indent(&out, text, "", "  "); err != nil {
		return []byte(strconv.Quote(err.Error()))
	}
	return out.Bytes()
}
