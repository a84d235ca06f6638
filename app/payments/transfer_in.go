package payments

import (
	"context"

	"causeway/app/internal/batch"
	"causeway/app/internal/spans"
	"causeway/app/internal/uow"
	"causeway/core/ident"
	"causeway/core/tracing"
	"causeway/core/transaction"
	"causeway/ledger"
	"causeway/ports"
)

// transferInCommand is a request in a batch. Its id is chosen before anything is written, so that
// a second attempt finds what the first one wrote.
type transferInCommand struct {
	in          transaction.TransferIn
	id          ident.Transaction
	idempotency *ports.IdempotentRequest
	trace       tracing.Context
	// attempted is set once a batch has run with the command. If the result of its commit was
	// lost, the transfer may exist.
	attempted bool
}

func (c *transferInCommand) transactionKey() (ports.TransactionKey, bool) {
	return ports.TransactionKey{Platform: c.in.Platform, ID: c.id}, c.attempted
}

// TransferIn creates a transfer from an external account to an internal one. The transaction is
// PENDING until the rail reports the outcome. Faults: those of transaction.TransferIn, and
// NOT_IMPLEMENTED if no connection serves it.
func (s *Service) TransferIn(ctx context.Context, in transaction.TransferIn, request *ports.IdempotentRequest) (
	transaction.Transaction, error) {
	if err := in.Check(); err != nil {
		return transaction.Transaction{}, err
	}
	if err := s.Prices.Refresh(ctx, in.Platform); err != nil {
		return transaction.Transaction{}, err
	}
	return s.transferInBatcher.Do(ctx, in.Platform, &transferInCommand{in: in, id: ident.NewTransaction(s.IDs.New, s.Clock.Now()),
		idempotency: request, trace: spans.Context(ctx)})
}

func (s *Service) transferInBatch(ctx context.Context, commands []*transferInCommand) ([]batch.Result[transaction.Transaction], error) {
	read := func(_ context.Context, _ *transferInCommand, t transaction.Transaction) (transaction.Transaction, error) {
		return t, nil
	}
	return runUncommitted(ctx, s.Store, commands, read, s.createTransfersIn)
}

func (s *Service) createTransfersIn(ctx context.Context, commands []*transferInCommand) ([]batch.Result[transaction.Transaction], error) {
	keys := make([]ports.IncomingPaymentKey, len(commands))
	for i, c := range commands {
		keys[i] = ports.IncomingPaymentKey{Platform: c.in.Platform, To: c.in.To, From: c.in.From}
	}
	var results []batch.Result[transaction.Transaction]
	var w work
	err := ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) error {
		results, w = make([]batch.Result[transaction.Transaction], len(commands)), s.newWork()
		parties, err := tx.IncomingPaymentParties(ctx, keys)
		if err != nil {
			return err
		}
		balances, err := tx.Balances(ctx, receivingAccounts(parties))
		if err != nil {
			return err
		}
		for i, c := range commands {
			c.attempted = true
			d, err := c.in.Make(c.id, parties[i], receivingBalance(balances, parties[i]), w.Now)
			if err == nil {
				err = s.checkTransfer(d.Transaction, parties[i].From, nil)
			}
			if err == nil {
				d.Transaction.Trace = c.trace
				w.Create(d)
				results[i].Value = d.Transaction
			}
			results[i].Err = err
			if err := uow.SaveResponse(ctx, tx, c.idempotency, results[i].Value, results[i].Err); err != nil {
				return err
			}
		}
		return w.Write(ctx, tx)
	})
	if err != nil {
		return nil, err
	}
	s.afterCommit(w)
	return results, nil
}

// receivingAccounts returns the ledger accounts of internal accounts that receive, each once.
func receivingAccounts(parties []transaction.IncomingParties) []ledger.Account {
	var accounts []ledger.Account
	seen := map[ledger.Account]bool{}
	for _, p := range parties {
		if p.To == nil {
			continue
		}
		if a := p.To.LedgerAccount(); !seen[a] {
			seen[a] = true
			accounts = append(accounts, a)
		}
	}
	return accounts
}

// lockReceiving locks the balances of the accounts that receive. An owner who was deleted after the
// parties were read is deleted in them too.
func (w work) lockReceiving(ctx context.Context, tx Tx, parties []transaction.IncomingParties) (ledger.Balances, error) {
	balances, err := w.LockBalances(ctx, tx, receivingAccounts(parties))
	for _, p := range parties {
		if p.Owner == nil {
			continue
		}
		if at := w.OwnerDeletedAt(p.To.LedgerAccount()); !at.IsZero() {
			p.Owner.DeletedAt = at
		}
	}
	return balances, err
}

// receivingBalance returns the balance of the internal account that receives, if there is one.
func receivingBalance(balances map[ledger.Account]int64, p transaction.IncomingParties) int64 {
	if p.To == nil {
		return 0
	}
	return balances[p.To.LedgerAccount()]
}
