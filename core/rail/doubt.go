package rail

import (
	"fmt"
	"slices"
	"time"
)

// doubtFor is how long after lost commits were noticed payments of before are held. Those that had left meanwhile have been due since.
const doubtFor = 30 * 24 * time.Hour

// clockTolerance is how much the clocks of processes may differ, and more.
const clockTolerance = 5 * time.Second

// RecognisesRepeats reports whether a payment that is sent twice over the adapter moves the money once: by its id.
func (a Adapter) RecognisesRepeats() bool { return a == Partner }

// Doubt returns why a payment that is not handed over may have left all the same, and been forgotten: it is from before the database was
// found to lack commits, and another connection of its route, or its own, would send it again. It is empty if that cannot be. Lost is
// when the loss was noticed; zero for none.
func (p Payment) Doubt(connections []Connection, lost, now time.Time) string {
	// One that was recorded before the loss, and has waited since, for as long as a pause may be, is as doubtful as on the first day.
	waits := !p.RecordedAt.IsZero() && !p.RecordedAt.After(lost)
	if lost.IsZero() || now.After(lost.Add(doubtFor)) && !waits || p.isLater(lost.Add(clockTolerance)) {
		return ""
	}
	sentAgain := func(c Connection) bool {
		if c.Name == p.Connection {
			return !c.Adapter.RecognisesRepeats()
		}
		return !p.Back && slices.Contains(c.Rails, p.Rail) && slices.Contains(c.Currencies, p.Currency)
	}
	if !slices.ContainsFunc(connections, sentAgain) {
		return ""
	}
	return fmt.Sprintf("it may have left already, because the database has lost commits, as was noticed at %s: look for %s, or for its "+
		"amount and its account, at the bank, partner or chain before it is released", lost.Format(time.RFC3339), EndToEndID(p.ID))
}

// isLater reports whether a payment began after a time, by its id of RFC 9562, version 7. Another id says nothing.
func (p Payment) isLater(t time.Time) bool {
	const timeOrdered = 7
	return p.ID.Version() == timeOrdered && time.Unix(p.ID.Time().UnixTime()).After(t)
}
