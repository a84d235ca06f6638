package payments

import (
	"context"

	"causeway/app/internal/batch"
	"causeway/app/internal/uow"
	"causeway/core/account"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/transaction"
	"causeway/ports"
)

// Deposit credits a payment that was received with the reference of an internal account. A
// repeated receipt changes nothing. Money that the account cannot receive (it is of another currency, the
// account is closed or full, or its owner is not verified) is held as unmatched funds, with a fault: those of
// transaction.Receipt.Deposit.
func (s *Service) Deposit(ctx context.Context, receipt transaction.Receipt, to ident.InternalAccount, request *ports.IdempotentRequest) (transaction.Transaction, error) {
	receipt = receipt.Storable()
	var deposit transaction.Transaction
	var refused error
	var w work
	err := s.Store.Do(ctx, func(ctx context.Context, tx ports.Tx) error {
		w = s.newWork()
		saved, err := tx.SaveReceipts(ctx, []transaction.Receipt{receipt})
		if err != nil {
			return err
		}
		if !saved[0].IsNew {
			receipt.ID = saved[0].ID
			deposit, refused, err = existingDeposit(ctx, tx, receipt)
			if err != nil || request == nil {
				return err
			}
			return tx.SaveResponse(ctx, request, deposit, refused)
		}
		parties, err := tx.IncomingPaymentParties(ctx, []ports.IncomingPaymentKey{{Platform: receipt.Platform, To: to}})
		if err != nil {
			return err
		}
		balances, err := w.lockReceiving(ctx, tx, parties)
		if err != nil {
			return err
		}
		d, err := receipt.Deposit(to, parties[0], receivingBalance(balances, parties[0]))
		if err == nil {
			w.Create(d)
		} else {
			w.PostUnmatched(receipt, receipt.RejectedByAccount())
		}
		deposit, refused = d.Transaction, uow.WithUnmatchedNote(err)
		if request != nil {
			if err := tx.SaveResponse(ctx, request, deposit, refused); err != nil {
				return err
			}
		}
		return w.Write(ctx, tx)
	})
	if err != nil {
		return transaction.Transaction{}, err
	}
	s.afterCommit(w)
	return deposit, refused
}

// existingDeposit returns the deposit of a receipt that was received before, or a fault if it is
// held as unmatched funds.
func existingDeposit(ctx context.Context, tx ports.Tx, receipt transaction.Receipt) (deposit transaction.Transaction, refused, err error) {
	key := ports.TransactionKey{Platform: receipt.Platform, ID: receipt.DepositID()}
	locked, err := tx.LockTransactions(ctx, []ports.TransactionKey{key})
	if err != nil {
		return deposit, nil, err
	}
	deposit, exists := locked[key]
	if !exists {
		refused = fault.New(fault.Conflict, "This payment was received before and is held as unmatched funds. Assign it from the list of unmatched funds.")
	}
	return deposit, refused, nil
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
	platform    ident.Platform
	to          ident.InternalAccount
	minor       int64
	id          ident.Transaction
	idempotency *ports.IdempotentRequest
	// attempted is set once a batch has run with the command. If the result of its commit was
	// lost, the deposit may exist.
	attempted bool
}

func (c *fundCommand) transactionKey() (ports.TransactionKey, bool) {
	return ports.TransactionKey{Platform: c.platform, ID: c.id}, c.attempted
}

// Fund simulates a deposit into an internal account of a sandbox platform, and returns the account
// with its new balance. Faults: INVALID_INPUT, CUSTOMER_DELETED, USER_NOT_READY, INTERNAL_ACCOUNT_NOT_FOUND,
// AMOUNT_OUT_OF_RANGE.
func (s *Service) Fund(ctx context.Context, platform ident.Platform, to ident.InternalAccount, minor int64, request *ports.IdempotentRequest) (FundedAccount, error) {
	if minor < 1 || minor > MaxSimulatedDeposit {
		return FundedAccount{}, fault.Invalid(fault.Field{Field: "amount", Message: "must be a whole number of the smallest currency unit, from 1 to 100000000000",
			Constraint: map[string]any{"minimum": 1, "maximum": MaxSimulatedDeposit}})
	}
	return s.fundBatcher.Do(ctx, platform, &fundCommand{platform: platform, to: to, minor: minor, id: ident.NewTransaction(s.IDs.New, s.Clock.Now()), idempotency: request})
}

func (s *Service) fundBatch(ctx context.Context, commands []*fundCommand) ([]batch.Result[FundedAccount], error) {
	return runUncommitted(ctx, s.Store, commands, s.fundedAccount, s.fundAccounts)
}

// fundedAccount reads the account of a deposit that is committed.
func (s *Service) fundedAccount(ctx context.Context, c *fundCommand, t transaction.Transaction) (FundedAccount, error) {
	funded := FundedAccount{Transaction: t}
	err := s.Store.Do(ctx, func(ctx context.Context, tx ports.Tx) error {
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
		keys[i] = ports.IncomingPaymentKey{Platform: c.platform, To: c.to}
	}
	var results []batch.Result[FundedAccount]
	var w work
	err := s.Store.Do(ctx, func(ctx context.Context, tx ports.Tx) error {
		results, w = make([]batch.Result[FundedAccount], len(commands)), s.newWork()
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
			d, balance, err := parties[i].Fund(c.id, c.to, c.minor, receivingBalance(balances, parties[i]), w.Now)
			if err == nil {
				balances[parties[i].To.LedgerAccount()] = balance
				w.Create(d)
				results[i].Value = FundedAccount{account.WithBalance{Internal: *parties[i].To, Balance: balance}, d.Transaction}
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
