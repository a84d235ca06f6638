package main

import (
	"fmt"
	"time"
)

// goal is what a figure should be. The text is written beside the figure.
type goal struct {
	text string
	met  func(value float64) bool
}

// The goals, for two cores that Postgres, the service and the load share.
var (
	goalRampRatio      = atLeast(0.15) // ramps for each pgbench transaction
	goalCommits        = atMost(8, "") // for each ramp
	goalHotAccount     = atLeast(0.80) // of the payouts from many accounts
	goalHotRail        = atLeast(0.90) // of the ramps of few customers
	goalQuote          = under(25*time.Millisecond, "p99 ", "")
	goalFirstStart     = under(10*time.Second, "", "")
	goalSecondStart    = under(3*time.Second, "", "")
	goalIdleMemory     = under(byteSize(60_000_000), "", "")
	goalExportMemory   = under(byteSize(64_000_000), "", "") // added, whatever the size of the ledger
	goalReconciliation = under(30*time.Second, "", " for 100000 lines")
	goalLargeLedger    = atMost(1.2, " times") // of what a commit takes on a small ledger
	goalPastQuery      = under(20*time.Millisecond, "p99 ", "")
	goalTrialBalance   = under(2*time.Second, "p99 ", "")
)

func atLeast(limit float64) goal {
	return goal{fmt.Sprintf("at least %.2f", limit), func(value float64) bool { return value >= limit }}
}

func atMost(limit float64, unit string) goal {
	return goal{fmt.Sprint("at most ", limit, unit), func(value float64) bool { return value <= limit }}
}

func under[T byteSize | time.Duration](limit T, before, after string) goal {
	text := fmt.Sprint(before, "under ", limit, after)
	return goal{text, func(value float64) bool { return value < float64(limit) }}
}

// judge says what a figure should be and whether it is; nothing without a goal.
func judge[T float64 | byteSize | time.Duration](g goal, value T) string {
	switch {
	case g.met == nil:
		return ""
	case g.met(float64(value)):
		return g.text + ": met"
	default:
		return g.text + ": **missed**"
	}
}
