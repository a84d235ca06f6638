// Package sandbox simulates a payment rail for sandbox platforms. It moves no money. The
// account's identifier selects the outcome and the delay.
//
// It keeps no state: the outcome depends on the payout and the time alone, so that repeated
// calls, from any process, return the same outcome.
package sandbox

import (
	"context"
	"time"

	"github.com/google/uuid"

	"causeway/core/corridor"
	"causeway/core/sandbox"
	"causeway/core/transaction"
	"causeway/ports"
)

// Rail is the simulated rail.
type Rail struct {
	clock ports.Clock
	speed int
	// withoutDelays: what waits for a time no longer waits.
	withoutDelays bool
	// returning: what was delivered or collected comes back, whatever its test value.
	returning bool
}

var _ ports.SimulatedRail = (*Rail)(nil)

// New returns a rail whose simulated delays are divided by speed, which is at least 1.
func New(clock ports.Clock, speed int) *Rail { return &Rail{clock: clock, speed: max(speed, 1)} }

// WithoutDelays implements ports.SimulatedRail.
func (r *Rail) WithoutDelays() ports.Rail {
	return &Rail{clock: r.clock, speed: r.speed, withoutDelays: true}
}

// Returning implements ports.SimulatedRail.
func (r *Rail) Returning() ports.Rail {
	return &Rail{clock: r.clock, speed: r.speed, withoutDelays: true, returning: true}
}

// waits reports whether a time is still to come.
func (r *Rail) waits(until, now time.Time) bool { return !r.withoutDelays && now.Before(until) }

func (r *Rail) scaleDelay(d time.Duration) time.Duration { return d / time.Duration(r.speed) }

// Send returns the outcome that the beneficiary's account of each payout selects.
func (r *Rail) Send(_ context.Context, payouts []ports.Payout) []ports.Outcome {
	outcomes := make([]ports.Outcome, len(payouts))
	now := r.clock.Now()
	for i, p := range payouts {
		outcomes[i] = r.send(p, now)
	}
	return outcomes
}

// TransactionHash implements ports.SimulatedRail.
func (r *Rail) TransactionHash(id uuid.UUID, on corridor.Rail) string { return TransactionHash(id, on) }

func (r *Rail) send(p ports.Payout, now time.Time) ports.Outcome {
	o := r.scenarioOutcome(p, now)
	if o.Verdict == ports.Done {
		o.TransactionHash = TransactionHash(p.Transaction.ID.UUID(), p.Transaction.DestinationRail)
	}
	return o
}

func (r *Rail) scenarioOutcome(p ports.Payout, now time.Time) ports.Outcome {
	if p.Transaction.Quote.IsZero() {
		return r.transfer(p, now)
	}
	completesAt := p.Transaction.UpdatedAt.Add(r.scaleDelay(sandbox.LongPaymentTime))
	switch selected := scenario(p); selected {
	case sandbox.CompletesLate, sandbox.PendingLong, sandbox.Reviewed:
		if r.waits(completesAt, now) {
			return ports.Outcome{Verdict: ports.Waiting, Accepted: true, InReview: scenario(p) == sandbox.Reviewed, RetryAt: completesAt}
		}
	case sandbox.Returned:
		return ports.Outcome{Verdict: ports.Done, RetryAt: now.Add(r.scaleDelay(sandbox.ReturnDelay))}
	case sandbox.CancelledByUser:
		return ports.Outcome{Verdict: ports.CancelledByUser, Accepted: true}
	default: // the other scenarios apply to transfers only
		if reason := selected.Reason(); reason != "" {
			return ports.Outcome{Verdict: ports.Refused, Accepted: true, Reason: reason}
		}
	}
	return ports.Outcome{Verdict: ports.Done}
}

// Waits implements ports.SimulatedRail.
func (r *Rail) Waits(p ports.Payout) bool { return r.send(p, r.clock.Now()).Verdict == ports.Waiting }

// WaitsToCollect implements ports.SimulatedRail.
func (r *Rail) WaitsToCollect(c ports.Collection) bool {
	return r.collect(c, r.clock.Now()).Verdict == ports.Waiting
}

// scenario returns what happens to the payout of a quote.
func scenario(p ports.Payout) sandbox.Scenario {
	return sandbox.PayoutScenario(p.Transaction.Destination.UMA, p.Account.Identifier())
}

// RefundFails reports whether the account that was to receive a payment selects a refund that fails.
func RefundFails(p ports.Payout) bool { return scenario(p) == sandbox.RefundFails }

// transfer returns the outcome of a payout without a quote. Only a payout that the bank rejects, or refuses for a reason of its own,
// was accepted first.
func (r *Rail) transfer(p ports.Payout, now time.Time) ports.Outcome {
	refused := ports.Outcome{Verdict: ports.Refused, Reason: transaction.CounterpartyPostFailed}
	selected := sandbox.TransferScenario(p.Account.Identifier())
	if reason := selected.Reason(); reason != "" {
		refused.Accepted, refused.Reason = true, reason
		return refused
	}
	switch selected {
	case sandbox.Succeeds, sandbox.TakenBack: // nothing is collected
		return ports.Outcome{Verdict: ports.Done}
	case sandbox.RejectedByBank:
		refused.Accepted = true
	case sandbox.PendingThenFails:
		if endsAt := p.Transaction.UpdatedAt.Add(r.scaleDelay(sandbox.PendingTime)); r.waits(endsAt, now) {
			return ports.Outcome{Verdict: ports.Waiting, RetryAt: endsAt}
		}
	default: // insufficient funds, or account closed
	}
	return refused
}

// Status reports whether delivered payouts have been returned.
func (r *Rail) Status(_ context.Context, payouts []ports.Payout) []ports.Outcome {
	outcomes := make([]ports.Outcome, len(payouts))
	now := r.clock.Now()
	for i, p := range payouts {
		outcomes[i] = ports.Outcome{Verdict: ports.Done}
		if !r.returning && (p.Transaction.Quote.IsZero() || scenario(p) != sandbox.Returned) {
			continue
		}
		if due := p.Transaction.SettledAt.Add(r.scaleDelay(sandbox.ReturnDelay)); r.waits(due, now) {
			outcomes[i] = ports.Outcome{Verdict: ports.Waiting, RetryAt: due}
		} else {
			outcomes[i] = ports.Outcome{Verdict: ports.Returned}
		}
	}
	return outcomes
}

// Collect returns the outcome that the payer's account of each collection selects.
func (r *Rail) Collect(_ context.Context, collections []ports.Collection) []ports.Outcome {
	outcomes := make([]ports.Outcome, len(collections))
	now := r.clock.Now()
	for i, c := range collections {
		outcomes[i] = r.collect(c, now)
	}
	return outcomes
}

func (r *Rail) collect(c ports.Collection, now time.Time) ports.Outcome {
	switch sandbox.TransferScenario(c.Account.Identifier()) {
	case sandbox.Succeeds, sandbox.AccountInvalid, sandbox.AccountCannotReceive, sandbox.LimitExceeded: // those are of payouts
		return ports.Outcome{Verdict: ports.Done}
	case sandbox.ComplianceRejected:
		return ports.Outcome{Verdict: ports.Refused, Reason: transaction.ComplianceRejected}
	case sandbox.TakenBack:
		return ports.Outcome{Verdict: ports.Done, RetryAt: now.Add(r.scaleDelay(sandbox.ReturnDelay))}
	case sandbox.PendingThenFails:
		if endsAt := c.Transaction.UpdatedAt.Add(r.scaleDelay(sandbox.PendingTime)); r.waits(endsAt, now) {
			return ports.Outcome{Verdict: ports.Waiting, RetryAt: endsAt}
		}
	default: // insufficient funds, account closed, or rejected by the bank
	}
	return ports.Outcome{Verdict: ports.Refused, Reason: transaction.QuoteExecutionFailed}
}

// CollectionStatus reports whether the payers' banks have taken collections back.
func (r *Rail) CollectionStatus(_ context.Context, collections []ports.Collection) []ports.Outcome {
	outcomes := make([]ports.Outcome, len(collections))
	now := r.clock.Now()
	for i, c := range collections {
		outcomes[i] = ports.Outcome{Verdict: ports.Done}
		if r.returning || sandbox.TransferScenario(c.Account.Identifier()) == sandbox.TakenBack {
			outcomes[i] = r.takenBack(c.Transaction, now)
		}
	}
	return outcomes
}

// takenBack returns the outcome for a collection that is taken back some time after its transaction has last changed.
func (r *Rail) takenBack(t transaction.Transaction, now time.Time) ports.Outcome {
	since := t.SettledAt
	if since.IsZero() {
		since = t.UpdatedAt
	}
	due := since.Add(r.scaleDelay(sandbox.ReturnDelay))
	if r.waits(due, now) {
		return ports.Outcome{Verdict: ports.Done, RetryAt: due}
	}
	if r.returning {
		due = now
	}
	code := "AM04" // ISO 20022: insufficient funds
	if t.SourceRail == corridor.ACH {
		code = "R01"
	}
	return ports.Outcome{Verdict: ports.Returned, Code: code, Text: "Insufficient funds", PartnerID: "RETURN-" + t.ID.UUID().String(),
		ReturnedAt: due}
}

// Refund returns Done, except for a payout whose account selects a failed refund.
func (r *Rail) Refund(_ context.Context, refunds []ports.Refund) []ports.Outcome {
	outcomes := make([]ports.Outcome, len(refunds))
	for i, refund := range refunds {
		outcomes[i] = ports.Outcome{Verdict: ports.Done}
		if refund.Payout != nil && !refund.Payout.Transaction.Quote.IsZero() && RefundFails(*refund.Payout) &&
			refund.Payout.Transaction.State.Stage == transaction.Converted {
			outcomes[i] = ports.Outcome{Verdict: ports.Refused}
		}
	}
	return outcomes
}
