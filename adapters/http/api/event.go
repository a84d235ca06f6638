package api

import (
	"encoding/json"
	"fmt"

	httpapi "causeway/adapters/http"
	"causeway/core/account"
	"causeway/core/event"
	"causeway/core/ident"
	"causeway/core/transaction"
)

// WebhookHead is what the body of every event starts with.
type WebhookHead struct {
	WebhookID httpapi.ID[ident.Webhook] `json:"webhookId" doc:"The event; the same however often it is sent. Ignore one you had."`
	Type      string                    `json:"type" doc:"What kind of resource it is about." example:"OUTGOING_PAYMENT"`
	Event     string                    `json:"event" doc:"What happened." example:"OUTGOING_PAYMENT.COMPLETED"`
	Timestamp httpapi.Time              `json:"timestamp" doc:"When it happened."`
}

type outgoingPaymentWebhook struct {
	WebhookHead
	Transaction transactionBody `json:"transaction" doc:"The transaction after the event, as its GET answers it."`
}

type internalAccountWebhook struct {
	WebhookHead
	InternalAccount internalAccountBody `json:"internalAccount" doc:"The account after the event, as the lists answer it."`
}

// Event renders an event as the bytes that are signed and sent.
func Event(e event.Event) ([]byte, error) {
	head := WebhookHead{WebhookID: httpapi.WriteID(e.ID), Type: string(e.Type), Event: e.Name, Timestamp: httpapi.WriteTime(e.At)}
	switch resource := e.Resource.(type) {
	case nil:
		return json.Marshal(head)
	case transaction.Transaction:
		return json.Marshal(outgoingPaymentWebhook{head, transactionView(resource, true)})
	case account.Holding:
		return json.Marshal(internalAccountWebhook{head, internalAccountView(resource, true)})
	default:
		return nil, fmt.Errorf("event %s: no body for a %T", e.Name, resource)
	}
}

func registerWebhooks(a *httpapi.API) {
	httpapi.Webhook[outgoingPaymentWebhook](a, "outgoingPayment", tagWebhooks, "Outgoing payment",
		"Sent at every change of an outgoing payment: PENDING, PROCESSING, COMPLETED, FAILED, EXPIRED, REFUND_PENDING, REFUND_COMPLETED, REFUND_FAILED. "+
			"Events of one transaction come in order.", "")
	httpapi.Webhook[internalAccountWebhook](a, "internalAccountStatus", tagWebhooks, "Internal account",
		"Sent when an internal account changes: BALANCE_UPDATED, STATUS_UPDATED. Events of one account come in order.", "")
	httpapi.Webhook[WebhookHead](a, "test", tagWebhooks, "Test", "Sent once when the webhook endpoint is set or changed. It is not repeated.", "")
}
