package platform

import "time"

// ListenerTime is how long a listener of a developer is there after it has reported. It reports every five seconds, or sooner.
const ListenerTime = 15 * time.Second

// HasListener reports whether a listener of a developer answers webhooks that ask for an answer, instead of the endpoint. Only
// sandbox platforms have one.
func (p Platform) HasListener(now time.Time) bool {
	return p.Environment == Sandbox && !p.Closed() && now.Before(p.ListenerUntil)
}
