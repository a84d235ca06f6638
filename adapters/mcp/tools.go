package mcp

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// tool is an operation of agents, as a model calls it.
type tool struct {
	name, title string
	// operation is the id of the operation in the service's description.
	operation    string
	method, path string // the path may have parameters, such as {quoteId}, which are arguments
	description  string
	// details returns what the description ends with; nil for nothing.
	details   func() string
	arguments []field
	// permissions are those of which the agent needs one; empty for none.
	permissions []string
	// starts is set if a paused agent may not call the tool.
	starts bool
	// destructive is set if the effect cannot be undone, and openWorld if others than the service take part.
	destructive, openWorld bool
	// intent returns what makes a call unique: a repeated call with the same intent has no further effect. Nil for
	// tools that need none.
	intent func(arguments map[string]any) string
	// body changes the arguments into the body of the request; nil if they are the body.
	body func(arguments map[string]any) any
	// summary puts the response into words; hint says what to do about a refusal, if the tool knows better than
	// refusals.go. Neither contains text from others.
	summary func(p *profile, body []byte) string
	hint    func(e serviceError, arguments map[string]any) string
}

// The names of the arguments that are neither parameters nor fields of the operation.
const (
	intentArgument    = "intent"
	signatureArgument = "walletSignature"
)

// tools lists every tool, in the order in which a model reads them.
var tools = append(append([]tool{getAgent}, paymentTools...), recordTools...)

// toolNamed returns the tool with a name.
func toolNamed(name string) (*tool, bool) {
	for i := range tools {
		if tools[i].name == name {
			return &tools[i], true
		}
	}
	return nil, false
}

// offeredTo reports whether an agent may call the tool.
func (t *tool) offeredTo(p *profile) bool {
	return (len(t.permissions) == 0 || p.may(t.permissions...)) && !(t.starts && p.IsPaused)
}

// hasIntent reports whether a call says its intent.
func (t *tool) hasIntent() bool {
	return slices.ContainsFunc(t.arguments, func(f field) bool { return f.name == intentArgument })
}

// definitions returns every tool, and pair, as they are listed, by name. All sessions share them.
var definitions = sync.OnceValue(func() map[string]*sdk.Tool {
	listed := map[string]*sdk.Tool{pairTool.name: pairTool.definition()}
	for i := range tools {
		listed[tools[i].name] = tools[i].definition()
	}
	return listed
})

// definition returns the tool as it is listed.
func (t *tool) definition() *sdk.Tool {
	description := t.description
	if t.details != nil {
		description += t.details()
	}
	readOnly := t.method == http.MethodGet || strings.HasSuffix(t.path, "/preview")
	annotations := &sdk.ToolAnnotations{Title: t.title, ReadOnlyHint: readOnly, OpenWorldHint: &t.openWorld, IdempotentHint: readOnly ||
		t.intent != nil || t.method == http.MethodDelete}
	if !readOnly {
		annotations.DestructiveHint = &t.destructive
	}
	return &sdk.Tool{Name: t.name, Title: t.title, Description: description, InputSchema: objectSchema(t.arguments, false),
		Annotations: annotations}
}

// request returns the request of a call with these arguments.
func (t *tool) request(agent string, arguments map[string]any) request {
	rest := make(map[string]any, len(arguments))
	for name, value := range arguments {
		rest[name] = value
	}
	r := request{method: t.method, path: t.path}
	if t.intent != nil {
		r.key = idempotencyKey(agent, t.name, t.intent(arguments))
	}
	r.signature, _ = rest[signatureArgument].(string)
	delete(rest, signatureArgument)
	delete(rest, intentArgument)
	for name, value := range rest {
		if parameter := "{" + name + "}"; strings.Contains(r.path, parameter) {
			argument, _ := value.(string)
			r.path = strings.ReplaceAll(r.path, parameter, url.PathEscape(argument))
			delete(rest, name)
		}
	}
	switch {
	case t.method == http.MethodGet:
		r.query = t.query(rest)
	case t.body != nil:
		r.body = t.body(rest)
	case t.method == http.MethodPost && len(rest) > 0:
		r.body = rest
	}
	return r
}

// query returns the query of a request, with the standard values.
func (t *tool) query(arguments map[string]any) url.Values {
	query := url.Values{}
	for _, f := range t.arguments {
		if f.standard != 0 {
			query.Set(f.name, strconv.FormatInt(f.standard, 10))
		}
	}
	for name, value := range arguments {
		switch value := value.(type) {
		case string:
			query.Set(name, value)
		case json.Number:
			query.Set(name, value.String())
		}
	}
	return query
}
