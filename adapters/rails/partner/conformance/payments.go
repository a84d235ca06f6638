package conformance

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"causeway/adapters/rails/partner"
)

// testValue is what the last two digits of an amount make of a payment in a test environment.
type testValue struct {
	name   string
	ending partner.Minor
}

var (
	settles      = testValue{"settles", 0}
	rejects      = testValue{"is rejected", 91}
	rejectsLater = testValue{"is rejected later", 92}
	waits        = testValue{"waits", 93}
	isBusy       = testValue{"is not taken at first", 94}
	losesAnswer  = testValue{"has its answer lost", 95}
	returns      = testValue{"is returned", 96}
	receives     = testValue{"is received again", 97}
	reverses     = testValue{"is received again, and taken back", 98}
	charges      = testValue{"costs a fee", 99}
)

// testPayment is a payment that was submitted, and its first state.
type testPayment struct {
	partner.Payment
	first partner.State
	err   error
}

// submit submits a payment with a test value, unless it was submitted.
func (s *Suite) submit(ctx context.Context, v testValue) (*testPayment, error) {
	t, submitted := s.payments[v.name]
	if !submitted {
		t = &testPayment{Payment: s.newPayment(s.Kinds[0], v.ending)}
		if v == settles {
			s.received.failOnce(t.Payment)
		}
		t.first, t.err = s.client.Payment(ctx, t.Payment, true)
		s.payments[v.name] = t
	}
	return t, describe(t.err, "POST %s", t.Kind.Path())
}

// describe adds to an error which request failed.
func describe(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf(format+": %w", append(args, err)...)
}

func (s *Suite) state(ctx context.Context, p partner.Payment) (partner.State, error) {
	state, err := s.client.Payment(ctx, p, false)
	return state, describe(err, "GET %s/{id}", p.Kind.Path())
}

// reach waits until a payment has a status.
func (s *Suite) reach(ctx context.Context, p partner.Payment, want partner.Status) (partner.State, error) {
	var last partner.State
	reached, err := s.await(ctx, func(ctx context.Context) (bool, error) {
		state, err := s.state(ctx, p)
		if err != nil {
			return false, err
		}
		last = state
		if ended := isFinal(state.Status) && state.Status != want && want != partner.Returned; ended {
			return false, fmt.Errorf("the status became %s, not %s", state.Status, want)
		}
		return state.Status == want, nil
	})
	if err == nil && !reached {
		err = fmt.Errorf("the status is %q after %s, and not %s", last.Status, s.Timeout, want)
	}
	return last, err
}

func isFinal(status partner.Status) bool {
	return status == partner.Settled || status == partner.Rejected || status == partner.Returned
}

func (s *Suite) checkSettles(k partner.Kind) func(context.Context) error {
	return func(ctx context.Context) error {
		p := s.newPayment(k, 0)
		if k == s.Kinds[0] {
			t, err := s.submit(ctx, settles)
			if err != nil {
				return err
			}
			p = t.Payment
		} else if _, err := s.client.Payment(ctx, p, true); err != nil {
			return describe(err, "POST %s", k.Path())
		}
		_, err := s.reach(ctx, p, partner.Settled)
		return err
	}
}

func (s *Suite) checkOnce(ctx context.Context) error {
	return s.movesOnce(ctx, func(p partner.Payment) ([]partner.State, error) {
		var states []partner.State
		for i := range 3 {
			state, err := s.client.Payment(ctx, p, true)
			if err != nil {
				return nil, describe(err, "request %d of the same payment", i+1)
			}
			states = append(states, state)
		}
		if _, err := s.reach(ctx, p, partner.Settled); err != nil {
			return nil, err
		}
		state, err := s.client.Payment(ctx, p, true)
		return append(states, state), describe(err, "the request repeated after it settled")
	})
}

func (s *Suite) checkParallel(ctx context.Context) error {
	return s.movesOnce(ctx, func(p partner.Payment) ([]partner.State, error) {
		const requests = 8
		states, failures := make([]partner.State, requests), make([]error, requests)
		var calls sync.WaitGroup
		for i := range requests {
			calls.Go(func() { states[i], failures[i] = s.client.Payment(ctx, p, true) })
		}
		calls.Wait()
		for _, err := range failures {
			if err != nil {
				return nil, describe(err, "one of %d requests at the same time", requests)
			}
		}
		last, err := s.reach(ctx, p, partner.Settled)
		return append(states, last), err
	})
}

// movesOnce compares the balance before and after a payment, and the ids that the partner gave it.
func (s *Suite) movesOnce(ctx context.Context, submit func(partner.Payment) ([]partner.State, error)) error {
	before, err := s.balance(ctx)
	if err != nil {
		return err
	}
	p := s.newPayment(s.Kinds[0], 0)
	states, err := submit(p)
	if err != nil {
		return err
	}
	id := ""
	for _, state := range states {
		if id != "" && state.PartnerID != id {
			return fmt.Errorf("the partnerId was %q, and then %q", id, state.PartnerID)
		}
		id = state.PartnerID
	}
	want := before - int64(p.Amount.Minor)
	if p.Kind == partner.Collection {
		want = before + int64(p.Amount.Minor)
	}
	var after int64
	moved, err := s.await(ctx, func(ctx context.Context) (_ bool, err error) {
		after, err = s.balance(ctx)
		return after == want, err
	})
	if err == nil && !moved {
		err = fmt.Errorf("a payment of %d changed the balance from %d to %d; it has to be %d then", p.Amount.Minor, before, after, want)
	}
	return err
}

// balance returns the balance of the currency in minor units; zero if it has none.
func (s *Suite) balance(ctx context.Context) (int64, error) {
	balances, err := s.client.Balances(ctx)
	for _, b := range balances {
		if b.Amount.Currency == s.Currency {
			return b.Amount.Minor, nil
		}
	}
	return 0, describe(err, "GET /balances")
}

func (s *Suite) checkConflict(ctx context.Context) error {
	t, err := s.submit(ctx, settles)
	if err != nil {
		return err
	}
	other := t.Payment
	other.Amount.Minor += 100
	if err := wantStatus("the same payment with another amount", orError(s.client.Payment(ctx, other, true)),
		http.StatusConflict); err != nil {
		return err
	}
	_, err = s.state(ctx, t.Payment)
	return err
}

// checkKind submits a payment of another kind under a known id. A refund has the id of its payout.
func (s *Suite) checkKind(ctx context.Context) error {
	t, err := s.submit(ctx, settles)
	if err != nil {
		return err
	}
	other := s.newPayment(s.Kinds[len(s.Kinds)-1], 0)
	other.ID, other.EndToEndID = t.ID, t.EndToEndID
	other.Amount.Minor += 200
	if _, err := s.client.Payment(ctx, other, true); err != nil {
		return fmt.Errorf("POST %s with the id of a %s: %w", other.Kind.Path(), t.Kind, err)
	}
	if _, err := s.reach(ctx, other, partner.Settled); err != nil {
		return fmt.Errorf("the %s with the id of a %s: %w", other.Kind, t.Kind, err)
	}
	_, err = s.state(ctx, t.Payment)
	return err
}

// checkAmount submits an amount above 2⁵³. Whether the provider can pay it does not matter.
func (s *Suite) checkAmount(ctx context.Context) error {
	p := s.newPayment(s.Kinds[0], 0)
	p.Amount.Minor = 9_007_199_254_741_001
	if _, err := s.client.Payment(ctx, p, true); err != nil {
		return describe(err, "POST %s of %d", p.Kind.Path(), p.Amount.Minor)
	}
	_, err := s.state(ctx, p)
	return err
}

func (s *Suite) checkRejected(v testValue) func(context.Context) error {
	return func(ctx context.Context) error {
		t, err := s.submit(ctx, v)
		if err != nil {
			return err
		}
		if v == rejectsLater && t.first.Status != partner.Accepted {
			return fmt.Errorf("the first status is %s, and not ACCEPTED", t.first.Status)
		}
		_, err = s.reach(ctx, t.Payment, partner.Rejected)
		return err
	}
}

func (s *Suite) checkPending(ctx context.Context) error {
	t, err := s.submit(ctx, waits)
	if err != nil {
		return err
	}
	if t.first.Status != partner.Pending {
		return fmt.Errorf("the first status is %s, and not PENDING", t.first.Status)
	}
	_, err = s.reach(ctx, t.Payment, partner.Settled)
	return err
}

func (s *Suite) checkBusy(ctx context.Context) error {
	p := s.newPayment(s.Kinds[0], isBusy.ending)
	state, err := s.client.Payment(ctx, p, true)
	if err == nil {
		return fmt.Errorf("the first answer is the status %s, and not 503 or 429", state.Status)
	}
	taken, err := s.await(ctx, func(ctx context.Context) (bool, error) {
		var refused *partner.StatusError
		if err != nil && (!errors.As(err, &refused) || !refused.Temporary()) {
			return false, fmt.Errorf("POST %s was not answered with 503 or 429 and Retry-After in seconds: %w", p.Kind.Path(), err)
		}
		if err == nil {
			return true, nil
		}
		// What was refused for now is sent again, perhaps over another connection: it must not have been taken.
		_, known := s.state(ctx, p)
		if err := wantStatus("GET "+p.Kind.Path()+"/{id} of a payment that was refused for now", known, http.StatusNotFound); err != nil {
			return false, err
		}
		select {
		case <-time.After(refused.RetryAfter):
		case <-ctx.Done():
			return false, nil
		}
		_, err = s.client.Payment(ctx, p, true)
		return err == nil, nil
	})
	if err == nil && !taken {
		err = fmt.Errorf("it is still refused after %s", s.Timeout)
	}
	if err != nil {
		return err
	}
	_, err = s.reach(ctx, p, partner.Settled)
	return err
}

func (s *Suite) checkLostAnswer(ctx context.Context) error {
	p := s.newPayment(s.Kinds[0], losesAnswer.ending)
	if _, err := s.client.Payment(ctx, p, true); err == nil {
		return errors.New("the answer to the first request was not lost")
	}
	if _, err := s.state(ctx, p); err != nil {
		return fmt.Errorf("a payment whose answer was lost: %w", err)
	}
	if _, err := s.client.Payment(ctx, p, true); err != nil {
		return fmt.Errorf("the repeated request: %w", err)
	}
	_, err := s.reach(ctx, p, partner.Settled)
	return err
}

func (s *Suite) checkReturned(ctx context.Context) error {
	t, err := s.submit(ctx, returns)
	if err != nil {
		return err
	}
	_, err = s.reach(ctx, t.Payment, partner.Returned)
	return err
}
