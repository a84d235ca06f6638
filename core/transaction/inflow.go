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
	// StepAsk: ask the platform's endpoint for approval.
	StepAsk Step = "ask"
	// StepTimeOut: end what the platform has not decided in time.
	StepTimeOut Step = "time-out"
	// StepForward: send on what came for a person whose money is wanted elsewhere.
	StepForward Step = "forward"
)

// ApprovalTime is how long a platform that said it will decide has for it.
const ApprovalTime = 5 * time.Second

// The reasons for which an incoming transaction fails.
const (
	ApprovalWebhookError FailureReason = "PAYMENT_APPROVAL_WEBHOOK_ERROR"
	ApprovalTimedOut     FailureReason = "PAYMENT_APPROVAL_TIMED_OUT"
	MissingPayeeData     FailureReason = "MISSING_MANDATORY_PAYEE_DATA"
	// PayRequestFailed: the platform said no to the sending side.
	PayRequestFailed FailureReason = "PAY_REQUEST_FAILED"
)

// Inflow is money for an internal account.
type Inflow struct {
	ID       ident.Transaction
	Platform ident.Platform
	// Customer owns the account; zero when it is the platform's own.
	Customer           ident.Customer
	PlatformCustomerID string
	// Source is an external account, a person elsewhere, or nothing when somebody has
	// paid in.
	Source  Endpoint
	Account ident.InternalAccount
	// To is the UMA address that the money was sent to; empty where it was to the account.
	To string
	// Partner is the ledger path the money comes by, Path that of the account.
	Partner, Path string
	Amount        money.Amount
	Reference     string
}

// Await is the transaction for money that the rail is asked for.
func (in Inflow) Await(now time.Time) Decision {
	return Decision{Transaction: in.transaction(now), Next: StepPull}
}

// Ask is the transaction for money that comes when the platform agrees.
func (in Inflow) Ask(a Approval, counterparty map[string]string, now time.Time) Decision {
	t := in.transaction(now)
	t.Approval, t.Counterparty = &a, counterparty
	return Decision{Transaction: t, Next: StepAsk}
}

// Deposit is the transaction for money that is here.
func (in Inflow) Deposit(now time.Time) Decision {
	return in.transaction(now).credited(now)
}

func (in Inflow) transaction(now time.Time) Transaction {
	in.Source.Customer, in.Source.Currency = in.Customer, in.Amount.Currency
	return Transaction{
		ID: in.ID, Platform: in.Platform, Customer: in.Customer, PlatformCustomerID: in.PlatformCustomerID,
		Type: Incoming, State: Initial, Source: in.Source,
		Destination: Endpoint{InternalAccount: in.Account, UMA: in.To, Customer: in.Customer, Currency: in.Amount.Currency},
		InRail:      in.Partner, OutRail: in.Path,
		Pricing:   AtPar(in.Amount),
		Reference: in.Reference, CreatedAt: now, UpdatedAt: now,
	}
}

// Arrived credits the account with money that the rail has brought.
func (t Transaction) Arrived(now time.Time) (Decision, error) {
	if _, err := t.Stand().After(Arrive); err != nil {
		return Decision{}, err
	}
	return t.credited(t.nextMoment(now)), nil
}

// Missed ends a transaction whose money does not come.
func (t Transaction) Missed(reason FailureReason, now time.Time) (Decision, error) {
	return t.declined(Miss, reason, now)
}

// Approved credits the account, when the platform takes the payment and tells what
// was asked of it. Faults: TRANSACTION_NOT_PENDING_PLATFORM_APPROVAL, also when the
// time to decide is over; INVALID_INPUT for missing facts about the receiver.
func (t Transaction) Approved(receiver map[string]string, now time.Time) (Decision, error) {
	if err := t.pendingApproval(Approve, now); err != nil {
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
	return t.credited(t.nextMoment(now)), nil
}

// Rejected ends a payment that the platform does not take; the note is in its own
// words. Faults: as Approved.
func (t Transaction) Rejected(reason FailureReason, note string, now time.Time) (Decision, error) {
	if err := t.pendingApproval(Reject, now); err != nil {
		return Decision{}, err
	}
	approval := *t.Approval
	approval.Note = note
	t.Approval = &approval
	return t.declined(Reject, reason, now)
}

// Acknowledged gives the platform its time to decide.
func (t Transaction) Acknowledged(now time.Time) (Decision, error) {
	if _, err := t.Stand().After(Acknowledge); err != nil {
		return Decision{}, err
	}
	approval := *t.Approval
	approval.Until = now.Add(ApprovalTime)
	t.Approval, t.UpdatedAt = &approval, t.nextMoment(now)
	return Decision{Transaction: t, Next: StepTimeOut, Due: approval.Until}, nil
}

// TimedOut ends a payment that the platform did not decide about in time.
func (t Transaction) TimedOut(now time.Time) (Decision, error) {
	if t.Stand() == Deciding && now.Before(t.Approval.Until) {
		return Decision{}, fault.New(fault.Conflict, "the platform has until %s to decide about %s", t.Approval.Until.Format(time.RFC3339), t.ID)
	}
	return t.declined(TimeOut, ApprovalTimedOut, now)
}

func (t Transaction) pendingApproval(a Arrival, now time.Time) error {
	if t.Type != Incoming || t.Approval == nil {
		return fault.New(fault.TransactionNotPendingPlatformApproval, "The transaction %s asks for no approval.", t.ID)
	}
	if _, err := t.Stand().After(a); err != nil {
		return fault.New(fault.TransactionNotPendingPlatformApproval, "The transaction is %s; nothing is left to decide about it.", t.State.Status)
	}
	if t.Stand() == Deciding && !now.Before(t.Approval.Until) {
		return fault.New(fault.TransactionNotPendingPlatformApproval,
			"The time to decide was over at %s; the payment fails.", t.Approval.Until.Format(time.RFC3339Nano))
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
	t.State, t.UpdatedAt, t.SettledAt = State{Status: Completed, Reached: Delivered}, now, now
	arrival := ledger.Arrival{Partner: t.InRail, To: t.OutRail, Amount: t.Pricing.Received}
	posting := ledger.Deposit(t.header(ledger.KindDeposit, now), arrival)
	if t.pulled() {
		posting = ledger.TransferIn(t.header(ledger.KindTransferIn, now), arrival)
	}
	d := Decision{Transaction: t, Postings: []ledger.Posting{posting}, Events: []string{"INCOMING_PAYMENT.COMPLETED"}}
	if t.Source.UMA != "" {
		d.Next = StepForward
	}
	return d
}

func (t Transaction) declined(a Arrival, reason FailureReason, now time.Time) (Decision, error) {
	if _, err := t.Stand().After(a); err != nil {
		return Decision{}, err
	}
	t.State, t.UpdatedAt = State{Status: Failed, Reason: reason}, t.nextMoment(now)
	return Decision{Transaction: t, Events: []string{"INCOMING_PAYMENT.FAILED"}}, nil
}

func (t Transaction) pulled() bool { return !t.Source.ExternalAccount.IsZero() }

// nextMoment is now, or a millisecond after the last change where that is later.
func (t Transaction) nextMoment(now time.Time) time.Time {
	if earliest := t.UpdatedAt.Add(time.Millisecond); now.Before(earliest) {
		return earliest
	}
	return now
}
