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

// Example is a request and the answer that the service gave to it, as a test recorded
// them. One of a webhook is the event that was sent, without a path, and the answer of
// its receiver.
type Example struct {
	Title    string          `json:"title,omitempty"` // what it shows; empty where there is but one
	Method   string          `json:"method"`
	Path     string          `json:"path,omitempty"` // below BasePath, with its query
	Body     json.RawMessage `json:"body,omitempty"`
	Status   int             `json:"status"`
	Response json.RawMessage `json:"response,omitempty"`
}

// Examples gives the recorded examples: one file <id>.json an operation or webhook,
// with a list of them in the order in which they are read. They are parsed when the
// description is built, and not kept.
func (a *API) Examples(recorded fs.FS) { a.document.exampleFiles = recorded }

// readExamples reads the recorded examples by the id of what they show. One that shows
// nothing there is, or says what the description does not, is an error.
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
			return nil, fmt.Errorf("examples in %s, which must be deleted and recorded anew: %w", file, err)
		}
		read[id] = examples
	}
	return read, nil
}

// addExamples puts examples where readers of the description look for them.
func (d *document) addExamples(id string, examples []Example) error {
	if hook, ok := d.openapi.Webhooks[id]; ok {
		for _, e := range examples {
			if err := addExample(hook.Post.RequestBody.Content, e.Title, e.Body); err != nil {
				return err
			}
		}
		return nil
	}
	at := slices.IndexFunc(d.operations, func(op *huma.Operation) bool { return op.OperationID == id })
	if at < 0 {
		return errors.New("there is no such operation or webhook")
	}
	op := d.operations[at]
	for _, e := range examples {
		called, _, _ := strings.Cut(e.Path, "?")
		if e.Method != op.Method || !pathPattern(op.Path).MatchString(called) {
			return fmt.Errorf("%s %s is not %s %s", e.Method, e.Path, op.Method, op.Path)
		}
		response := op.Responses[strconv.Itoa(e.Status)]
		if response == nil {
			return fmt.Errorf("%q: the operation does not answer %d", e.Title, e.Status)
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

// examplesKey holds the examples of a body in its media type, in their order: a map of
// huma's would be sorted.
const examplesKey = "examples"

// addExample adds an example to a body. An empty one has nothing to show.
func addExample(content map[string]*huma.MediaType, title string, value json.RawMessage) error {
	if value == nil {
		return nil
	}
	media := content["application/json"]
	if media == nil {
		return fmt.Errorf("%q has a body where none is described", title)
	}
	name := slug(title)
	if name == "" {
		name = "example"
	}
	shown, _ := media.Extensions[examplesKey].(orderedObject)
	if slices.ContainsFunc(shown, func(m member) bool { return m.name == name }) {
		return fmt.Errorf("two are called %q", name)
	}
	media.Extensions = map[string]any{examplesKey: append(shown, member{name, &huma.Example{Summary: title, Value: value}})}
	return nil
}

// removeExamples drops what only the published texts need.
func (d *document) removeExamples() {
	forget := func(content map[string]*huma.MediaType) {
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
			forget(op.RequestBody.Content)
		}
		for _, response := range op.Responses {
			forget(response.Content)
		}
	}
}

var pathParameter = regexp.MustCompile(`\\\{[^}]*\\\}`)

// pathPattern matches the paths that a pattern with parameters in braces stands for.
func pathPattern(pattern string) *regexp.Regexp {
	return regexp.MustCompile("^" + pathParameter.ReplaceAllString(regexp.QuoteMeta(pattern), "[^/]+") + "$")
}
