package railtest

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"causeway/core/money"
	"causeway/core/rail"
	"causeway/core/transaction"
	"causeway/ports"
)

// kind is a kind of payment that a rail carries.
type kind struct {
	name    string
	courses func(Features) []Course
	items   func(f Fixture, from int, courses ...Course) items
}

// items are payments of one kind, and their call.
type items struct {
	ids     []uuid.UUID
	keys    []ports.RailPaymentKey
	amounts []money.Amount
	courses []Course
	reasons bool // a refusal has one
	call    func(context.Context, ports.Rail) []ports.Outcome
}

func kinds() []kind {
	return []kind{
		{"payout", func(f Features) []Course { return f.Payouts }, payouts},
		{"collection", func(f Features) []Course { return f.Collections }, collections},
		{"refund", func(f Features) []Course { return f.Refunds }, refunds},
	}
}

func (i *items) add(key ports.RailPaymentKey, amount money.Amount) {
	i.keys, i.ids, i.amounts = append(i.keys, key), append(i.ids, key.ID), append(i.amounts, amount)
}

func payouts(f Fixture, from int, courses ...Course) items {
	made := make([]ports.Payout, len(courses))
	i := items{courses: courses, reasons: true}
	for n, c := range courses {
		made[n] = f.Payout(from+n, c)
		t := made[n].Transaction
		i.add(ports.RailPaymentKey{Platform: t.Platform, ID: t.ID.UUID(), Kind: rail.Payout}, t.Pricing.Received)
	}
	i.call = func(ctx context.Context, r ports.Rail) []ports.Outcome { return r.Send(ctx, slices.Clone(made)) }
	return i
}

func collections(f Fixture, from int, courses ...Course) items {
	made := make([]ports.Collection, len(courses))
	i := items{courses: courses, reasons: true}
	for n, c := range courses {
		made[n] = f.Collection(from+n, c)
		t := made[n].Transaction
		i.add(ports.RailPaymentKey{Platform: t.Platform, ID: t.ID.UUID(), Kind: rail.Collection}, t.Pricing.Sent)
	}
	i.call = func(ctx context.Context, r ports.Rail) []ports.Outcome {
		return r.Collect(ctx, slices.Clone(made))
	}
	return i
}

func refunds(f Fixture, from int, courses ...Course) items {
	made := make([]ports.Refund, len(courses))
	i := items{courses: courses}
	for n, c := range courses {
		made[n] = f.Refund(from+n, c)
		i.add(ports.RailPaymentKey{Platform: made[n].Platform, ID: made[n].ID, Kind: made[n].Kind()}, made[n].Amount)
	}
	i.call = func(ctx context.Context, r ports.Rail) []ports.Outcome {
		return r.Refund(ctx, slices.Clone(made))
	}
	return i
}

// maxRuns is how often the world runs until everything must have settled.
const maxRuns = 40

// ask calls the rail, and checks the form of its outcomes.
func (i items) ask(ctx context.Context, r ports.Rail) ([]ports.Outcome, error) {
	return i.checked(i.call(ctx, r))
}

func (i items) checked(outcomes []ports.Outcome) ([]ports.Outcome, error) {
	if len(outcomes) != len(i.ids) {
		return nil, fmt.Errorf("%d outcomes for %d items", len(outcomes), len(i.ids))
	}
	for n, o := range outcomes {
		switch {
		case o.Verdict == ports.Waiting && o.RetryAt.IsZero():
			return nil, fmt.Errorf("item %d (%s) is %s without a time to call again", n, i.courses[n], o.Verdict)
		case o.Verdict == ports.Refused && i.courses[n] != Rejected:
			return nil, fmt.Errorf("item %d (%s) is %s, and the partner has not refused it for good", n, i.courses[n], o.Verdict)
		case o.Verdict == ports.Refused && o.Reason == "" && i.reasons:
			return nil, fmt.Errorf("item %d is %s without a reason", n, o.Verdict)
		}
	}
	return outcomes, nil
}

// isOpen reports whether a verdict is not the last one.
func isOpen(v ports.Verdict) bool { return v == ports.Waiting || v == ports.Unknown }

// settle calls the rail and lets the world run until every outcome is final, also of processes that take turns.
func (i items) settle(ctx context.Context, f Fixture, rails ...ports.Rail) ([]ports.Outcome, error) {
	ids := make([]string, len(i.ids))
	for run := range maxRuns {
		outcomes, err := i.ask(ctx, rails[run%len(rails)])
		if err != nil {
			return nil, err
		}
		for n, o := range outcomes {
			if ids[n] != "" && o.PartnerID != "" && ids[n] != o.PartnerID {
				return nil, fmt.Errorf("item %d (%s) has the partner's id %q, and had %q before", n, i.courses[n], o.PartnerID, ids[n])
			}
			if o.PartnerID != "" {
				ids[n] = o.PartnerID
			}
		}
		if !slices.ContainsFunc(outcomes, func(o ports.Outcome) bool { return isOpen(o.Verdict) }) {
			return outcomes, i.checkFinal(f, outcomes)
		}
		if err := f.Run(ctx); err != nil {
			return nil, err
		}
	}
	last, err := i.ask(ctx, rails[0])
	return nil, errors.Join(fmt.Errorf("not settled after %d runs of the world: %s", maxRuns, describe(last)), err)
}

// checkFinal checks that final outcomes are those of the courses.
func (i items) checkFinal(f Fixture, outcomes []ports.Outcome) error {
	for n, o := range outcomes {
		want := ports.Done
		if i.courses[n] == Rejected {
			want = ports.Refused
		}
		switch {
		case o.Verdict != want:
			return fmt.Errorf("item %d (%s) is %s, not %s", n, i.courses[n], describe(outcomes[n:n+1]), want)
		case want == ports.Refused && f.Features().Codes && o.Code == "":
			return fmt.Errorf("item %d is refused without the partner's code", n)
		case want == ports.Done && f.Features().PartnerIDs && o.PartnerID == "":
			return fmt.Errorf("item %d is done without the partner's id", n)
		}
	}
	return nil
}

// checkMoved checks that the money of what settles was moved once, and no other.
func (i items) checkMoved(ctx context.Context, f Fixture) error {
	if !f.Features().CountsMoney {
		return nil
	}
	for n, id := range i.ids {
		moved, err := f.Moved(ctx, id)
		if err != nil {
			return err
		}
		want := []money.Amount{i.amounts[n]}
		if i.courses[n] == Rejected {
			want = nil
		}
		if !slices.Equal(moved, want) {
			return fmt.Errorf("item %d (%s) has moved %v, want %v", n, i.courses[n], moved, want)
		}
	}
	return nil
}

// checkNotMoved checks that no money was moved.
func (i items) checkNotMoved(ctx context.Context, f Fixture) error {
	for n, id := range i.ids {
		if moved, err := f.Moved(ctx, id); err != nil || len(moved) > 0 {
			return errors.Join(err, fmt.Errorf("item %d has moved %v", n, moved))
		}
	}
	return nil
}

// describe renders outcomes for messages.
func describe(outcomes []ports.Outcome) string {
	text := ""
	for _, o := range outcomes {
		text += fmt.Sprintf("[%s %s code=%q id=%q accepted=%t]", o.Verdict, o.Reason, o.Code, o.PartnerID, o.Accepted)
	}
	return text
}

// delivered returns a payout as it is after it was delivered.
func delivered(f Fixture, p ports.Payout) ports.Payout {
	p.Transaction.State = transaction.State{Status: transaction.Completed, Stage: transaction.Delivered}
	p.Transaction.UpdatedAt, p.Transaction.SettledAt = f.Now(), f.Now()
	return p
}

// collected returns a collection as it is after it was collected.
func collected(f Fixture, c ports.Collection) ports.Collection {
	c.Transaction.State = transaction.State{Status: transaction.Completed}
	c.Transaction.UpdatedAt, c.Transaction.SettledAt = f.Now(), f.Now()
	return c
}
