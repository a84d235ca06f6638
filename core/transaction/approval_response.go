package transaction

import (
	"strings"
	"time"
)

// ApprovalResponse is what a platform's endpoint says to the question whether it takes a
// payment.
type ApprovalResponse struct {
	// Status is that of HTTP; 0 when there was no answer.
	Status int
	// Receiver are the facts about the receiver that it tells, by the names of the fields.
	Receiver map[string]string
	// Note is why it says no, in its own words.
	Note string
	// RequiredFields are the facts about the sender that it misses.
	RequiredFields []string
}

// ApprovalResponded decides what follows from the answer: 200 takes the payment, 202 asks for a
// moment to decide (and so does 409, which says that the question was heard before),
// 403 and 422 say no. Whoever says anything else cannot be asked. Faults: as Approved.
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
