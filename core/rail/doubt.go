package rail

import (
	"fmt"
	"slices"
	"time"
)

// doubtFor is how long after lost commits were noticed payments of before are held. Those that had left meanwhile have been due since.
const doubtFor = 30 * 24 * time.Hour

// RecognisesRepeats reports whether a payment that is sent twice over the adapter moves the money once: by its id.
func (a Adapter) RecognisesRepeats() bool { return a == Partner }

// Doubt returns why a payment that is not handed over may have left all the same, and been forgotten: it is from before the database was
// found to lack commits, and another connection of its route, or its own, would send it again. It is empty if that cannot be. Lost is
// when the loss was noticed; zero for none.
func (p Payment) Doubt(connections []Connection, lost, now time.Time) string {
	if lost.IsZero() || now.After(lost.Add(doubtFor)) || p.isLater(lost) {
		return ""
	}
	sentAgain := func(c Connection) bool {
		return (c.Name != p.Connection || !c.Adapter.RecognisesRepeats()) && slices.Contains(c.Rails, p.Rail) &&
			slices.Contains(c.Currencies, p.Currency)
	}
	if !slices.ContainsFunc(connections, sentAgain) {
		return ""
	}
	return fmt.Sprintf("it may have left already, because the database has lost commits, as was noticed at %s: look for %s at the partner, "+
		"then release or cancel it", lost.Format(time.RFC3339), EndToEndID(p.ID))
}

// isLater reports whether a payment began after a time, by its id of RFC 9562, version 7. Another id says nothing.
func (p Payment) isLater(t time.Time) bool {
	const timeOrdered = 7
	return p.ID.Version() == timeOrdered && time.Unix(p.ID.Time().UnixTime()).After(t)
}
