package postgres_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"reflect"
	"testing"

	"causeway/adapters/postgres"
	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/ports"
)

// idempotentRequest returns a request of the platform; its response has the given status and the
// result as its body.
func (c *env) idempotentRequest(key, request string, status int) *ports.IdempotentRequest {
	return &ports.IdempotentRequest{
		Platform: c.platform.ID, Key: key, Fingerprint: sha256.Sum256([]byte(request)),
		Render: func(result any, err error) (int, []byte) {
			if err != nil {
				return status, []byte(err.Error())
			}
			return status, []byte(result.(string))
		},
	}
}

// createWithRequests is a use case that creates a customer and stores its responses, in one unit
// of work for all requests.
func (c *env) createWithRequests(ctx context.Context, db *postgres.DB, name, answer string, claims ...*ports.IdempotentRequest) error {
	return db.Do(ctx, func(ctx context.Context, tx *postgres.Unit) error {
		if err := tx.CreateCustomer(ctx, newCustomer(c.platform, name)); err != nil {
			return err
		}
		for _, claim := range claims {
			if err := tx.SaveResponse(ctx, claim, answer, nil); err != nil {
				return err
			}
		}
		return nil
	})
}

func (c *env) countCustomers(t *testing.T) int {
	t.Helper()
	page, err := c.Customers(t.Context(), c.platform.ID, ports.CustomerFilter{Paging: ports.Paging{Limit: 100}})
	if err != nil {
		t.Fatal(err)
	}
	return int(page.Total)
}

func TestSaveResponse_CommitsWithChange(t *testing.T) {
	t.Parallel()
	// A response is stored if and only if the unit of work commits, byte for byte, for its
	// platform, and never with a server error, nor if the request can be sent again later.
	c := newEnv(t)
	first, second, broken := c.idempotentRequest("1", "first", 201), c.idempotentRequest("2", "second", 404),
		c.idempotentRequest("3", "third", 500)
	limited := c.idempotentRequest("5", "fifth", 429)
	if err := c.createWithRequests(t.Context(), c.DB, "ana", "made", first, second, nil, broken, limited); err != nil {
		t.Fatal(err)
	}
	undone := c.idempotentRequest("4", "fourth", 201)
	_ = c.Do(t.Context(), func(ctx context.Context, tx *postgres.Unit) error {
		if err := tx.SaveResponse(ctx, undone, "never", nil); err != nil {
			return err
		}
		return errors.New("the use case fails")
	})
	foreign := first.IdempotencyKey()
	foreign.Platform = c.otherPlatform.ID

	found, err := c.StoredResponses(t.Context(), []ports.IdempotencyKey{broken.IdempotencyKey(), second.IdempotencyKey(), foreign,
		first.IdempotencyKey(), undone.IdempotencyKey(), first.IdempotencyKey(), limited.IdempotencyKey()})

	created := &ports.StoredResponse{Fingerprint: first.Fingerprint, Status: 201, Body: []byte("made")}
	missing := &ports.StoredResponse{Fingerprint: second.Fingerprint, Status: 404, Body: []byte("made")}
	if want := []*ports.StoredResponse{nil, missing, nil, created, nil, created, nil}; err != nil || !reflect.DeepEqual(found, want) {
		t.Errorf("stored %+v, %v\nwant %+v", found, err, want)
	}
}

func TestSaveResponse_RepeatReturnsFirstResponse(t *testing.T) {
	t.Parallel()
	// If another process stored a response with the key, the unit of work changes nothing and
	// returns that response; for a different request with the key it returns a fault.
	c := newEnv(t)
	if err := c.createWithRequests(t.Context(), c.DB, "ana", "first", c.idempotentRequest("key", "request", 201)); err != nil {
		t.Fatal(err)
	}

	err := c.createWithRequests(t.Context(), c.DB, "bea", "second", c.idempotentRequest("key", "request", 201))
	var replay *ports.Replay
	if !errors.As(err, &replay) || replay.Status != 201 || string(replay.Body) != "first" {
		t.Errorf("the same request again: %v, want the first response", err)
	}
	if err := c.createWithRequests(t.Context(), c.DB, "cleo", "third", c.idempotentRequest("key", "another request", 201)); !fault.Is(err,
		fault.IdempotencyKeyReused) {
		t.Errorf("another request under the key: %v, want IDEMPOTENCY_KEY_REUSED", err)
	}
	if n := c.countCustomers(t); n != 1 {
		t.Errorf("%d customers, want the first alone", n)
	}
}

func TestSaveResponse_RepeatByOtherTokenReturnsFirstResponse(t *testing.T) {
	t.Parallel()
	// A request that is repeated with another token of the platform changes nothing and gets the
	// first response.
	c := newEnv(t)
	old, rotated := c.idempotentRequest("key", "request", 201), c.idempotentRequest("key", "request", 201)
	for i, request := range []*ports.IdempotentRequest{old, rotated} {
		token, _ := newToken(t, c.platform, fmt.Sprint("token ", i), "TRANSACT")
		request.Token = token.ID
	}
	if err := c.createWithRequests(t.Context(), c.DB, "ana", "first", old); err != nil {
		t.Fatal(err)
	}

	err := c.createWithRequests(t.Context(), c.DB, "bea", "second", rotated)

	var replay *ports.Replay
	if !errors.As(err, &replay) || string(replay.Body) != "first" {
		t.Errorf("the request with the other token: %v, want the first response", err)
	}
	if n := c.countCustomers(t); n != 1 {
		t.Errorf("%d customers, want 1", n)
	}
}

func TestSaveResponse_AgentHasItsOwnKeys(t *testing.T) {
	t.Parallel()
	// The same key of a token and of an agent are two keys. A request that an agent repeats changes
	// nothing and gets its own first response.
	c := newEnv(t)
	token, agent := c.idempotentRequest("key", "request", 201), c.idempotentRequest("key", "request", 201)
	agent.Agent = ident.NewAgent(generator.New, noon)
	for i, request := range []*ports.IdempotentRequest{token, agent} {
		if err := c.createWithRequests(t.Context(), c.DB, fmt.Sprint("customer ", i), fmt.Sprint("response ", i), request); err != nil {
			t.Fatalf("request %d: %v", i, err)
		}
	}

	err := c.createWithRequests(t.Context(), c.DB, "again", "late", agent)

	var replay *ports.Replay
	if !errors.As(err, &replay) || string(replay.Body) != "response 1" {
		t.Errorf("repeated by the agent: %v, want its first response", err)
	}
	if n := c.countCustomers(t); n != 2 {
		t.Errorf("%d customers, want 2", n)
	}
}

func TestSaveResponse_RepeatFailsWholeBatch(t *testing.T) {
	t.Parallel()
	// A batch with a repeated request fails completely and writes nothing. Its error is no
	// response: the requests are run one by one.
	c := newEnv(t)
	if err := c.createWithRequests(t.Context(), c.DB, "ana", "first", c.idempotentRequest("key", "request", 201)); err != nil {
		t.Fatal(err)
	}

	err := c.createWithRequests(t.Context(), c.DB, "bea", "group", c.idempotentRequest("new", "other", 201),
		c.idempotentRequest("key", "request", 201))

	var replay *ports.Replay
	if err == nil || errors.As(err, &replay) || fault.Is(err, fault.IdempotencyKeyReused) {
		t.Errorf("the batch: %v, want an error that is no response", err)
	}
	found, err := c.StoredResponses(t.Context(), []ports.IdempotencyKey{c.idempotentRequest("new", "", 0).IdempotencyKey()})
	if n := c.countCustomers(t); err != nil || n != 1 || found[0] != nil {
		t.Errorf("%d customers and the response %v, %v; want nothing of the batch", n, found[0], err)
	}
}

func TestSaveResponse_ConcurrentSameKeyChangesOnce(t *testing.T) {
	t.Parallel()
	// Two processes get the same request at the same time, in many rounds: in each, one of them
	// makes the change and the other returns its response.
	c := newEnv(t)
	processes := []*postgres.DB{c.DB, openDB(t, c.url)}
	for round := range 20 {
		key := numberedName("key", round)
		results := make(chan error, len(processes))
		for i, db := range processes {
			go func() {
				results <- c.createWithRequests(t.Context(), db, numberedName(string(rune('a'+i)), round), key, c.idempotentRequest(key, key, 201))
			}()
		}

		changed, replayed := 0, 0
		for range processes {
			err := <-results
			var replay *ports.Replay
			switch {
			case err == nil:
				changed++
			case errors.As(err, &replay) && string(replay.Body) == key:
				replayed++
			default:
				t.Errorf("round %d: %v", round, err)
			}
		}
		if changed != 1 || replayed != 1 {
			t.Errorf("round %d: changed by %d and replayed to %d", round, changed, replayed)
		}
	}
	if n := c.countCustomers(t); n != 20 {
		t.Errorf("%d customers after 20 requests", n)
	}
}

func TestSaveStoredResponse_KeepsFirst(t *testing.T) {
	t.Parallel()
	// The first response is kept, even an empty one.
	c := newEnv(t)
	store := func(key string, status int, body []byte) {
		t.Helper()
		if err := c.SaveStoredResponse(t.Context(), *c.idempotentRequest(key, key, 0),
			ports.StoredResponse{Status: status, Body: body}); err != nil {
			t.Fatal(err)
		}
	}
	store("a", 404, []byte("none"))
	store("a", 400, []byte("late"))
	store("b", 204, nil)
	store("c", 200, []byte("c"))
	recall := func() (bodies []string) {
		t.Helper()
		found, err := c.StoredResponses(t.Context(), []ports.IdempotencyKey{c.idempotentRequest("a", "", 0).IdempotencyKey(),
			c.idempotentRequest("b", "", 0).IdempotencyKey(), c.idempotentRequest("c", "", 0).IdempotencyKey()})
		if err != nil {
			t.Fatal(err)
		}
		for _, stored := range found {
			if stored != nil {
				bodies = append(bodies, string(stored.Body))
			}
		}
		return bodies
	}
	if got, want := recall(), []string{"none", "", "c"}; !reflect.DeepEqual(got, want) {
		t.Errorf("stored %q, want %q", got, want)
	}
}

func TestSaveResponse_BatchIsOneStatement(t *testing.T) {
	t.Parallel()
	// Responses saved one after another, with other writes between them, are all stored with
	// their own content.
	c := newEnv(t)
	var keys []ports.IdempotencyKey
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
		for i := range 9 {
			claim := c.idempotentRequest(numberedName("key", i), numberedName("request", i), 200+i)
			keys = append(keys, claim.IdempotencyKey())
			if err := tx.SaveResponse(ctx, claim, numberedName("body", i), nil); err != nil {
				return err
			}
			if i%3 == 2 {
				own := newCustomer(c.platform, numberedName("c", i))
				own.Type = customer.Business
				if err := tx.CreateCustomer(ctx, own); err != nil {
					return err
				}
			}
		}
		return nil
	})

	found, err := c.StoredResponses(t.Context(), keys)
	if err != nil {
		t.Fatal(err)
	}
	for i, stored := range found {
		want := &ports.StoredResponse{Fingerprint: sha256.Sum256([]byte(numberedName("request", i))), Status: 200 + i,
			Body: []byte(numberedName("body", i))}
		if !reflect.DeepEqual(stored, want) {
			t.Errorf("response %d: %+v, want %+v", i, stored, want)
		}
	}
}
