package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// The fuzz test sends generated requests. `make faults` sends more of them:
// FUZZ_REQUESTS is the number of requests, FUZZ_SEED the seed of the generators.
const (
	defaultFuzzRequests = 4000
	defaultFuzzSeed     = 20251013
	fuzzWorkers         = 8
)

// The maximum duration of a response, of an operation whose description names no other one. The few
// requests of `make test` run beside other tests.
const (
	maxFuzzResponse     = time.Second
	maxBusyFuzzResponse = time.Minute
)

func envNumber(t *testing.T, name string, otherwise uint64) uint64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s must be a number: %v", name, err)
	}
	return n
}

func TestFuzz_ResponsesMatchDescription(t *testing.T) {
	t.Parallel()
	// Whatever is sent to any operation, the service never fails, and every response is one that
	// the description has, with its body and one of its error codes, and in time. Requests are valid ones, and
	// valid ones with wrong types, bounds, text, nesting, headers and parameters. Afterwards the
	// ledger is still correct.
	s := newExampleRecorder(t)
	s.recordAll()
	s.replaceReceiver()
	target := startServer(t, s.databaseURL, "--rate-limit", "1000000", "--rate-burst", "1000000")
	run := newFuzzRun(s, target.baseURL)
	total, seed := envNumber(t, "FUZZ_REQUESTS", defaultFuzzRequests), envNumber(t, "FUZZ_SEED", defaultFuzzSeed)
	if total > defaultFuzzRequests {
		run.maxResponse = maxFuzzResponse
	}

	var workers sync.WaitGroup
	var next atomic.Uint64
	start := time.Now()
	for worker := range uint64(fuzzWorkers) {
		workers.Go(func() {
			g := &generator{r: rand.New(rand.NewPCG(seed, worker)), components: s.schemas.components, pool: run.pool}
			for next.Add(1) <= total {
				run.send(t, g, run.next(g))
			}
		})
	}
	workers.Wait()

	run.report(t, seed, time.Since(start))
}

// replaceReceiver sends the webhooks to an endpoint that answers in every way and checks
// nothing, because the requests also replace the secrets.
func (s *exampleRecorder) replaceReceiver() {
	var received atomic.Int64
	endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		statuses := []int{http.StatusOK, http.StatusAccepted, http.StatusAccepted, http.StatusForbidden, http.StatusUnprocessableEntity,
			http.StatusOK}
		w.WriteHeader(statuses[received.Add(1)%int64(len(statuses))])
	}))
	s.t.Cleanup(endpoint.Close)
	s.patch("/config", object{"webhookEndpoint": endpoint.URL}).wantStatus(200)
	for i := range s.calls {
		s.calls[i].body = strings.ReplaceAll(s.calls[i].body, s.receiver.url, endpoint.URL)
	}
}

// fuzzRun is what the workers share.
type fuzzRun struct {
	base       *url.URL
	client     *client
	schemas    schemas
	operations []*fuzzOperation
	pool       *valuePool
	recorded   map[string]bool // ids of what the requests need
	agents     []string        // access tokens of agents
	// maxResponse is how long a response may take, unless the operation is declared to take longer.
	maxResponse time.Duration

	mu        sync.Mutex
	sent      map[string]int           // by class of status
	succeeded map[string]int           // by operation
	failures  map[string]string        // the first request of each failure
	slowest   map[string]time.Duration // of the operations that took longer than maxFuzzResponse
}

func newFuzzRun(s *exampleRecorder, baseURL string) *fuzzRun {
	base, err := url.Parse(baseURL)
	if err != nil {
		s.t.Fatal(err)
	}
	run := &fuzzRun{
		base: base, client: s.client, schemas: s.schemas, operations: fuzzOperations(s.get("/openapi.json")),
		pool: newValuePool(), recorded: map[string]bool{}, maxResponse: maxBusyFuzzResponse,
		sent: map[string]int{}, succeeded: map[string]int{}, failures: map[string]string{}, slowest: map[string]time.Duration{},
	}
	for _, token := range s.get("/tokens").wantStatus(200).list("data") { // the token of the requests
		run.pool.avoid[token.(map[string]any)["id"].(string)] = true
	}
	run.addAgents(s)
	s.addCalls(run.operations)
	for _, call := range s.calls {
		for _, id := range idText.FindAllString(call.path+call.body, -1) {
			run.recorded[id] = true
		}
	}
	run.pool.learnCalls(s.calls)
	return run
}

// addAgents pairs programs with agents of a new customer, and adds valid requests of and about them to the recorded ones.
// The policy of the first agent stays as it is.
func (f *fuzzRun) addAgents(s *exampleRecorder) {
	s.t.Helper()
	customer := s.createCustomer()
	account, bank, wallet := s.internalAccountID(customer, "USD"), s.createBankAccount(customer), s.createWallet(customer, "")
	s.post("/sandbox/internal-accounts/"+account+"/fund", object{"amount": 100_000_000}).wantStatus(200)
	transfer := func(from, to string) string {
		return fmt.Sprintf(`{"source":{"accountId":%q},"destination":{"accountId":%q},"amount":1000}`, from, to)
	}
	quote := fmt.Sprintf(
		`{"source":{"accountId":%q},"destination":{"destinationType":"ACCOUNT","accountId":%q},"lockedCurrencySide":"SENDING","lockedCurrencyAmount":1000}`, account, wallet)
	for i, mode := range []string{"AUTO", "AUTO", "APPROVAL_REQUIRED"} {
		limits := object{"currency": "USD", "perTransactionLimit": 1_000_000, "dailyLimit": 1_000_000_000}
		program, id := s.newAgentOf(customer, object{"defaultExecutionMode": mode, "spendingLimits": limits})
		bearer := strings.TrimPrefix(program.Header.Get("Authorization"), "Bearer ")
		add := func(operation, bearer, path, body string) {
			s.calls = append(s.calls, recordedCall{operation: operation, bearer: bearer, path: path, body: body})
		}
		add("agentCreateQuote", bearer, "/agents/me/quotes", quote)
		add("agentCreateTransferOut", bearer, "/agents/me/transfer-out", transfer(account, bank))
		add("agentCreateTransferIn", bearer, "/agents/me/transfer-in", transfer(bank, account))
		add("agentPreviewPayment", bearer, "/agents/me/actions/preview", `{"transferOut":`+transfer(account, bank)+`}`)
		f.agents = append(f.agents, bearer)
		f.recorded[id], f.pool.avoid[id] = true, i == 0
		for range 15 {
			path := "/agents/me/quotes/" + program.post("/agents/me/quotes", quote).wantStatus(201).text("id")
			add("agentExecuteQuote", bearer, path+"/execute", "")
			add("agentGetQuote", bearer, path, "")
			action := program.post("/agents/me/transfer-out", transfer(account, bank)).wantStatus(201).text("id")
			add("agentGetAction", bearer, "/agents/me/actions/"+action, "")
			if mode != "AUTO" {
				add("approveAgentAction", "", "/agents/"+id+"/actions/"+action+"/approve", "")
				add("rejectAgentAction", "", "/agents/"+id+"/actions/"+action+"/reject", `{"reason":"not now"}`)
			}
		}
	}
}

// next returns the next request of a worker.
func (f *fuzzRun) next(g *generator) fuzzRequest {
	for {
		op := pickOne(g, f.operations)
		if op.method == http.MethodGet && g.chance(0.5) { // requests that change something find more
			continue
		}
		request := g.request(op)
		if request.method != http.MethodDelete || !f.isRecorded(request.path) { // others need what it deletes
			return request
		}
	}
}

// isRecorded reports whether a path has an id of the recorded requests.
func (f *fuzzRun) isRecorded(path string) bool {
	return slices.ContainsFunc(idText.FindAllString(path, -1), func(id string) bool { return f.recorded[id] })
}

// send sends a request and checks the response.
func (f *fuzzRun) send(t *testing.T, g *generator, request fuzzRequest) {
	ctx, cancel := context.WithTimeout(t.Context(), waitTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, request.method, f.base.String(), bytes.NewReader(request.body))
	if err != nil {
		t.Error(err)
		return
	}
	// The path is sent as it is, without being cleaned.
	r.URL = &url.URL{Scheme: f.base.Scheme, Host: f.base.Host, Opaque: "//" + f.base.Host + f.base.Path + request.path,
		RawQuery: request.query}
	r.SetBasicAuth(f.client.ClientID, f.client.ClientSecret)
	if request.operation != nil && request.operation.forAgents != g.chance(0.02) {
		r.Header.Set("Authorization", "Bearer "+pickOne(g, f.agents))
	}
	maps.Copy(r.Header, request.header)
	start := time.Now()
	response, err := f.client.HTTP.Do(r)
	if err != nil {
		f.fail(request, "no response: "+err.Error())
		return
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		f.fail(request, "incomplete response: "+err.Error())
		return
	}
	took := time.Since(start)
	f.count(request, response.StatusCode, took)
	if limit := f.maxResponseOf(request); took > limit {
		f.fail(request, fmt.Sprintf("a response took longer than %s\n  %s", limit, took.Round(time.Millisecond)))
	}
	for _, complaint := range f.check(g, request, response, body) {
		f.fail(request, fmt.Sprintf("%d: %s\n  %.1000s", response.StatusCode, complaint, body))
	}
}

// maxResponseOf returns how long the response to a request may take.
func (f *fuzzRun) maxResponseOf(request fuzzRequest) time.Duration {
	if request.operation == nil {
		return f.maxResponse
	}
	return max(f.maxResponse, request.operation.maxResponse)
}

// check returns how a response differs from the description.
func (f *fuzzRun) check(g *generator, request fuzzRequest, response *http.Response, body []byte) []string {
	status := strconv.Itoa(response.StatusCode)
	if response.StatusCode >= 500 && response.StatusCode != http.StatusNotImplemented {
		return []string{"the service failed"}
	}
	contentType := response.Header.Get("Content-Type")
	var value any
	if contentType == "application/json" {
		decoder := json.NewDecoder(bytes.NewReader(body))
		decoder.UseNumber()
		if err := decoder.Decode(&value); err != nil {
			return []string{"the body is not JSON: " + err.Error()}
		}
	} else if response.StatusCode >= 400 {
		return []string{"an error with the content type " + contentType}
	}
	if request.operation == nil { // the path was changed
		if response.StatusCode < 400 {
			return nil
		}
		return f.schemas.violations(map[string]any{"$ref": "#/components/schemas/Error400"}, withStatus(value, "400", "INVALID_INPUT"), "body")
	}
	described, ok := request.operation.responses[status].(map[string]any)
	if !ok {
		return []string{request.operation.id + " is not described with this status"}
	}
	if response.StatusCode >= 400 {
		codes := strings.Split(described["description"].(string), ", ")
		if code := value.(map[string]any)["code"]; !slices.Contains(codes, fmt.Sprint(code)) {
			return []string{fmt.Sprintf("%s is not described with the code %v", request.operation.id, code)}
		}
	}
	content, _ := described["content"].(map[string]any)
	if contentType == "" || content[contentType] == nil {
		media, _, _ := strings.Cut(contentType, ";")
		if len(body) == 0 && content == nil || content[media] != nil {
			return nil
		}
		return []string{"the content type " + contentType + " is not described"}
	}
	if contentType != "application/json" {
		return nil
	}
	g.pool.learn(g.r, value)
	return f.schemas.violations(content[contentType].(map[string]any)["schema"], value, "body")
}

// withStatus returns an error body with another status and code, so that it can be compared
// with the schema of that status.
func withStatus(value any, status, code string) any {
	body, ok := value.(map[string]any)
	if !ok {
		return value
	}
	body = maps.Clone(body)
	body["status"], body["code"] = json.Number(status), code
	return body
}

func (f *fuzzRun) count(request fuzzRequest, status int, took time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sent[strconv.Itoa(status)]++
	id := "another path"
	if request.operation != nil {
		id = request.operation.id
	}
	if status < 300 {
		f.succeeded[id]++
	}
	if took > max(maxFuzzResponse, f.slowest[id]) {
		f.slowest[id] = took
	}
}

const maxFuzzFailures = 40

// fail records a failure, once for each operation and kind.
func (f *fuzzRun) fail(request fuzzRequest, complaint string) {
	id := "another path"
	if request.operation != nil {
		id = request.operation.id
	}
	kind, _, _ := strings.Cut(complaint, "\n")
	f.mu.Lock()
	defer f.mu.Unlock()
	if key := id + ": " + kind; len(f.failures) < maxFuzzFailures && f.failures[key] == "" {
		f.failures[key] = complaint + "\n  " + request.String()
	}
}

// report prints the counts and reports the failures.
func (f *fuzzRun) report(t *testing.T, seed uint64, took time.Duration) {
	t.Helper()
	total := 0
	for _, n := range f.sent {
		total += n
	}
	t.Logf("%d requests to %d operations in %s with FUZZ_SEED=%d, by status: %v", total, len(f.operations),
		took.Round(time.Second), seed, f.sent)
	for _, id := range slices.Sorted(maps.Keys(f.slowest)) {
		t.Logf("slower than %s: %s took %s", maxFuzzResponse, id, f.slowest[id].Round(time.Millisecond))
	}
	var never []string
	for _, op := range f.operations {
		if f.succeeded[op.id] == 0 {
			never = append(never, op.id)
		}
	}
	t.Logf("%d operations without a successful request: %v", len(never), never)
	if len(never) > len(f.operations)/4 {
		t.Error("too few operations succeed: the generated requests are not what they expect")
	}
	for _, key := range slices.Sorted(maps.Keys(f.failures)) {
		t.Errorf("%s:\n  %s", strings.SplitN(key, ":", 2)[0], f.failures[key])
	}
}
