package transaction

import (
	"slices"
	"time"

	"causeway/core/corridor"
	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/ledger"
)

// The steps of incoming transactions.
const (
	// StepPull: debit the external account of a transfer in.
	StepPull Step = "pull"
	// StepRequestApproval: request approval from the platform's endpoint.
	StepRequestApproval Step = "request-approval"
	// StepTimeOut: end a payment that the platform has neither approved nor rejected in time.
	StepTimeOut Step = "time-out"
	// StepForward: send a received payment on to the customer's default account.
	StepForward Step = "forward"
)

// ApprovalTimeout is how long a platform may take to decide after its endpoint returned 202.
const ApprovalTimeout = 5 * time.Second

// The reasons for which an incoming transaction fails.
const (
	ApprovalWebhookError FailureReason = "PAYMENT_APPROVAL_WEBHOOK_ERROR"
	ApprovalTimedOut     FailureReason = "PAYMENT_APPROVAL_TIMED_OUT"
	MissingPayeeData     FailureReason = "MISSING_MANDATORY_PAYEE_DATA"
	// PayRequestFailed: the platform rejected the payment.
	PayRequestFailed FailureReason = "PAY_REQUEST_FAILED"
	// CollectionFailed: the external account could not be debited.
	CollectionFailed FailureReason = "COLLECTION_FAILED"
)

// IncomingPayment is a payment to an internal account.
type IncomingPayment struct {
	ID       ident.Transaction
	Platform ident.Platform
	// Customer owns the account; zero if it is the platform's own.
	Customer           ident.Customer
	PlatformCustomerID string
	// Source is an external account or a person at another provider; empty for a deposit.
	Source  Endpoint
	Account ident.InternalAccount
	// ToUMA is the UMA address that was paid; empty if the account was.
	ToUMA string
	// AccountPath is the ledger path of Account.
	AccountPath string
	// Rail is the rail of the incoming money.
	Rail corridor.Rail
	// Receipt is the receipt of the money, Originator who has sent it, and Hash that of its transfer on a chain; zero if there is none.
	Receipt    ident.Receipt
	Originator *Originator
	Hash       string
	Amount     money.Amount
	Reference  string
}

// RequestFunds returns the transaction of a transfer in, whose funds the rail is to collect.
func (in IncomingPayment) RequestFunds(now time.Time) Decision {
	return Decision{Transaction: in.newTransaction(now), Next: StepPull}
}

// RequestApproval returns the transaction of a payment that the platform must approve.
func (in IncomingPayment) RequestApproval(a Approval, counterparty map[string]string, now time.Time) Decision {
	t := in.newTransaction(now)
	t.Approval, t.Counterparty = &a, counterparty
	return Decision{Transaction: t, Next: StepRequestApproval}
}

// Deposit returns the completed transaction of money that was received.
func (in IncomingPayment) Deposit(now time.Time) Decision {
	return in.newTransaction(now).credited(now)
}

func (in IncomingPayment) newTransaction(now time.Time) Transaction {
	in.Source.Customer, in.Source.Currency = in.Customer, in.Amount.Currency
	return Transaction{
		ID: in.ID, Platform: in.Platform, Customer: in.Customer, PlatformCustomerID: in.PlatformCustomerID,
		Type: Incoming, State: Initial, Source: in.Source,
		Destination: Endpoint{InternalAccount: in.Account, UMA: in.ToUMA, Customer: in.Customer, Currency: in.Amount.Currency},
		SourceRail:  in.Rail, Receipt: in.Receipt, Originator: in.Originator, SourceHash: in.Hash,
		SourceAccount: in.Rail.LedgerPath(), DestinationAccount: in.AccountPath,
		Pricing:   AtPar(in.Amount),
		Reference: in.Reference, CreatedAt: now, UpdatedAt: now,
	}
}

// Arrived credits the account with the funds that its rail has collected.
func (t Transaction) Arrived(now time.Time) (Decision, error) {
	if _, err := t.IncomingState().Next(Arrive); err != nil {
		return Decision{}, err
	}
	return t.credited(t.nextUpdateTime(now)), nil
}

// Failed ends a transaction whose funds could not be collected, which executes no quote.
func (t Transaction) Failed(reason FailureReason, now time.Time) (Decision, error) {
	if reason == QuoteExecutionFailed {
		reason = CollectionFailed
	}
	return t.declined(Fail, reason, now)
}

// Approved credits the account with a payment that the platform approves, or lets its invoice be paid. receiver are the requested
// facts about the receiver, and owner is the customer as it is now. Faults:
// TRANSACTION_NOT_PENDING_PLATFORM_APPROVAL, also after the deadline; USER_NOT_READY, CUSTOMER_DELETED;
// INVALID_INPUT if a mandatory fact is missing.
func (t Transaction) Approved(receiver map[string]string, owner customer.Customer, now time.Time) (Decision, error) {
	event := Approve
	if t.isInvoiced() {
		event = AllowInvoice
	}
	if err := t.checkPendingApproval(event, now); err != nil {
		return Decision{}, err
	}
	if err := owner.CheckReady(); err != nil {
		return Decision{}, err
	}
	if missing := t.Approval.Missing(receiver); len(missing) > 0 {
		bad := make([]fault.Field, len(missing))
		for i, name := range missing {
			bad[i] = fault.Field{Field: "receiverCustomerInfo." + name, Message: "is required by the sending side"}
		}
		return Decision{}, fault.Invalid(bad...)
	}
	approval := *t.Approval
	approval.Receiver = receiver
	t.Approval = &approval
	if event == AllowInvoice {
		t.UpdatedAt = t.nextUpdateTime(now)
		approval.ApprovedAt = t.UpdatedAt
		return Decision{Transaction: t}, nil
	}
	return t.credited(t.nextUpdateTime(now)), nil
}

// Rejected ends a payment that the platform rejects, and records its note. It returns the same faults
// as Approved.
func (t Transaction) Rejected(reason FailureReason, note string, now time.Time) (Decision, error) {
	if err := t.checkPendingApproval(Reject, now); err != nil {
		return Decision{}, err
	}
	approval := *t.Approval
	approval.Note = note
	t.Approval = &approval
	return t.declined(Reject, reason, now)
}

// Acknowledged starts the time in which the platform must decide.
func (t Transaction) Acknowledged(now time.Time) (Decision, error) {
	if _, err := t.IncomingState().Next(Acknowledge); err != nil {
		return Decision{}, err
	}
	approval := *t.Approval
	approval.Deadline = now.Add(ApprovalTimeout)
	t.Approval, t.UpdatedAt = &approval, t.nextUpdateTime(now)
	return Decision{Transaction: t, Next: StepTimeOut, Due: approval.Deadline}, nil
}

// TimedOut ends a payment that the platform neither approved nor rejected in time.
func (t Transaction) TimedOut(now time.Time) (Decision, error) {
	if t.IncomingState() == ApprovalPending && now.Before(t.Approval.Deadline) {
		return Decision{}, fault.New(fault.Conflict, "the platform can decide about %s until %s", t.ID, t.Approval.Deadline.Format(time.RFC3339))
	}
	return t.declined(TimeOut, ApprovalTimedOut, now)
}

func (t Transaction) checkPendingApproval(event IncomingEvent, now time.Time) error {
	if t.Type != Incoming || t.Approval == nil {
		return fault.New(fault.TransactionNotPendingPlatformApproval, "The transaction %s needs no approval.", t.ID)
	}
	if _, err := t.IncomingState().Next(event); err != nil {
		return fault.New(fault.TransactionNotPendingPlatformApproval, "The transaction is %s and can no longer be approved or rejected.",
			t.State.Status)
	}
	if t.IncomingState() == ApprovalPending && !now.Before(t.Approval.Deadline) {
		return fault.New(fault.TransactionNotPendingPlatformApproval,
			"The time to decide ended at %s; the payment fails.", t.Approval.Deadline.Format(time.RFC3339Nano))
	}
	return nil
}

// Missing returns the names of the mandatory facts that are not provided.
func (a Approval) Missing(provided map[string]string) []string {
	var missing []string
	for _, field := range a.Requested {
		if field.Mandatory && provided[field.Name] == "" {
			missing = append(missing, field.Name)
		}
	}
	slices.Sort(missing)
	return missing
}

// credited returns the decision that credits the account now.
func (t Transaction) credited(now time.Time) Decision {
	return t.completed(now, t.creditPosting(now))
}

func (t Transaction) completed(now time.Time, postings ...ledger.Posting) Decision {
	t.State, t.UpdatedAt, t.SettledAt = State{Status: Completed, Stage: Delivered}, now, now
	d := Decision{Transaction: t, Postings: postings, Events: []string{"INCOMING_PAYMENT.COMPLETED"}}
	switch {
	case t.Destination.UMA == "": // it was not paid to a UMA address
	case ledger.IsWallet(t.DestinationAccount): // it is not forwarded, because its owner signs each payment
		d.Next = StepSettleWallet
	default:
		d.Next = StepForward
	}
	return d
}

func (t Transaction) declined(event IncomingEvent, reason FailureReason, now time.Time) (Decision, error) {
	if _, err := t.IncomingState().Next(event); err != nil {
		return Decision{}, err
	}
	t.setState(State{Status: Failed, Reason: reason})
	t.UpdatedAt = t.nextUpdateTime(now)
	return Decision{Transaction: t, Events: []string{"INCOMING_PAYMENT.FAILED"}}, nil
}

func (t Transaction) isPulled() bool { return !t.Source.ExternalAccount.IsZero() }

// nextUpdateTime returns now, or a millisecond after the last change if that is later.
func (t Transaction) nextUpdateTime(now time.Time) time.Time {
	if earliest := t.UpdatedAt.Add(time.Millisecond); now.Before(earliest) {
		return earliest
	}
	return now
}
