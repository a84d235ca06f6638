package payments

import (
	"context"
	"errors"

	"causeway/app/internal/batch"
	"causeway/app/internal/uow"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/quote"
	"causeway/core/transaction"
	"causeway/ledger"
	"causeway/ports"
)

type executeCommand struct {
	quote       ports.QuoteKey
	idempotency *ports.IdempotentRequest
	// executed is set once a batch has executed the quote for the command. If the result of its commit
	// was lost, the quote is executed. If the batch failed for another reason, and the quote had been
	// executed before, the command is refused in its own next batch as it was in the first.
	executed bool
}

// ExecuteQuote executes a quote that an account funds, and returns the quote afterwards. Any number of
// calls execute it once. Faults: QUOTE_NOT_FOUND, QUOTE_EXPIRED,
// QUOTE_ALREADY_EXECUTED; QUOTE_NOT_EXECUTABLE and USER_NOT_READY, also if an account or a customer was
// deleted or suspended since the quote was created; INSUFFICIENT_BALANCE and AMOUNT_OUT_OF_RANGE (the quote does not change, and can be executed once the account is funded, or
// the receiving account has capacity).
func (s *Service) ExecuteQuote(ctx context.Context, platform ident.Platform, id ident.Quote, claim *ports.IdempotentRequest) (quote.WithStatus, error) {
	return s.executeBatcher.Do(ctx, platform, &executeCommand{quote: ports.QuoteKey{Platform: platform, ID: id}, idempotency: claim})
}

func (s *Service) executeBatch(ctx context.Context, orders []*executeCommand) ([]batch.Result[quote.WithStatus], error) {
	keys := make([]ports.QuoteKey, len(orders))
	for i, o := range orders {
		keys[i] = o.quote
	}
	var results []batch.Result[quote.WithStatus]
	var done work
	err := s.Store.Do(ctx, func(ctx context.Context, tx ports.Tx) error {
		results, done = make([]batch.Result[quote.WithStatus], len(orders)), s.newWork()
		states, err := tx.LockQuotes(ctx, keys)
		if err != nil {
			return err
		}
		about := make([]transaction.Transaction, 0, len(states))
		for _, state := range states {
			about = append(about, state.Transaction)
		}
		balances, err := done.lockBalances(ctx, tx, about)
		if err != nil {
			return err
		}
		for i, o := range orders {
			state, known := states[o.quote]
			if !known {
				results[i].Err = fault.New(fault.QuoteNotFound, "There is no quote %s.", o.quote.ID)
			} else {
				results[i].Value, results[i].Err = done.execute(state, o.executed, balances)
			}
			o.executed = o.executed || results[i].Err == nil
			if err := uow.SaveResponse(ctx, tx, o.idempotency, results[i].Value, results[i].Err); err != nil {
				return err
			}
		}
		return done.Write(ctx, tx)
	})
	if err != nil {
		return nil, err
	}
	s.afterCommit(done)
	return results, nil
}

// execute decides about one command, after those before it in the batch.
func (w work) execute(state ports.QuoteState, executed bool, balances ledger.Balances) (quote.WithStatus, error) {
	t := w.Latest(state.Transaction)
	d, err := t.Execute(state.Parties, w.Now)
	if executed && fault.Is(err, fault.QuoteAlreadyExecuted) {
		return quote.WithStatus{Quote: state.Quote, Status: quote.StatusOf(t.State)}, nil
	}
	if err != nil {
		return quote.WithStatus{}, err
	}
	if err := applyPostings(balances, d); err != nil {
		return quote.WithStatus{}, err
	}
	w.Update(d)
	return quote.WithStatus{Quote: state.Quote, Status: quote.StatusOf(d.Transaction.State)}, nil
}

// applyPostings applies the postings of a decision to locked balances, so that the next decision sees
// the result. It returns INSUFFICIENT_BALANCE or AMOUNT_OUT_OF_RANGE, and applies nothing, if an
// account does not allow them.
func applyPostings(balances ledger.Balances, d transaction.Decision) error {
	if err := uow.CheckCapacity(balances, d.Postings); err != nil {
		return err
	}
	for _, posting := range d.Postings {
		err := balances.Apply(posting)
		var short *ledger.InsufficientBalanceError
		if errors.As(err, &short) {
			return fault.New(fault.InsufficientBalance, "The account holds %s, and %s is needed. Fund it first.",
				money.Amount{Minor: short.Shortfalls[0].Balance, Currency: short.Shortfalls[0].Account.Currency}, d.Transaction.Pricing.Sent)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
