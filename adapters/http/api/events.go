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

// BaseWebhook is what the body of every event starts with.
type BaseWebhook struct {
	WebhookID httpapi.ID[ident.Webhook] `json:"webhookId" doc:"The event; the same however often it is sent. Ignore one you had."`
	Type      string                    `json:"type" doc:"What kind of resource it is about." example:"OUTGOING_PAYMENT"`
	Event     string                    `json:"event" doc:"What happened." example:"OUTGOING_PAYMENT.COMPLETED"`
	Timestamp httpapi.Time              `json:"timestamp" doc:"When it happened."`
}

type outgoingPaymentWebhook struct {
	BaseWebhook
	Transaction transactionBody `json:"transaction" doc:"The transaction after the event, as its GET answers it."`
}

type internalAccountStatusWebhook struct {
	BaseWebhook
	InternalAccount internalAccountBody `json:"internalAccount" doc:"The account after the event, as the lists answer it."`
}

// incomingPaymentWebhook is what is told of an incoming payment. The question whether
// a payment is taken says what is asked for beside the transaction and in it, since
// receivers look for it in either place.
type incomingPaymentWebhook struct {
	BaseWebhook
	Transaction   transactionBody     `json:"transaction" doc:"The transaction after the event, as its GET answers it."`
	RequestedInfo []customerInfoField `json:"requestedReceiverCustomerInfoFields,omitempty" doc:"In INCOMING_PAYMENT.PENDING alone: the facts about the receiver that the sending side wants and the service does not have. Those that are mandatory must come with the approval."`
}

func renderIncomingPayment(head BaseWebhook, e event.Event, t transaction.Transaction) incomingPaymentWebhook {
	body := incomingPaymentWebhook{BaseWebhook: head, Transaction: newTransactionBody(t, true)}
	if e.Name == event.IncomingPaymentPending && t.Approval != nil {
		body.RequestedInfo = renderInfoFields(t.Approval.Requested)
		body.Transaction.RequestedInfo = body.RequestedInfo
	}
	return body
}

// RenderEvent renders an event as the bytes that are signed and sent.
func RenderEvent(e event.Event) ([]byte, error) {
	head := BaseWebhook{WebhookID: httpapi.NewID(e.ID), Type: string(e.Type), Event: e.Name, Timestamp: httpapi.NewTime(e.OccurredAt)}
	switch resource := e.Resource.(type) {
	case nil:
		return json.Marshal(head)
	case transaction.Transaction:
		if e.Type == event.IncomingPayment {
			return json.Marshal(renderIncomingPayment(head, e, resource))
		}
		return json.Marshal(outgoingPaymentWebhook{head, newTransactionBody(resource, true)})
	case account.WithBalance:
		return json.Marshal(internalAccountStatusWebhook{head, newInternalAccountBody(resource, true)})
	default:
		return nil, fmt.Errorf("event %s: no body for a %T", e.Name, resource)
	}
}

func registerWebhooks(a *httpapi.API) {
	httpapi.Webhook[outgoingPaymentWebhook](a, "outgoingPayment", tagWebhooks, "Outgoing payment",
		"Sent at every change of an outgoing payment: PENDING, PROCESSING, COMPLETED, FAILED, EXPIRED, REFUND_PENDING, REFUND_COMPLETED, REFUND_FAILED. "+
			"Events of one transaction come in order.")
	httpapi.Webhook[internalAccountStatusWebhook](a, "internalAccountStatus", tagWebhooks, "Internal account",
		"Sent when an internal account changes: BALANCE_UPDATED, STATUS_UPDATED. Events of one account come in order.")
	httpapi.Webhook[incomingPaymentWebhook](a, "incomingPayment", tagWebhooks, "Incoming payment",
		"COMPLETED and FAILED tell what became of money for an internal account; events of one transaction come in order.\n\n"+
			"PENDING is a question: a person at another provider pays one of your customers, and your answer decides. It is asked once, at once, "+
			"and is not repeated.\n"+
			"- `200` takes the payment. The body `{\"receiverCustomerInfo\": {…}}` must give the mandatory ones of `requestedReceiverCustomerInfoFields`; without any it may be empty.\n"+
			"- `202` says that you will decide: approve or reject the transaction within 5 seconds, or it fails with `PAYMENT_APPROVAL_TIMED_OUT`. `409` (you had the question) means the same.\n"+
			"- `403` rejects it; `reason` may say why.\n"+
			"- `422` rejects it because more has to be known of the sender: `requiredFields` names what.\n"+
			"- Anything else, or no answer, fails it with `PAYMENT_APPROVAL_WEBHOOK_ERROR`.")
	httpapi.Webhook[BaseWebhook](a, "test", tagWebhooks, "Test", "Sent once when the webhook endpoint is set or changed. It is not repeated.")
}
