package accounting

import (
	"context"

	"causeway/app/internal/uow"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/quote"
	"causeway/core/transaction"
	"causeway/ledger"
	"causeway/ports"
)

// AssignCommand says whose unmatched money is: a transaction's, an account's, or the payer's,
// to whom it goes back, when both are zero.
type AssignCommand struct {
	Receipt     ident.Receipt
	Transaction ident.Transaction
	Account     ident.InternalAccount
	// Note says why, and becomes the memo of the posting: 1 to 200 bytes.
	Note string
}

// maxNoteBytes is the longest note, in bytes: that of a posting's memo.
const maxNoteBytes = 200

// Unmatched lists the money that lies, or lay, in funding/unmatched.
func (f *Service) Unmatched(ctx context.Context, p ident.Platform, filter ports.UnmatchedFilter) (ports.UnmatchedPage, error) {
	return f.Store.Unmatched(ctx, p, filter)
}

// AssignUnmatched carries out what somebody found out about unmatched money, once. Faults:
// NOT_FOUND, CONFLICT for what is assigned already or cannot go where it shall,
// INVALID_INPUT, TRANSACTION_NOT_FOUND, INTERNAL_ACCOUNT_NOT_FOUND, INVALID_CURRENCY,
// AMOUNT_OUT_OF_RANGE, CUSTOMER_DELETED.
func (f *Service) AssignUnmatched(ctx context.Context, p ident.Platform, by ident.Token, a AssignCommand, claim *ports.IdempotentRequest) (transaction.Unmatched, error) {
	if a.Note == "" || len(a.Note) > maxNoteBytes {
		return transaction.Unmatched{}, fault.Invalid(fault.Field{Field: "note", Message: "must have 1 to 200 bytes"})
	}
	var done transaction.Unmatched
	var refused error
	var work *uow.Work
	err := f.Store.Do(ctx, func(ctx context.Context, tx ports.Tx) error {
		work = uow.NewWork(f.Clock.Now(), f.IDs, 0)
		done, refused = f.assignInTx(ctx, tx, work, p, by, a)
		if err := uow.SaveResponse(ctx, tx, claim, done, refused); err != nil || refused != nil {
			return err
		}
		return work.Write(ctx, tx)
	})
	if err != nil {
		return transaction.Unmatched{}, err
	}
	if refused == nil && work.HasEvents() {
		f.Committed()
	}
	return done, refused
}

func (f *Service) assignInTx(ctx context.Context, tx ports.Tx, w *uow.Work, p ident.Platform, by ident.Token, a AssignCommand) (transaction.Unmatched, error) {
	u, there, err := tx.LockUnmatched(ctx, p, a.Receipt)
	if err != nil {
		return u, err
	}
	if !there {
		return u, fault.New(fault.NotFound, "There is no unmatched payment %s. Use an id of the list of unmatched funds.", a.Receipt)
	}
	made := transaction.Assignment{Transaction: a.Transaction, Account: a.Account, Note: a.Note, By: by, At: w.Now}
	switch {
	case !a.Transaction.IsZero():
		err = fundTransaction(ctx, tx, w, u, a)
	case !a.Account.IsZero():
		made.Transaction, err = depositToAccount(ctx, tx, w, u, a)
	default:
		err = returnToPayer(w, u, a)
	}
	if err != nil {
		return u, err
	}
	u.Assignment = &made
	return u, tx.AssignUnmatched(ctx, u, made)
}

// fundTransaction sets a quote off that waits for exactly this money.
func fundTransaction(ctx context.Context, tx ports.Tx, w *uow.Work, u transaction.Unmatched, a AssignCommand) error {
	key := ports.TransactionKey{Platform: u.Receipt.Platform, ID: a.Transaction}
	locked, err := tx.LockTransactions(ctx, []ports.TransactionKey{key})
	if err != nil {
		return err
	}
	t, there := locked[key]
	if !there {
		return fault.New(fault.TransactionNotFound, "There is no transaction %s.", a.Transaction)
	}
	d, err := t.AssignUnmatched(u, a.Note, w.Now)
	if err != nil {
		return err
	}
	if err := checkCapacity(ctx, tx, w, t.Accounts(), d); err != nil {
		return err
	}
	w.Update(d)
	return nil
}

// depositToAccount puts the money into an account, as a transaction with the receipt's id.
func depositToAccount(ctx context.Context, tx ports.Tx, w *uow.Work, u transaction.Unmatched, a AssignCommand) (id ident.Transaction, err error) {
	parties, err := tx.IncomingPaymentParties(ctx, []ports.IncomingPaymentKey{{Platform: u.Receipt.Platform, To: a.Account}})
	if err != nil {
		return id, err
	}
	to, owner := parties[0].To, parties[0].Owner
	switch {
	case to == nil:
		return id, fault.New(fault.InternalAccountNotFound, "There is no internal account %s.", a.Account)
	case !to.Usable():
		return id, fault.Invalid(fault.Field{Field: "to", Message: "is " + string(to.Status) + "; only an ACTIVE account receives money"})
	case owner != nil && owner.Deleted():
		return id, owner.CheckReady()
	case to.Currency != u.Receipt.Amount.Currency:
		return id, fault.New(fault.InvalidCurrency, "The account holds %s, and the payment is of %s. Choose an account of its currency.", to.Currency, u.Receipt.Amount)
	}
	id = u.DepositID()
	in := transaction.IncomingPayment{ID: id, Platform: to.Platform, Customer: to.Customer, Account: to.ID, AccountPath: quote.AccountPath(*to),
		PartnerAccount: u.Receipt.PartnerAccount, Amount: u.Receipt.Amount, Reference: u.Receipt.Reference}
	if in.Reference == "" {
		in.Reference = quote.Reference(id)
	}
	if owner != nil {
		in.PlatformCustomerID = owner.PlatformCustomerID
	}
	d, err := in.AssignUnmatched(u, a.Note, w.Now)
	if err != nil {
		return id, err
	}
	if err := checkCapacity(ctx, tx, w, d.Transaction.Accounts(), d); err != nil {
		return id, err
	}
	w.Create(d)
	return id, nil
}

// checkCapacity is nil when the accounts of a transaction can take in what was decided.
func checkCapacity(ctx context.Context, tx ports.Tx, w *uow.Work, accounts []ledger.Account, d transaction.Decision) error {
	balances, err := w.LockBalances(ctx, tx, accounts)
	if err != nil {
		return err
	}
	return uow.CheckCapacity(balances, d.Postings)
}

// returnToPayer owes the money to its payer, to whom the rail sends it.
func returnToPayer(w *uow.Work, u transaction.Unmatched, a AssignCommand) error {
	posting, err := u.SendBack(a.Note, w.Now)
	if err != nil {
		return err
	}
	w.Post(posting)
	w.Enqueue(u.Receipt.Platform, transaction.StepSendBack, u.Receipt.ID.UUID())
	return nil
}
