package payments

import (
	"context"

	"causeway/app/internal/batch"
	"causeway/app/internal/uow"
	"causeway/core/account"
	"causeway/core/corridor"
	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/quote"
	"causeway/core/transaction"
	"causeway/ledger"
	"causeway/ports"
)

// MaxSimulatedDeposit is the most that a simulated deposit can bring, in minor units.
const MaxSimulatedDeposit = 100_000_000_000

// FundedAccount is an account after money came in.
type FundedAccount struct {
	account.WithBalance
	Transaction transaction.Transaction
}

type fundCommand struct {
	platform ident.Platform
	to       ident.InternalAccount
	amount   int64
	// id is decided before anything is written, so a second attempt writes the same rows.
	id          ident.Transaction
	idempotency *ports.IdempotentRequest
}

// Fund plays somebody who pays into an internal account, and answers the account with
// its new balance. Faults: FORBIDDEN in production, INVALID_INPUT, CUSTOMER_DELETED,
// INTERNAL_ACCOUNT_NOT_FOUND, AMOUNT_OUT_OF_RANGE.
func (s *Service) Fund(ctx context.Context, platform ident.Platform, to ident.InternalAccount, amount int64, claim *ports.IdempotentRequest) (FundedAccount, error) {
	if amount < 1 || amount > MaxSimulatedDeposit {
		return FundedAccount{}, fault.Invalid(fault.Field{Field: "amount", Message: "must be a whole number of the smallest currency unit, from 1 to 100000000000",
			Constraint: map[string]any{"minimum": 1, "maximum": MaxSimulatedDeposit}})
	}
	return s.fundBatcher.Do(ctx, fundCommand{platform, to, amount, ident.NewTransaction(s.IDs.New, s.Clock.Now()), claim})
}

func (s *Service) fundBatch(ctx context.Context, commands []fundCommand) ([]batch.Result[FundedAccount], error) {
	keys := make([]ports.IncomingPaymentKey, len(commands))
	for i, c := range commands {
		keys[i] = ports.IncomingPaymentKey{Platform: c.platform, To: c.to}
	}
	var results []batch.Result[FundedAccount]
	var done work
	err := s.Store.Do(ctx, func(ctx context.Context, tx ports.Tx) error {
		results, done = make([]batch.Result[FundedAccount], len(commands)), s.newWork()
		parties, err := tx.IncomingPaymentParties(ctx, keys)
		if err != nil {
			return err
		}
		balances, err := done.LockBalances(ctx, tx, receivingAccounts(parties))
		if err != nil {
			return err
		}
		for i, c := range commands {
			results[i].Value, results[i].Err = done.fund(c, parties[i], balances)
			if err := uow.SaveResponse(ctx, tx, c.idempotency, results[i].Value, results[i].Err); err != nil {
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

// receivingAccounts are the accounts that receive, as the books know them.
func receivingAccounts(parties []ports.IncomingPaymentParties) []ledger.Account {
	var accounts []ledger.Account
	seen := map[ledger.Account]bool{}
	for _, p := range parties {
		if p.To == nil {
			continue
		}
		if a := ledgerAccount(*p.To); !seen[a] {
			seen[a] = true
			accounts = append(accounts, a)
		}
	}
	return accounts
}

func ledgerAccount(a account.Internal) ledger.Account {
	return ledger.Account{Platform: a.Platform, Path: quote.AccountPath(a), Currency: a.Currency}
}

// fund decides about one deposit, on the balance that those before it in the group
// leave.
func (w work) fund(c fundCommand, p ports.IncomingPaymentParties, balances map[ledger.Account]int64) (FundedAccount, error) {
	if err := checkReceivable(p, c.to, "accountId"); err != nil {
		return FundedAccount{}, err
	}
	at := ledgerAccount(*p.To)
	if err := account.CheckCapacity(balances[at], money.Amount{Minor: c.amount, Currency: p.To.Currency}); err != nil {
		return FundedAccount{}, err
	}
	balances[at] += c.amount
	in := newIncomingPayment(c.id, *p.To, p.Owner, c.amount)
	in.PartnerAccount, in.Reference = fundingPartnerAccount(p.To.Currency), p.To.Reference
	d := in.Deposit(w.Now)
	w.Create(d)
	return FundedAccount{account.WithBalance{Internal: *p.To, Balance: balances[at]}, d.Transaction}, nil
}

// checkReceivable is nil when an account is there and can be paid to.
func checkReceivable(p ports.IncomingPaymentParties, id ident.InternalAccount, field string) error {
	switch {
	case p.To == nil:
		return fault.New(fault.InternalAccountNotFound, "There is no internal account %s.", id)
	case !p.To.Usable():
		return fault.Invalid(fault.Field{Field: field, Message: "is " + string(p.To.Status) + "; only an ACTIVE account receives money"})
	case p.Owner != nil && p.Owner.Deleted():
		return p.Owner.CheckReady()
	}
	return nil
}

// newIncomingPayment is money for an account; where it comes from is left to say.
func newIncomingPayment(id ident.Transaction, to account.Internal, owner *customer.Customer, amount int64) transaction.IncomingPayment {
	in := transaction.IncomingPayment{ID: id, Platform: to.Platform, Customer: to.Customer, Account: to.ID, AccountPath: quote.AccountPath(to),
		Amount: money.Amount{Minor: amount, Currency: to.Currency}, Reference: quote.Reference(id)}
	if owner != nil {
		in.PlatformCustomerID = owner.PlatformCustomerID
	}
	return in
}

// fundingPartnerAccount is where money of a currency comes in, in the books.
func fundingPartnerAccount(currency money.Currency) string {
	rails, err := corridor.FundingRails(currency)
	if err != nil {
		return ledger.Rail("UNKNOWN")
	}
	return quote.RailPath(rails[0])
}

// Deposit takes in a payment that arrived with the reference of an internal account.
// The same receipt again changes nothing. Money that the account cannot take (it is of
// another currency, or the account is closed, or full) is kept as unmatched and answered
// with a fault: INVALID_CURRENCY, INVALID_INPUT, CUSTOMER_DELETED,
// INTERNAL_ACCOUNT_NOT_FOUND, AMOUNT_OUT_OF_RANGE.
func (s *Service) Deposit(ctx context.Context, receipt transaction.Receipt, to ident.InternalAccount, claim *ports.IdempotentRequest) (t transaction.Transaction, err error) {
	var refused error
	var done work
	err = s.Store.Do(ctx, func(ctx context.Context, tx ports.Tx) error {
		done = s.newWork()
		taken, err := tx.SaveReceipts(ctx, []transaction.Receipt{receipt})
		if err != nil {
			return err
		}
		if !taken[0].IsNew {
			t, refused, err = existingDeposit(ctx, tx, receipt)
			if err != nil || claim == nil {
				return err
			}
			return tx.SaveResponse(ctx, claim, t, refused)
		}
		parties, err := tx.IncomingPaymentParties(ctx, []ports.IncomingPaymentKey{{Platform: receipt.Platform, To: to}})
		if err != nil {
			return err
		}
		balances, err := done.LockBalances(ctx, tx, receivingAccounts(parties))
		if err != nil {
			return err
		}
		t, refused = done.deposit(receipt, parties[0], to, balances)
		if claim != nil {
			if err := tx.SaveResponse(ctx, claim, t, refused); err != nil {
				return err
			}
		}
		return done.Write(ctx, tx)
	})
	if err != nil {
		return transaction.Transaction{}, err
	}
	s.afterCommit(done)
	return t, refused
}

// existingDeposit is what became of a receipt that was taken in before.
func existingDeposit(ctx context.Context, tx ports.Tx, receipt transaction.Receipt) (t transaction.Transaction, refused, err error) {
	key := ports.TransactionKey{Platform: receipt.Platform, ID: depositID(receipt)}
	locked, err := tx.LockTransactions(ctx, []ports.TransactionKey{key})
	if err != nil {
		return t, nil, err
	}
	t, there := locked[key]
	if !there {
		refused = fault.New(fault.Conflict, "This payment was received before, and is kept as unmatched. Assign it from the list of unmatched funds.")
	}
	return t, refused, nil
}

// depositID is the transaction of a receipt. It has the receipt's id, so that it is the
// same however often the partner tells of it.
func depositID(receipt transaction.Receipt) (id ident.Transaction) {
	ident.SetUUID(&id, receipt.ID.UUID())
	return id
}

// deposit decides about one receipt.
func (w work) deposit(receipt transaction.Receipt, p ports.IncomingPaymentParties, to ident.InternalAccount, balances ledger.Balances) (transaction.Transaction, error) {
	err := checkReceivable(p, to, "reference")
	if err == nil && p.To.Currency != receipt.Amount.Currency {
		err = fault.New(fault.InvalidCurrency, "The account with this reference holds %s.", p.To.Currency)
	}
	if err == nil {
		err = account.CheckCapacity(balances[ledgerAccount(*p.To)], receipt.Amount)
	}
	if err != nil {
		w.PostUnmatched(receipt, receipt.RejectedByAccount())
		return transaction.Transaction{}, uow.WithUnmatchedNote(err)
	}
	in := newIncomingPayment(depositID(receipt), *p.To, p.Owner, receipt.Amount.Minor)
	in.PartnerAccount, in.Reference = receipt.PartnerAccount, receipt.Reference
	d := in.Deposit(receipt.At)
	w.Create(d)
	return d.Transaction, nil
}
