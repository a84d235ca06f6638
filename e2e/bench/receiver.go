package main

import (
	"bytes"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// receiver is the platform's webhook endpoint. It accepts whatever comes, counts
// it, and tells the worker that waits for it.
type receiver struct {
	listener net.Listener
	running  sync.WaitGroup
	conns    sync.Map // net.Conn to nothing
	shards   [64]struct {
		sync.Mutex
		workers map[transactionID]chan<- paymentEnd
		// early are ends that nobody waited for: the id of a transfer is known with its
		// answer, and the webhook may come before.
		early map[transactionID]paymentEnd
	}

	// Of outgoing payments, of incoming ones that completed, and of accounts whose
	// balance changed.
	pending, processing, completed, incoming, balances, failed, other atomic.Int64
	// unclaimed counts ends that nobody waits for: deposits, and what came more than
	// once. Delivery is at least once, so that is no mistake.
	unclaimed atomic.Int64

	sampling atomic.Bool
	mu       sync.Mutex
	samples  []delivery
}

// transactionID is the UUID of a transaction as it is written.
type transactionID [36]byte

// paymentEnd is the end of a payment as the platform hears of it.
type paymentEnd struct {
	at        time.Time
	completed bool
}

// delivery is one webhook as it came.
type delivery struct{ head, body []byte }

// startReceiver opens the endpoint on loopback.
func startReceiver() (*receiver, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &receiver{listener: listener}
	for i := range r.shards {
		r.shards[i].workers, r.shards[i].early = map[transactionID]chan<- paymentEnd{}, map[transactionID]paymentEnd{}
	}
	r.running.Go(r.accept)
	return r, nil
}

// url is where the service sends to.
func (r *receiver) url() string { return "http://" + r.listener.Addr().String() + "/webhooks" }

func (r *receiver) close() {
	_ = r.listener.Close()
	r.conns.Range(func(conn, _ any) bool { _ = conn.(net.Conn).Close(); return true })
	r.running.Wait()
}

// expect says who waits for the end of a transaction. The channel must have room
// for one arrival.
func (r *receiver) expect(id transactionID, done chan<- paymentEnd) {
	shard := &r.shards[shardOf(id)]
	shard.Lock()
	defer shard.Unlock()
	if end, came := shard.early[id]; came {
		delete(shard.early, id)
		r.unclaimed.Add(-1)
		done <- end
		return
	}
	shard.workers[id] = done
}

func (r *receiver) signalEnd(id transactionID, completed bool, at time.Time) {
	shard := &r.shards[shardOf(id)]
	shard.Lock()
	done, ok := shard.workers[id]
	delete(shard.workers, id)
	if !ok {
		shard.early[id] = paymentEnd{at, completed}
		r.unclaimed.Add(1)
	}
	shard.Unlock()
	if ok {
		done <- paymentEnd{at, completed}
	}
}

// shardOf takes the last digits of an id, which are random.
func shardOf(id transactionID) int { return int(id[35]&7) | int(id[34]&7)<<3 }

func (r *receiver) accept() {
	for {
		conn, err := r.listener.Accept()
		if err != nil {
			if errors.Is(err, net.ErrClosed) {
				return
			}
			continue
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

// serve answers the deliveries of one connection until it ends.
func (r *receiver) serve(conn net.Conn) {
	requests := messageReader{source: conn}
	for {
		head, body, err := requests.next()
		if err != nil {
			return // the service has hung up, or is none
		}
		if r.sampling.Load() {
			r.addSample(head, body)
		}
		event, id := parseEvent(body)
		ends, well := r.countEvent(event)
		if _, err := conn.Write(okResponse); err != nil {
			return
		}
		if ends {
			r.signalEnd(id, well, time.Now())
		}
	}
}

// countEvent takes note of an event, and tells whether it is the end of a payment and
// whether that is a good one.
func (r *receiver) countEvent(event []byte) (ends, well bool) {
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

const transactionPrefix = `"transaction":{"id":"Transaction:`

// parseEvent finds what happened, and to which transaction.
func parseEvent(body []byte) (event []byte, id transactionID) {
	event, _ = jsonText(body, `"event":"`)
	if at := bytes.Index(body, []byte(transactionPrefix)); at >= 0 {
		copy(id[:], body[at+len(transactionPrefix):])
	}
	return event, id
}

// maxSamples is how many deliveries are kept for a closer look.
const maxSamples = 300

func (r *receiver) addSample(head, body []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.samples) < maxSamples {
		r.samples = append(r.samples, delivery{bytes.Clone(head), bytes.Clone(body)})
	}
}

// takenSamples are the deliveries that came while sampling.
func (r *receiver) takenSamples() []delivery {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.samples
}
