// Package sandbox is the rail of sandbox platforms: it moves nothing, and answers
// as a real one would, quickly or slowly, for good or for ill, as the account's
// identifier asks.
//
// It keeps no state: what it says of a payout follows from the payout and the time,
// so asking again, from any process, gives the same answer.
package sandbox

import (
	"context"
	"time"

	"causeway/core/sandbox"
	"causeway/core/transaction"
	"causeway/ports"
)

// Rail is the simulated rail.
type Rail struct {
	clock ports.Clock
	speed int
}

var _ ports.Rail = (*Rail)(nil)

// New makes the rail. Simulated delays are real time divided by speed, which is 1
// or more.
func New(clock ports.Clock, speed int) *Rail { return &Rail{clock, max(speed, 1)} }

func (r *Rail) scaleDelay(d time.Duration) time.Duration { return d / time.Duration(r.speed) }

// Send answers for each payout as its beneficiary's account asks.
func (r *Rail) Send(_ context.Context, payouts []ports.Payout) []ports.Outcome {
	outcomes := make([]ports.Outcome, len(payouts))
	now := r.clock.Now()
	for i, p := range payouts {
		outcomes[i] = r.send(p, now)
	}
	return outcomes
}

func (r *Rail) send(p ports.Payout, now time.Time) ports.Outcome {
	if p.Transaction.Quote.IsZero() {
		return r.transfer(p, now)
	}
	late := p.Transaction.UpdatedAt.Add(r.scaleDelay(sandbox.LongPaymentTime))
	refused := func(reason transaction.FailureReason) ports.Outcome {
		return ports.Outcome{Verdict: ports.Refused, Accepted: true, Reason: reason}
	}
	switch scenario(p) {
	case sandbox.ExecutionFails:
		return refused(transaction.QuoteExecutionFailed)
	case sandbox.CompletesLate, sandbox.PendingLong:
		if now.Before(late) {
			return ports.Outcome{Verdict: ports.Waiting, Accepted: true, RetryAt: late}
		}
	case sandbox.DeliveryFails, sandbox.RefundFails, sandbox.ComplianceFails:
		return refused(transaction.CounterpartyPostFailed)
	case sandbox.Returned:
		return ports.Outcome{Verdict: ports.Done, RetryAt: now.Add(r.scaleDelay(sandbox.ReturnDelay))}
	case sandbox.CancelledByUser:
		return ports.Outcome{Verdict: ports.CancelledByUser, Accepted: true}
	default: // the other scenarios are those of transfers
	}
	return ports.Outcome{Verdict: ports.Done}
}

// scenario is what happens to the payout of a quote: the person at the address picks
// it, or the account.
func scenario(p ports.Payout) sandbox.Scenario {
	if address := p.Transaction.Destination.UMA; address != "" {
		return sandbox.PersonScenario(address)
	}
	return sandbox.QuoteScenario(p.Account.Identifier())
}

// transfer answers for a payout that no quote has. One that fails at once, or after
// a while, was never taken on; a bank rejects what it has taken on.
func (r *Rail) transfer(p ports.Payout, now time.Time) ports.Outcome {
	refused := ports.Outcome{Verdict: ports.Refused, Reason: transaction.CounterpartyPostFailed}
	switch sandbox.TransferScenario(p.Account.Identifier()) {
	case sandbox.Succeeds:
		return ports.Outcome{Verdict: ports.Done}
	case sandbox.RejectedByBank:
		refused.Accepted = true
	case sandbox.PendingThenFails:
		if ends := p.Transaction.UpdatedAt.Add(r.scaleDelay(sandbox.PendingTime)); now.Before(ends) {
			return ports.Outcome{Verdict: ports.Waiting, RetryAt: ends}
		}
	default: // no funds, or no account
	}
	return refused
}

// Status says of delivered payouts whether they came back.
func (r *Rail) Status(_ context.Context, payouts []ports.Payout) []ports.Outcome {
	outcomes := make([]ports.Outcome, len(payouts))
	now := r.clock.Now()
	for i, p := range payouts {
		outcomes[i] = ports.Outcome{Verdict: ports.Done}
		if p.Transaction.Quote.IsZero() || scenario(p) != sandbox.Returned {
			continue
		}
		if due := p.Transaction.SettledAt.Add(r.scaleDelay(sandbox.ReturnDelay)); now.Before(due) {
			outcomes[i] = ports.Outcome{Verdict: ports.Waiting, RetryAt: due}
		} else {
			outcomes[i] = ports.Outcome{Verdict: ports.Returned}
		}
	}
	return outcomes
}

// Collect answers for each collection as the payer's account asks.
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
	case sandbox.Succeeds:
		return ports.Outcome{Verdict: ports.Done}
	case sandbox.PendingThenFails:
		if ends := c.Transaction.UpdatedAt.Add(r.scaleDelay(sandbox.PendingTime)); now.Before(ends) {
			return ports.Outcome{Verdict: ports.Waiting, RetryAt: ends}
		}
	default: // no funds, no account, or the bank will not
	}
	return ports.Outcome{Verdict: ports.Refused, Reason: transaction.QuoteExecutionFailed}
}

// Refund answers that the payer has the money back, unless the account that was
// not to be reached asks otherwise.
func (r *Rail) Refund(_ context.Context, refunds []ports.Refund) []ports.Outcome {
	outcomes := make([]ports.Outcome, len(refunds))
	for i, refund := range refunds {
		outcomes[i] = ports.Outcome{Verdict: ports.Done}
		if refund.Payout != nil && !refund.Payout.Transaction.Quote.IsZero() && scenario(*refund.Payout) == sandbox.RefundFails &&
			refund.Payout.Transaction.State.Stage == transaction.Converted {
			outcomes[i] = ports.Outcome{Verdict: ports.Refused}
		}
	}
	return outcomes
}
