package payments

import (
	"cmp"
	"context"
	"errors"

	"causeway/app/internal/batch"
	"causeway/app/internal/limiting"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/limit"
	"causeway/core/quote"
	"causeway/core/sca"
	"causeway/core/transaction"
	"causeway/ledger"
	"causeway/ports"
)

// errPayerAuthorizes ends the execution of a quote in a batch: its payer has to authorise it, which takes a unit of work of its own.
var errPayerAuthorizes = errors.New("the payer has to authorise the payment")

// authorizing is one quote whose payer authorises it, in a unit of work that has locked both.
type authorizing struct {
	*payers
	work     work
	state    ports.QuoteState
	parties  quote.Parties
	balances ledger.Balances
	// proven are the purposes that the payer has proven.
	proven []sca.Purpose
	// refused is why a proof is not right. It is committed with what was counted.
	refused error
}

// withPayer locks the payer of a quote and the quote, lets decide decide, and writes what it has decided. Faults: QUOTE_NOT_FOUND,
// CONFLICT if nobody has to authorise the quote.
func (s *Service) withPayer(ctx context.Context, key ports.QuoteKey, claim *ports.IdempotentRequest,
	decide func(context.Context, *authorizing) (quote.WithStatus, error)) (quote.WithStatus, error) {
	_, t, err := s.Store.Quote(ctx, key.Platform, key.ID)
	if err == nil && t.Authorization == transaction.AuthorizationNotNeeded {
		err = t.CheckAuthorizable(s.Clock.Now())
	}
	if err != nil {
		return quote.WithStatus{}, err
	}
	rules, err := s.limits(ctx, key.Platform)
	if err != nil {
		return quote.WithStatus{}, err
	}
	results, err := runBatch(ctx, s, 1, func(ctx context.Context, tx Tx, w work, results []batch.Result[quote.WithStatus]) error {
		locked, err := s.lockAuthorizing(ctx, tx, w, rules, key, t)
		if err != nil {
			return err
		}
		decided, err := decide(ctx, locked)
		if err != nil {
			return err
		}
		if results[0].Err = locked.refused; locked.refused == nil {
			results[0].Value = decided
		}
		if err := tx.SaveResponse(ctx, claim, decided, locked.refused); err != nil {
			return err
		}
		return locked.write(ctx)
	})
	if err != nil {
		return quote.WithStatus{}, err
	}
	return results[0].Value, results[0].Err
}

// lockAuthorizing locks a payer, its quote, the balances and the counters of limits, in this order.
func (s *Service) lockAuthorizing(ctx context.Context, tx Tx, w work, rules limit.Rules, key ports.QuoteKey,
	t transaction.Transaction) (*authorizing, error) {
	locked, err := s.lockPayers(ctx, tx, w.Now, key.Platform, []ident.Customer{t.Customer})
	if err != nil {
		return nil, err
	}
	parties, err := s.parties(ctx, tx, []ports.PartyKey{{Platform: key.Platform, Customer: t.Customer,
		FromInternal: t.Source.InternalAccount, FromExternal: t.Source.ExternalAccount,
		ToInternal: t.Destination.InternalAccount, ToExternal: t.Destination.ExternalAccount}})
	if err != nil {
		return nil, err
	}
	states, err := tx.LockQuotes(ctx, []ports.QuoteKey{key})
	if err != nil {
		return nil, err
	}
	state, exists := states[key]
	if !exists {
		return nil, fault.New(fault.QuoteNotFound, "There is no quote %s.", key.ID)
	}
	state.Parties.OwnershipLimits = w.ownership
	authorized, err := tx.PaymentAuthorizations(ctx, transactionKey(t))
	if err != nil {
		return nil, err
	}
	balances, err := w.lockBalances(ctx, tx, []transaction.Transaction{state.Transaction})
	if err != nil {
		return nil, err
	}
	limited := []limit.Payment{limiting.PaymentOf(state.Transaction.Pricing.Sent, state.Parties.Customer)}
	return &authorizing{payers: locked, work: w, state: state, parties: parties[0], balances: balances, proven: purposes(authorized)},
		w.limits.Lock(ctx, tx, key.Platform, rules, limited)
}

// executeAuthorized executes a quote whose payer has to authorise it: an exemption applies, or the payer is asked.
func (s *Service) executeAuthorized(ctx context.Context, o *executeCommand) (quote.WithStatus, error) {
	return s.withPayer(ctx, o.quote, o.idempotency, func(ctx context.Context, a *authorizing) (quote.WithStatus, error) {
		t := a.state.Transaction
		t.Trace = cmp.Or(o.trace, t.Trace)
		d, err := t.Execute(a.state.Parties, a.now)
		if err != nil {
			return quote.WithStatus{}, err
		}
		if d.Challenges {
			exempted, applies, err := a.start(ctx, t, a.parties)
			if err != nil {
				return quote.WithStatus{}, err
			}
			if applies {
				if d, err = exempted.Execute(a.state.Parties, a.now); err != nil {
					return quote.WithStatus{}, err
				}
			}
		}
		if err := a.allow(&d); err != nil {
			return quote.WithStatus{}, err
		}
		return a.goOn(ctx, d, o.factor)
	})
}

// AuthorizeQuote applies the proof of the payer of a quote, which answers a challenge, or the open one if none is named. It returns the
// quote afterwards: with the next challenge, or with how to pay it, or executed. Faults: QUOTE_NOT_FOUND; CONFLICT if no authorization is
// pending, or another challenge is; QUOTE_EXPIRED; SCA_SESSION_REQUIRED; ACCOUNT_LOCKED; INVALID_INPUT for a wrong proof, which counts as a
// failed attempt; those of ExecuteQuote, which change nothing, so that the same proof can be given again.
func (s *Service) AuthorizeQuote(ctx context.Context, p ident.Platform, id ident.Quote, answered ident.SCAChallenge, proof sca.Proof,
	claim *ports.IdempotentRequest) (quote.WithStatus, error) {
	return s.withPayer(ctx, ports.QuoteKey{Platform: p, ID: id}, claim, func(ctx context.Context, a *authorizing) (quote.WithStatus, error) {
		t := a.state.Transaction
		if err := t.CheckAuthorizable(a.now); err != nil {
			return quote.WithStatus{}, err
		}
		if err := a.check(ctx, t); err != nil {
			return quote.WithStatus{}, err
		}
		purpose := t.NextPurpose(a.proven)
		a.proven = append(a.proven, purpose)
		d, err := t.Authorize(a.proven, a.state.Parties, a.now)
		if err == nil {
			err = a.allow(&d)
		}
		if err != nil {
			return quote.WithStatus{}, err
		}
		subject := a.subject(t, purpose, a.parties)
		asked, _, err := s.Auth.Open(ctx, a.tx, subject, a.now)
		if err != nil {
			return quote.WithStatus{}, err
		}
		if answered.IsZero() {
			answered = asked.ID
		}
		if a.refused, err = s.Auth.Prove(ctx, a.tx, subject, answered, proof, a.now); err != nil || a.refused != nil {
			return quote.WithStatus{}, err
		}
		a.authorized = append(a.authorized, t.ProvenBy(asked.Challenge, a.now))
		return a.goOn(ctx, d, proof.Factor)
	})
}

// ResendQuoteCode sends the payer of a quote another code for its open challenge, which expires when it did before. Faults:
// QUOTE_NOT_FOUND; CONFLICT if no authorization is pending, or it is not proven with a code; QUOTE_EXPIRED; SCA_SESSION_REQUIRED;
// ACCOUNT_LOCKED; RATE_LIMITED.
func (s *Service) ResendQuoteCode(ctx context.Context, p ident.Platform, id ident.Quote, claim *ports.IdempotentRequest) error {
	_, err := s.withPayer(ctx, ports.QuoteKey{Platform: p, ID: id}, claim, func(ctx context.Context,
		a *authorizing) (quote.WithStatus, error) {
		t := a.state.Transaction
		err := t.CheckAuthorizable(a.now)
		if err == nil {
			err = a.check(ctx, t)
		}
		if err == nil {
			err = s.Auth.SendAgain(ctx, a.tx, a.subject(t, t.NextPurpose(a.proven), a.parties), a.now)
		}
		return quote.WithStatus{}, err
	})
	return err
}

// allow returns a fault if the limits or the balances do not allow a decision. What only asks the payer takes nothing from the limits.
func (a *authorizing) allow(d *transaction.Decision) error {
	var err error
	if a.state.Transaction.StartsWith(*d) {
		err = a.work.limits.Check(&d.Transaction, a.state.Parties.Customer)
	} else {
		err = a.work.limits.Allows(d.Transaction, a.state.Parties.Customer)
	}
	if err != nil {
		return err
	}
	return applyPostings(a.balances, *d)
}

// goOn adds a decision that is allowed, and asks the payer for the next proof if that is what was decided.
func (a *authorizing) goOn(ctx context.Context, d transaction.Decision, wanted sca.Factor) (quote.WithStatus, error) {
	result := a.state.Quote.Of(d.Transaction)
	if d.Challenges {
		var err error
		if result.Challenge, err = a.ask(ctx, d.Transaction, d.Transaction.NextPurpose(a.proven), a.parties, wanted); err != nil {
			return quote.WithStatus{}, err
		}
	}
	a.work.limits.Count(d.Transaction)
	a.work.Update(d)
	return result, nil
}
