package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"maps"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"causeway/adapters/apiclient"
)

// receiver is the platform's webhook endpoint. It accepts every webhook, counts it, and
// signals the worker that waits for it.
type receiver struct {
	listener net.Listener

	mu      sync.Mutex
	ends    map[string]chan time.Time // when each transaction completed, by its id; the zero time if it failed
	events  map[string]int64          // how many webhooks
	count   int
	samples []apiclient.Delivery
}

// Every so many webhooks one is kept to verify its signatures.
const sampleEvery, maxSamples = 100, 300

// startReceiver opens the endpoint on loopback. It serves each connection until the sender closes it.
func startReceiver() *receiver {
	listener := must(net.Listen("tcp", "127.0.0.1:0"))
	r := &receiver{listener: listener, ends: map[string]chan time.Time{}, events: map[string]int64{}}
	go func() {
		for conn, err := listener.Accept(); err == nil; conn, err = listener.Accept() {
			go func() {
				defer conn.Close()
				_ = try(func() { r.serve(conn) }) // the connection has ended
			}()
		}
	}()
	return r
}

// serve responds to the deliveries of one connection until it ends.
func (r *receiver) serve(conn net.Conn) {
	requests := messages{Reader: bufio.NewReader(conn)}
	for {
		requests.read()
		r.take(requests.head, requests.body)
		must(io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"))
	}
}

// take counts a webhook, keeps some, and signals the end of a payment.
func (r *receiver) take(head, body []byte) {
	now := time.Now()
	event, _ := textAfter(body, `"event":"`)
	transaction, _ := textAfter(body, `"transaction":{"id":"Transaction:`)
	r.mu.Lock()
	r.events[event]++
	if r.count++; r.count%sampleEvery == 0 && bytes.HasPrefix(head, []byte("POST "+sampledPath+" ")) && len(r.samples) < maxSamples {
		request := must(http.ReadRequest(bufio.NewReader(bytes.NewReader(head))))
		r.samples = append(r.samples, apiclient.Delivery{Request: request, Body: bytes.Clone(body), ReceivedAt: now})
	}
	r.mu.Unlock()
	failed := strings.HasSuffix(event, "_PAYMENT.FAILED")
	if failed {
		now = time.Time{}
	}
	if failed || strings.HasSuffix(event, "_PAYMENT.COMPLETED") {
		select {
		case r.end(transaction) <- now:
		default: // received before: delivery is at least once
		}
	}
}

// end returns the channel with the end of a transaction. The webhook may be received before the
// response that has the id.
func (r *receiver) end(transaction string) chan time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ends[transaction] == nil {
		r.ends[transaction] = make(chan time.Time, 1)
	}
	return r.ends[transaction]
}

// awaitCompleted returns when the webhook was accepted that says that a transaction completed.
func (r *receiver) awaitCompleted(ctx context.Context, transaction string) time.Time {
	select {
	case end := <-r.end(transaction):
		if end.IsZero() {
			failf("a payment failed: %s", transaction)
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.ends, transaction)
		return end
	case <-ctx.Done():
		panic(failure{context.Cause(ctx)})
	}
}

// eventCounts returns how many webhooks were received of each event.
func (r *receiver) eventCounts() map[string]int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.events)
}

// textAfter returns the text after the opening of a member, such as `"reference":"`, in
// compact JSON without escapes: ids, codes and states have none.
func textAfter(body []byte, opening string) (text string, found bool) {
	_, value, _ := bytes.Cut(body, []byte(opening))
	value, _, found = bytes.Cut(value, []byte{'"'})
	return string(value), found
}
