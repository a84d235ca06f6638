package main

import (
	"bytes"
	"fmt"
	"net"
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

	mu      sync.Mutex
	workers map[transactionID]chan<- paymentEnd // those that wait
	// early are ends that no worker waits for yet: the id of a transfer is in its response, and
	// the webhook may be received before that.
	early    map[transactionID]paymentEnd
	sampling atomic.Bool
	samples  []delivery

	// Webhooks by event.
	pending, processing, completed, incoming, balances, failed, other atomic.Int64
	// unclaimed counts ends that no worker waits for: deposits, and repeated webhooks.
	// Delivery is at least once, so those are no error.
	unclaimed atomic.Int64
}

// transactionID is the UUID of a transaction as text.
type transactionID [36]byte

// paymentEnd is a webhook that says that a payment has ended.
type paymentEnd struct {
	at        time.Time
	completed bool
}

// delivery is one webhook as it was received.
type delivery struct {
	head, body []byte
	receivedAt time.Time
}

// startReceiver opens the endpoint on loopback.
func startReceiver() (*receiver, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &receiver{listener: listener, workers: map[transactionID]chan<- paymentEnd{}, early: map[transactionID]paymentEnd{}}
	r.running.Go(r.accept)
	return r, nil
}

// url returns the endpoint for the service.
func (r *receiver) url() string { return "http://" + r.listener.Addr().String() + "/webhooks" }

func (r *receiver) close() {
	_ = r.listener.Close()
	r.conns.Range(func(conn, _ any) bool { _ = conn.(net.Conn).Close(); return true })
	r.running.Wait()
}

// expect registers a worker that waits for the end of a transaction. The channel must have
// a buffer of one.
func (r *receiver) expect(id transactionID, done chan<- paymentEnd) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if end, received := r.early[id]; received {
		delete(r.early, id)
		r.unclaimed.Add(-1)
		done <- end
		return
	}
	r.workers[id] = done
}

func (r *receiver) signalEnd(id transactionID, end paymentEnd) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if done, ok := r.workers[id]; ok {
		delete(r.workers, id)
		done <- end
		return
	}
	r.early[id] = end
	r.unclaimed.Add(1)
}

// String returns the numbers of webhooks, for an error message.
func (r *receiver) String() string {
	return fmt.Sprintf("%d PENDING, %d PROCESSING, %d COMPLETED, %d incoming, %d FAILED, %d balance, %d other", r.pending.Load(), r.processing.Load(),
		r.completed.Load(), r.incoming.Load(), r.failed.Load(), r.balances.Load(), r.other.Load())
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
			defer r.conns.Delete(conn)
			defer conn.Close()
			r.serve(conn)
		})
	}
}

var okResponse = []byte("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")

// serve responds to the deliveries of one connection until it ends.
func (r *receiver) serve(conn net.Conn) {
	requests := newMessageReader(conn)
	for {
		head, body, err := requests.next()
		if err != nil {
			return // the connection has ended
		}
		if r.sampling.Load() {
			r.addSample(head, body)
		}
		ended, completed := r.countEvent(body)
		if _, err := conn.Write(okResponse); err != nil {
			return
		}
		if ended {
			var id transactionID
			text, _ := jsonText(body, `"transaction":{"id":"Transaction:`)
			copy(id[:], text)
			r.signalEnd(id, paymentEnd{time.Now(), completed})
		}
	}
}

// countEvent counts a webhook, and reports whether it is the end of a payment and whether the
// payment completed.
func (r *receiver) countEvent(body []byte) (ended, completed bool) {
	event, _ := jsonText(body, `"event":"`)
	switch string(event) {
	case "OUTGOING_PAYMENT.PENDING":
		r.pending.Add(1)
	case "OUTGOING_PAYMENT.PROCESSING":
		r.processing.Add(1)
	case "OUTGOING_PAYMENT.COMPLETED":
		r.completed.Add(1)
		return true, true
	case "INCOMING_PAYMENT.COMPLETED":
		r.incoming.Add(1)
		return true, true
	case "OUTGOING_PAYMENT.FAILED", "INCOMING_PAYMENT.FAILED":
		r.failed.Add(1)
		return true, false
	case "INTERNAL_ACCOUNT.BALANCE_UPDATED":
		r.balances.Add(1)
	default:
		r.other.Add(1)
	}
	return false, false
}

// maxSamples is how many deliveries are kept to verify their signatures.
const maxSamples = 300

func (r *receiver) addSample(head, body []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.samples) < maxSamples {
		r.samples = append(r.samples, delivery{bytes.Clone(head), bytes.Clone(body), time.Now()})
	}
}

// takenSamples returns the deliveries that were kept.
func (r *receiver) takenSamples() []delivery {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.samples
}
