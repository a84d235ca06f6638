package connections_test

import (
	"testing"
	"time"

	"causeway/core/platform"
	"causeway/core/rail"
	"causeway/ports"
)

func TestRail_WhatMayHaveLeftBeforeALossIsReviewed(t *testing.T) {
	t.Parallel()
	// After a database has lost commits, payments of before that a bank would make twice are not handed over until an operator
	// releases them, whether they were recorded or are routed for the first time. Those of a partner that recognises them, and
	// those that begin later, go on.
	e := newRailEnv(t)
	for name, adapter := range map[string]rail.Adapter{"bank": rail.BankFile, "partner": rail.Partner} {
		e.set(name, func(c *rail.Connection) {
			if c.Adapter = adapter; adapter == rail.Partner {
				c.Currencies[0] = "USD"
			}
		})
	}
	r := e.process(e.Store)
	e.pause("bank", true)
	queued, unrecorded, known := e.payout(1), e.payout(2), e.payout(3)
	known.Transaction.Pricing.Received.Currency = "USD"
	e.verdict(r, queued)
	e.Clock.Advance(time.Second)
	lost := []ports.LostCommit{{Platform: e.Platform.ID, Kind: ports.LostCheckpoint, Reference: "a"}}
	if _, err := e.Store.SaveLostCommits(ports.ForAllPlatforms(t.Context()), lost); err != nil {
		t.Fatal(err)
	}
	if outcome := e.verdict(r, unrecorded); outcome.Verdict != ports.Waiting {
		t.Errorf("outcome %+v", outcome)
	}
	e.Clock.Advance(time.Second)
	findings, err := e.Store.LostCommitFindings(ports.ForAllPlatforms(t.Context()))
	if err == nil {
		err = e.Store.SaveLostCommitReview(t.Context(), findings[0].ID, platform.Author{Actor: "ana"}, "compared", e.Clock.Now())
	}
	if err != nil {
		t.Fatal(err)
	}
	e.pause("bank", false)
	e.Clock.Advance(time.Minute)
	later := e.payout(4)

	e.verdict(r, known)
	e.verdict(r, later)
	e.sendQueued(r)

	e.wantStates("bank REVIEW REVIEW", queued, unrecorded)
	e.wantStates("partner HANDED_OVER ", known)
	e.wantStates("bank HANDED_OVER ", later)
}
