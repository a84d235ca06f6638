package webhooks

import (
	"context"
	"time"

	"causeway/core/event"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/ports"
)

// Listen notes that a listener of a developer is there, and returns until when. It answers the webhooks of a sandbox platform that
// ask for an answer, instead of the endpoint.
func (s *Service) Listen(ctx context.Context, p ident.Platform) (time.Time, error) {
	until := s.Clock.Now().Add(platform.ListenerTime)
	return until, s.Store.SetListener(ctx, p, until)
}

// relay lists an event for the listener of a platform, and returns false if it has none.
func (s *Service) relay(ctx context.Context, e event.Rendered) (bool, error) {
	owner, err := s.Store.Platform(ctx, e.Platform)
	now := s.Clock.Now()
	if err != nil || !owner.HasListener(now) {
		return false, err
	}
	return true, s.Log.Record(ctx, e, newAttempt(now, ports.WebhookResponse{Outcome: event.Accepted, StatusCode: 202,
		Response: "relayed to a listener"}))
}
