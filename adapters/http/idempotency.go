package httpapi

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"hash/maphash"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"causeway/core/fault"
	"causeway/ports"
)

// IdempotencyStore keeps the answers of requests with an idempotency key. A use case that
// changes something stores its own in the commit of the change; what is left, the
// answers that changed nothing, is stored here.
type IdempotencyStore interface {
	// Get finds the answer that is kept under the claim's key, whatever request
	// it belongs to.
	Get(ctx context.Context, claim ports.IdempotentRequest) (stored ports.StoredResponse, found bool, err error)
	// Save keeps an answer, unless there is one already.
	Save(ctx context.Context, claim ports.IdempotentRequest, stored ports.StoredResponse) error
}

// keyedRequest is a claim and what was rendered for it last. A use case may render it
// elsewhere, even after its caller has given up waiting.
type keyedRequest struct {
	ports.IdempotentRequest
	rendered atomic.Pointer[renderedResponse]
}

type renderedResponse struct {
	status int
	body   []byte
}

const maxKeyLength = 255

// runIdempotent runs the operation, under its idempotency key where there is one: once,
// however often and on however many connections the request is sent.
func (x *exchange) runIdempotent() error {
	keys := x.r.Header["Idempotency-Key"]
	if x.route.method != http.MethodPost || len(keys) == 0 {
		x.runOperation()
		return nil
	}
	if len(keys) > 1 || !isValidKey(keys[0]) {
		return fault.Invalid(fault.Field{
			Field:      "Idempotency-Key",
			Message:    "must be 1 to 255 printable characters, best a new UUID for every new request",
			Constraint: map[string]any{"minLength": 1, "maxLength": maxKeyLength},
		})
	}
	c := &keyedRequest{IdempotentRequest: ports.IdempotentRequest{
		Platform:    x.call.Principal.Platform,
		Token:       x.call.Principal.Token,
		Key:         keys[0],
		Fingerprint: x.fingerprint(),
	}}
	running, first := x.api.inFlight.enter(c.IdempotencyKey(), c.Fingerprint)
	if !first {
		if running != c.Fingerprint {
			return keyReused()
		}
		return &fault.Error{
			Code:       fault.IdempotencyKeyInUse,
			Message:    "The first request with this Idempotency-Key is still running. Wait a moment and send it again to get its answer.",
			RetryAfter: time.Second,
		}
	}
	defer x.api.inFlight.leave(c.IdempotencyKey())

	stored, found, err := x.api.config.IdempotencyStore.Get(&x.ctx, c.IdempotentRequest)
	switch {
	case err != nil:
		return err
	case found && stored.Fingerprint != c.Fingerprint:
		return keyReused()
	case found:
		x.replay(stored.Status, stored.Body)
		return nil
	}
	x.keyed, x.call.IdempotentRequest = c, &c.IdempotentRequest
	x.runOperation()
	if !x.shouldSaveResponse() {
		return nil
	}
	// The caller may have left; the answer is kept all the same.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(x.r.Context()), 5*time.Second)
	defer cancel()
	answer := ports.StoredResponse{Fingerprint: c.Fingerprint, Status: x.status}
	if x.response != nil {
		answer.Body = append([]byte{}, x.response.Bytes()...)
	}
	if err := x.api.config.IdempotencyStore.Save(ctx, c.IdempotentRequest, answer); err != nil {
		x.err = err // nothing was changed, so the answer stands
	}
	return nil
}

// shouldSaveResponse tells whether the answer has yet to be stored: a success or a refusal that
// another attempt could not change, and that no use case has stored with its commit.
func (x *exchange) shouldSaveResponse() bool {
	switch {
	case x.replayed, x.status < http.StatusOK, x.status >= http.StatusInternalServerError:
		return false
	case x.status == http.StatusUnauthorized, x.status == http.StatusTooManyRequests, x.status == http.StatusUnsupportedMediaType:
		return false
	case x.code == fault.IdempotencyKeyInUse, x.code == fault.IdempotencyKeyReused:
		return false
	}
	last := x.keyed.rendered.Load()
	return last == nil || last.status != x.status
}

// replay answers as before.
func (x *exchange) replay(status int, body []byte) {
	x.replayed = true
	x.w.Header()["Idempotent-Replayed"] = []string{"true"}
	if len(body) == 0 {
		x.status = status
		return
	}
	x.respond(status, body)
}

func keyReused() error {
	return fault.New(fault.IdempotencyKeyReused, "This Idempotency-Key belongs to another request. Use a new key for a new request.")
}

func isValidKey(key string) bool {
	if key == "" || len(key) > maxKeyLength {
		return false
	}
	for i := range len(key) {
		if key[i] < ' ' || key[i] > '~' {
			return false
		}
	}
	return true
}

// fingerprint tells requests apart: method, path, query and body as sent, each with
// its length, so that no part can pass for another.
func (x *exchange) fingerprint() [sha256.Size]byte {
	var body []byte
	switch {
	case x.uploaded != nil: // however it was wrapped
		body = x.uploaded
	case x.body != nil:
		body = x.body.Bytes()
	}
	all := getBuffer()
	defer putBuffer(all)
	for _, part := range []string{x.r.Method, x.r.URL.EscapedPath(), x.r.URL.RawQuery} {
		all.Write(binary.BigEndian.AppendUint64(all.AvailableBuffer(), uint64(len(part))))
		all.WriteString(part)
	}
	all.Write(body)
	return sha256.Sum256(all.Bytes())
}

// inFlight knows the keys of the requests that run in this process. Two processes
// are kept apart by the storage.
type inFlight struct {
	seed   maphash.Seed
	shards [32]struct {
		mu   sync.Mutex
		keys map[ports.IdempotencyKey][sha256.Size]byte
	}
}

func newInFlight() *inFlight {
	f := &inFlight{seed: maphash.MakeSeed()}
	for i := range f.shards {
		f.shards[i].keys = map[ports.IdempotencyKey][sha256.Size]byte{}
	}
	return f
}

// enter notes a key, or returns the fingerprint of the request that runs under it.
func (f *inFlight) enter(key ports.IdempotencyKey, fingerprint [sha256.Size]byte) (running [sha256.Size]byte, first bool) {
	shard := &f.shards[maphash.Comparable(f.seed, key)%uint64(len(f.shards))]
	shard.mu.Lock()
	defer shard.mu.Unlock()
	if running, ok := shard.keys[key]; ok {
		return running, false
	}
	shard.keys[key] = fingerprint
	return fingerprint, true
}

func (f *inFlight) leave(key ports.IdempotencyKey) {
	shard := &f.shards[maphash.Comparable(f.seed, key)%uint64(len(f.shards))]
	shard.mu.Lock()
	delete(shard.keys, key)
	shard.mu.Unlock()
}
