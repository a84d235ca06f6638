package evm_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"causeway/adapters/rails/evm/devnet"
)

// rpcCall is one call of a batch.
type rpcCall struct {
	ID     json.RawMessage   `json:"id"`
	Method string            `json:"method"`
	Params []json.RawMessage `json:"params"`
}

// param returns a parameter as a text; empty if it is none.
func (c rpcCall) param(i int) string {
	var text string
	if i < len(c.Params) {
		_ = json.Unmarshal(c.Params[i], &text)
	}
	return text
}

// rpcFailure is an error that a node answers.
type rpcFailure struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// fakeNode is a node that answers as a real one does, except for what a test changes.
type fakeNode struct {
	t   testing.TB
	url string
	to  *devnet.Chain

	mu sync.Mutex
	// answer returns the result of a call, an rpcFailure, or false to have the real node answer.
	answer func(c rpcCall) (any, bool)
	// raw writes a whole reply and returns true.
	raw   func(w http.ResponseWriter) bool
	calls map[string]int
}

func newFakeNode(t testing.TB, to *devnet.Chain) *fakeNode {
	f := &fakeNode{t: t, to: to, calls: map[string]int{}}
	server := httptest.NewServer(http.HandlerFunc(f.serve))
	t.Cleanup(server.Close)
	f.url = server.URL
	return f
}

func (f *fakeNode) set(answer func(c rpcCall) (any, bool)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.answer = answer
}

func (f *fakeNode) setRaw(raw func(w http.ResponseWriter) bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.raw = raw
}

func (f *fakeNode) count(method string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls[method]
}

func (f *fakeNode) serve(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var calls []rpcCall
	single := json.Unmarshal(body, &calls) != nil
	if single {
		calls = make([]rpcCall, 1)
		_ = json.Unmarshal(body, &calls[0])
	}
	f.mu.Lock()
	answer, raw := f.answer, f.raw
	for _, c := range calls {
		f.calls[c.Method]++
	}
	f.mu.Unlock()
	if raw != nil && raw(w) {
		return
	}
	replies := make([]map[string]any, len(calls))
	for i, c := range calls {
		replies[i] = f.reply(c, answer)
	}
	if single {
		_ = json.NewEncoder(w).Encode(replies[0])
		return
	}
	_ = json.NewEncoder(w).Encode(replies)
}

func (f *fakeNode) reply(c rpcCall, answer func(rpcCall) (any, bool)) map[string]any {
	reply := map[string]any{"jsonrpc": "2.0", "id": c.ID}
	if answer != nil {
		if result, ok := answer(c); ok {
			if failure, failed := result.(rpcFailure); failed {
				reply["error"] = failure
			} else {
				reply["result"] = result
			}
			return reply
		}
	}
	params := make([]any, len(c.Params))
	for i, p := range c.Params {
		params[i] = p
	}
	var result any
	if err := f.to.Try(c.Method, &result, params...); err != nil {
		reply["error"] = rpcFailure{-32000, err.Error()}
		return reply
	}
	reply["result"] = result
	return reply
}

// fakeNodes returns some nodes of the chain of an env, and their URLs.
func (e *env) fakeNodes(n int) (fakes []*fakeNode, urls string) {
	for range n {
		f := newFakeNode(e.t, e.chain)
		if urls != "" {
			urls += ","
		}
		fakes, urls = append(fakes, f), urls+f.url
	}
	return fakes, urls
}
