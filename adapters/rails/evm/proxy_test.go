package evm_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
)

// proxy passes calls on to a node, and can fail them.
type proxy struct {
	url string
	// fault is called with the method of each batch: it returns whether the call fails before it reaches the node, or
	// after the node has answered.
	fault atomic.Pointer[func(methods []string) (before, after bool)]
	// edit changes a reply.
	edit atomic.Pointer[func(methods []string, reply []byte) []byte]
}

func newProxy(t testing.TB, to string) *proxy {
	p := &proxy{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		methods := methodsOf(body)
		var before, after bool
		if fault := p.fault.Load(); fault != nil {
			before, after = (*fault)(methods)
		}
		if before {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		response, err := http.Post(to, "application/json", bytes.NewReader(body))
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		defer response.Body.Close()
		reply, _ := io.ReadAll(response.Body)
		if after {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		if edit := p.edit.Load(); edit != nil {
			reply = (*edit)(methods, reply)
		}
		_, _ = w.Write(reply)
	}))
	t.Cleanup(server.Close)
	p.url = server.URL
	return p
}

func methodsOf(body []byte) (methods []string) {
	type call struct{ Method string }
	var batch []call
	if json.Unmarshal(body, &batch) != nil {
		var single call
		_ = json.Unmarshal(body, &single)
		batch = []call{single}
	}
	for _, c := range batch {
		methods = append(methods, c.Method)
	}
	return methods
}
