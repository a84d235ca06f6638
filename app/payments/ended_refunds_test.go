package payments_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"causeway/app/internal/apptest"
	"causeway/app/rails"
	"causeway/core/rail"
	"causeway/core/transaction"
	"causeway/ports"
)

// says is a rail that says an outcome of every refund that it is asked about.
type says struct {
	ports.Rail
	now *ports.Outcome
}

// RefundStatus implements ports.RefundStatusRail.
func (s says) RefundStatus(_ context.Context, refunds []ports.Refund) []ports.Outcome {
	return slices.Repeat([]ports.Outcome{*s.now}, len(refunds))
}

// RefundStatus implements ports.RefundStatusRail.
func (c connected) RefundStatus(ctx context.Context, refunds []ports.Refund) []ports.Outcome {
	return ports.RefundStatus(ctx, c.Rail, refunds)
}

func TestEnded_PartnerContradictsMoneySentBack(t *testing.T) {
	t.Parallel()
	// A receipt was sent back, or the partner has refused that. It says otherwise later: one item stands with both, however often it
	// repeats it. What it says again as before is none.
	for name, c := range map[string]struct {
		before, now ports.Outcome
		items       int
	}{
		"rejected after settled": {saysDone, saysRefused, 1},
		"returned after settled": {saysDone, saysReturned, 1},
		"settled after rejected": {saysRefused, saysDone, 1},
		"settled again":          {saysDone, saysDone, 0},
		"not known any more":     {saysDone, ports.Outcome{Verdict: ports.Unknown}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			now := c.before
			e := newIdleConnectedEnv(t, func(r ports.Rail, _ *env) ports.Rail { return says{r, &now} })
			e.Env.Rail.OnRefund = apptest.AllOutcomes[ports.Refund](c.before)
			receipt := e.sendBack(t, 5_00)
			e.runDue(t)

			now = c.now
			e.news(t, receipt.ID)
			e.news(t, receipt.ID)

			found := e.contradictions(t, receipt.ID)
			if len(found) != c.items {
				t.Fatalf("items: %+v", found)
			}
			for _, got := range found {
				if got.Kind != rail.SendBack || got.Recorded.State == got.Reported.State || got.Recorded.Amount.Minor != 5_00 ||
					got.Recorded.At.IsZero() ||
					got.Reported.Code != c.now.Code || !strings.Contains(got.Problem, got.Name) {
					t.Errorf("%+v", got)
				}
			}
		})
	}
}

func TestEnded_PartnerHasDoneWhatWasMarkedAsNotSent(t *testing.T) {
	t.Parallel()
	// Two persons have marked a payout as not sent, and its payer was refunded. The partner says then that it has done it: that is an
	// item, because both have the money.
	e := newIdleConnectedEnv(t, func(r ports.Rail, _ *env) ports.Rail { return r })
	e.Env.Rail.OnSend = func(ctx context.Context, payouts []ports.Payout) []ports.Outcome {
		keys := make([]ports.RailPaymentKey, len(payouts))
		for i, p := range payouts {
			keys[i] = ports.RailPaymentKey{Platform: p.Transaction.Platform, ID: p.Transaction.ID.UUID(), Kind: rail.Payout}
		}
		if _, err := e.Store.LeaveRailPayments(ctx, "bank", keys, e.Clock.Now()); err != nil {
			t.Error(err)
		}
		return apptest.AllOutcomes[ports.Payout](waiting(e.env, 24*time.Hour))(ctx, payouts)
	}
	payout := e.transfer(t, 50_00)
	e.runDue(t)
	e.waitFor(t, payout, rail.Sent)
	for _, actor := range []string{"ana", "ben"} {
		if _, err := e.operators.MarkNotSent(t.Context(), payout.ID.UUID(), rails.Author{Actor: actor, Note: "The file was lost"}); err != nil {
			t.Fatal(err)
		}
	}
	e.runDue(t)
	if got := e.Transaction(payout.ID).State; got.Status != transaction.Failed {
		t.Fatalf("it is %s", got)
	}

	e.Env.Rail.OnStatus = apptest.AllOutcomes[ports.Payout](saysDone)
	e.news(t, payout.ID)

	if found := e.contradictions(t, payout.ID); len(found) != 1 || found[0].Recorded.State != string(rail.Refused) ||
		found[0].Reported.State != string(rail.Done) {
		t.Errorf("items: %+v", found)
	}
}
