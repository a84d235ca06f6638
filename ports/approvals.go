package ports

import (
	"context"

	"causeway/core/event"
)

// Approvals asks platforms for approval of incoming payments.
type Approvals interface {
	// RequestApproval sends an event to the platform's webhook endpoint once and waits for the
	// response. The event has the same id at every call about one payment, so an endpoint can
	// recognize a repeated request. A request without a response is no error: the outcome of
	// the result tells. The error is a WEBHOOK_ENDPOINT_NOT_SET fault, or a failure of the
	// service itself.
	RequestApproval(ctx context.Context, e event.Event) (WebhookResponse, error)
}
