package transaction

import "time"

// PendingReason is why a payment does not go on before somebody has done something.
type PendingReason string

// The reasons.
const (
	// ComplianceReview: an operator of the service reviews the payment.
	ComplianceReview PendingReason = "COMPLIANCE_REVIEW"
	// CounterpartyInformationRequired: the sending side wants facts about the receiver that only its platform has.
	CounterpartyInformationRequired PendingReason = "COUNTERPARTY_INFORMATION_REQUIRED"
)

// PendingReason returns why the payment does not go on; empty if it waits for nobody, or has ended.
func (t Transaction) PendingReason() PendingReason {
	switch {
	case t.State.Status != Pending && t.State.Status != Processing:
		return ""
	case t.InReview:
		return ComplianceReview
	case t.Type == Incoming && t.Approval != nil && t.Approval.ApprovedAt.IsZero() && len(t.Approval.Missing(t.Approval.Receiver)) > 0:
		return CounterpartyInformationRequired
	}
	return ""
}

// Wait records what is known of a payment that its rail has not settled, and reports whether that has changed: whether an operator
// reviews it, and when a payout in transit is expected to settle, unless that time is zero. It is no change of the state, so
// nothing is announced.
func (t Transaction) Wait(settlement time.Time, inReview bool) (Decision, bool) {
	before := t
	t.InReview = inReview
	if settlement = settlement.Truncate(time.Microsecond); t.State.InTransit() && !settlement.IsZero() {
		t.ExpectedSettlementAt = settlement
	}
	return Decision{Transaction: t}, t.InReview != before.InReview || !t.ExpectedSettlementAt.Equal(before.ExpectedSettlementAt)
}

// SettlementTimeline returns how long after its creation a payout in transit is expected to settle; zero if that is not known.
func (t Transaction) SettlementTimeline() time.Duration {
	if t.ExpectedSettlementAt.IsZero() {
		return 0
	}
	return t.ExpectedSettlementAt.Sub(t.CreatedAt)
}
