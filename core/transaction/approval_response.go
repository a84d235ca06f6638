package transaction

import (
	"strings"
	"time"

	"causeway/core/customer"
)

// ApprovalResponse is the response of a platform's endpoint to a request for approval.
type ApprovalResponse struct {
	// Status is the HTTP status; 0 if there was no response.
	Status int
	// Receiver are facts about the receiver, by field name.
	Receiver map[string]string
	// Note is the reason of a rejection, in the words of the platform.
	Note string
	// RequiredFields are the facts about the sender that the platform requires.
	RequiredFields []string
}

// ApprovalResponded applies a response: 200 approves the payment, 403 and 422 reject it, and 202
// means that the platform will decide later, as does 409 for a request that it received before. Any
// other response counts as a failed request. An approval for a customer who may no longer receive
// money, which is owner, ends the payment. Faults: as Approved.
func (t Transaction) ApprovalResponded(response ApprovalResponse, owner customer.Customer, now time.Time) (Decision, error) {
	switch response.Status {
	case 200:
		if err := owner.CheckReady(); err != nil {
			return t.Rejected(PayRequestFailed, err.Error(), now)
		}
		if t.Approval != nil && len(t.Approval.Missing(response.Receiver)) > 0 {
			note := "the response lacks mandatory facts about the receiver: " + strings.Join(t.Approval.Missing(response.Receiver), ", ")
			return t.Rejected(MissingPayeeData, note, now)
		}
		return t.Approved(response.Receiver, owner, now)
	case 202, 409:
		return t.Acknowledged(now)
	case 403:
		return t.Rejected(PayRequestFailed, response.Note, now)
	case 422:
		note := response.Note
		if len(response.RequiredFields) > 0 {
			note = "more facts about the sender are required: " + strings.Join(response.RequiredFields, ", ")
		}
		return t.Rejected(PayRequestFailed, note, now)
	default:
		return t.Rejected(ApprovalWebhookError, response.Note, now)
	}
}
