package payments

import (
	"context"

	"causeway/app/internal/batch"
	"causeway/app/internal/spans"
	"causeway/app/internal/uow"
	"causeway/core/account"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/tracing"
	"causeway/core/transaction"
	"causeway/ports"
)

// depositCommand is a payment to be credited to an internal account.
type depositCommand struct {
	receipt     ports.RailReceipt
	to          ident.InternalAccount
	idempotency *ports.IdempotentRequest
	trace       tracing.Context
}

// Deposit credits a payment that was received with the reference of an internal account. A
// repeated receipt changes nothing. Money that the account cannot receive (it is of another currency, the
// account is closed or full, or its owner is not verified) is held as unmatched funds, with a fault: those of
// transaction.Receipt.Deposit.
func (s *Service) Deposit(ctx context.Context, receipt transaction.Receipt, to ident.InternalAccount, request *ports.IdempotentRequest) (
	transaction.Transaction, error) {
	return s.depositBatcher.Do(ctx, receipt.Platform, depositCommand{storableReceipt(ports.RailReceipt{Receipt: receipt}), to, request,
		spans.Context(ctx)})
}

func (s *Service) depositBatch(ctx context.Context, commands []depositCommand) ([]batch.Result[transaction.Transaction], error) {
	receipts := make([]transaction.Receipt, len(commands))
	for i, c := range commands {
		receipts[i] = c.receipt.Receipt
	}
	return runBatch(ctx, s, len(commands), func(ctx context.Context, tx Tx, w work, results []batch.Result[transaction.Transaction]) error {
		saved, err := tx.SaveReceipts(ctx, receipts)
		if err != nil {
			return err
		}
		deposits, err := existingDeposits(ctx, tx, receipts, saved)
		if err != nil {
			return err
		}
		if err := w.deposit(ctx, tx, commands, saved, deposits, results); err != nil {
			return err
		}
		for i, c := range commands {
			if !saved[i].IsNew {
				results[i] = depositResult(deposits, saved[i].ID)
			}
			if err := uow.SaveResponse(ctx, tx, c.idempotency, results[i].Value, results[i].Err); err != nil {
				return err
			}
		}
		return nil
	})
}

// deposit decides about the new receipts, each after those before it in the batch, and adds their deposits.
func (w work) deposit(ctx context.Context, tx Tx, commands []depositCommand, saved []ports.SavedReceipt,
	deposits map[ident.Receipt]transaction.Transaction, results []batch.Result[transaction.Transaction]) error {
	var keys []ports.IncomingPaymentKey
	var fresh []int
	for i, c := range commands {
		if saved[i].IsNew {
			keys, fresh = append(keys, ports.IncomingPaymentKey{Platform: c.receipt.Platform, To: c.to}), append(fresh, i)
		}
	}
	if len(fresh) == 0 {
		return nil
	}
	parties, err := tx.IncomingPaymentParties(ctx, keys)
	if err != nil {
		return err
	}
	balances, err := w.lockReceiving(ctx, tx, parties)
	if err != nil {
		return err
	}
	var payers []ports.ReceiptPayer
	for n, i := range fresh {
		receipt := commands[i].receipt
		payers = appendPayer(payers, receipt, parties[n].Owner)
		d, err := receipt.Deposit(commands[i].to, parties[n], receivingBalance(balances, parties[n]))
		if err != nil {
			w.PostUnmatched(receipt.Receipt, receipt.RejectedByAccount())
			results[i].Err = uow.WithUnmatchedNote(err)
			continue
		}
		balances[parties[n].To.LedgerAccount()] += receipt.Amount.Minor
		d.Transaction.Trace = commands[i].trace
		w.Create(d)
		results[i].Value, deposits[receipt.ID] = d.Transaction, d.Transaction
	}
	return tx.SaveReceiptPayers(ctx, payers)
}

// existingDeposits returns the deposits of receipts that were received before.
func existingDeposits(ctx context.Context, tx Tx, receipts []transaction.Receipt,
	saved []ports.SavedReceipt) (map[ident.Receipt]transaction.Transaction, error) {
	deposits := map[ident.Receipt]transaction.Transaction{}
	var keys []ports.TransactionKey
	for i, r := range receipts {
		if !saved[i].IsNew {
			r.ID = saved[i].ID
			keys = append(keys, ports.TransactionKey{Platform: r.Platform, ID: r.DepositID()})
		}
	}
	if len(keys) == 0 {
		return deposits, nil
	}
	locked, err := tx.LockTransactions(ctx, keys)
	for key, t := range locked {
		var id ident.Receipt
		id.SetUUID(key.ID.UUID())
		deposits[id] = t
	}
	return deposits, err
}

// depositResult returns the deposit of a receipt that was received before, or a fault if it is held as unmatched
// funds.
func depositResult(deposits map[ident.Receipt]transaction.Transaction, id ident.Receipt) batch.Result[transaction.Transaction] {
	if deposit, exists := deposits[id]; exists {
		return batch.Result[transaction.Transaction]{Value: deposit}
	}
	return batch.Result[transaction.Transaction]{Err: fault.New(fault.Conflict,
		"This payment was received before and is held as unmatched funds. Assign it from the list of unmatched funds.")}
}

// MaxSimulatedDeposit is the maximum amount of a simulated deposit, in minor units.
const MaxSimulatedDeposit = 100_000_000_000

// FundedAccount is an account after a deposit.
type FundedAccount struct {
	account.WithBalance
	Transaction transaction.Transaction
}

// fundCommand is a request in a batch. Its id is chosen before anything is written, so that a
// second attempt finds what the first one wrote.
type fundCommand struct {
	newCommand
	to    ident.InternalAccount
	minor int64
}

// Fund simulates a deposit into an internal account of a sandbox platform, and returns the account
// with its new balance. Faults: INVALID_INPUT, CUSTOMER_DELETED, USER_NOT_READY, INTERNAL_ACCOUNT_NOT_FOUND,
// AMOUNT_OUT_OF_RANGE.
func (s *Service) Fund(ctx context.Context, platform ident.Platform, to ident.InternalAccount, minor int64,
	request *ports.IdempotentRequest) (FundedAccount, error) {
	if minor < 1 || minor > MaxSimulatedDeposit {
		return FundedAccount{}, fault.Invalid(fault.Field{Field: "amount", Message: "must be a whole number of the smallest currency unit, " +
			"from 1 to 100000000000",
			Constraint: map[string]any{"minimum": 1, "maximum": MaxSimulatedDeposit}})
	}
	return s.fundBatcher.Do(ctx, platform, &fundCommand{s.newCommand(ctx, platform, request), to, minor})
}

func (s *Service) fundBatch(ctx context.Context, commands []*fundCommand) ([]batch.Result[FundedAccount], error) {
	return runUncommitted(ctx, s.Store, commands, s.fundedAccount, s.fundAccounts)
}

// fundedAccount reads the account of a deposit that is committed.
func (s *Service) fundedAccount(ctx context.Context, c *fundCommand, t transaction.Transaction) (FundedAccount, error) {
	funded := FundedAccount{Transaction: t}
	err := ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) error {
		locked, err := tx.LockBalances(ctx, t.Accounts())
		for _, found := range locked {
			if found.ID == c.to {
				funded.WithBalance = found
			}
		}
		return err
	})
	return funded, err
}

func (s *Service) fundAccounts(ctx context.Context, commands []*fundCommand) ([]batch.Result[FundedAccount], error) {
	keys := make([]ports.IncomingPaymentKey, len(commands))
	for i, c := range commands {
		keys[i] = ports.IncomingPaymentKey{Platform: c.transaction.Platform, To: c.to}
	}
	return runBatch(ctx, s, len(commands), func(ctx context.Context, tx Tx, w work, results []batch.Result[FundedAccount]) error {
		parties, err := tx.IncomingPaymentParties(ctx, keys)
		if err != nil {
			return err
		}
		balances, err := w.lockReceiving(ctx, tx, parties)
		if err != nil {
			return err
		}
		for i, c := range commands {
			c.attempted = true
			// Each decision uses the balances after the decisions before it in the batch.
			d, balance, err := parties[i].Fund(c.transaction.ID, c.to, c.minor, receivingBalance(balances, parties[i]), w.Now)
			if err == nil {
				balances[parties[i].To.LedgerAccount()] = balance
				d.Transaction.Trace = c.trace
				w.Create(d)
				results[i].Value = FundedAccount{account.WithBalance{Internal: *parties[i].To, Balance: balance}, d.Transaction}
			}
			results[i].Err = err
			if err := uow.SaveResponse(ctx, tx, c.idempotency, results[i].Value, results[i].Err); err != nil {
				return err
			}
		}
		return nil
	})
}
