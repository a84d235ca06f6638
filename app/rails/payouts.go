package rails

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"causeway/app/internal/connections"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/rail"
	"causeway/ports"
)

// Waiting returns payments that wait, the oldest first: those in review or the queued ones, of one connection or of all.
func (s *Service) Waiting(ctx context.Context, state rail.State, connection string, limit int) ([]rail.Payment, error) {
	return s.Store.WaitingRailPayments(ctx, state, connection, limit)
}

// InReview returns payments of a platform that wait for a review before they are sent, the oldest first.
func (s *Service) InReview(ctx context.Context, p ident.Platform, limit int) ([]rail.Payment, error) {
	return s.Store.RailPaymentsInReview(ctx, p, limit)
}

// Decided is a payment with the decisions of operators about it.
type Decided struct {
	rail.Payment
	Decisions []ports.RailDecision
	// Said is the last reply about the payment with a code or words of the partner; zero if there is none that still counts.
	Said ports.RailReply
}

// maxShownReplies is how many replies about a payment are looked at; one that waits for weeks has some thousand.
const maxShownReplies = 20_000

// callsOf are the calls that are made about payments of a kind.
var callsOf = map[rail.Kind][]ports.RailCall{
	rail.Payout:     {ports.CallSend, ports.CallStatus},
	rail.Collection: {ports.CallCollect, ports.CallCollectionStatus},
	rail.Refund:     {ports.CallRefund},
	rail.SendBack:   {ports.CallSendBack},
}

// saidOf returns the last reply about a payment that has a code or words of the partner. What a payment waited for is over when
// it has ended, and is its reason while it is in the queue.
func saidOf(p rail.Payment, replies []ports.RailReply) (said ports.RailReply) {
	for _, r := range replies {
		waits := r.Verdict == ports.Waiting || r.Verdict == ports.Unknown
		if slices.Contains(callsOf[p.Kind], r.Call) && (r.Code != "" || r.Text != "") && (!waits || p.State.IsInFlight()) {
			said = r
		}
	}
	return said
}

// Payments returns the payments with an id, with what their partners have said: a transaction can have a payout and a refund.
// INVALID_INPUT: there is none.
func (s *Service) Payments(ctx context.Context, id uuid.UUID) ([]Decided, error) {
	found, err := s.Store.RailPaymentsByID(ctx, id)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, noPayment(id)
	}
	payments := make([]Decided, len(found))
	for i, p := range found {
		payments[i].Payment = p
		replies, err := s.Store.RailReplies(ctx, p.Platform, p.ID, maxShownReplies)
		if err != nil {
			return nil, err
		}
		payments[i].Said = saidOf(p, replies)
		decisions, err := s.Store.RailDecisions(ctx, p.Platform, p.ID)
		if err != nil {
			return nil, err
		}
		for _, d := range decisions {
			if d.Payment.Kind == p.Kind {
				payments[i].Decisions = append(payments[i].Decisions, d)
			}
		}
	}
	return payments, nil
}

func noPayment(id uuid.UUID) error {
	return fault.New(fault.InvalidInput, "No connection has a payment %s. List those that wait with: causeway payouts list", id)
}

// Cancel ends a payout that has not left. The customer is refunded.
func (s *Service) Cancel(ctx context.Context, id uuid.UUID, by Author) (rail.Payment, error) {
	return s.decide(ctx, id, by, as(ports.CancelRailPayment, func(p rail.Payment) (rail.Payment, error) { return p.Cancel(s.Clock.Now()) }))
}

// Withdraw takes a payment that has not left back from its connection. It then waits for a review.
func (s *Service) Withdraw(ctx context.Context, id uuid.UUID, by Author) (rail.Payment, error) {
	return s.decide(ctx, id, by, as(ports.WithdrawRailPayment,
		func(p rail.Payment) (rail.Payment, error) { return p.Withdraw(s.Clock.Now()) }))
}

// Move gives a payout that has not left to another connection, in whose queue it is then.
func (s *Service) Move(ctx context.Context, id uuid.UUID, to string, by Author) (rail.Payment, error) {
	shown, err := s.Show(ctx, to)
	if err != nil {
		return rail.Payment{}, err
	}
	return s.decide(ctx, id, by, as(ports.MoveRailPayment,
		func(p rail.Payment) (rail.Payment, error) { return p.Move(shown.Connection, s.Clock.Now()) }))
}

// MarkNotSent records that a payout was not sent although it has left by the records. When a second person has confirmed it, the payout
// is cancelled and the customer refunded; until then it stays as it is.
func (s *Service) MarkNotSent(ctx context.Context, id uuid.UUID, by Author) (rail.Payment, error) {
	by, err := by.check()
	if err != nil {
		return rail.Payment{}, err
	}
	return s.decide(ctx, id, by, func(p rail.Payment, earlier []ports.RailDecision) (rail.Payment, ports.RailDecisionKind, error) {
		var reports []rail.NotSentReport
		for _, d := range earlier {
			if d.Decision == ports.ReportRailPaymentNotSent && d.Payment.Kind == p.Kind {
				reports = append(reports, rail.NotSentReport{Actor: d.Actor, Person: d.Person, At: d.At})
			}
		}
		after, confirmed, err := p.MarkNotSent(rail.NotSentReport{Actor: by.Actor, Person: by.Person, At: s.Clock.Now()}, reports)
		if confirmed {
			return after, ports.ConfirmRailPaymentNotSent, err
		}
		return after, ports.ReportRailPaymentNotSent, err
	})
}

// decision is what an operator decides about a payment, given what was decided before.
type decision func(p rail.Payment, earlier []ports.RailDecision) (rail.Payment, ports.RailDecisionKind, error)

func as(kind ports.RailDecisionKind, change func(rail.Payment) (rail.Payment, error)) decision {
	return func(p rail.Payment, _ []ports.RailDecision) (rail.Payment, ports.RailDecisionKind, error) {
		after, err := change(p)
		return after, kind, err
	}
}

// decide changes the payment with an id that has not ended, and records who did it and why.
func (s *Service) decide(ctx context.Context, id uuid.UUID, by Author, change decision) (rail.Payment, error) {
	by, err := by.check()
	if err != nil {
		return rail.Payment{}, err
	}
	target, err := s.undecided(ctx, id)
	if err != nil {
		return rail.Payment{}, err
	}
	return s.decidePayment(ctx, target, by, change)
}

// undecided returns the payment with an id that has not ended.
func (s *Service) undecided(ctx context.Context, id uuid.UUID) (target rail.Payment, err error) {
	found, err := s.Store.RailPaymentsByID(ctx, id)
	if err != nil {
		return target, err
	}
	if len(found) == 0 {
		return target, noPayment(id)
	}
	target = found[0]
	for _, p := range found { // a transaction can have a payout and a refund
		if p.State.IsWaiting() || p.State.IsInFlight() {
			target = p
		}
	}
	return target, nil
}

// decidePayment is decide for a payment as it was read.
func (s *Service) decidePayment(ctx context.Context, target rail.Payment, by Author, change decision) (decided rail.Payment, err error) {
	earlier, err := s.Store.RailDecisions(ctx, target.Platform, target.ID)
	if err != nil {
		return decided, err
	}
	err = ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) error {
		now := s.Clock.Now()
		decided, err = s.decideIn(ctx, tx, target, earlier, change,
			ports.RailDecision{ID: s.IDs.New(now), Author: by.author(), Note: by.Note, At: now})
		return err
	})
	return decided, err
}

// decideIn changes a payment as it was read, given what was decided about it before, and records the decision.
func (s *Service) decideIn(ctx context.Context, tx Tx, target rail.Payment, earlier []ports.RailDecision, change decision,
	d ports.RailDecision) (after rail.Payment, err error) {
	key, account := ports.RailPaymentKey{Platform: target.Platform, ID: target.ID, Kind: target.Kind}, target.Account()
	accounts, err := lockAccounts(ctx, tx, account, d.At)
	if err != nil {
		return after, err
	}
	locked, err := tx.LockRailPayments(ctx, []ports.RailPaymentKey{key})
	if err != nil {
		return after, err
	}
	d.Payment = locked[key]
	if d.Payment.Account() != account {
		return after, fault.New(fault.InvalidInput,
			"Nothing was changed: the payment was given to another connection meanwhile. Repeat the command.")
	}
	after, d.Decision, err = change(d.Payment, earlier)
	if err != nil {
		return after, fault.New(fault.InvalidInput, "Nothing was changed: %v.", err)
	}
	if err := tx.UpdateRailPayments(ctx, []rail.Payment{after}); err != nil {
		return after, err
	}
	if a := accounts[account]; a != nil {
		a.Settle(d.Payment, after)
	}
	if err := tx.SaveRailAccounts(ctx, accounts, nil, d.At); err != nil {
		return after, err
	}
	if after.State == rail.Cancelled {
		if err := connections.AddCalls(ctx, tx, []rail.Payment{after}, d.At, s.IDs); err != nil {
			return after, err
		}
	}
	return after, tx.RecordRailDecision(ctx, d)
}

// lockAccounts locks the account of a payment; there is none if no connection serves it.
func lockAccounts(ctx context.Context, tx Tx, account rail.AccountKey, now time.Time) (map[rail.AccountKey]*rail.Account, error) {
	if account.Connection == "" {
		return nil, nil
	}
	return tx.LockRailAccounts(ctx, []rail.AccountKey{account}, now)
}
