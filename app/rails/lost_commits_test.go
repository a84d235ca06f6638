package rails_test

import (
	"strings"
	"testing"
	"time"

	"causeway/app/rails"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/rail"
	"causeway/ports"
)

func TestReviewLostCommits_ConnectionsArePausedUntilAllAreReviewed(t *testing.T) {
	t.Parallel()
	// From the moment that lost commits are found, every connection is paused, and cannot be resumed. Once each finding is reviewed, by
	// somebody who says why, a connection is what it was before.
	e := newEnv(t)
	e.set(t, "bank-eur", bankFile)
	e.set(t, "bank-paused", strings.Replace(bankFile, "/srv/bank", "/srv/other", 1))
	if err := e.Pause(t.Context(), "bank-paused", true, ana); err != nil {
		t.Fatal(err)
	}
	ctx := ports.ForAllPlatforms(t.Context())
	for _, reference := range []string{"a", "b"} {
		lost := []ports.LostCommit{{Platform: e.Platform.ID, Kind: ports.LostCheckpoint, Reference: reference}}
		if added, err := e.Store.SaveLostCommits(ctx, lost); err != nil || added != 1 {
			t.Fatal(added, err)
		}
	}
	wantPaused := func(want ...string) {
		t.Helper()
		listed, _, err := e.List(ctx)
		if err != nil {
			t.Fatal(err)
		}
		paused := map[string]bool{}
		for _, l := range listed {
			if len(l.PausedBy) > 0 {
				paused[l.Name] = true
			}
		}
		if len(paused) != len(want) {
			t.Errorf("paused %v, want %v", paused, want)
		}
		for _, name := range want {
			if !paused[name] {
				t.Errorf("%s is not paused", name)
			}
		}
	}
	wantPaused("bank-eur", "bank-paused")
	if err := e.Pause(ctx, "bank-paused", false, ana); !fault.Is(err, fault.InvalidInput) {
		t.Errorf("resumed after a loss: %v", err)
	}

	findings, err := e.LostCommitFindings(ctx)
	if err != nil || len(findings) != 2 {
		t.Fatalf("found %+v, %v", findings, err)
	}
	if _, _, err := e.ReviewLostCommits(ctx, findings[0].ID, rails.Author{Actor: "ana"}); !fault.Is(err, fault.InvalidInput) {
		t.Errorf("reviewed without a note: %v", err)
	}
	if open, _, err := e.ReviewLostCommits(ctx, findings[0].ID, ana); err != nil || len(open) != 1 || open[0].ID != findings[1].ID {
		t.Errorf("open are %+v, %v", open, err)
	}
	wantPaused("bank-eur", "bank-paused")
	if _, _, err := e.ReviewLostCommits(ctx, findings[0].ID, ana); !fault.Is(err, fault.InvalidInput) {
		t.Errorf("reviewed twice: %v", err)
	}
	if _, _, err := e.ReviewLostCommits(ctx, findings[0].ID+1, ana); !fault.Is(err, fault.InvalidInput) {
		t.Errorf("reviewed what nobody has found: %v", err)
	}
	if open, _, err := e.ReviewLostCommits(ctx, findings[1].ID, ana); err != nil || len(open) != 0 {
		t.Errorf("open are %+v, %v", open, err)
	}
	wantPaused("bank-paused")
	if lost, err := e.LostCommits(ctx, findings[1].ID, 10); err != nil || len(lost) != 1 || lost[0].Reference != "a" ||
		lost[0].Transaction != (ident.Transaction{}) {
		t.Errorf("lost %+v, %v", lost, err)
	}
	if err := e.Pause(ctx, "bank-paused", false, ana); err != nil {
		t.Errorf("resume: %v", err)
	}
}

func TestReviewLostCommits_TakesBackWhatMayHaveLeft(t *testing.T) {
	t.Parallel()
	// With the review, payments that a bank has and that have not left by the records are taken back, because they may have left in
	// what is lost; what has left by the records is not.
	e := newEnv(t)
	e.set(t, "bank-eur", bankFile)
	waiting, left := e.handOver(t, 100, false), e.handOver(t, 50, true)
	released := e.handOver(t, 25, false) // an operator had released it, and it waits for an opening
	if _, err := e.Withdraw(t.Context(), released.ID, ana); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Release(t.Context(), released.ID, ana); err != nil {
		t.Fatal(err)
	}
	e.Clock.Advance(time.Second)
	ctx := ports.ForAllPlatforms(t.Context())
	lost := []ports.LostCommit{{Platform: e.Platform.ID, Kind: ports.LostCheckpoint, Reference: "a"}}
	if _, err := e.Store.SaveLostCommits(ctx, lost); err != nil {
		t.Fatal(err)
	}
	findings, err := e.LostCommitFindings(ctx)
	if err != nil {
		t.Fatal(err)
	}

	_, withdrawn, err := e.ReviewLostCommits(ctx, findings[0].ID, ana)

	if again := e.only(t, released.ID); again.State != rail.InReview || again.Reviewed || !strings.Contains(again.Reason, "has lost commits") {
		t.Errorf("it may leave: %+v", again.Payment)
	}
	if err != nil || withdrawn != 2 || e.only(t, waiting.ID).State != rail.InReview || e.only(t, left.ID).State != rail.Sent {
		t.Errorf("%d were taken back, %v: %+v, %+v", withdrawn, err, e.only(t, waiting.ID), e.only(t, left.ID))
	}
	if e.inFlight(t, "bank-eur") != 50 {
		t.Errorf("in flight: %d", e.inFlight(t, "bank-eur"))
	}
}
