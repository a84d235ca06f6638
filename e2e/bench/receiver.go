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
	open     sync.WaitGroup
	conns    sync.Map // net.Conn to nothing
	waiting  [64]struct {
		sync.Mutex
		workers map[transactionID]chan<- arrival
		// early are ends that nobody waited for: the id of a transfer is known with its
		// answer, and the webhook may come before.
		early map[transactionID]arrival
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

// arrival is the end of a payment as the platform hears of it.
type arrival struct {
	at        time.Time
	completed bool
}

// delivery is one webhook as it came.
type delivery struct{ head, body []byte }

// listen opens the endpoint on loopback.
func listen() (*receiver, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &receiver{listener: listener}
	for i := range r.waiting {
		r.waiting[i].workers, r.waiting[i].early = map[transactionID]chan<- arrival{}, map[transactionID]arrival{}
	}
	r.open.Go(r.accept)
	return r, nil
}

// url is where the service sends to.
func (r *receiver) url() string { return "http://" + r.listener.Addr().String() + "/webhooks" }

func (r *receiver) close() {
	_ = r.listener.Close()
	r.conns.Range(func(conn, _ any) bool { _ = conn.(net.Conn).Close(); return true })
	r.open.Wait()
}

// expect says who waits for the end of a transaction. The channel must have room
// for one arrival.
func (r *receiver) expect(id transactionID, done chan<- arrival) {
	shard := &r.waiting[shardOf(id)]
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

func (r *receiver) arrived(id transactionID, completed bool, at time.Time) {
	shard := &r.waiting[shardOf(id)]
	shard.Lock()
	done, ok := shard.workers[id]
	delete(shard.workers, id)
	if !ok {
		shard.early[id] = arrival{at, completed}
		r.unclaimed.Add(1)
	}
	shard.Unlock()
	if ok {
		done <- arrival{at, completed}
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
		r.open.Go(func() {
			defer r.conns.Delete(conn)
			defer conn.Close()
			r.serve(conn)
		})
	}
}

var accepted = []byte("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")

// serve answers the deliveries of one connection until it ends.
func (r *receiver) serve(conn net.Conn) {
	requests := messages{from: conn}
	for {
		head, body, err := requests.next()
		if err != nil {
			return // the service has hung up, or is none
		}
		if r.sampling.Load() {
			r.keep(head, body)
		}
		event, id := eventOf(body)
		ends, well := r.count(event)
		if _, err := conn.Write(accepted); err != nil {
			return
		}
		if ends {
			r.arrived(id, well, time.Now())
		}
	}
}

// count takes note of an event, and tells whether it is the end of a payment and
// whether that is a good one.
func (r *receiver) count(event []byte) (ends, well bool) {
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

const transactionOpening = `"transaction":{"id":"Transaction:`

// eventOf finds what happened, and to which transaction.
func eventOf(body []byte) (event []byte, id transactionID) {
	event, _ = member(body, `"event":"`)
	if at := bytes.Index(body, []byte(transactionOpening)); at >= 0 {
		copy(id[:], body[at+len(transactionOpening):])
	}
	return event, id
}

// mostSamples is how many deliveries are kept for a closer look.
const mostSamples = 300

func (r *receiver) keep(head, body []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.samples) < mostSamples {
		r.samples = append(r.samples, delivery{bytes.Clone(head), bytes.Clone(body)})
	}
}

// kept are the deliveries that came while sampling.
func (r *receiver) kept() []delivery {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.samples
}
