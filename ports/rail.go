package ports

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"

	"causeway/core/account"
	"causeway/core/corridor"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/rail"
	"causeway/core/transaction"
)

// Rail moves money outside the service, through banks and chains alike. Every call is
// idempotent by the id of the transaction, receipt or refund: a repeated call moves the
// money once, also from another process and after a crash, and returns the present outcome.
type Rail interface {
	// Instructions returns the ways to pay for a quote, or INVALID_CURRENCY. It does no
	// I/O, and returns the same for the same arguments.
	Instructions(p ident.Platform, reference string, currency money.Currency, network string) ([]account.Instruction, error)
	// Funding returns the ways to pay into an internal account, by its permanent reference.
	// Bank accounts are held for the benefit of the owner with the given name. It returns
	// none if the currency cannot be paid in. It does no I/O, and returns the same for the
	// same arguments.
	Funding(p ident.Platform, owner string, reference string, currency money.Currency) ([]account.Instruction, error)
	// Send submits payouts; one outcome per payout.
	Send(ctx context.Context, payouts []Payout) []Outcome
	// Status returns the present outcomes of submitted payouts, one per payout.
	Status(ctx context.Context, payouts []Payout) []Outcome
	// Collect pulls money from external accounts; one outcome per collection. A repeated
	// call continues the same collection.
	Collect(ctx context.Context, collections []Collection) []Outcome
	// CollectionStatus returns the present outcomes of collections that were done, one per
	// collection: Done, or Returned if the payer's bank has taken the money back.
	CollectionStatus(ctx context.Context, collections []Collection) []Outcome
	// Refund sends money back to its payers; one outcome per refund.
	Refund(ctx context.Context, refunds []Refund) []Outcome
}

// SimulatedRail is a rail that a test drives.
type SimulatedRail interface {
	Rail
	// WithoutDelays returns the rail as it answers when all its delays are over.
	WithoutDelays() Rail
	// Returning returns the rail as if every payout that was delivered had been returned since, and every collection taken back.
	Returning() Rail
	// Waits reports whether a payout was not delivered yet, so that it can be stopped.
	Waits(p Payout) bool
	// WaitsToCollect reports whether a collection is not done yet, so that it can be stopped.
	WaitsToCollect(c Collection) bool
	// TransactionHash returns the hash that a simulated transfer with an id has on a chain; empty for other rails.
	TransactionHash(id uuid.UUID, on corridor.Rail) string
}

// RefundStatusRail is a rail that says where refunds are which it was asked to send, also those that have ended.
type RefundStatusRail interface {
	Rail
	// RefundStatus returns the present outcomes of refunds, one per refund; it sends none. An original is not needed.
	RefundStatus(ctx context.Context, refunds []Refund) []Outcome
}

// Payout is money for a beneficiary: Transaction.Pricing.Received, to Account. Its id on the
// rail is the id of the transaction.
type Payout struct {
	Transaction transaction.Transaction
	Account     account.External
}

// Collection is money to pull from the account of a payer: Transaction.Pricing.Sent, from
// Account. Its id on the rail is the id of the transaction.
type Collection struct {
	Transaction transaction.Transaction
	Account     account.External
}

// Refund is money to send back to its payer, to the instrument that it came from.
type Refund struct {
	// ID is the id of the transaction or of the receipt.
	ID       uuid.UUID
	Platform ident.Platform
	// Rail is the rail or chain that received the money.
	Rail      corridor.Rail
	Reference string
	Amount    money.Amount
	// Original is the payment that had brought the money.
	Original Original
	// Payout is the payment that is refunded; nil for a receipt that is sent back.
	Payout *Payout
	// Internal: the payer has an internal account, so there is nothing to send; the rail
	// only decides whether the refund is allowed.
	Internal bool
}

// RefundStatus asks a rail where refunds are. The outcome is Unknown if the rail does not say.
func RefundStatus(ctx context.Context, r Rail, refunds []Refund) []Outcome {
	if asked, says := r.(RefundStatusRail); says {
		return asked.RefundStatus(ctx, refunds)
	}
	return slices.Repeat([]Outcome{{Verdict: Unknown}}, len(refunds))
}

// Kind returns whether it is the refund of a payment, or a receipt that is sent back.
func (r Refund) Kind() rail.Kind {
	if r.Payout == nil {
		return rail.SendBack
	}
	return rail.Refund
}

// Original is the payment that brought the money of a refund.
type Original struct {
	// PartnerID is the partner's id of it; empty if the partner has named none.
	PartnerID string
	// Collection is the transaction that collected the money, as it was sent to the rail; zero if the payer sent it.
	Collection ident.Transaction
	// Payer is the account that it came from; nil if the partner has not named it.
	Payer *account.External
}

// Verdict is a rail's verdict on a payout, collection or refund.
type Verdict string

// The verdicts.
const (
	// Done: delivered, collected or refunded.
	Done Verdict = "DONE"
	// Waiting: in progress; call again at Outcome.RetryAt. A partner that refuses for now, because it is closed,
	// busy or without funds, is waited for too.
	Waiting Verdict = "WAITING"
	// Refused: it will never be done, and no money has moved.
	Refused Verdict = "REFUSED"
	// CancelledByUser: the user cancelled it before delivery.
	CancelledByUser Verdict = "CANCELLED"
	// Returned: it was delivered, and the beneficiary's bank returned it; or it was collected, and the payer's
	// bank took it back.
	Returned Verdict = "RETURNED"
	// TakenBack: it never left and never will, because the money that it was made with was taken back.
	TakenBack Verdict = "TAKEN_BACK"
	// Unknown: the rail could not be reached, or did not say; call again. It may have done it.
	Unknown Verdict = "UNKNOWN"
)

// Outcome is the outcome of a payout, collection or refund.
type Outcome struct {
	Verdict Verdict
	// Reason is set if the verdict is Refused.
	Reason transaction.FailureReason
	// PartnerID is the partner's id of the payment, as its statements name it; empty until it is known.
	PartnerID string
	// Code is the partner's own reason for the verdict, such as AC04 (ISO 20022) or R01 (Nacha), and Text is what
	// it says about it. Both are empty if it gave none.
	Code, Text string
	// ReturnedAt is when the money was taken back, if the verdict is Returned; zero if unknown.
	ReturnedAt time.Time
	// ExpectedAt is when the partner expects to settle a payment that is Waiting; zero if unknown.
	ExpectedAt time.Time
	// Connection is the one that was called; empty if none was, or the rail has none.
	Connection string
	// NotCalled: the service has decided it, and no partner was called. Text then says why, and is not a partner's.
	NotCalled bool
	// InReview: it is Waiting for the review of an operator. TransactionHash is that of the transfer on a chain, if it is known. Both
	// are kept with the transaction, and not with the reply.
	InReview        bool
	TransactionHash string
	// Accepted: the rail accepted a payout, even if it refused it later. A transfer is
	// pending until then.
	Accepted bool
	// RetryAt is when to call again: always set if Waiting, and if Done as long as the
	// rail may still return the payment.
	RetryAt time.Time
}

// Rails selects the rail of a platform.
type Rails interface {
	// RailFor returns NOT_IMPLEMENTED if no rail is connected for the platform's
	// environment.
	RailFor(p ident.Platform) (Rail, error)
	// Carries returns NOT_IMPLEMENTED if the payments of a platform take connections, and none serves the route.
	Carries(r rail.Route) error
}

// RailsByEnvironment holds the rail of each environment; an environment may have none.
type RailsByEnvironment map[platform.Environment]Rail

// Funding returns a function that returns the funding instructions of a platform's accounts;
// nil if its environment has no rail.
func (r RailsByEnvironment) Funding(p ident.Platform, environment platform.Environment) account.InstructionsFunc {
	connected, found := r[environment]
	if !found {
		return nil
	}
	return func(owner, reference string, currency money.Currency) ([]account.Instruction, error) {
		return connected.Funding(p, owner, reference, currency)
	}
}

// RailCall is a kind of call to a rail.
type RailCall string

// The calls.
const (
	CallNone     RailCall = ""
	CallSend     RailCall = "DELIVER"
	CallCollect  RailCall = "COLLECT"
	CallRefund   RailCall = "REFUND"
	CallSendBack RailCall = "SEND_BACK"
	CallStatus   RailCall = "STATUS"
	// CallCollectionStatus asks for a collection that was done.
	CallCollectionStatus RailCall = "COLLECTION_STATUS"
)

// RailReply is a stored reply of a rail. Replies whose verdict is Done are stored only if they say more than the
// postings that followed: the partner's id or code.
type RailReply struct {
	Platform ident.Platform
	// Subject is the id of the transaction, or of the receipt that is sent back.
	Subject uuid.UUID
	Call    RailCall
	At      time.Time
	Outcome
}

// Digest returns a hash of all that is stored of the reply.
func (r RailReply) Digest() string {
	b := make([]byte, 0, 512)
	add := func(part string) {
		b = strconv.AppendInt(b, int64(len(part)), 10)
		b = append(append(append(b, ':'), part...), ',')
	}
	addTime := func(t time.Time) {
		if t.IsZero() {
			add("")
		} else {
			add(strconv.FormatInt(t.UnixMicro(), 10)) // as it is stored
		}
	}
	add("causeway reply 1")
	add(r.Platform.String())
	add(r.Subject.String())
	addTime(r.At)
	for _, part := range []string{string(r.Call), string(r.Verdict), string(r.Reason), strconv.FormatBool(r.Accepted),
		r.PartnerID, r.Code, r.Text} {
		add(part)
	}
	for _, t := range []time.Time{r.RetryAt, r.ReturnedAt, r.ExpectedAt} {
		addTime(t)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
