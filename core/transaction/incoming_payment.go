package transaction

import (
	"slices"
	"time"

	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/ledger"
)

// The steps of incoming transactions.
const (
	// StepPull: ask an external account for the money of a transfer in.
	StepPull Step = "pull"
	// StepRequestApproval: ask the platform's endpoint for approval.
	StepRequestApproval Step = "ask"
	// StepTimeOut: end what the platform has not decided in time.
	StepTimeOut Step = "time-out"
	// StepForward: send on what came for a person whose money is wanted elsewhere.
	StepForward Step = "forward"
)

// ApprovalTimeout is how long a platform that said it will decide has for it.
const ApprovalTimeout = 5 * time.Second

// The reasons for which an incoming transaction fails.
const (
	ApprovalWebhookError FailureReason = "PAYMENT_APPROVAL_WEBHOOK_ERROR"
	ApprovalTimedOut     FailureReason = "PAYMENT_APPROVAL_TIMED_OUT"
	MissingPayeeData     FailureReason = "MISSING_MANDATORY_PAYEE_DATA"
	// PayRequestFailed: the platform said no to the sending side.
	PayRequestFailed FailureReason = "PAY_REQUEST_FAILED"
)

// IncomingPayment is money for an internal account.
type IncomingPayment struct {
	ID       ident.Transaction
	Platform ident.Platform
	// Customer owns the account; zero when it is the platform's own.
	Customer           ident.Customer
	PlatformCustomerID string
	// Source is an external account, a person elsewhere, or nothing when somebody has
	// paid in.
	Source  Endpoint
	Account ident.InternalAccount
	// ToUMA is the UMA address that the money was sent to; empty where it was to the account.
	ToUMA string
	// PartnerAccount is the ledger path the money comes by, Path that of the account.
	PartnerAccount, AccountPath string
	Amount                      money.Amount
	Reference                   string
}

// RequestFunds is the transaction for money that the rail is asked for.
func (in IncomingPayment) RequestFunds(now time.Time) Decision {
	return Decision{Transaction: in.newTransaction(now), Next: StepPull}
}

// RequestApproval is the transaction for money that comes when the platform agrees.
func (in IncomingPayment) RequestApproval(a Approval, counterparty map[string]string, now time.Time) Decision {
	t := in.newTransaction(now)
	t.Approval, t.Counterparty = &a, counterparty
	return Decision{Transaction: t, Next: StepRequestApproval}
}

// Deposit is the transaction for money that is here.
func (in IncomingPayment) Deposit(now time.Time) Decision {
	return in.newTransaction(now).credited(now)
}

func (in IncomingPayment) newTransaction(now time.Time) Transaction {
	in.Source.Customer, in.Source.Currency = in.Customer, in.Amount.Currency
	return Transaction{
		ID: in.ID, Platform: in.Platform, Customer: in.Customer, PlatformCustomerID: in.PlatformCustomerID,
		Type: Incoming, State: Initial, Source: in.Source,
		Destination:   Endpoint{InternalAccount: in.Account, UMA: in.ToUMA, Customer: in.Customer, Currency: in.Amount.Currency},
		SourceAccount: in.PartnerAccount, DestinationAccount: in.AccountPath,
		Pricing:   AtPar(in.Amount),
		Reference: in.Reference, CreatedAt: now, UpdatedAt: now,
	}
}

// Arrived credits the account with money that the rail has brought.
func (t Transaction) Arrived(now time.Time) (Decision, error) {
	if _, err := t.IncomingState().Next(Arrive); err != nil {
		return Decision{}, err
	}
	return t.credited(t.nextUpdateTime(now)), nil
}

// Failed ends a transaction whose money does not come.
func (t Transaction) Failed(reason FailureReason, now time.Time) (Decision, error) {
	return t.declined(Fail, reason, now)
}

// Approved credits the account, when the platform takes the payment and tells what
// was asked of it. Faults: TRANSACTION_NOT_PENDING_PLATFORM_APPROVAL, also when the
// time to decide is over; INVALID_INPUT for missing facts about the receiver.
func (t Transaction) Approved(receiver map[string]string, now time.Time) (Decision, error) {
	if err := t.checkPendingApproval(Approve, now); err != nil {
		return Decision{}, err
	}
	if missing := t.Approval.Missing(receiver); len(missing) > 0 {
		bad := make([]fault.Field, len(missing))
		for i, name := range missing {
			bad[i] = fault.Field{Field: "receiverCustomerInfo." + name, Message: "must be given: the sending side asks for it"}
		}
		return Decision{}, fault.Invalid(bad...)
	}
	approval := *t.Approval
	approval.Receiver = receiver
	t.Approval = &approval
	return t.credited(t.nextUpdateTime(now)), nil
}

// Rejected ends a payment that the platform does not take; the note is in its own
// words. Faults: as Approved.
func (t Transaction) Rejected(reason FailureReason, note string, now time.Time) (Decision, error) {
	if err := t.checkPendingApproval(Reject, now); err != nil {
		return Decision{}, err
	}
	approval := *t.Approval
	approval.Note = note
	t.Approval = &approval
	return t.declined(Reject, reason, now)
}

// Acknowledged gives the platform its time to decide.
func (t Transaction) Acknowledged(now time.Time) (Decision, error) {
	if _, err := t.IncomingState().Next(Acknowledge); err != nil {
		return Decision{}, err
	}
	approval := *t.Approval
	approval.Deadline = now.Add(ApprovalTimeout)
	t.Approval, t.UpdatedAt = &approval, t.nextUpdateTime(now)
	return Decision{Transaction: t, Next: StepTimeOut, Due: approval.Deadline}, nil
}

// TimedOut ends a payment that the platform did not decide about in time.
func (t Transaction) TimedOut(now time.Time) (Decision, error) {
	if t.IncomingState() == ApprovalPending && now.Before(t.Approval.Deadline) {
		return Decision{}, fault.New(fault.Conflict, "the platform has until %s to decide about %s", t.Approval.Deadline.Format(time.RFC3339), t.ID)
	}
	return t.declined(TimeOut, ApprovalTimedOut, now)
}

func (t Transaction) checkPendingApproval(a IncomingEvent, now time.Time) error {
	if t.Type != Incoming || t.Approval == nil {
		return fault.New(fault.TransactionNotPendingPlatformApproval, "The transaction %s asks for no approval.", t.ID)
	}
	if _, err := t.IncomingState().Next(a); err != nil {
		return fault.New(fault.TransactionNotPendingPlatformApproval, "The transaction is %s; nothing is left to decide about it.", t.State.Status)
	}
	if t.IncomingState() == ApprovalPending && !now.Before(t.Approval.Deadline) {
		return fault.New(fault.TransactionNotPendingPlatformApproval,
			"The time to decide was over at %s; the payment fails.", t.Approval.Deadline.Format(time.RFC3339Nano))
	}
	return nil
}

// Missing names the mandatory facts that are asked for and not given.
func (a Approval) Missing(given map[string]string) []string {
	var missing []string
	for _, field := range a.Requested {
		if field.Mandatory && given[field.Name] == "" {
			missing = append(missing, field.Name)
		}
	}
	slices.Sort(missing)
	return missing
}

// credited is the decision that puts the money in the account at this moment.
func (t Transaction) credited(now time.Time) Decision {
	t.State, t.UpdatedAt, t.SettledAt = State{Status: Completed, Stage: Delivered}, now, now
	arrival := ledger.IncomingFunds{Partner: t.SourceAccount, To: t.DestinationAccount, Amount: t.Pricing.Received}
	posting := ledger.Deposit(t.header(ledger.KindDeposit, now), arrival)
	if t.isPulled() {
		posting = ledger.TransferIn(t.header(ledger.KindTransferIn, now), arrival)
	}
	d := Decision{Transaction: t, Postings: []ledger.Posting{posting}, Events: []string{"INCOMING_PAYMENT.COMPLETED"}}
	if t.Source.UMA != "" {
		d.Next = StepForward
	}
	return d
}

func (t Transaction) declined(a IncomingEvent, reason FailureReason, now time.Time) (Decision, error) {
	if _, err := t.IncomingState().Next(a); err != nil {
		return Decision{}, err
	}
	t.State, t.UpdatedAt = State{Status: Failed, Reason: reason}, t.nextUpdateTime(now)
	return Decision{Transaction: t, Events: []string{"INCOMING_PAYMENT.FAILED"}}, nil
}

func (t Transaction) isPulled() bool { return !t.Source.ExternalAccount.IsZero() }

// nextUpdateTime is now, or a millisecond after the last change where that is later.
func (t Transaction) nextUpdateTime(now time.Time) time.Time {
	if earliest := t.UpdatedAt.Add(time.Millisecond); now.Before(earliest) {
		return earliest
	}
	return now
}
