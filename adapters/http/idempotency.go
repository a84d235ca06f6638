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

// IdempotencyStore stores the responses of requests with an idempotency key. A use case
// that changes data saves its response in the same commit; all other responses are saved
// here.
type IdempotencyStore interface {
	// Get returns the response saved under the idempotency key, for whatever request.
	Get(ctx context.Context, request ports.IdempotentRequest) (stored ports.StoredResponse, found bool, err error)
	// Save saves a response, unless there already is one.
	Save(ctx context.Context, request ports.IdempotentRequest, stored ports.StoredResponse) error
}

// keyedRequest is a request with an idempotency key, and its last rendered response. A
// use case may render it on another goroutine, even after the caller has disconnected.
type keyedRequest struct {
	ports.IdempotentRequest
	rendered atomic.Pointer[renderedResponse]
}

type renderedResponse struct {
	status int
	body   []byte
}

const maxKeyLength = 255

// runIdempotent runs the operation. With an idempotency key it runs once, however often
// and on however many connections the request is sent.
func (x *exchange) runIdempotent() error {
	keys := x.r.Header["Idempotency-Key"]
	if x.route.method != http.MethodPost || x.route.public || len(keys) == 0 {
		x.runOperation()
		return nil
	}
	if len(keys) > 1 || !isValidKey(keys[0]) {
		return fault.Invalid(fault.Field{
			Field:      "Idempotency-Key",
			Message:    "must be 1 to 255 printable ASCII characters, such as a new UUID for each new request",
			Constraint: map[string]any{"minLength": 1, "maxLength": maxKeyLength},
		})
	}
	c := &keyedRequest{IdempotentRequest: ports.IdempotentRequest{
		Platform:    x.call.Principal.Platform,
		Token:       x.call.Principal.Token,
		Agent:       x.call.Principal.Agent,
		Key:         keys[0],
		Fingerprint: x.fingerprint(),
	}}
	running, first := x.api.inFlight.enter(c.IdempotencyKey(), c.Fingerprint)
	if !first {
		if running != c.Fingerprint {
			return x.keyReused()
		}
		return &fault.Error{
			Code:       fault.IdempotencyKeyInUse,
			Message:    "The first request with this Idempotency-Key is still running. Send it again later to get its response.",
			RetryAfter: time.Second,
		}
	}
	defer x.api.inFlight.leave(c.IdempotencyKey())

	stored, found, err := x.api.config.IdempotencyStore.Get(&x.ctx, c.IdempotentRequest)
	if found && x.file != nil {
		c.Fingerprint, err = x.file.drain()
	}
	switch {
	case err != nil:
		return err
	case found && stored.Fingerprint != c.Fingerprint:
		return x.keyReused()
	case found:
		x.replay(stored.Status, stored.Body)
		return nil
	}
	if x.file != nil {
		x.file.onEnd = func(fingerprint [sha256.Size]byte) { c.Fingerprint = fingerprint }
	}
	x.keyed, x.call.IdempotentRequest = c, &c.IdempotentRequest
	x.runOperation()
	// The response is saved even if the caller has disconnected.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(x.r.Context()), 5*time.Second)
	defer cancel()
	if x.replaySavedMeanwhile(ctx) || !x.shouldSaveResponse() {
		return nil
	}
	response := ports.StoredResponse{Fingerprint: c.Fingerprint, Status: x.status}
	if x.response != nil {
		response.Body = append([]byte{}, x.response.Bytes()...)
	}
	if err := x.api.config.IdempotencyStore.Save(ctx, c.IdempotentRequest, response); err != nil {
		x.err = err // nothing was changed, so the response is still sent
	}
	return nil
}

// replaySavedMeanwhile replays the response that another process has saved for the same request since the
// operation began, instead of an error that may come from what that process has changed: that the
// credential exists, or that the signature was used. It reports whether there is one.
func (x *exchange) replaySavedMeanwhile(ctx context.Context) bool {
	last := x.keyed.rendered.Load()
	if !x.responded || x.replayed || x.status < http.StatusBadRequest || x.status >= http.StatusInternalServerError || last != nil &&
		last.status == x.status {
		return false
	}
	stored, found, err := x.api.config.IdempotencyStore.Get(ctx, x.keyed.IdempotentRequest)
	if err != nil || !found || stored.Fingerprint != x.keyed.Fingerprint {
		return false // the error is sent as it is
	}
	x.code = ""
	for _, name := range []string{"Www-Authenticate", "Retry-After"} { // of the error
		x.w.Header().Del(name)
	}
	x.replay(stored.Status, stored.Body)
	return true
}

// shouldSaveResponse reports whether the response must be saved here: a success or a
// final error that no use case has saved in its commit.
func (x *exchange) shouldSaveResponse() bool {
	last := x.keyed.rendered.Load()
	return !x.replayed && x.isFinal() && (last == nil || last.status != x.status) && (x.file == nil || x.file.ended())
}

// isFinal reports whether the response is saved under an idempotency key.
func (x *exchange) isFinal() bool {
	switch {
	case x.status < http.StatusOK, x.status >= http.StatusInternalServerError:
		return false
	case x.status == http.StatusUnauthorized, x.status == http.StatusTooManyRequests, x.status == http.StatusUnsupportedMediaType:
		return false
	case x.code == fault.IdempotencyKeyInUse, x.code == fault.IdempotencyKeyReused:
		return false
	}
	return true
}

// replay sends a saved response.
func (x *exchange) replay(status int, body []byte) {
	x.replayed = true
	x.w.Header()["Idempotent-Replayed"] = []string{"true"}
	if len(body) == 0 {
		x.status = status
		return
	}
	x.respond(status, body)
}

func (x *exchange) keyReused() error {
	if x.call.Signed.Signature != "" || x.call.Signed.RequestID != "" {
		return fault.New(fault.IdempotencyKeyReused, "This Idempotency-Key was used for another request. Send a signed request with another "+
			"key than the request without a signature.")
	}
	return fault.New(fault.IdempotencyKeyReused, "This Idempotency-Key was used for another request. Use a new key for each new request.")
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

// fingerprint returns a hash of method, path, query and body as sent. Each part is
// preceded by its length, so that different requests never hash the same bytes. That of a streamed
// file is zero until the file was read. The two legs of a signed request are different requests.
func (x *exchange) fingerprint() (sum [sha256.Size]byte) {
	if x.file != nil {
		return sum
	}
	all := getBuffer()
	defer putBuffer(all)
	all.Write(x.appendTarget(all.AvailableBuffer()))
	switch {
	case x.form != nil:
		all.Write(x.form.digest[:])
	case x.uploaded != nil: // the file, whether sent as a form or not
		all.Write(x.uploaded)
	case x.body != nil:
		all.Write(x.body.Bytes())
	}
	return sha256.Sum256(all.Bytes())
}

// appendTarget appends what the fingerprint of a request contains before the body.
func (x *exchange) appendTarget(to []byte) []byte {
	parts := [...]string{x.r.Method, x.r.URL.EscapedPath(), x.r.URL.RawQuery, x.call.Signed.Signature, x.call.Signed.RequestID}
	used := parts[:3]
	switch {
	case x.route.signedRetry:
		used = parts[:]
	case x.route.actor:
		used = append(used, x.r.Header.Get(actorHeader))
	}
	for _, part := range used {
		to = binary.BigEndian.AppendUint64(to, uint64(len(part)))
		to = append(to, part...)
	}
	return to
}

// inFlight holds the idempotency keys of the running requests of this process. The
// database serializes requests of different processes.
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

// enter adds a key, or returns the fingerprint of the running request with that key.
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
