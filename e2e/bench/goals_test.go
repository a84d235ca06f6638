package main

import (
	"math"
	"testing"
	"time"
)

func TestJudge_Limits(t *testing.T) {
	// Each goal is met up to its limit, which is part of "at least" and "at most" only.
	t.Parallel()
	mega, just := 1e6, math.Nextafter
	for _, c := range []struct {
		goal        goal
		met, missed float64
		text        string
	}{
		{goalRampRatio, 0.15, just(0.15, 0), "at least 0.15"},
		{goalCommits, 8, just(8, 9), "at most 8"},
		{goalHotAccount, 0.8, just(0.8, 0), "at least 0.80"},
		{goalHotRail, 0.9, just(0.9, 0), "at least 0.90"},
		{goalQuote, float64(25*time.Millisecond - 1), float64(25 * time.Millisecond), "p99 under 25ms"},
		{goalFirstStart, float64(10*time.Second - 1), float64(10 * time.Second), "under 10s"},
		{goalSecondStart, float64(3*time.Second - 1), float64(3 * time.Second), "under 3s"},
		{goalIdleMemory, 60*mega - 1, 60 * mega, "under 60 MB"},
		{goalExportMemory, 64*mega - 1, 64 * mega, "under 64 MB"},
		{goalReconciliation, float64(30*time.Second - 1), float64(30 * time.Second), "under 30s for 100000 lines"},
		{goalLargeLedger, 1.2, just(1.2, 2), "at most 1.2 times"},
		{goalPastQuery, float64(20*time.Millisecond - 1), float64(20 * time.Millisecond), "p99 under 20ms"},
		{goalTrialBalance, float64(2*time.Second - 1), float64(2 * time.Second), "p99 under 2s"},
	} {
		if got, want := judge(c.goal, c.met), c.text+": met"; got != want {
			t.Errorf("%v: %q; want %q", c.met, got, want)
		}
		if got, want := judge(c.goal, c.missed), c.text+": **missed**"; got != want {
			t.Errorf("%v: %q; want %q", c.missed, got, want)
		}
	}
	if got := judge(goal{}, 1.0); got != "" {
		t.Errorf("without a goal: %q", got)
	}
}
