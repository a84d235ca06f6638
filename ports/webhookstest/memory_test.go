package webhookstest

import (
	"testing"

	"causeway/core/event"
	"causeway/core/ident"
)

func TestMemoryQueue(t *testing.T) {
	t.Parallel()
	// The in-memory queue passes the conformance tests.
	RunQueueTests(t, func(*testing.T) Fixture {
		m := NewMemoryQueue()
		return Fixture{
			Queue: m, Log: m,
			Platform: func(_ *testing.T, endpoint string) ident.Platform {
				p := newPlatformID()
				m.SetEndpoint(p, endpoint)
				return p
			},
			Append: func(_ *testing.T, events ...event.Event) { m.Append(events...) },
		}
	})
}
