package payments

import (
	"context"

	"causeway/app/internal/batch"
	"causeway/app/internal/uow"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/quote"
	"causeway/core/transaction"
	"causeway/core/transfer"
	"causeway/ports"
)

// transferOutCommand is one order on its way through a group. Its id is decided before
// anything is written, so a second attempt finds what the first one wrote.
type transferOutCommand struct {
	out         transfer.Out
	idempotency *ports.IdempotentRequest
	id          ident.Transaction
	// attempted is set once a group ran with it: if its commit was lost on the way back,
	// the transfer may be there.
	attempted bool
}

// TransferOut sends money from an internal account to an external one, and answers
// the transaction. Faults: those of transfer.Out, and INSUFFICIENT_BALANCE, with
// nothing moved.
func (s *Service) TransferOut(ctx context.Context, out transfer.Out, claim *ports.IdempotentRequest) (transaction.Transaction, error) {
	if err := out.Check(); err != nil {
		return transaction.Transaction{}, err
	}
	return s.transferOutBatcher.Do(ctx, &transferOutCommand{out: out, idempotency: claim, id: ident.NewTransaction(s.IDs.New, s.Clock.Now())})
}

// transferOutWithID is TransferOut under an id that its caller has chosen: asked again, it is the
// same transfer.
func (s *Service) transferOutWithID(ctx context.Context, id ident.Transaction, out transfer.Out) error {
	if err := out.Check(); err != nil {
		return err
	}
	_, err := s.transferOutBatcher.Do(ctx, &transferOutCommand{out: out, id: id, attempted: true})
	return err
}

func (s *Service) transferOutBatch(ctx context.Context, orders []*transferOutCommand) ([]batch.Result[transaction.Transaction], error) {
	if len(orders) == 1 && orders[0].attempted {
		made, err := s.Store.Transaction(ctx, orders[0].out.Platform, orders[0].id)
		if !fault.Is(err, fault.TransactionNotFound) {
			return []batch.Result[transaction.Transaction]{{Value: made, Err: err}}, nil
		}
	}
	keys := make([]ports.PartyKey, len(orders))
	for i, o := range orders {
		keys[i] = ports.PartyKey{Platform: o.out.Platform, FromInternal: o.out.From, ToExternal: o.out.To}
	}
	var results []batch.Result[transaction.Transaction]
	var done work
	err := s.Store.Do(ctx, func(ctx context.Context, tx ports.Tx) error {
		results, done = make([]batch.Result[transaction.Transaction], len(orders)), s.newWork()
		parties, err := tx.Parties(ctx, keys)
		if err != nil {
			return err
		}
		if err := done.transferAll(ctx, tx, orders, parties, results); err != nil {
			return err
		}
		return done.Write(ctx, tx)
	})
	if err != nil {
		return nil, err
	}
	s.afterCommit(done)
	return results, nil
}

// transferAll makes all transfers first, to know the accounts whose balances decide,
// and then lets them pay one after the other.
func (w work) transferAll(ctx context.Context, tx ports.Tx, orders []*transferOutCommand, parties []quote.Parties, results []batch.Result[transaction.Transaction]) error {
	decisions, made := make([]transaction.Decision, len(orders)), make([]transaction.Transaction, 0, len(orders))
	for i, o := range orders {
		o.attempted = true
		decisions[i], results[i].Err = o.out.Make(o.id, parties[i], w.Now)
		if results[i].Err == nil {
			made = append(made, decisions[i].Transaction)
		}
	}
	balances, err := w.lockBalances(ctx, tx, made)
	if err != nil {
		return err
	}
	for i, o := range orders {
		if results[i].Err == nil {
			results[i].Err = applyPostings(balances, decisions[i])
		}
		if results[i].Err == nil {
			results[i].Value = decisions[i].Transaction
			w.Create(decisions[i])
		}
		if err := uow.SaveResponse(ctx, tx, o.idempotency, results[i].Value, results[i].Err); err != nil {
			return err
		}
	}
	return nil
}
