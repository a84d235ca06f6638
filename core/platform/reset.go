package platform

import (
	"time"

	"causeway/core/fault"
	"causeway/core/ident"
)

// Reset closes a sandbox platform, and returns it with its successor, which has its settings and none of its records. Webhooks of
// the closed platform are no longer sent. Faults: FORBIDDEN for a production platform, CONFLICT for one that is closed.
func (p Platform) Reset(successor ident.Platform, now time.Time) (closed, next Platform, err error) {
	if p.Environment != Sandbox {
		return p, p, &fault.Error{
			Code:    fault.Forbidden,
			Message: "Only a sandbox platform can be reset. " + p.ID.String() + " is a production platform, and keeps its records.",
			Reason:  "Sandbox only",
		}
	}
	if err := p.CheckOpen(); err != nil {
		return p, p, err
	}
	next = p
	next.ID, next.CreatedAt, next.UpdatedAt = successor, now, now
	p.ClosedAt, p.Successor, p.UpdatedAt, p.WebhookEndpoint = now, successor, now, ""
	return p, next, nil
}

// CheckOpen returns CONFLICT if the platform is closed.
func (p Platform) CheckOpen() error {
	if !p.Closed() {
		return nil
	}
	return &fault.Error{
		Code:    fault.Conflict,
		Message: "The sandbox platform " + p.ID.String() + " was reset and is closed. " + p.Successor.String() + " has its tokens and settings.",
		Reason:  "Platform closed",
	}
}

// Closed reports whether the platform was reset. It can be read, and what had begun comes to its end.
func (p Platform) Closed() bool { return !p.ClosedAt.IsZero() }
