package httpapi

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	_ "embed" // reference.html, .css and .js
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"causeway/core/fault"
	"causeway/core/platform"
)

// The reference page is one self-contained file, generated from the OpenAPI document.
var (
	//go:embed reference.html
	referenceHTML string
	//go:embed reference.css
	referenceCSS string
	//go:embed reference.js
	referenceJS string

	referenceTemplate = template.Must(template.New("reference").Parse(referenceHTML))

	// referencePolicy is the Content-Security-Policy that allows only the embedded style
	// and script, and requests to the service itself.
	referencePolicy = fmt.Sprintf("default-src 'none'; style-src 'sha256-%s'; script-src 'sha256-%s'; connect-src 'self'; base-uri 'none'; "+
		"form-action 'none'; frame-ancestors 'none'",
		sha256Base64(referenceCSS), sha256Base64(referenceJS))
)

func sha256Base64(text string) string {
	sum := sha256.Sum256([]byte(text))
	return base64.StdEncoding.EncodeToString(sum[:])
}

type pageView struct {
	Title, Version, Program, Base string
	Intro                         template.HTML
	CommonErrors                  []commonErrorView
	Sections                      []*sectionView
	Objects                       []objectView
	Guides                        []*guide
	Index                         []indexEntry
	CSS                           template.CSS
	JS                            template.JS
}

// indexEntry is what the search finds in the guides: the kind of the entry, its text, the title of the guide, and its address.
type indexEntry [4]string

func guideIndex(guides []*guide) []indexEntry {
	index := []indexEntry{}
	for _, g := range guides {
		address := "docs/" + g.Name
		index = append(index, indexEntry{"guide", g.Title, "", address})
		for _, h := range g.Headings {
			index = append(index, indexEntry{"guide", h.Text, g.Title, address + "#" + h.ID})
		}
		for _, v := range g.testValues {
			index = append(index, indexEntry{"test value", v.text, g.Title + ": " + v.head, address + "#" + v.id})
		}
	}
	return index
}

type sectionView struct {
	Name, Slug  string
	Description template.HTML
	Operations  []operationView
}

type operationView struct {
	ID, Method, Path, Summary, Permission string
	Segments                              []segmentView
	Description                           template.HTML
	Public, Agent, Sandbox, Experimental  bool
	Webhook                               bool
	CanTry                                bool // with a token, and without a file
	Parameters                            []fieldView
	Request                               []fieldView
	RequestVariants                       []variantView // of a body that is a union
	Successes, Failures                   []responseView
	Examples                              []exampleView
}

// exampleView is a request and its response. A webhook has the body of the event instead
// of a curl command.
type exampleView struct {
	Title, Curl    string
	Body, Response template.HTML
	Status         string
}

type segmentView struct {
	Text  string
	Param bool
}

type responseView struct {
	Status, Description string
	// About is a description that is longer than the name of the status.
	About  template.HTML
	Codes  []string
	Fields []fieldView
}

// commonErrorView is an error that most operations can return.
type commonErrorView struct {
	Status, Code string
	Description  template.HTML
}

// objectView is one branch of a union, which fields link to.
type objectView struct {
	Name        string
	Description template.HTML
	Fields      []fieldView
}

// renderedReference is the reference page, the file with the requests and samples of its examples, and a collection of Postman.
type renderedReference struct{ page, examples, postman []byte }

// renderReference renders the reference page and its files.
func renderReference(api *huma.OpenAPI, operations []*huma.Operation, examples map[string][]Example,
	guides []*guide, programVersion string) (rendered renderedReference, err error) {
	r := &referenceRenderer{api: api, base: api.Servers[0].URL, examples: examples, variants: map[string]bool{},
		requests: map[string][]requestExample{},
		abouts:   map[string]template.HTML{}}
	if strings.HasPrefix(r.base, "/") {
		r.base = "http://localhost:8080" + r.base
	}
	view := pageView{
		Title: api.Info.Title, Version: api.Info.Version, Program: programVersion, Base: r.base,
		Intro: markdown(api.Info.Description), Guides: guides, Index: guideIndex(guides),
		CSS: template.CSS(referenceCSS), JS: template.JS(referenceJS), //nolint:gosec // embedded files
	}
	for code, description := range commonErrors {
		view.CommonErrors = append(view.CommonErrors, commonErrorView{strconv.Itoa(code.Status()), string(code), markdown(description)})
	}
	slices.SortFunc(view.CommonErrors, func(a, b commonErrorView) int {
		return cmp.Or(strings.Compare(a.Status, b.Status), strings.Compare(a.Code, b.Code))
	})
	byTag := map[string]*sectionView{}
	for _, tag := range api.Tags {
		section := &sectionView{Name: tag.Name, Slug: slug(tag.Name), Description: markdown(tag.Description)}
		byTag[tag.Name] = section
		view.Sections = append(view.Sections, section)
	}
	for _, op := range operations {
		section := byTag[op.Tags[0]]
		section.Operations = append(section.Operations, r.operation(op.Method, op.Path, op))
	}
	for _, name := range sortedKeys(api.Webhooks) {
		op := api.Webhooks[name].Post
		section, ok := byTag[op.Tags[0]]
		if !ok {
			return rendered, fmt.Errorf("webhook %s has the tag %q, which is not one of Tags", name, op.Tags[0])
		}
		hook := r.operation(http.MethodPost, "", op)
		hook.Request = markOptional(hook.Request)
		hook.Webhook, hook.Path, hook.Segments = true, "your webhook endpoint", []segmentView{{Text: "your webhook endpoint"}}
		for i := range hook.Examples {
			hook.Examples[i].Curl = ""
		}
		section.Operations = append(section.Operations, hook)
	}
	view.Sections = slices.DeleteFunc(view.Sections, func(c *sectionView) bool { return len(c.Operations) == 0 && c.Description == "" })
	view.Objects = r.objects()

	var out bytes.Buffer
	if err := referenceTemplate.Execute(&out, view); err != nil {
		return rendered, err
	}
	rendered.page = out.Bytes()
	if rendered.examples, err = json.Marshal(referenceExamples{sampleClients(r.base), r.requests}); err != nil {
		return rendered, err
	}
	rendered.postman, err = json.Marshal(newPostmanCollection(view, r.requests))
	return rendered, err
}

// referenceRenderer renders the description. It collects the branches of unions that
// fields link to.
type referenceRenderer struct {
	api      *huma.OpenAPI
	base     string
	examples map[string][]Example
	variants map[string]bool
	requests map[string][]requestExample // by the id of the operation
	rates    map[string]bool             // see rateNames
	abouts   map[string]template.HTML    // rendered descriptions of fields, most of which are in several places
}

func (r *referenceRenderer) operation(method, path string, op *huma.Operation) operationView {
	view := operationView{
		ID: op.OperationID, Method: method, Path: path, Summary: op.Summary, Description: markdown(op.Description),
		Public: len(op.Security) == 0, Agent: isForAgents(op),
	}
	view.CanTry = path != "" && !view.Public && !view.Agent && (op.RequestBody == nil || op.RequestBody.Content["application/json"] != nil)
	view.Permission, _ = op.Extensions["x-permission"].(string)
	if permissions, ok := op.Extensions["x-agent-permissions"].([]platform.Permission); ok {
		names := make([]string, len(permissions))
		for i, p := range permissions {
			names[i] = string(p)
		}
		view.Permission = strings.Join(names, " or ")
	}
	_, view.Experimental = op.Extensions["x-experimental"]
	_, view.Sandbox = op.Extensions["x-sandbox-only"]
	for _, segment := range segments(path) {
		_, isParam := parseParameter(segment)
		view.Segments = append(view.Segments, segmentView{Text: segment, Param: isParam})
	}
	for _, p := range op.Parameters {
		if name, isShared := strings.CutPrefix(p.Ref, parameterPrefix); isShared {
			if name == idempotencyKey {
				continue // explained in the introduction
			}
			p = r.api.Components.Parameters[name]
		}
		field := r.field(p.Name, p.Schema, p.Required, 0)
		field.In = p.In
		if field.Description == "" {
			field.Description = markdown(p.Description)
		}
		view.Parameters = append(view.Parameters, field)
	}
	if op.RequestBody != nil {
		media := op.RequestBody.Content["application/json"]
		if isForm(op) {
			media = op.RequestBody.Content[formType]
		}
		if media != nil {
			view.Request, view.RequestVariants = r.fields(media.Schema, 0), r.variantsOf(r.resolve(media.Schema))
		}
	}
	for _, status := range sortedKeys(op.Responses) {
		response := responseView{Status: status, Description: op.Responses[status].Description}
		if media := op.Responses[status].Content["application/json"]; media != nil && status < "300" {
			response.Fields = markOptional(r.fields(media.Schema, 0))
		}
		if status < "300" {
			if code, _ := strconv.Atoi(status); response.Description != http.StatusText(code) {
				response.Description, response.About = "", markdown(response.Description)
			}
			view.Successes = append(view.Successes, response)
			continue
		}
		if op.Responses[status].Content != nil {
			response.Codes = slices.DeleteFunc(strings.Split(response.Description, ", "), func(code string) bool {
				return commonErrors[fault.Code(code)] != ""
			})
			response.Description = ""
		}
		if len(response.Codes) > 0 || response.Description != "" {
			view.Failures = append(view.Failures, response)
		}
	}
	examples := r.examplesFor(method, path, op)
	allRefused := !slices.ContainsFunc(examples, func(e Example) bool { return e.Status < http.StatusMultipleChoices })
	for _, e := range examples {
		view.Examples = append(view.Examples, r.exampleView(op, e))
		if path != "" { // not of a webhook
			request := r.requestExample(path, op, e, allRefused || e.Status < http.StatusMultipleChoices)
			r.requests[op.OperationID] = append(r.requests[op.OperationID], request)
		}
	}
	return view
}

// objects returns the branches that fields link to, including those linked from other
// branches.
func (r *referenceRenderer) objects() []objectView {
	done := map[string]objectView{}
	for len(done) < len(r.variants) {
		for _, name := range sortedKeys(r.variants) {
			if _, ok := done[name]; !ok {
				schema := r.api.Components.Schemas.Map()[name]
				done[name] = objectView{Name: name, Description: markdown(schema.Description), Fields: r.fields(schema, 0)}
			}
		}
	}
	list := make([]objectView, 0, len(done))
	for _, name := range sortedKeys(done) {
		list = append(list, done[name])
	}
	return list
}
