package receiving

import (
	"context"

	"causeway/app/booking"
	"causeway/app/group"
	"causeway/core/account"
	"causeway/core/corridor"
	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/quote"
	"causeway/core/transaction"
	"causeway/ledger"
	"causeway/ports"
)

// MostFunded is the most that a simulated deposit can bring, in minor units.
const MostFunded = 100_000_000_000

// Funded is an account after money came in.
type Funded struct {
	account.Holding
	Transaction transaction.Transaction
}

type funding struct {
	platform ident.Platform
	to       ident.InternalAccount
	amount   int64
	// id is decided before anything is written, so a second attempt writes the same rows.
	id    ident.Transaction
	claim *ports.Claim
}

// Fund plays somebody who pays into an internal account, and answers the account with
// its new balance. Faults: FORBIDDEN in production, INVALID_INPUT, CUSTOMER_DELETED,
// INTERNAL_ACCOUNT_NOT_FOUND, AMOUNT_OUT_OF_RANGE.
func (r *Receiving) Fund(ctx context.Context, who platform.Principal, to ident.InternalAccount, amount int64, claim *ports.Claim) (Funded, error) {
	if err := who.MustBeSandbox(); err != nil {
		return Funded{}, err
	}
	if amount < 1 || amount > MostFunded {
		return Funded{}, fault.Invalid(fault.Field{Field: "amount", Message: "must be a whole number of the smallest currency unit, from 1 to 100000000000",
			Constraint: map[string]any{"minimum": 1, "maximum": MostFunded}})
	}
	return r.fund.Do(ctx, funding{who.Platform, to, amount, ident.NewTransaction(r.IDs.New, r.Clock.Now()), claim})
}

func (r *Receiving) fundGroup(ctx context.Context, commands []funding) ([]group.Result[Funded], error) {
	keys := make([]ports.InflowKey, len(commands))
	for i, c := range commands {
		keys[i] = ports.InflowKey{Platform: c.platform, To: c.to}
	}
	var results []group.Result[Funded]
	var done work
	err := r.Store.Do(ctx, func(ctx context.Context, tx ports.Tx) error {
		results, done = make([]group.Result[Funded], len(commands)), r.newWork()
		parties, err := tx.InflowParties(ctx, keys)
		if err != nil {
			return err
		}
		balances, err := done.Hold(ctx, tx, receivers(parties))
		if err != nil {
			return err
		}
		for i, c := range commands {
			results[i].Value, results[i].Err = done.fund(c, parties[i], balances)
			if err := booking.Keep(ctx, tx, c.claim, results[i].Value, results[i].Err); err != nil {
				return err
			}
		}
		return done.Write(ctx, tx)
	})
	if err != nil {
		return nil, err
	}
	r.goOn(done)
	return results, nil
}

// receivers are the accounts that receive, as the books know them.
func receivers(parties []ports.InflowParties) []ledger.Account {
	var accounts []ledger.Account
	seen := map[ledger.Account]bool{}
	for _, p := range parties {
		if p.To == nil {
			continue
		}
		if a := inBooks(*p.To); !seen[a] {
			seen[a] = true
			accounts = append(accounts, a)
		}
	}
	return accounts
}

func inBooks(a account.Internal) ledger.Account {
	return ledger.Account{Platform: a.Platform, Path: quote.BookPath(a), Currency: a.Currency}
}

// fund decides about one deposit, on the balance that those before it in the group
// leave.
func (w work) fund(c funding, p ports.InflowParties, balances map[ledger.Account]int64) (Funded, error) {
	if err := mayReceive(p, c.to, "accountId"); err != nil {
		return Funded{}, err
	}
	at := inBooks(*p.To)
	if err := account.Room(balances[at], money.Amount{Minor: c.amount, Currency: p.To.Currency}); err != nil {
		return Funded{}, err
	}
	balances[at] += c.amount
	in := inflow(c.id, *p.To, p.Owner, c.amount)
	in.Partner, in.Reference = arrival(p.To.Currency), p.To.Reference
	d := in.Deposit(w.Now)
	w.Begin(d)
	return Funded{account.Holding{Internal: *p.To, Balance: balances[at]}, d.Transaction}, nil
}

// mayReceive is nil when an account is there and can be paid to.
func mayReceive(p ports.InflowParties, id ident.InternalAccount, field string) error {
	switch {
	case p.To == nil:
		return fault.New(fault.InternalAccountNotFound, "There is no internal account %s.", id)
	case !p.To.Usable():
		return fault.Invalid(fault.Field{Field: field, Message: "is " + string(p.To.Status) + "; only an ACTIVE account receives money"})
	case p.Owner != nil && p.Owner.Deleted():
		return p.Owner.Ready()
	}
	return nil
}

// inflow is money for an account; where it comes from is left to say.
func inflow(id ident.Transaction, to account.Internal, owner *customer.Customer, amount int64) transaction.Inflow {
	in := transaction.Inflow{ID: id, Platform: to.Platform, Customer: to.Customer, Account: to.ID, Path: quote.BookPath(to),
		Amount: money.Amount{Minor: amount, Currency: to.Currency}, Reference: quote.Reference(id)}
	if owner != nil {
		in.PlatformCustomerID = owner.PlatformCustomerID
	}
	return in
}

// arrival is where money of a currency comes in, in the books.
func arrival(currency money.Currency) string {
	rails, err := corridor.FundingRails(currency)
	if err != nil {
		return ledger.Rail("UNKNOWN")
	}
	return quote.Path(rails[0])
}

// Deposit takes in a payment that arrived with the reference of an internal account.
// The same receipt again changes nothing. Money that the account cannot take (it is of
// another currency, or the account is closed, or full) is kept as unmatched and answered
// with a fault: INVALID_CURRENCY, INVALID_INPUT, CUSTOMER_DELETED,
// INTERNAL_ACCOUNT_NOT_FOUND, AMOUNT_OUT_OF_RANGE.
func (r *Receiving) Deposit(ctx context.Context, receipt transaction.Receipt, to ident.InternalAccount, claim *ports.Claim) (t transaction.Transaction, err error) {
	var refused error
	var done work
	err = r.Store.Do(ctx, func(ctx context.Context, tx ports.Tx) error {
		done = r.newWork()
		taken, err := tx.TakeIn(ctx, []transaction.Receipt{receipt})
		if err != nil {
			return err
		}
		if !taken[0].Fresh {
			t, refused, err = deposited(ctx, tx, receipt)
			if err != nil || claim == nil {
				return err
			}
			return tx.Remember(ctx, claim, t, refused)
		}
		parties, err := tx.InflowParties(ctx, []ports.InflowKey{{Platform: receipt.Platform, To: to}})
		if err != nil {
			return err
		}
		balances, err := done.Hold(ctx, tx, receivers(parties))
		if err != nil {
			return err
		}
		t, refused = done.deposit(receipt, parties[0], to, balances)
		if claim != nil {
			if err := tx.Remember(ctx, claim, t, refused); err != nil {
				return err
			}
		}
		return done.Write(ctx, tx)
	})
	if err != nil {
		return transaction.Transaction{}, err
	}
	r.goOn(done)
	return t, refused
}

// deposited is what became of a receipt that was taken in before.
func deposited(ctx context.Context, tx ports.Tx, receipt transaction.Receipt) (t transaction.Transaction, refused, err error) {
	key := ports.TransactionKey{Platform: receipt.Platform, ID: depositOf(receipt)}
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

// depositOf is the transaction of a receipt. It has the receipt's id, so that it is the
// same however often the partner tells of it.
func depositOf(receipt transaction.Receipt) (id ident.Transaction) {
	ident.Set(&id, receipt.ID.UUID())
	return id
}

// deposit decides about one receipt.
func (w work) deposit(receipt transaction.Receipt, p ports.InflowParties, to ident.InternalAccount, balances ledger.Balances) (transaction.Transaction, error) {
	err := mayReceive(p, to, "reference")
	if err == nil && p.To.Currency != receipt.Amount.Currency {
		err = fault.New(fault.InvalidCurrency, "The account with this reference holds %s.", p.To.Currency)
	}
	if err == nil {
		err = account.Room(balances[inBooks(*p.To)], receipt.Amount)
	}
	if err != nil {
		w.Post(receipt.NotTaken())
		return transaction.Transaction{}, booking.Kept(err)
	}
	in := inflow(depositOf(receipt), *p.To, p.Owner, receipt.Amount.Minor)
	in.Partner, in.Reference = receipt.Rail, receipt.Reference
	d := in.Deposit(receipt.At)
	w.Begin(d)
	return d.Transaction, nil
}
