package postgres_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"reflect"
	"testing"
	"time"

	"causeway/adapters/postgres"
	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/ports"
)

// claimOn is a claim of the platform here; its answer is the given status, with the
// result as its body.
func (c *town) claimOn(key, request string, status int) *ports.IdempotentRequest {
	return &ports.IdempotentRequest{
		Platform: c.here.ID, Key: key, Fingerprint: sha256.Sum256([]byte(request)),
		Render: func(result any, err error) (int, []byte) {
			if err != nil {
				return status, []byte(err.Error())
			}
			return status, []byte(result.(string))
		},
	}
}

// create is a use case that makes a customer and remembers its answers: one unit of
// work for all claims.
func (c *town) create(ctx context.Context, db *postgres.DB, name, answer string, claims ...*ports.IdempotentRequest) error {
	return db.Do(ctx, func(ctx context.Context, tx ports.Tx) error {
		if err := tx.CreateCustomer(ctx, newCustomer(c.here, name)); err != nil {
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

func (c *town) countCustomers(t *testing.T) int {
	t.Helper()
	page, err := c.Customers(t.Context(), c.here.ID, ports.CustomerFilter{Paging: ports.Paging{Limit: 100}})
	if err != nil {
		t.Fatal(err)
	}
	return int(page.Total)
}

func TestAnswersAreRememberedWithTheCommit(t *testing.T) {
	t.Parallel()
	// An answer is kept exactly when the change is: with the bytes that were rendered,
	// private to the platform and token, and never one that says we failed.
	c := newTown(t)
	first, second, broken := c.claimOn("1", "first", 201), c.claimOn("2", "second", 404), c.claimOn("3", "third", 500)
	if err := c.create(t.Context(), c.DB, "ana", "made", first, second, nil, broken); err != nil {
		t.Fatal(err)
	}
	undone := c.claimOn("4", "fourth", 201)
	_ = c.Do(t.Context(), func(ctx context.Context, tx ports.Tx) error {
		if err := tx.SaveResponse(ctx, undone, "never", nil); err != nil {
			return err
		}
		return errors.New("the use case fails")
	})
	foreign := first.IdempotencyKey()
	foreign.Platform = c.there.ID
	otherToken, _ := newToken(t, c.here, "other", "VIEW")
	ofAnotherToken := first.IdempotencyKey()
	ofAnotherToken.Token = otherToken.ID

	found, err := c.StoredResponses(t.Context(), []ports.IdempotencyKey{broken.IdempotencyKey(), second.IdempotencyKey(), foreign, first.IdempotencyKey(), ofAnotherToken, undone.IdempotencyKey(), first.IdempotencyKey()})

	made := &ports.StoredResponse{Fingerprint: first.Fingerprint, Status: 201, Body: []byte("made")}
	missing := &ports.StoredResponse{Fingerprint: second.Fingerprint, Status: 404, Body: []byte("made")}
	if want := []*ports.StoredResponse{nil, missing, nil, made, nil, nil, made}; err != nil || !reflect.DeepEqual(found, want) {
		t.Errorf("recalled %+v, %v\nwant %+v", found, err, want)
	}
}

func TestARepeatedRequestFindsTheFirstAnswer(t *testing.T) {
	t.Parallel()
	// When another process stored an answer under the key, the unit of work changes
	// nothing and ends in that answer; for another request under the same key it says so.
	c := newTown(t)
	if err := c.create(t.Context(), c.DB, "ana", "first", c.claimOn("key", "request", 201)); err != nil {
		t.Fatal(err)
	}

	err := c.create(t.Context(), c.DB, "bea", "second", c.claimOn("key", "request", 201))
	var replay *ports.Replay
	if !errors.As(err, &replay) || replay.Status != 201 || string(replay.Body) != "first" {
		t.Errorf("the same request again: %v, want the first answer", err)
	}
	if err := c.create(t.Context(), c.DB, "cleo", "third", c.claimOn("key", "another request", 201)); !fault.Is(err, fault.IdempotencyKeyReused) {
		t.Errorf("another request under the key: %v, want IDEMPOTENCY_KEY_REUSED", err)
	}
	if n := c.countCustomers(t); n != 1 {
		t.Errorf("%d customers, want the first alone", n)
	}
}

func TestARepeatedRequestFailsItsGroup(t *testing.T) {
	t.Parallel()
	// A group with a repeated request in it fails as a whole, with nothing of it
	// written and no answer for anybody: it is run again one by one.
	c := newTown(t)
	if err := c.create(t.Context(), c.DB, "ana", "first", c.claimOn("key", "request", 201)); err != nil {
		t.Fatal(err)
	}

	err := c.create(t.Context(), c.DB, "bea", "group", c.claimOn("new", "other", 201), c.claimOn("key", "request", 201))

	var replay *ports.Replay
	if err == nil || errors.As(err, &replay) || fault.Is(err, fault.IdempotencyKeyReused) {
		t.Errorf("the group: %v, want an error that is nobody's answer", err)
	}
	found, err := c.StoredResponses(t.Context(), []ports.IdempotencyKey{c.claimOn("new", "", 0).IdempotencyKey()})
	if n := c.countCustomers(t); err != nil || n != 1 || found[0] != nil {
		t.Errorf("%d customers and the answer %v, %v; want nothing of the group", n, found[0], err)
	}
}

func TestTwoProcessesOnOneKeyChangeOnce(t *testing.T) {
	t.Parallel()
	// Two processes get the same request at the same moment, many times over: each
	// time one of them makes the change and the other finds its answer.
	c := newTown(t)
	processes := []*postgres.DB{c.DB, openTown(t, c.url)}
	for round := range 20 {
		key := named("key", round)
		results := make(chan error, len(processes))
		for i, db := range processes {
			go func() {
				results <- c.create(t.Context(), db, named(string(rune('a'+i)), round), key, c.claimOn(key, key, 201))
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
			t.Errorf("round %d: changed by %d and answered to %d", round, changed, replayed)
		}
	}
	if n := c.countCustomers(t); n != 20 {
		t.Errorf("%d customers after 20 requests", n)
	}
}

func TestAnswersThatChangedNothingAreKeptAndForgotten(t *testing.T) {
	t.Parallel()
	// The first answer stays; an empty one is an answer too; after their time they go,
	// a bounded number at once, and the younger ones stay.
	c := newTown(t)
	store := func(key string, status int, body []byte) {
		t.Helper()
		if err := c.SaveStoredResponse(t.Context(), *c.claimOn(key, key, 0), ports.StoredResponse{Status: status, Body: body}); err != nil {
			t.Fatal(err)
		}
	}
	store("a", 404, []byte("none"))
	store("a", 400, []byte("late"))
	store("b", 204, nil)
	store("c", 200, []byte("c"))
	recall := func() (bodies []string) {
		t.Helper()
		found, err := c.StoredResponses(t.Context(), []ports.IdempotencyKey{c.claimOn("a", "", 0).IdempotencyKey(), c.claimOn("b", "", 0).IdempotencyKey(), c.claimOn("c", "", 0).IdempotencyKey()})
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
		t.Errorf("recalled %q, want %q", got, want)
	}

	for _, step := range []struct {
		before time.Time
		limit  int
		want   int
		left   int
	}{
		{noon, 10, 0, 3},
		{noon.Add(time.Second), 2, 2, 1},
		{noon.Add(time.Second), 2, 1, 0},
		{noon.Add(time.Second), 2, 0, 0},
	} {
		n, err := c.DeleteStoredResponses(t.Context(), step.before, step.limit)
		if left := len(recall()); err != nil || n != step.want || left != step.left {
			t.Errorf("forget %d: %d forgotten, %d left, %v; want %d and %d", step.limit, n, left, err, step.want, step.left)
		}
	}
}

func TestAnswersOfAGroupAreOneStatement(t *testing.T) {
	t.Parallel()
	// Answers remembered one after the other, and with other writes between them, are
	// all kept with what belongs to each.
	c := newTown(t)
	var keys []ports.IdempotencyKey
	c.do(t, func(ctx context.Context, tx ports.Tx) error {
		for i := range 9 {
			claim := c.claimOn(named("key", i), named("request", i), 200+i)
			keys = append(keys, claim.IdempotencyKey())
			if err := tx.SaveResponse(ctx, claim, named("body", i), nil); err != nil {
				return err
			}
			if i%3 == 2 {
				own := newCustomer(c.here, named("c", i))
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
		want := &ports.StoredResponse{Fingerprint: sha256.Sum256([]byte(named("request", i))), Status: 200 + i, Body: []byte(named("body", i))}
		if !reflect.DeepEqual(stored, want) {
			t.Errorf("answer %d: %+v, want %+v", i, stored, want)
		}
	}
}
