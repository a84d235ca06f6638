package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/e2e/kit"
)

// publishedSamples is the file docs/examples.json of the reference.
type publishedSamples struct {
	Clients    map[string]string
	Operations map[string][]publishedExample
}

// publishedExample is a request of the reference with its samples, which most refused requests do not have.
type publishedExample struct {
	Title, Method, Path string
	Headers             map[string]string
	Body                json.RawMessage
	Samples             map[string]string
}

// samplePlayer runs the samples of the reference in one language, each in the place of the request of which it is the sample.
//
// The samples have the ids of the recorded examples. So they call a proxy, which checks that a sample sends the request of the example
// and nothing else, sends the one that the script makes with the ids of this run, and returns its response to the sample.
type samplePlayer struct {
	t         *testing.T
	published publishedSamples
	proxy     *httptest.Server
	runner    *kit.Process

	tasks   chan string // the names of samples to run, each with "platform" or "agent"
	results chan sampleResult
	running playedSample
	played  map[string]bool
}

// sampleResult is what a sample returned, and what it printed, which are the items of a list; or why it failed.
type sampleResult struct {
	Result any
	Items  []any
	Error  string
}

// playedSample is the sample that runs.
type playedSample struct {
	example    publishedExample
	by         *client
	path       string
	body       any
	uploadType string
	first      *apiResponse // the response to its first request
}

// agentToken is that of the samples of agents; the proxy replaces it by the token of the agent.
const agentToken = "token-of-an-agent"

func newSamplePlayer(t *testing.T, by *client, language sampleLanguage) *samplePlayer {
	t.Helper()
	p := &samplePlayer{t: t, tasks: make(chan string), results: make(chan sampleResult), played: map[string]bool{}}
	if err := json.Unmarshal(by.get("/docs/examples.json").wantStatus(200).body, &p.published); err != nil {
		t.Fatal(err)
	}
	p.proxy = httptest.NewServer(p)
	t.Cleanup(p.proxy.Close)
	base := p.proxy.URL + "/2025-10-13"
	setup, found := p.published.Clients[language.name]
	if found && !strings.Contains(setup, by.BaseURL) {
		t.Fatalf("the client in %s does not have the address %s:\n%s", language.name, by.BaseURL, setup)
	}
	samples := p.samples(language.name)
	for name, sample := range samples { // those of the shell have the address, and no client
		if !found && !strings.Contains(sample, by.BaseURL) {
			t.Errorf("the sample %s does not have the address %s:\n%s", name, by.BaseURL, sample)
		}
		samples[name] = strings.ReplaceAll(sample, by.BaseURL, base)
	}
	command := language.command(t, strings.ReplaceAll(setup, by.BaseURL, base), samples)
	command.Env = append(command.Env, "PLAYER="+p.proxy.URL, "CLIENT_ID="+by.ClientID, "CLIENT_SECRET="+by.ClientSecret,
		"BASE="+base, "AGENT_TOKEN="+agentToken)
	writeSampleFiles(t, command.Dir)
	var err error
	if p.runner, err = kit.Start(command); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.runner.Kill)
	return p
}

// samples returns the samples of a language by their names.
func (p *samplePlayer) samples(language string) map[string]string {
	found := map[string]string{}
	for id, examples := range p.published.Operations {
		for i, e := range examples {
			if sample := e.Samples[language]; sample != "" {
				found[sampleName(id, i)] = sample
			}
		}
	}
	return found
}

func sampleName(id string, index int) string { return id + "/" + strconv.Itoa(index) }

// play runs the sample of an example, if it has one; otherwise it makes the request itself.
func (p *samplePlayer) play(by *client, id, title, path string, body any, uploadType string) apiResponse {
	p.t.Helper()
	i := slices.IndexFunc(p.published.Operations[id], func(e publishedExample) bool {
		return e.Title == title && e.Samples != nil && !p.played[id+title]
	})
	op := p.published.Operations[id]
	if i < 0 {
		if len(op) == 0 {
			p.t.Fatalf("the reference has no example of %s", id)
		}
		return by.call(op[0].Method, path, body)
	}
	p.played[id+title] = true
	p.running = playedSample{example: op[i], by: by, path: path, body: body, uploadType: uploadType}
	ctx, cancel := context.WithTimeout(p.t.Context(), waitTimeout)
	defer cancel()
	name, caller := sampleName(id, i), "platform"
	if strings.HasPrefix(path, "/agents/me") {
		caller = "agent"
	}
	var got sampleResult
	select {
	case p.tasks <- name + " " + caller:
		select {
		case got = <-p.results:
		case <-ctx.Done():
			p.t.Fatalf("the sample %s does not end: %s", name, p.runner.Tail())
		}
	case <-p.runner.Exited:
		p.t.Fatalf("the program with the samples ended: %s", p.runner.Output())
	}
	if p.running.first == nil {
		p.t.Fatalf("the sample %s failed: %s", name, got.Error)
	}
	response := *p.running.first
	if refused := response.status >= http.StatusMultipleChoices; refused || got.Error != "" {
		if !refused || !strings.Contains(got.Error, response.text("code")) {
			p.t.Fatalf("the sample %s failed with %q; the status is %d", name, got.Error, response.status)
		}
		return response
	}
	if diff := got.difference(response); diff != "" {
		p.t.Errorf("the sample %s returned something else than its response: %s", name, diff)
	}
	return response
}

// difference says in what the result of a sample differs from the response that it had.
func (r sampleResult) difference(response apiResponse) string {
	if len(response.body) == 0 {
		if r.Result != nil {
			return fmt.Sprintf("%v in place of nothing", r.Result)
		}
		return ""
	}
	var want any
	decoder := json.NewDecoder(strings.NewReader(string(response.body)))
	decoder.UseNumber()
	if err := decoder.Decode(&want); err != nil {
		return err.Error()
	}
	want = comparable(want)
	got := comparable(r.Result)
	if r.Result == nil {
		want = want.(map[string]any)["data"]
		items, _ := want.([]any)
		got = comparable(r.Items[:min(len(items), len(r.Items))])
	}
	if !reflect.DeepEqual(got, want) {
		return fmt.Sprintf("%v\nin place of\n%v", got, want)
	}
	return ""
}

// comparable returns a JSON value as all languages have it: numbers as text, times in one form, and no nulls.
func comparable(value any) any {
	switch value := value.(type) {
	case map[string]any:
		object := map[string]any{}
		for name, member := range value {
			if member != nil {
				object[name] = comparable(member)
			}
		}
		return object
	case []any:
		list := make([]any, len(value))
		for i, item := range value {
			list[i] = comparable(item)
		}
		return list
	case json.Number:
		return value.String()
	case string:
		if at, err := time.Parse(time.RFC3339Nano, value); err == nil {
			return at.Format(time.RFC3339Nano)
		}
	}
	return value
}

// ServeHTTP gives the program its tasks, takes the results, and is the proxy of what the samples send.
func (p *samplePlayer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/next":
		select {
		case name := <-p.tasks:
			_, _ = io.WriteString(w, name)
		case <-r.Context().Done():
		}
		return
	case "/result":
		var result sampleResult
		decoder := json.NewDecoder(r.Body)
		decoder.UseNumber()
		if err := decoder.Decode(&result); err != nil {
			result.Error = err.Error()
		}
		p.results <- result
		return
	}
	response, err := p.forward(r)
	if err != nil {
		http.Error(w, `{"code": "TEST", "message": `+strconv.Quote(err.Error())+`}`, http.StatusTeapot)
		return
	}
	maps.Copy(w.Header(), response.header)
	w.Header().Del("Content-Length")
	w.WriteHeader(response.status)
	_, _ = w.Write(response.body)
}

// forward checks the request of a sample, and makes that of the script.
func (p *samplePlayer) forward(r *http.Request) (apiResponse, error) {
	played := &p.running
	if err := played.checkRequest(r); err != nil {
		return apiResponse{}, err
	}
	by, path := played.by, played.path
	if key := r.Header.Get("Idempotency-Key"); key != "" {
		by = by.withHeader("Idempotency-Key", key)
	}
	cursor := r.URL.Query().Get("cursor")
	if (cursor != "") != (played.first != nil) {
		return apiResponse{}, fmt.Errorf("the sample sent %s %s before or again", r.Method, r.URL)
	}
	if cursor != "" {
		separator := "?"
		if strings.Contains(path, "?") {
			separator = "&"
		}
		path += separator + "cursor=" + url.QueryEscape(cursor)
	}
	response, err := by.do(r.Context(), r.Method, path, played.body)
	if played.first == nil && err == nil {
		played.first = &response
	}
	return response, err
}

// checkRequest checks that a request is that of the example: its method, path, query, headers and body, with a key if it is a POST.
func (s *playedSample) checkRequest(r *http.Request) error {
	called, query, _ := strings.Cut(s.example.Path, "?")
	wantPath, err := url.PathUnescape(called)
	if err != nil {
		return err
	}
	wantQuery, err := url.ParseQuery(query)
	if err != nil {
		return err
	}
	got := r.URL.Query()
	got.Del("cursor")
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	var failures []error
	fail := func(format string, args ...any) { failures = append(failures, fmt.Errorf(format, args...)) }
	if path := strings.TrimPrefix(r.URL.Path, "/2025-10-13"); r.Method != s.example.Method || path != wantPath {
		fail("it sent %s %s, want %s %s", r.Method, path, s.example.Method, wantPath)
	}
	if !reflect.DeepEqual(comparableQuery(got), comparableQuery(wantQuery)) {
		fail("it sent the query %v, want %v", got, wantQuery)
	}
	for name, value := range s.example.Headers {
		if r.Header.Get(name) != value {
			fail("it sent %s: %s, want %s", name, r.Header.Get(name), value)
		}
	}
	wantAuthorization := "Bearer " + agentToken
	if id, secret, ok := r.BasicAuth(); ok && id != "" && secret != "" {
		wantAuthorization = r.Header.Get("Authorization")
	}
	if got := r.Header.Get("Authorization"); strings.HasSuffix(called, "/redeem") && got == "" {
		// A device code is redeemed without credentials, which the clients send with every request.
	} else if got != wantAuthorization || strings.HasPrefix(got, "Bearer") != strings.HasPrefix(called,
		"/agents/me") {
		fail("it authorized itself with %q", got)
	}
	if _, err := uuid.Parse(r.Header.Get("Idempotency-Key")); r.Method == http.MethodPost && err != nil && !strings.HasSuffix(called,
		"/redeem") {
		fail("it sent the key %q", r.Header.Get("Idempotency-Key"))
	}
	if err := s.checkBody(r, body); err != nil {
		failures = append(failures, err)
	}
	return errors.Join(failures...)
}

func (s *playedSample) checkBody(r *http.Request, body []byte) error {
	kind := r.Header.Get("Content-Type")
	switch {
	case s.uploadType == formContentType:
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		if err := r.ParseMultipartForm(1 << 20); err != nil {
			return err
		}
		var want map[string]string
		if err := json.Unmarshal(s.example.Body, &want); err != nil {
			return err
		}
		got := map[string]string{}
		for name, values := range r.MultipartForm.Value {
			got[name] = strings.Join(values, ",")
		}
		for _, header := range r.MultipartForm.File["file"] {
			file, err := header.Open()
			if err != nil {
				return err
			}
			content, err := io.ReadAll(file)
			if err == nil && string(content) == string(passportPhoto()) {
				got["file"] = want["file"] // whatever name the client gives it
			}
		}
		if !maps.Equal(got, want) {
			return fmt.Errorf("it sent the form %v, want %v", got, want)
		}
	case s.uploadType != "":
		if string(body) != sampleFile || strings.HasPrefix(kind, "application/json") {
			return fmt.Errorf("it sent %q as %s, want the file", body, kind)
		}
	case s.example.Body == nil:
		if len(body) > 0 {
			return fmt.Errorf("it sent %s, want no body", body)
		}
	default:
		var got, want any
		if err := errors.Join(json.Unmarshal(body, &got), json.Unmarshal(s.example.Body, &want)); err != nil {
			return err
		}
		if !reflect.DeepEqual(got, want) || !strings.HasPrefix(kind, "application/json") {
			return fmt.Errorf("it sent %s as %s, want %s", body, kind, s.example.Body)
		}
	}
	return nil
}

// comparableQuery returns a query with its times in one form, and lists in that with commas.
func comparableQuery(query url.Values) map[string]string {
	found := map[string]string{}
	for name, values := range query {
		for _, value := range values {
			found[name] += fmt.Sprint(comparable(value)) + ","
		}
	}
	return found
}

// sampleFile is the content of the files that samples upload as they are.
const sampleFile = "a,b\n1,2\n"

// writeSampleFiles writes the files that samples upload, until the test ends.
func writeSampleFiles(t *testing.T, folder string) {
	t.Helper()
	for name, content := range map[string]string{"file.csv": sampleFile, "file": sampleFile, "passport.png": string(passportPhoto()),
		"bill.png": string(passportPhoto()), "license-front.png": string(passportPhoto())} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSamples_DoWhatTheExamplesShow(t *testing.T) {
	t.Parallel()
	// In each language, all samples of the reference compile with the types of the client, and each sends the request of its example.
	// Run one after the other against a service, in place of the requests of which the examples are recorded, they have the same
	// responses, and return them.
	for _, language := range sampleLanguages {
		t.Run(language.name, func(t *testing.T) {
			t.Parallel()
			s := newExampleRecorder(t)
			s.samples = newSamplePlayer(t, s.client, language)
			s.recordAll()

			recorded, err := readExamples()
			if err != nil {
				t.Fatal(err)
			}
			for _, id := range slices.Sorted(maps.Keys(s.examples)) {
				if diff := firstDifference(recorded[id], encodeExamples(t, sortExamples(s.examples[id]))); diff != "" {
					t.Errorf("with samples, %s differs from the recorded example:\n%s", id, diff)
				}
			}
			for name := range s.samples.samples(language.name) {
				id, index, _ := strings.Cut(name, "/")
				i, err := strconv.Atoi(index)
				if err != nil {
					t.Fatal(err)
				}
				if title := s.samples.published.Operations[id][i].Title; !s.samples.played[id+title] && !s.operations[id].respondsWithFile {
					t.Errorf("the sample %s did not run", name)
				}
			}
		})
	}
}
