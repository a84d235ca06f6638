package transaction

import (
	"strings"
	"time"
)

// ApprovalResponse is the response of a platform's endpoint to a request for approval.
type ApprovalResponse struct {
	// Status is the HTTP status; 0 without a response.
	Status int
	// Receiver are facts about the receiver, by field name.
	Receiver map[string]string
	// Note is the reason of a rejection, in the words of the platform.
	Note string
	// RequiredFields are the facts about the sender that the platform requires.
	RequiredFields []string
}

// ApprovalResponded decides what follows from a response: 200 approves the payment, 202 asks for time
// to decide (as does 409, for a request that was received before), 403 and 422 reject it. Any other
// response counts as a failed request. Faults: as Approved.
func (t Transaction) ApprovalResponded(a ApprovalResponse, now time.Time) (Decision, error) {
	switch a.Status {
	case 200:
		if t.Approval != nil && len(t.Approval.Missing(a.Receiver)) > 0 {
			note := "the answer lacks mandatory facts about the receiver: " + strings.Join(t.Approval.Missing(a.Receiver), ", ")
			return t.Rejected(MissingPayeeData, note, now)
		}
		return t.Approved(a.Receiver, now)
	case 202, 409:
		return t.Acknowledged(now)
	case 403:
		return t.Rejected(PayRequestFailed, a.Note, now)
	case 422:
		note := a.Note
		if len(a.RequiredFields) > 0 {
			note = "more has to be known of the sender: " + strings.Join(a.RequiredFields, ", ")
		}
		return t.Rejected(PayRequestFailed, note, now)
	default:
		return t.Rejected(ApprovalWebhookError, a.Note, now)
	}
}
