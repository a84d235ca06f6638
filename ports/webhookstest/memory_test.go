package webhookstest

import (
	"testing"

	"causeway/core/event"
	"causeway/core/ident"
)

func TestMemory(t *testing.T) {
	t.Parallel()
	// The queue in memory keeps the promises of the port.
	TestQueue(t, func(*testing.T) Bench {
		m := NewMemory()
		return Bench{
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
