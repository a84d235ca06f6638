package payments

import (
	"context"
	"time"

	"causeway/app/internal/batch"
	"causeway/app/internal/limiting"
	"causeway/app/internal/uow"
	"causeway/core/ident"
	"causeway/core/limit"
	"causeway/core/quote"
	"causeway/core/sca"
	"causeway/core/transaction"
	"causeway/ports"
)

// transferOutCommand is a request in a batch. Its id is chosen before anything is written, so that
// a second attempt finds what the first one wrote.
type transferOutCommand struct {
	newCommand
	out transaction.TransferOut
}

// TransferOut sends money from an internal account to an external one, and returns the
// transaction. Faults: those of transaction.TransferOut, INSUFFICIENT_BALANCE, TRANSACTION_SIZE_LIMIT_EXCEEDED,
// DAILY_VOLUME_LIMIT_EXCEEDED, and NOT_IMPLEMENTED if no connection serves it.
func (s *Service) TransferOut(ctx context.Context, out transaction.TransferOut, request *ports.IdempotentRequest) (
	transaction.Transaction, error) {
	if err := out.Check(); err != nil {
		return transaction.Transaction{}, err
	}
	if err := s.Prices.Refresh(ctx, out.Platform); err != nil {
		return transaction.Transaction{}, err
	}
	return s.transferOutBatcher.Do(ctx, out.Platform, &transferOutCommand{s.newCommand(ctx, out.Platform, request), out})
}

// transferOutWithID is TransferOut with an id that the caller has chosen. Repeated calls create one
// transfer.
func (s *Service) transferOutWithID(ctx context.Context, id ident.Transaction, out transaction.TransferOut) error {
	if err := out.Check(); err != nil {
		return err
	}
	if err := s.Prices.Refresh(ctx, out.Platform); err != nil {
		return err
	}
	_, err := s.transferOutBatcher.Do(ctx, out.Platform, &transferOutCommand{out: out,
		newCommand: newCommand{transaction: ports.TransactionKey{Platform: out.Platform, ID: id}, attempted: true}})
	return err
}

func (s *Service) transferOutBatch(ctx context.Context, commands []*transferOutCommand) ([]batch.Result[transaction.Transaction], error) {
	return runUncommitted(ctx, s.Store, commands, asCommitted, s.createTransfersOut)
}

func (s *Service) createTransfersOut(ctx context.Context, commands []*transferOutCommand) ([]batch.Result[transaction.Transaction], error) {
	keys := make([]ports.PartyKey, len(commands))
	for i, c := range commands {
		keys[i] = ports.PartyKey{Platform: c.out.Platform, FromInternal: c.out.From, ToExternal: c.out.To}
	}
	rules, err := s.limits(ctx, keys[0].Platform)
	if err != nil {
		return nil, err
	}
	return runBatch(ctx, s, len(commands), func(ctx context.Context, tx Tx, w work, results []batch.Result[transaction.Transaction]) error {
		parties, err := s.parties(ctx, tx, keys)
		if err != nil {
			return err
		}
		payers, err := s.lockTransferringPayers(ctx, tx, commands, parties, w.Now)
		if err != nil {
			return err
		}
		if err := s.transferAll(ctx, tx, w, rules, payers, commands, parties, results); err != nil {
			return err
		}
		return payers.write(ctx)
	})
}

// lockTransferringPayers locks the customers whose transfers out may be exempt from their authorization.
func (s *Service) lockTransferringPayers(ctx context.Context, tx Tx, commands []*transferOutCommand, parties []quote.Parties,
	now time.Time) (*payers, error) {
	var ids []ident.Customer
	for _, p := range parties {
		if p.Protected && p.Exemptions != (sca.Exemptions{}) && p.Customer != nil && p.FromInternal != nil && !p.FromInternal.Customer.IsZero() {
			ids = append(ids, p.Customer.ID)
		}
	}
	return s.lockPayers(ctx, tx, now, commands[0].out.Platform, ids)
}

// transferAll creates all transfers first, to find which balances to lock, and then debits the
// balances one transfer after the other.
func (s *Service) transferAll(ctx context.Context, tx Tx, w work, rules limit.Rules, payers *payers, commands []*transferOutCommand,
	parties []quote.Parties, results []batch.Result[transaction.Transaction]) error {
	decisions, transfers := make([]transaction.Decision, len(commands)), make([]transaction.Transaction, 0, len(commands))
	var attempted []ports.TransactionKey
	var limited []limit.Payment
	for i, c := range commands {
		if key, again := c.transactionKey(); again {
			attempted = append(attempted, key)
		}
		c.attempted = true
		p := transaction.TransferOutParties{Customer: parties[i].Customer, From: parties[i].FromInternal, To: parties[i].ToExternal,
			Protected: parties[i].Protected, Exempt: parties[i].Exemptions != sca.Exemptions{}}
		decisions[i], results[i].Err = c.out.Make(c.transaction.ID, p, w.Now)
		if results[i].Err == nil {
			results[i].Err = s.checkTransfer(ctx, decisions[i].Transaction, p.Customer, nil, p.To)
		}
		if results[i].Err == nil {
			decisions[i].Transaction.Trace = c.trace
			transfers = append(transfers, decisions[i].Transaction)
			limited = append(limited, limiting.PaymentOf(decisions[i].Transaction.Pricing.Sent, p.Customer))
		}
	}
	balances, err := w.lockBalances(ctx, tx, transfers)
	if err != nil {
		return err
	}
	committed, err := lockCommitted(ctx, tx, attempted)
	if err != nil {
		return err
	}
	if err := w.limits.Lock(ctx, tx, commands[0].out.Platform, rules, limited); err != nil {
		return err
	}
	for i, c := range commands {
		key, _ := c.transactionKey()
		if t, exists := committed[key]; exists {
			results[i] = batch.Result[transaction.Transaction]{Value: t}
			continue
		}
		var exemptions []transaction.PaymentAuthorization
		if results[i].Err == nil && decisions[i].Transaction.Authorization == transaction.AuthorizationExempt {
			exemption, applies, err := payers.exemption(ctx, decisions[i].Transaction, parties[i])
			if err == nil && !applies {
				err = transaction.ErrPayerAuthorizes
			}
			results[i].Err, exemptions = err, append(exemptions, exemption)
		}
		if results[i].Err == nil {
			results[i].Err = w.limits.Check(&decisions[i].Transaction, parties[i].Customer)
		}
		if results[i].Err == nil {
			results[i].Err = applyPostings(balances, decisions[i])
		}
		if results[i].Err == nil {
			w.limits.Count(decisions[i].Transaction)
			results[i].Value = decisions[i].Transaction
			w.Create(decisions[i])
			payers.authorized = append(payers.authorized, exemptions...)
			if committed != nil { // the same transfer may be in the batch twice
				committed[key] = decisions[i].Transaction
			}
		}
		if err := uow.SaveResponse(ctx, tx, c.idempotency, results[i].Value, results[i].Err); err != nil {
			return err
		}
	}
	return nil
}

// lockCommitted returns the transfers that another attempt has committed since they were last looked
// for. Each attempt locks the same balance first, so while this one holds it none is committed.
func lockCommitted(ctx context.Context, tx Tx, attempted []ports.TransactionKey) (
	map[ports.TransactionKey]transaction.Transaction, error) {
	if len(attempted) == 0 {
		return nil, nil
	}
	return tx.LockTransactions(ctx, attempted)
}
