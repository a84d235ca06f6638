package main

import (
	"bufio"
	"bytes"
	"io"
	"maps"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// receiver is the platform's webhook endpoint. It accepts every webhook, counts it, and
// signals the worker that waits for it.
type receiver struct {
	listener net.Listener
	running  sync.WaitGroup
	conns    sync.Map // net.Conn to nothing
	sampling atomic.Bool

	mu      sync.Mutex
	ends    map[string]chan paymentEnd // by the id of the transaction
	events  map[string]int64           // how many webhooks
	samples []delivery
}

// paymentEnd is a webhook that says that a payment has ended.
type paymentEnd struct {
	at        time.Time
	completed bool
}

// delivery is one webhook as it was received.
type delivery struct {
	header     http.Header
	body       []byte
	receivedAt time.Time
}

// maxSamples is how many deliveries are kept to verify their signatures.
const maxSamples = 300

// startReceiver opens the endpoint on loopback.
func startReceiver() (*receiver, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	r := &receiver{listener: listener, ends: map[string]chan paymentEnd{}, events: map[string]int64{}}
	if err == nil {
		r.running.Go(r.accept)
	}
	return r, err
}

// url returns the endpoint for the service.
func (r *receiver) url() string { return "http://" + r.listener.Addr().String() + "/webhooks" }

func (r *receiver) close() error {
	err := r.listener.Close()
	r.conns.Range(func(conn, _ any) bool { _ = conn.(net.Conn).Close(); return true })
	r.running.Wait()
	return err
}

// accept serves connections until the listener is closed.
func (r *receiver) accept() {
	for {
		conn, err := r.listener.Accept()
		if err != nil {
			return
		}
		r.conns.Store(conn, nil)
		r.running.Go(func() {
			defer conn.Close()
			defer r.conns.Delete(conn)
			_ = r.serve(conn) // the connection has ended
		})
	}
}

// serve responds to the deliveries of one connection until it ends.
func (r *receiver) serve(conn net.Conn) error {
	requests, body := bufio.NewReader(conn), new(bytes.Buffer)
	for {
		request, err := http.ReadRequest(requests)
		if err != nil {
			return err
		}
		body.Reset()
		if _, err := body.ReadFrom(request.Body); err != nil {
			return err
		}
		if _, err := io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"); err != nil {
			return err
		}
		r.take(request.Header, body.Bytes())
	}
}

// take counts a webhook, keeps some, and signals the end of a payment.
func (r *receiver) take(header http.Header, body []byte) {
	now := time.Now()
	event, _ := textAfter(body, `"event":"`)
	transaction, _ := textAfter(body, `"transaction":{"id":"Transaction:`)
	r.mu.Lock()
	r.events[event]++
	if r.sampling.Load() && len(r.samples) < maxSamples {
		r.samples = append(r.samples, delivery{header, bytes.Clone(body), now})
	}
	r.mu.Unlock()
	if completed := strings.HasSuffix(event, "_PAYMENT.COMPLETED"); completed || strings.HasSuffix(event, "_PAYMENT.FAILED") {
		select {
		case r.end(transaction) <- paymentEnd{now, completed}:
		default: // received before: delivery is at least once
		}
	}
}

// end returns the channel with the end of a transaction: the webhook may be received before the
// response that has the id.
func (r *receiver) end(transaction string) chan paymentEnd {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ends[transaction] == nil {
		r.ends[transaction] = make(chan paymentEnd, 1)
	}
	return r.ends[transaction]
}

// forget drops a transaction whose end was received.
func (r *receiver) forget(transaction string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.ends, transaction)
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
