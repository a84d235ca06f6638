package accounting

import (
	"context"
	"strings"
	"time"

	"github.com/google/uuid"

	"causeway/app/internal/foureyes"
	"causeway/app/internal/limiting"
	"causeway/app/internal/uow"
	"causeway/core/account"
	"causeway/core/books"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/limit"
	"causeway/core/platform"
	"causeway/core/proposal"
	"causeway/core/transaction"
	"causeway/ledger"
	"causeway/ports"
)

// AssignCommand assigns unmatched funds to a transaction or to an account, or sends them back
// to the payer if both are zero.
type AssignCommand struct {
	Receipt     ident.Receipt         `json:"receiptId"`
	Transaction ident.Transaction     `json:"transactionId,omitzero"`
	Account     ident.InternalAccount `json:"accountId,omitzero"`
	// Note is the reason and becomes the memo of the posting: 1 to 200 bytes.
	Note string `json:"note"`
	// limits are those of the platform when the assignment is carried out, and ownership those of unproven wallets.
	limits    limit.Rules
	ownership account.OwnershipLimits
	sendBack  sendBack
}

// AssignTo returns the command that assigns a receipt to what a person names: PAYER, or the id of an internal account or of the
// transaction of a quote.
func AssignTo(receipt ident.Receipt, to, note string) (a AssignCommand, err error) {
	a.Receipt, a.Note = receipt, note
	switch {
	case to == "PAYER":
		return a, nil
	case strings.HasPrefix(to, ident.Transaction{}.Prefix()+":"):
		a.Transaction, err = ident.ParseTransaction(to)
	default:
		a.Account, err = ident.ParseInternalAccount(to)
	}
	if err != nil {
		err = fault.Invalid(fault.Field{Field: "to", Message: "must be the id of a transaction, the id of an internal account, or PAYER"})
	}
	return a, err
}

// maxNoteBytes is the maximum length of a note, which is a posting's memo.
const maxNoteBytes = 200

// Unmatched lists the payments that are or were in funding/unmatched, the suspense account.
func (s *Service) Unmatched(ctx context.Context, p ident.Platform, filter ports.UnmatchedFilter) (ports.UnmatchedPage, error) {
	return s.Store.Unmatched(ctx, p, filter)
}

// CountUnmatched counts the payments and refunds of the unmatched funds that nobody has assigned, at most atMost.
func (s *Service) CountUnmatched(ctx context.Context, p ident.Platform, atMost int) (int, error) {
	return s.Store.CountUnmatched(ctx, p, atMost)
}

// UnmatchedDetails are unmatched funds with what has become of sending them back: what rails have said, and when they were paid, with the
// posting.
type UnmatchedDetails struct {
	transaction.Unmatched
	Replies    []ports.RailReply
	SentBackAt time.Time
	// Refund is what rails have said about the refund that failed, and SaidPaid that the partner has since said that it was paid.
	Refund   []ports.RailReply
	SaidPaid bool
	Paid     uuid.UUID
}

// UnmatchedOf returns the unmatched funds of a receipt, or of the transaction with that UUID whose refund failed; if they were unmatched
// twice, the later ones. Fault: NOT_FOUND.
func (s *Service) UnmatchedOf(ctx context.Context, p ident.Platform, receipt ident.Receipt) (u UnmatchedDetails, err error) {
	var found bool
	if u.Unmatched, found, err = s.Store.UnmatchedOf(ctx, p, receipt); err != nil {
		return u, err
	}
	if !found {
		return u, unmatchedNotFound(receipt)
	}
	if u.Refund, u.SaidPaid, err = s.sayingsOfRefund(ctx, u.Unmatched); err != nil || u.Assignment == nil || !u.Assignment.IsSentBack() {
		return u, err
	}
	if u.Replies, err = s.Store.RailReplies(ctx, p, u.SentBack().UUID(), maxSendBackReplies); err != nil {
		return u, err
	}
	// Money that was taken back before it was sent is posted under the id of the transaction whose refund failed.
	for _, of := range []uuid.UUID{u.SentBack().UUID(), u.Receipt.ID.UUID()} {
		id := ledger.DerivedID(of, ledger.KindRefundPaid, 0)
		paid, found, err := s.Ledger.RecordedPosting(ctx, p, id)
		if err != nil {
			return u, err
		}
		if found {
			u.Paid, u.SentBackAt = id, paid.Recorded
			break
		}
	}
	return u, nil
}

// maxSendBackReplies is how many replies of rails are shown with unmatched funds, the first ones.
const maxSendBackReplies = 100

func unmatchedNotFound(receipt ident.Receipt) error {
	return fault.New(fault.NotFound, "No unmatched payment has the id %s. List them with GET /ledger/unmatched.", receipt)
}

// AssignUnmatched assigns an unmatched payment, once, or makes a proposal of that. Faults: NOT_FOUND; CONFLICT
// if it is assigned already or cannot be assigned this way; INVALID_INPUT; TRANSACTION_NOT_FOUND;
// INTERNAL_ACCOUNT_NOT_FOUND; INVALID_CURRENCY; AMOUNT_OUT_OF_RANGE; CUSTOMER_DELETED; those of
// transaction.CheckParties, limit.Rules.Check and foureyes.Run.
func (s *Service) AssignUnmatched(ctx context.Context, p ident.Platform, by platform.Author, a AssignCommand,
	request *ports.IdempotentRequest) (proposal.Outcome[transaction.Unmatched], error) {
	return foureyes.Run(ctx, s.foureyes(), s.assignment(), p, by, request, a)
}

func (s *Service) assignment() foureyes.Operation[Tx, AssignCommand, transaction.Unmatched] {
	return foureyes.Operation[Tx, AssignCommand, transaction.Unmatched]{ID: "assignUnmatched", Action: books.ActionAssignment,
		Check: checkAssignment, Prepare: s.prepareAssignment, Execute: s.assign}
}

// Executors carry out the approved proposals of this service.
func (s *Service) Executors() []foureyes.Executor {
	return []foureyes.Executor{s.assignment().Executor(s.foureyes())}
}

func (s *Service) foureyes() foureyes.Config[Tx] {
	return foureyes.Config[Tx]{Store: s.Store, Clock: s.Clock, IDs: s.IDs}
}

func checkAssignment(_ context.Context, _ ident.Platform, a AssignCommand) error {
	if a.Note == "" || len(a.Note) > maxNoteBytes {
		return fault.Invalid(fault.Field{Field: "note", Message: "must have 1 to 200 bytes"})
	}
	return nil
}

func (s *Service) prepareAssignment(ctx context.Context, p ident.Platform, a AssignCommand) (_ AssignCommand, err error) {
	switch {
	case a.Transaction.IsZero() && a.Account.IsZero():
		a.sendBack, err = s.readSendBack(ctx, p, a.Receipt)
		return a, err
	case a.Transaction.IsZero():
		return a, nil
	}
	if a.limits, err = s.Store.LimitRulesOf(ctx, p); err == nil && s.OwnershipLimits != nil {
		a.ownership, err = s.OwnershipLimits(ctx)
	}
	return a, err
}

func (s *Service) assign(ctx context.Context, tx Tx, c foureyes.Change,
	a AssignCommand) (done transaction.Unmatched, made string, err error) {
	work := uow.NewWork(c.At, s.IDs, 0)
	if done, err = s.assignInTx(ctx, tx, work, c, a); err != nil {
		return done, "", err
	}
	made = done.Receipt.ID.String()
	if assigned := done.Assignment.Transaction; !assigned.IsZero() {
		made = assigned.String()
	}
	return done, made, work.Write(ctx, tx)
}

func (s *Service) assignInTx(ctx context.Context, tx Tx, w *uow.Work, c foureyes.Change,
	a AssignCommand) (transaction.Unmatched, error) {
	// The receipt that is sent back is locked first, as by who takes it back.
	payerHasIt, err := payerHas(ctx, tx, c.Platform, a)
	if err != nil {
		return transaction.Unmatched{}, err
	}
	u, found, err := tx.LockUnmatched(ctx, c.Platform, a.Receipt)
	if err != nil {
		return u, err
	}
	if !found {
		return u, unmatchedNotFound(a.Receipt)
	}
	assignment := transaction.Assignment{Transaction: a.Transaction, Account: a.Account, Note: a.Note, By: c.By,
		Approval: c.Approval, At: w.Now}
	switch {
	case !a.Transaction.IsZero():
		err = s.fundTransaction(ctx, tx, w, u, a)
	case !a.Account.IsZero():
		assignment.Transaction, err = depositToAccount(ctx, tx, w, u, a)
	default:
		err = returnToPayer(ctx, tx, w, u, a, payerHasIt)
	}
	if err != nil {
		return u, err
	}
	u.Assignment = &assignment
	return u, tx.AssignUnmatched(ctx, u, assignment)
}

// fundTransaction executes a pending quote that the payment funds exactly, and that may be sent: the limits count it.
func (s *Service) fundTransaction(ctx context.Context, tx Tx, w *uow.Work, u transaction.Unmatched, a AssignCommand) error {
	key := ports.TransactionKey{Platform: u.Receipt.Platform, ID: a.Transaction}
	t, err := lockTransaction(ctx, tx, key)
	if err != nil {
		return err
	}
	parties, err := tx.TransactionParties(ctx, key)
	if err != nil {
		return err
	}
	parties.OwnershipLimits = a.ownership
	d, err := t.AssignUnmatched(u, parties, a.Note, w.Now)
	if err != nil {
		return err
	}
	if err := checkCapacity(ctx, tx, w, t.Accounts(), d); err != nil {
		return err
	}
	limits := limiting.New(s.Clock.Now()) // the day on which it is sent, also if the change was begun before midnight
	payment := limiting.PaymentOf(t.Pricing.Sent, parties.Customer)
	if err := limits.Lock(ctx, tx, u.Receipt.Platform, a.limits, []limit.Payment{payment}); err != nil {
		return err
	}
	if err := limits.Check(&d.Transaction, parties.Customer); err != nil {
		return err
	}
	limits.Count(d.Transaction)
	w.Update(d)
	return limits.Write(ctx, tx)
}

func lockTransaction(ctx context.Context, tx Tx, key ports.TransactionKey) (transaction.Transaction, error) {
	locked, err := tx.LockTransactions(ctx, []ports.TransactionKey{key})
	t, found := locked[key]
	if err == nil && !found {
		err = fault.New(fault.TransactionNotFound, "No transaction has the id %s.", key.ID)
	}
	return t, err
}

// depositToAccount credits the payment to an account and returns the transaction that it creates.
func depositToAccount(ctx context.Context, tx Tx, w *uow.Work, u transaction.Unmatched,
	a AssignCommand) (id ident.Transaction, err error) {
	parties, err := tx.IncomingPaymentParties(ctx, []ports.IncomingPaymentKey{{Platform: u.Receipt.Platform, To: a.Account}})
	if err != nil {
		return id, err
	}
	to, owner := parties[0].To, parties[0].Owner
	switch {
	case to == nil:
		return id, fault.New(fault.InternalAccountNotFound, "No internal account has the id %s.", a.Account)
	case !to.Usable():
		return id, fault.Invalid(fault.Field{Field: "to", Message: "is " + string(to.Status) + "; only an ACTIVE account can receive funds"})
	case owner != nil && owner.Deleted():
		return id, owner.CheckReady()
	case to.Currency != u.Receipt.Amount.Currency:
		return id, fault.New(fault.InvalidCurrency, "The account is in %s and the payment is %s. Choose an account in its currency.",
			to.Currency, u.Receipt.Amount)
	}
	id = u.DepositID()
	in := transaction.IncomingPayment{ID: id, Platform: to.Platform, Customer: to.Customer, Account: to.ID, AccountPath: (*to).LedgerPath(),
		Rail: u.Receipt.Rail, Amount: u.Receipt.Amount, Reference: u.Receipt.Reference}
	if u.RefundOf.IsZero() {
		in.Receipt = u.Receipt.ID
	}
	if in.Reference == "" {
		in.Reference = transaction.NewReference(id)
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
	if owner != nil {
		if owner.DeletedAt = w.OwnerDeletedAt((*to).LedgerAccount()); owner.Deleted() {
			return id, owner.CheckReady()
		}
	}
	w.Create(d)
	return id, nil
}

// checkCapacity returns an error if a decision would exceed the maximum balance of an account.
func checkCapacity(ctx context.Context, tx Tx, w *uow.Work, accounts []ledger.Account, d transaction.Decision) error {
	balances, err := w.LockBalances(ctx, tx, accounts)
	if err != nil {
		return err
	}
	return uow.CheckCapacity(balances, d.Postings)
}
