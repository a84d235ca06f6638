package api

import (
	"context"
	"time"

	httpapi "causeway/adapters/http"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/transaction"
)

type listenerResponse struct {
	ListenerUntil httpapi.Time `json:"listenerUntil" doc:"Until when the listener answers, unless it reports again."`
}

type approvalAnswer struct {
	Status int    `json:"status" minimum:"100" maximum:"599" doc:"HTTP status of the response." example:"200"`
	Body   string `json:"body,omitempty" maxLength:"65536" doc:"Body of the response." example:"{\"receiverCustomerInfo\": {\"FULL_NAME\": \"Ana Silva\"}}"`
}

func registerListener(a *httpapi.API, listeners Webhooks, answers Sandbox) {
	httpapi.Post(a, httpapi.Operation{
		ID: "sandboxListen", Path: "/sandbox/webhook-listener", Tag: tagSandbox, Summary: "Answer webhooks in place of the endpoint",
		Permission: platform.Manage, SandboxOnly: true, Unlogged: true,
		Description: "Reports that a listener is there, for 15 seconds. Incoming payments are then not sent to the webhook endpoint for " +
			"approval: their `INCOMING_PAYMENT.PENDING` event is listed among the webhook deliveries, and the listener answers it with " +
			"`POST /sandbox/transactions/{transactionId}/approval-response` within 10 seconds. No endpoint has to be set. `causeway listen " +
			"--forward-to` does so with what your program responds.",
		Errors: []fault.Code{fault.Forbidden},
	}, func(ctx context.Context, call httpapi.Call, _ *struct{}) (time.Time, error) {
		return listeners.Listen(ctx, call.Principal.Platform)
	}, func(until time.Time) listenerResponse { return listenerResponse{httpapi.NewTime(until)} })

	type answerInput struct {
		TransactionID httpapi.ID[ident.Transaction] `path:"transactionId" doc:"Id of the transaction."`
		Body          approvalAnswer
	}
	httpapi.Post(a, httpapi.Operation{
		ID: "sandboxAnswerApproval", Path: "/sandbox/transactions/{transactionId}/approval-response", Tag: tagSandbox,
		Summary: "Answer a request for approval", Permission: platform.Manage, SandboxOnly: true,
		Description: "Decides about an incoming payment as if your webhook endpoint had responded so to its `INCOMING_PAYMENT.PENDING` event: " +
			"200 approves it, 202 leaves the decision for 5 seconds, 403 rejects it. The event must have been left to a listener. Without an " +
			"answer within 10 seconds the payment fails, as it does when an endpoint does not respond.",
		Errors: []fault.Code{fault.TransactionNotFound, fault.TransactionNotPendingPlatformApproval, fault.Forbidden},
	}, func(ctx context.Context, call httpapi.Call, in *answerInput) (transaction.Transaction, error) {
		return answers.AnswerApproval(ctx, call.Principal.Platform, in.TransactionID.Value, in.Body.Status, in.Body.Body, call.IdempotentRequest)
	}, renderTransaction)
}
