package httpapi

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	_ "embed" // the page's own files
	"encoding/base64"
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"causeway/core/fault"
)

// The reference page is one file without anything from elsewhere, made from the
// same description that machines read.
var (
	//go:embed reference.html
	referenceHTML string
	//go:embed reference.css
	referenceCSS string
	//go:embed reference.js
	referenceJS string

	referenceTemplate = template.Must(template.New("reference").Parse(referenceHTML))

	// referencePolicy lets the page run its own two blocks and nothing else.
	referencePolicy = fmt.Sprintf("default-src 'none'; style-src 'sha256-%s'; script-src 'sha256-%s'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
		sha256Base64(referenceCSS), sha256Base64(referenceJS))
)

func sha256Base64(text string) string {
	sum := sha256.Sum256([]byte(text))
	return base64.StdEncoding.EncodeToString(sum[:])
}

type pageView struct {
	Title, Version, Program, Base string
	Intro                         template.HTML
	Everywhere                    []commonErrorView
	Chapters                      []*sectionView
	Objects                       []objectView
	CSS                           template.CSS
	JS                            template.JS
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
	Public, Sandbox, Experimental         bool
	Webhook                               bool
	Parameters                            []fieldView
	Request                               []fieldView
	Successes, Failures                   []responseView
	Examples                              []exampleView
}

// exampleView is a request and its answer. A webhook shows the body that is sent
// instead of a command.
type exampleView struct {
	Title, Curl  string
	Body, Answer template.HTML
	Status       string
}

type segmentView struct {
	Text  string
	Param bool
}

type responseView struct {
	Status, Description string
	Codes               []string
	Fields              []fieldView
}

// commonErrorView is an error that most operations can answer.
type commonErrorView struct {
	Status, Code string
	Description  template.HTML
}

// objectView is one form of a union, which operations refer to.
type objectView struct {
	Name        string
	Description template.HTML
	Fields      []fieldView
}

// renderReference makes the page.
func renderReference(api *huma.OpenAPI, operations []*huma.Operation, examples map[string][]Example, program string) ([]byte, error) {
	r := &referenceRenderer{api: api, base: api.Servers[0].URL, examples: examples, variants: map[string]bool{}}
	if strings.HasPrefix(r.base, "/") {
		r.base = "http://localhost:8080" + r.base
	}
	view := pageView{
		Title: api.Info.Title, Version: api.Info.Version, Program: program, Base: r.base,
		Intro: markdown(api.Info.Description), CSS: template.CSS(referenceCSS), JS: template.JS(referenceJS), //nolint:gosec // our own files
	}
	for code, description := range commonErrors {
		view.Everywhere = append(view.Everywhere, commonErrorView{strconv.Itoa(code.Status()), string(code), markdown(description)})
	}
	slices.SortFunc(view.Everywhere, func(a, b commonErrorView) int {
		return cmp.Or(strings.Compare(a.Status, b.Status), strings.Compare(a.Code, b.Code))
	})
	byTag := map[string]*sectionView{}
	for _, tag := range api.Tags {
		chapter := &sectionView{Name: tag.Name, Slug: slug(tag.Name), Description: markdown(tag.Description)}
		byTag[tag.Name] = chapter
		view.Chapters = append(view.Chapters, chapter)
	}
	for _, op := range operations {
		chapter := byTag[op.Tags[0]]
		chapter.Operations = append(chapter.Operations, r.operation(op.Method, op.Path, op))
	}
	for _, name := range sortedKeys(api.Webhooks) {
		op := api.Webhooks[name].Post
		chapter, ok := byTag[op.Tags[0]]
		if !ok {
			return nil, fmt.Errorf("webhook %s has the tag %q, which was not given to Tags", name, op.Tags[0])
		}
		hook := r.operation(http.MethodPost, "", op)
		hook.Request = markOptional(hook.Request)
		hook.Webhook, hook.Path, hook.Segments = true, "your webhook endpoint", []segmentView{{Text: "your webhook endpoint"}}
		for i := range hook.Examples {
			hook.Examples[i].Curl = ""
		}
		chapter.Operations = append(chapter.Operations, hook)
	}
	view.Chapters = slices.DeleteFunc(view.Chapters, func(c *sectionView) bool { return len(c.Operations) == 0 && c.Description == "" })
	view.Objects = r.objects()

	var page bytes.Buffer
	if err := referenceTemplate.Execute(&page, view); err != nil {
		return nil, err
	}
	return page.Bytes(), nil
}

// referenceRenderer reads the description; it notes the forms of unions it came across.
type referenceRenderer struct {
	api      *huma.OpenAPI
	base     string
	examples map[string][]Example
	variants map[string]bool
}

func (r *referenceRenderer) operation(method, path string, op *huma.Operation) operationView {
	view := operationView{
		ID: op.OperationID, Method: method, Path: path, Summary: op.Summary, Description: markdown(op.Description),
		Public: len(op.Security) == 0,
	}
	view.Permission, _ = op.Extensions["x-permission"].(string)
	_, view.Experimental = op.Extensions["x-experimental"]
	_, view.Sandbox = op.Extensions["x-sandbox-only"]
	for _, segment := range segments(path) {
		_, isParam := parseParameter(segment)
		view.Segments = append(view.Segments, segmentView{Text: segment, Param: isParam})
	}
	for _, p := range op.Parameters {
		if p.Ref != "" {
			continue // the same everywhere, and explained once
		}
		field := r.field(p.Name, p.Schema, p.Required, 0)
		field.In = p.In
		if field.Description == "" {
			field.Description = markdown(p.Description)
		}
		view.Parameters = append(view.Parameters, field)
	}
	if op.RequestBody != nil {
		if media := op.RequestBody.Content["application/json"]; media != nil {
			view.Request = r.fields(media.Schema, 0)
		}
	}
	for _, status := range sortedKeys(op.Responses) {
		response := responseView{Status: status, Description: op.Responses[status].Description}
		if media := op.Responses[status].Content["application/json"]; media != nil && status < "300" {
			response.Fields = markOptional(r.fields(media.Schema, 0))
		}
		if status < "300" {
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
	for _, e := range r.examplesFor(method, path, op) {
		view.Examples = append(view.Examples, r.exampleView(op, e))
	}
	return view
}

// objects are the forms that fields refer to, and those that these refer to.
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
