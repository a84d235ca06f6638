package ports

import (
	"context"

	"causeway/core/event"
)

// Approvals asks platforms for approval of incoming payments.
type Approvals interface {
	// RequestApproval sends an event to the platform's webhook endpoint once and waits for the
	// response. The event has the same id in every call for one payment, so that an endpoint
	// recognises a repeated request. A missing response is not an error but the outcome of the
	// result. Any error but the fault WEBHOOK_ENDPOINT_NOT_SET says nothing about the endpoint:
	// the call has to be repeated, unless there is a response nevertheless.
	RequestApproval(ctx context.Context, e event.Event) (WebhookResponse, error)
}
