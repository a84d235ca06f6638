package e2e

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"image"
	"image/png"
	"io"
	"maps"
	"mime/multipart"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The examples of the published description are what the service returned in the script that
// TestExamples runs. They are in a folder that the program embeds, one file for each operation
// or webhook, and the test fails if the service returns anything else.
//
// To show a new operation, add a line to the script (examples_script_test.go), such as
//
//	s.record("getQuoteById", "", "/quotes/"+quote, "")
//
// with a title if an operation has several examples, and the webhooks it causes with
// s.recordWebhook. Wait for its effects before the next line: timestamps are replaced by the
// time of the line in which they are. Then write the files, and read what changed:
//
//	go test ./e2e -run Examples -update
//
// A program does not start if its examples contradict its description; it names the file. If
// an operation was removed, or has another path or status, delete that file first.
//
// Ids, timestamps, references and secrets are replaced by constant ones
// (examples_mask_test.go). A new value that differs between runs makes the second run fail;
// add a mask for it.
const examplesFolder = "../adapters/http/api/examples"

var update = flag.Bool("update", false, "write what the service returns to "+examplesFolder)

func TestExamples_MatchResponses(t *testing.T) {
	t.Parallel()
	// Every operation and webhook of the description has examples, which are what the service
	// returns and sends, and none of them contains a secret.
	s := newExampleRecorder(t)
	s.recordAll()

	texts := map[string][]byte{}
	for id, examples := range s.examples {
		texts[id] = encodeExamples(t, sortExamples(examples))
		if leak := s.mask.findLeak(texts[id]); leak != "" {
			t.Errorf("the examples of %s contain %q, which is secret or differs between runs", id, leak)
		}
	}
	for _, id := range s.describedIDs() {
		if texts[id] == nil {
			t.Errorf("%s has no example: add it to the script in examples_script_test.go", id)
		}
	}
	if t.Failed() {
		return
	}
	recorded, err := readExamples()
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := writeExamples(recorded, texts); err != nil {
			t.Fatal(err)
		}
		return
	}
	for _, id := range slices.Sorted(maps.Keys(texts)) {
		if diff := firstDifference(recorded[id], texts[id]); diff != "" {
			t.Errorf("%s differs from the recorded example:\n%s", id, diff)
		}
	}
	for id := range recorded {
		if texts[id] == nil {
			t.Errorf("%s has recorded examples, but is not in the script", id)
		}
	}
	if t.Failed() {
		t.Log("if that is as it should be: go test ./e2e -run Examples -update")
	}
}

// example is one recorded request and response.
type example struct {
	Title    string            `json:"title,omitempty"`
	Method   string            `json:"method"`
	Path     string            `json:"path,omitempty"`
	Headers  map[string]string `json:"headers,omitempty"`
	Body     json.RawMessage   `json:"body,omitempty"`
	Status   int               `json:"status"`
	Response json.RawMessage   `json:"response,omitempty"`
}

// sortExamples returns examples with the successful ones first.
func sortExamples(examples []example) []example {
	return slices.SortedStableFunc(slices.Values(examples), func(a, b example) int { return cmp.Compare(a.Status/100, b.Status/100) })
}

func encodeExamples(t *testing.T, examples []example) []byte {
	t.Helper()
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(examples); err != nil {
		t.Fatal(err)
	}
	return text.Bytes()
}

// readExamples reads the recorded files, by the id of what they show.
func readExamples() (map[string][]byte, error) {
	paths, err := filepath.Glob(filepath.Join(examplesFolder, "*.json"))
	if err != nil {
		return nil, err
	}
	found := map[string][]byte{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		found[strings.TrimSuffix(filepath.Base(path), ".json")] = text
	}
	return found, nil
}

func writeExamples(recorded, texts map[string][]byte) error {
	name := func(id string) string { return filepath.Join(examplesFolder, id+".json") }
	for id := range recorded {
		if texts[id] == nil {
			if err := os.Remove(name(id)); err != nil {
				return err
			}
		}
	}
	for id, text := range texts {
		if err := os.WriteFile(name(id), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// firstDifference returns the first different line of two texts, with the lines before it;
// empty if they are the same.
func firstDifference(want, got []byte) string {
	if bytes.Equal(want, got) {
		return ""
	}
	wanted, had := strings.Split(string(want), "\n"), strings.Split(string(got), "\n")
	n := 0
	for n < len(wanted) && n < len(had) && wanted[n] == had[n] {
		n++
	}
	part := func(lines []string) string { return strings.Join(lines[n:min(n+4, len(lines))], "\n") }
	return fmt.Sprintf("%s\nrecorded from line %d:\n%s\nanswered:\n%s", strings.Join(wanted[max(0, n-3):n], "\n"), n+1,
		part(wanted), part(had))
}

// operation is the description of one operation.
type operation struct {
	method, path     string
	pattern          *regexp.Regexp
	body             any            // the schema
	responses        map[string]any // by status
	respondsWithFile bool           // it returns something other than JSON
	uploadType       string         // it accepts a file of this type
}

var pathParameter = regexp.MustCompile(`\\\{[^}]*\\\}`)

// parseOperations reads the published description: operations by their ids, and the bodies of
// webhooks by their names.
func parseOperations(description apiResponse) (map[string]operation, map[string]any) {
	found := map[string]operation{}
	paths, _ := description.value("paths").(map[string]any)
	for path, item := range paths {
		for method, described := range item.(map[string]any) {
			op, _ := described.(map[string]any)
			id, _ := op["operationId"].(string)
			responses, _ := op["responses"].(map[string]any)
			pattern := "^" + pathParameter.ReplaceAllString(regexp.QuoteMeta(path), "[^/]+") + "$"
			found[id] = operation{strings.ToUpper(method), path, regexp.MustCompile(pattern), schemaOf(op["requestBody"]), responses,
				hasFileResponse(responses), uploadContentType(op["requestBody"])}
		}
	}
	hooks, _ := description.value("webhooks").(map[string]any)
	bodies := map[string]any{}
	for name, hook := range hooks {
		post, _ := hook.(map[string]any)["post"].(map[string]any)
		bodies[name] = schemaOf(post["requestBody"])
	}
	return found, bodies
}

// hasFileResponse reports whether a successful response is text or a document.
func hasFileResponse(responses map[string]any) bool {
	good, _ := responses["200"].(map[string]any)
	content, _ := good["content"].(map[string]any)
	return len(content) > 0 && content["application/json"] == nil
}

// uploadContentType returns the type of an uploaded file; empty for JSON.
func uploadContentType(body any) string {
	described, _ := body.(map[string]any)
	content, _ := described["content"].(map[string]any)
	if len(content) == 0 || content["application/json"] != nil {
		return ""
	}
	if kind := slices.Min(slices.Collect(maps.Keys(content))); kind != "multipart/form-data" {
		return kind
	}
	return formContentType
}

const (
	formBoundary    = "example"
	formContentType = "multipart/form-data; boundary=" + formBoundary
)

// formBody returns the form of a JSON object, whose field file is the name of the file.
func formBody(t testing.TB, object string, file []byte) string {
	t.Helper()
	var fields map[string]string
	if err := json.Unmarshal([]byte(object), &fields); err != nil {
		t.Fatal(err)
	}
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	err := form.SetBoundary(formBoundary)
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		var part io.Writer
		content := []byte(fields[name])
		if name == "file" {
			content = file
			part, err = form.CreateFormFile(name, fields[name])
		} else {
			part, err = form.CreateFormField(name)
		}
		if err == nil {
			_, err = part.Write(content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(err, form.Close()); err != nil {
		t.Fatal(err)
	}
	return body.String()
}

// passportPhoto returns a small image.
func passportPhoto() []byte {
	var out bytes.Buffer
	if err := png.Encode(&out, image.NewGray(image.Rect(0, 0, 40, 30))); err != nil {
		panic(err) // a buffer accepts every write
	}
	return out.Bytes()
}

// schemaOf returns the schema of a described body; nil if there is none.
func schemaOf(body any) any {
	described, _ := body.(map[string]any)
	content, _ := described["content"].(map[string]any)
	media, _ := content["application/json"].(map[string]any)
	if form, ok := content["multipart/form-data"].(map[string]any); ok && len(content) == 1 {
		media = form
	}
	return media["schema"]
}
