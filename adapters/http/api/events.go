package api

import (
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	httpapi "causeway/adapters/http"
	"causeway/app/customers"
	"causeway/app/payments"
	"causeway/app/receivers"
	"causeway/core/account"
	"causeway/core/customer"
	"causeway/core/event"
	"causeway/core/ident"
	"causeway/core/invitation"
	"causeway/core/proposal"
	"causeway/core/receivable"
	"causeway/core/transaction"
	"causeway/core/treasury"
	"causeway/core/verification"
	"causeway/ports"
)

// BaseWebhook holds the fields that the body of every event starts with.
type BaseWebhook struct {
	WebhookID httpapi.ID[ident.Webhook] `json:"webhookId" doc:"Id of the event, the same for every attempt. Use it to ignore duplicates."`
	Type      string                    `json:"type" doc:"Type of resource that the event is about." example:"OUTGOING_PAYMENT"`
	Event     string                    `json:"event" doc:"Name of the event." example:"OUTGOING_PAYMENT.COMPLETED"`
	Timestamp httpapi.Time              `json:"timestamp" doc:"Time of the event."`
}

type testWebhook struct{ BaseWebhook }

type outgoingPaymentWebhook struct {
	BaseWebhook
	Transaction transactionBody `json:"transaction" doc:"Transaction after the event, as GET returns it."`
}

type customerStatusWebhook struct {
	BaseWebhook
	Customer customerBody `json:"customer" doc:"Customer after the event, as GET returns it."`
}

type verificationStatusWebhook struct {
	BaseWebhook
	Verification verificationBody `json:"verification" doc:"Verification after the event, as GET returns it."`
}

type externalAccountStatusWebhook struct {
	BaseWebhook
	ExternalAccount externalAccountBody `json:"externalAccount" doc:"Account after the event, as GET returns it."`
}

type internalAccountStatusWebhook struct {
	BaseWebhook
	InternalAccount internalAccountBody `json:"internalAccount" doc:"Account after the event, as the list operations return it."`
}

type agentActionWebhook struct {
	BaseWebhook
	AgentAction agentActionBody `json:"agentAction" doc:"Action after the event, as GET returns it."`
}

type ledgerProposalWebhook struct {
	BaseWebhook
	Proposal proposalBody `json:"proposal" doc:"Proposal after the event, as GET returns it."`
}

type receivableWebhook struct {
	BaseWebhook
	Receivable ReceivableBody `json:"receivable" doc:"Receivable after the event, as GET returns it, without its changes."`
}

type umaInvoiceWebhook struct {
	BaseWebhook
	UMAInvoice umaInvoiceBody `json:"umaInvoice" doc:"Invoice after the event, as GET returns it."`
}

type invitationClaimedWebhook struct {
	BaseWebhook
	Invitation invitationBody `json:"invitation" doc:"Invitation after the event, as GET returns it."`
}

type bulkUploadWebhook struct {
	BaseWebhook
	BulkUpload customerImportBody `json:"bulkUpload" doc:"Import after the event, as GET returns it, but only with the first errors if all are longer than 256 kB. progress.failed counts all."`
}

type safeguardingWebhook struct {
	BaseWebhook
	SafeguardingReport safeguardingReportBody `json:"safeguardingReport" doc:"Report, as GET returns it."`
}

type ledgerAssetWebhook struct {
	BaseWebhook
	LedgerAsset ledgerAssetBody `json:"ledgerAsset" doc:"The account when it was seen."`
}

type ledgerAssetBody struct {
	Account   string           `json:"account" doc:"Path of the account." example:"rails/RTP"`
	Currency  httpapi.Currency `json:"currency" doc:"Currency of the account."`
	Balance   httpapi.BigMinor `json:"balance" doc:"Balance, in the smallest unit."`
	Overdrawn bool             `json:"overdrawn" doc:"Whether the balance is below zero."`
	Since     httpapi.Time     `json:"since" doc:"Time the balance was first seen below zero, this or the last time."`
}

func renderOverdraft(o treasury.Overdraft) ledgerAssetBody {
	return ledgerAssetBody{o.Account.Path, httpapi.Currency(o.Account.Currency), httpapi.NewBigMinor(o.Balance), o.Overdrawn,
		httpapi.NewTime(o.Since)}
}

// maxBulkUploadBytes bounds the body of an event of an import: many endpoints refuse more than 1 MB.
const maxBulkUploadBytes = 256_000

// MarshalJSON leaves out the errors that do not fit.
func (w bulkUploadWebhook) MarshalJSON() ([]byte, error) {
	type all bulkUploadWebhook
	body, errors := all(w), w.BulkUpload.Errors
	body.BulkUpload.Errors = nil
	rest, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	size := len(rest) + len(`"errors":[],`)
	for _, e := range errors {
		text, err := json.Marshal(e)
		if err != nil {
			return nil, err
		}
		if size += len(text) + len(","); size > maxBulkUploadBytes {
			break
		}
		body.BulkUpload.Errors = append(body.BulkUpload.Errors, e)
	}
	return json.Marshal(body)
}

// incomingPaymentWebhook is the body of an incoming payment event. A PENDING event has
// the requested fields both here and in the transaction, because clients read either.
type incomingPaymentWebhook struct {
	BaseWebhook
	Transaction   transactionBody     `json:"transaction" doc:"Transaction after the event, as GET returns it."`
	RequestedInfo []customerInfoField `json:"requestedReceiverCustomerInfoFields,omitempty" doc:"Only in INCOMING_PAYMENT.PENDING: information about the receiver that the sending institution requires and the service does not have. The approval must contain the mandatory fields."`
}

func renderInvitationClaimed(base BaseWebhook, e event.Event, i invitation.Invitation) invitationClaimedWebhook {
	return invitationClaimedWebhook{base, renderInvitation(customers.StatedInvitation{Invitation: i, Status: i.Status(e.OccurredAt)})}
}

func renderIncomingPayment(base BaseWebhook, e event.Event, t transaction.Transaction) incomingPaymentWebhook {
	body := incomingPaymentWebhook{BaseWebhook: base, Transaction: newTransactionBody(t, true)}
	if e.Name == event.IncomingPaymentPending && t.Approval != nil {
		body.RequestedInfo = renderInfoFields(t.Approval.Requested)
		body.Transaction.RequestedInfo = body.RequestedInfo
	}
	return body
}

// withEventNames makes the type and the names of events constants in the description, so that a generated client can tell
// them apart.
func withEventNames(s *huma.Schema, t event.Type, names []string) {
	constant := func(name string, values ...string) {
		property := *s.Properties[name]
		property.Enum, property.Examples = enumSchema(values).Enum, []any{values[0]}
		s.Properties[name] = &property
	}
	constant("type", string(t))
	constant("event", names...)
}

// webhookKind is a kind of events, and how it is described.
type webhookKind struct {
	event.Kind
	body     reflect.Type
	describe func(*httpapi.API)
}

// eventsOf returns the kind of events of a type, with these names, whose body render makes of a resource. An event without
// one has the fields of BaseWebhook alone.
func eventsOf[Body, Resource any](
	t event.Type, names []string, id, summary, description string, render func(BaseWebhook, event.Event, Resource) Body,
) webhookKind {
	return webhookKind{
		event.Kind{Type: t, Names: names, Render: func(e event.Event) ([]byte, error) {
			resource, ok := e.Resource.(Resource)
			if !ok {
				return nil, fmt.Errorf("event %s: no body for a %T", e.Name, e.Resource)
			}
			base := BaseWebhook{WebhookID: httpapi.NewID(e.ID), Type: string(e.Type), Event: e.Name, Timestamp: httpapi.NewTime(e.OccurredAt)}
			return json.Marshal(render(base, e, resource))
		}},
		reflect.TypeFor[Body](),
		func(a *httpapi.API) {
			withEventNames(httpapi.Webhook[Body](a, id, tagWebhooks, summary, description), t, names)
		},
	}
}

// Events has every kind of events, and renders them.
var Events = func() event.Registry {
	kinds := make(event.Registry, len(webhookKinds))
	for i, w := range webhookKinds {
		kinds[i] = w.Kind
	}
	return kinds
}()

// webhookKinds is the one list of the kinds of events.
var webhookKinds = []webhookKind{
	eventsOf(event.OutgoingPayment, []string{
		event.OutgoingPaymentPending, event.OutgoingPaymentAuthorization, event.OutgoingPaymentProcessing, event.OutgoingPaymentCompleted,
		event.OutgoingPaymentFailed, event.OutgoingPaymentExpired, event.OutgoingPaymentRefundPending,
		event.OutgoingPaymentRefundCompleted, event.OutgoingPaymentRefundFailed,
	},
		"outgoingPayment", "Receive outgoing payment events",
		"Sent for every status change of an outgoing payment: PENDING, PROCESSING, COMPLETED, FAILED, EXPIRED, REFUND_PENDING, "+
			"REFUND_COMPLETED, REFUND_FAILED. "+
			"Events of one transaction are sent in order.",
		func(base BaseWebhook, _ event.Event, t transaction.Transaction) outgoingPaymentWebhook {
			return outgoingPaymentWebhook{base, newTransactionBody(t, true)}
		}),
	eventsOf(event.IncomingPayment, []string{
		event.IncomingPaymentPending, event.IncomingPaymentCompleted, event.IncomingPaymentFailed, event.IncomingPaymentRefundPending,
		event.IncomingPaymentRefundCompleted, event.IncomingPaymentRefundFailed,
	},
		"incomingPayment", "Receive incoming payment events",
		"COMPLETED and FAILED report the result of a payment to an internal account; events of one transaction are sent in order. "+
			"REFUND_PENDING follows FAILED if the money of a payment that you had approved came and cannot be credited, and then "+
			"REFUND_COMPLETED or REFUND_FAILED.\n\n"+
			"PENDING asks for approval: someone at another provider pays one of your customers, and your response approves or rejects the "+
			"payment. It is sent once "+
			"and not retried.\n"+
			"- `200` approves the payment. The body `{\"receiverCustomerInfo\": {…}}` must contain the mandatory fields of "+
			"`requestedReceiverCustomerInfoFields`; it may be empty if there are none.\n"+
			"- `202` defers the decision: approve or reject the transaction within 5 seconds, or it fails with `PAYMENT_APPROVAL_TIMED_OUT`. "+
			"`409` (duplicate) means the same.\n"+
			"- `403` rejects the payment; `reason` may contain the reason.\n"+
			"- `422` rejects the payment because information about the sender is missing; `requiredFields` lists the fields.\n"+
			"- Any other response, or none, fails the payment with `PAYMENT_APPROVAL_WEBHOOK_ERROR`.",
		renderIncomingPayment),
	eventsOf(event.InternalAccountStatus, []string{event.InternalAccountBalanceUpdated, event.InternalAccountStatusUpdated,
		event.InternalAccountFundingInstructionsUpdated},
		"internalAccountStatus", "Receive internal account events",
		"Sent when an internal account changes: BALANCE_UPDATED, STATUS_UPDATED, and FUNDING_INSTRUCTIONS_UPDATED when there are other ways to "+
			"pay into it, such as after its owner was renamed or when a connection receives its currency. Events of one account are sent in order.",
		func(base BaseWebhook, _ event.Event, a account.WithBalance) internalAccountStatusWebhook {
			return internalAccountStatusWebhook{base, newInternalAccountBody(a, true)}
		}),
	eventsOf(event.ExternalAccountStatus, []string{event.ExternalAccountStatusUpdated},
		"externalAccountStatus", "Receive external account events",
		"STATUS_UPDATED is sent whenever the status of an external account changes, such as when the owner of a wallet has proven that it is "+
			"theirs, or has failed to. Events of one account are sent in order.",
		func(base BaseWebhook, _ event.Event, a account.External) externalAccountStatusWebhook {
			return externalAccountStatusWebhook{base, renderExternalAccount(a)}
		}),
	eventsOf(event.CustomerStatus, []string{
		event.CustomerKYCPending, event.CustomerKYCApproved, event.CustomerKYCRejected, event.CustomerKYBPending,
		event.CustomerKYBApproved, event.CustomerKYBRejected,
	},
		"customerStatus", "Receive customer status events",
		"Sent when the status of a customer changes: KYC_PENDING, KYC_APPROVED, KYC_REJECTED for individuals, and KYB_PENDING, KYB_APPROVED, "+
			"KYB_REJECTED for businesses. "+
			"Only APPROVED customers can send and receive money. Events of one customer are sent in order.",
		func(base BaseWebhook, _ event.Event, c customer.Customer) customerStatusWebhook {
			return customerStatusWebhook{base, renderCustomer(c)}
		}),
	eventsOf(event.VerificationStatus, []string{
		event.VerificationResolveErrors, event.VerificationReadyForVerification, event.VerificationInProgress,
		event.VerificationPendingManualReview, event.VerificationApproved, event.VerificationRejected,
	},
		"verification", "Receive verification events",
		"Sent for every status of a verification: RESOLVE_ERRORS, READY_FOR_VERIFICATION, IN_PROGRESS, PENDING_MANUAL_REVIEW, APPROVED, "+
			"REJECTED. "+
			"Events of one verification are sent in order. The status of the customer is in the events of the customer.",
		func(base BaseWebhook, _ event.Event, v verification.Verification) verificationStatusWebhook {
			return verificationStatusWebhook{base, renderVerification(v)}
		}),
	eventsOf(event.BulkUpload, []string{event.BulkUploadCompleted, event.BulkUploadFailed},
		"bulkUpload", "Receive events of customer imports",
		"Sent once for each import: COMPLETED when every row was imported or refused, or FAILED if the file was refused. "+
			"The body has at most 256 kB: if the errors are longer, it has the first ones, and GET lists more.",
		func(base BaseWebhook, _ event.Event, i customer.ImportWithErrors) bulkUploadWebhook {
			return bulkUploadWebhook{base, renderCustomerImport(i)}
		}),
	eventsOf(event.Invitation, []string{event.InvitationClaimed},
		"invitationClaimed", "Receive events of invitations",
		"CLAIMED is sent to the platform of the inviter. If the invitation has an amount, send it to inviteeUma: nothing is sent by itself.",
		renderInvitationClaimed),
	eventsOf(event.AgentAction, []string{event.AgentActionPendingApproval},
		"agentAction", "Receive events of agents",
		"PENDING_APPROVAL is sent when an agent asks for a payment that you have to approve or reject. There is no event for your decision; "+
			"the payment has its own events.",
		func(base BaseWebhook, _ event.Event, a payments.AgentAction) agentActionWebhook {
			return agentActionWebhook{base, renderAgentAction(a)}
		}),
	eventsOf(event.SafeguardingReport, []string{event.SafeguardingShortfall},
		"safeguardingReport", "Receive events of safeguarding reports",
		"SHORTFALL is sent when the report of a day shows that less is held for customers than is owed to them, in at least one currency. "+
			"When the report is made again, it is sent if that is so in another currency, or if more is missing than in the version before.",
		func(base BaseWebhook, _ event.Event, r ports.KeptReport) safeguardingWebhook {
			return safeguardingWebhook{base, renderKeptReport(r)}
		}),
	eventsOf(event.LedgerAsset, []string{event.LedgerAssetOverdrawn, event.LedgerAssetCovered},
		"ledgerAsset", "Receive events of ledger accounts",
		"ASSET_OVERDRAWN is sent when an asset of the ledger is seen below zero, ASSET_COVERED when it is back, at most once an hour for each "+
			"account.",
		func(base BaseWebhook, _ event.Event, o treasury.Overdraft) ledgerAssetWebhook {
			return ledgerAssetWebhook{base, renderOverdraft(o)}
		}),
	eventsOf(event.LedgerProposal, []string{event.LedgerProposalPending, event.LedgerProposalExecuted, event.LedgerProposalRejected},
		"ledgerProposal", "Receive events of proposals",
		"Sent when a change of the books is proposed because it needs four eyes, and when it is decided: PENDING, EXECUTED, REJECTED. An "+
			"expiry has no event. "+
			"Events of one proposal are sent in order.",
		func(base BaseWebhook, _ event.Event, p proposal.Proposal) ledgerProposalWebhook {
			return ledgerProposalWebhook{base, renderProposal(proposal.Stated{Proposal: p, Status: p.State})}
		}),
	eventsOf(event.Receivable, []string{event.ReceivableOpened, event.ReceivableCollected, event.ReceivableWrittenOff},
		"receivable", "Receive events of receivables",
		"OPENED is sent when the payer's bank has taken back what was collected, COLLECTED whenever money of the account pays some or all of "+
			"what is owed, WRITTEN_OFF when the rest is given up. "+
			"Events of one receivable are sent in order.",
		func(base BaseWebhook, _ event.Event, r receivable.Receivable) receivableWebhook {
			return receivableWebhook{base, renderReceivable(r)}
		}),
	eventsOf(event.UMAInvoice, []string{event.UMAInvoiceReceived, event.UMAInvoiceRefused},
		"umaInvoice", "Receive events of UMA invoices",
		"RECEIVED is sent when one of your customers is asked to pay an invoice, by another provider or by a customer of yours. Nothing is paid "+
			"by itself. REFUSED is sent when an invoice of yours names a sender whose provider does not take it. A payment has its own events.",
		func(base BaseWebhook, _ event.Event, i receivers.UMAInvoice) umaInvoiceWebhook {
			return umaInvoiceWebhook{base, renderUMAInvoice(i)}
		}),
	eventsOf(event.Test, []string{event.TestSent},
		"test", "Receive test events",
		"Sent once when the webhook endpoint is set or changed. It is not retried.",
		func(base BaseWebhook, _ event.Event, _ struct{}) testWebhook { return testWebhook{base} }),
}

func registerWebhooks(a *httpapi.API) {
	for _, w := range webhookKinds {
		w.describe(a)
	}
}
