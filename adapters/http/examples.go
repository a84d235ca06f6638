package httpapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// Example is a request and its response, recorded by a test. An example of a webhook is
// an event, without a path, and the response of the endpoint.
type Example struct {
	Title  string `json:"title,omitempty"` // empty if there is only one example
	Method string `json:"method"`
	Path   string `json:"path,omitempty"` // below BasePath, with the query
	// Headers are those that other requests do not have.
	Headers  map[string]string `json:"headers,omitempty"`
	Body     json.RawMessage   `json:"body,omitempty"`
	Status   int               `json:"status"`
	Response json.RawMessage   `json:"response,omitempty"`
}

// Examples sets the recorded examples: one file <id>.json per operation or webhook, with
// a list of examples in the order of the reference page. They are parsed when the
// description is rendered, which a test does, and not kept in memory.
func (a *API) Examples(recorded fs.FS) { a.document.exampleFiles = recorded }

// readExamples parses the recorded examples, by the id of the operation or webhook, and
// adds them to the description. It returns an error if an example does not match it.
func (d *document) readExamples() (map[string][]Example, error) {
	read := map[string][]Example{}
	if d.exampleFiles == nil {
		return read, nil
	}
	files, err := fs.Glob(d.exampleFiles, "*.json")
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		text, err := fs.ReadFile(d.exampleFiles, file)
		if err != nil {
			return nil, err
		}
		var examples []Example
		if err := json.Unmarshal(text, &examples); err != nil {
			return nil, fmt.Errorf("examples in %s: %w", file, err)
		}
		id := strings.TrimSuffix(path.Base(file), ".json")
		if err := d.addExamples(id, examples); err != nil {
			return nil, fmt.Errorf("examples in %s, which must be deleted and recorded again: %w", file, err)
		}
		read[id] = examples
	}
	return read, nil
}

// addExamples adds examples to the bodies of an operation or webhook.
func (d *document) addExamples(id string, examples []Example) error {
	if hook, ok := d.openapi.Webhooks[id]; ok {
		for _, e := range examples {
			if err := addExample(hook.Post.RequestBody.Content, e.Title, e.Body); err != nil {
				return err
			}
		}
		return nil
	}
	index := slices.IndexFunc(d.operations, func(op *huma.Operation) bool { return op.OperationID == id })
	if index < 0 {
		return errors.New("no such operation or webhook")
	}
	op := d.operations[index]
	for _, e := range examples {
		called, _, _ := strings.Cut(e.Path, "?")
		if e.Method != op.Method || !pathPattern(op.Path).MatchString(called) {
			return fmt.Errorf("%s %s is not %s %s", e.Method, e.Path, op.Method, op.Path)
		}
		response := op.Responses[strconv.Itoa(e.Status)]
		if response == nil {
			return fmt.Errorf("%q: the operation does not return %d", e.Title, e.Status)
		}
		if err := addExample(response.Content, e.Title, e.Response); err != nil {
			return err
		}
		if op.RequestBody != nil && e.Status < 300 {
			if err := addExample(op.RequestBody.Content, e.Title, e.Body); err != nil {
				return err
			}
		}
	}
	return nil
}

// examplesKey is the extension of a media type that holds its examples in order; the map
// of huma would be sorted.
const examplesKey = "examples"

// addExample adds an example to a body, unless it is empty.
func addExample(content map[string]*huma.MediaType, title string, value json.RawMessage) error {
	if value == nil {
		return nil
	}
	media := content["application/json"]
	if media == nil && len(content) == 1 {
		media = content[formType] // the parts of the form as an object
	}
	if media == nil {
		return fmt.Errorf("%q has a body where none is described", title)
	}
	name := slug(title)
	if name == "" {
		name = "example"
	}
	examples, _ := media.Extensions[examplesKey].(orderedObject)
	if slices.ContainsFunc(examples, func(m member) bool { return m.name == name }) {
		return fmt.Errorf("two examples have the name %q", name)
	}
	media.Extensions = map[string]any{examplesKey: append(examples, member{name, &huma.Example{Summary: title, Value: value}})}
	return nil
}

// removeExamples removes the examples, which are only needed for rendering.
func (d *document) removeExamples() {
	remove := func(content map[string]*huma.MediaType) {
		for _, media := range content {
			delete(media.Extensions, examplesKey)
		}
	}
	operations := slices.Clone(d.operations)
	for _, hook := range d.openapi.Webhooks {
		operations = append(operations, hook.Post)
	}
	for _, op := range operations {
		if op.RequestBody != nil {
			remove(op.RequestBody.Content)
		}
		for _, response := range op.Responses {
			remove(response.Content)
		}
	}
}

var pathParameter = regexp.MustCompile(`\\\{[^}]*\\\}`)

// pathPattern returns a regular expression for a path with parameters in braces.
func pathPattern(pattern string) *regexp.Regexp {
	return regexp.MustCompile("^" + pathParameter.ReplaceAllString(regexp.QuoteMeta(pattern), "[^/]+") + "$")
}
