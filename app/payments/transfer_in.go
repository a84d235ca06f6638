package payments

import (
	"context"

	"causeway/app/internal/batch"
	"causeway/app/internal/uow"
	"causeway/core/transaction"
	"causeway/ledger"
	"causeway/ports"
)

// transferInCommand is a request in a batch. Its id is chosen before anything is written, so that
// a second attempt finds what the first one wrote.
type transferInCommand struct {
	newCommand
	in transaction.TransferIn
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
	return s.transferInBatcher.Do(ctx, in.Platform, &transferInCommand{s.newCommand(ctx, in.Platform, request), in})
}

func (s *Service) transferInBatch(ctx context.Context, commands []*transferInCommand) ([]batch.Result[transaction.Transaction], error) {
	return runUncommitted(ctx, s.Store, commands, asCommitted, s.createTransfersIn)
}

func (s *Service) createTransfersIn(ctx context.Context, commands []*transferInCommand) ([]batch.Result[transaction.Transaction], error) {
	keys := make([]ports.IncomingPaymentKey, len(commands))
	for i, c := range commands {
		keys[i] = ports.IncomingPaymentKey{Platform: c.in.Platform, To: c.in.To, From: c.in.From}
	}
	return runBatch(ctx, s, len(commands), func(ctx context.Context, tx Tx, w work, results []batch.Result[transaction.Transaction]) error {
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
			d, err := c.in.Make(c.transaction.ID, parties[i], receivingBalance(balances, parties[i]), w.Now)
			if err == nil {
				err = s.checkTransfer(ctx, d.Transaction, nil, parties[i].From, nil)
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
		return nil
	})
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
