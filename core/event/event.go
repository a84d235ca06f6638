// Package event is what the outside is told: the events of the house, their names,
// the body they are sent in, and the rules of sending: which answer counts as
// accepted, and when to try again.
//
// It never sends, signs or stores anything; time, identifiers and chance come in
// as arguments.
package event

import (
	"strings"
	"time"

	"github.com/google/uuid"

	"causeway/core/ident"
)

// Event is one thing that happened, to be told to one platform.
type Event struct {
	// ID is new for each event and stays the same however often it is sent.
	ID       ident.Webhook
	Platform ident.Platform
	Type     Type
	// Name is the dotted name: "OUTGOING_PAYMENT.COMPLETED".
	Name string
	// Subject is what order is kept for: events of one subject are sent one after
	// the other, those of different subjects do not wait for each other. It is the
	// UUID of the resource.
	Subject uuid.UUID
	// OccurredAt is when it happened.
	OccurredAt time.Time
	// Resource is the domain value after the event; nil for TEST.
	Resource any
}

// Type is the kind of resource an event is about.
type Type string

// The types.
const (
	OutgoingPayment       Type = "OUTGOING_PAYMENT"
	IncomingPayment       Type = "INCOMING_PAYMENT"
	CustomerStatus        Type = "CUSTOMER_STATUS"
	VerificationStatus    Type = "VERIFICATION_STATUS"
	InternalAccountStatus Type = "INTERNAL_ACCOUNT_STATUS"
	BulkUpload            Type = "BULK_UPLOAD"
	InvitationClaimed     Type = "INVITATION_CLAIMED"
	AgentAction           Type = "AGENT_ACTION"
	Test                  Type = "TEST"
)

// Types are all there are.
var Types = []Type{
	OutgoingPayment, IncomingPayment, CustomerStatus, VerificationStatus, InternalAccountStatus,
	BulkUpload, InvitationClaimed, AgentAction, Test,
}

// ResourceKey returns the key under which the body of the event carries its resource;
// empty for TEST, which has none.
func (t Type) ResourceKey() string {
	switch t {
	case OutgoingPayment, IncomingPayment:
		return "transaction"
	case CustomerStatus:
		return "customer"
	case VerificationStatus:
		return "verification"
	case InternalAccountStatus:
		return "internalAccount"
	case BulkUpload:
		return "bulkUpload"
	case InvitationClaimed:
		return "invitation"
	case AgentAction:
		return "agentAction"
	case Test:
	}
	return ""
}

// NewTest returns the event that is sent once when a platform sets its webhook endpoint
// to something new.
func NewTest(id ident.Webhook, platform ident.Platform, at time.Time) Event {
	return Event{ID: id, Platform: platform, Type: Test, Name: TestSent, Subject: id.UUID(), OccurredAt: at}
}

// SentOnce reports whether an event of this name is sent one time only, whatever the answer.
// A question whether a payment is taken is one: whoever did not answer it in time has
// answered.
func SentOnce(name string) bool { return name == TestSent || name == IncomingPaymentPending }

// TypeOf returns the type that an event name belongs to; false for a name that is none.
func TypeOf(name string) (Type, bool) {
	for t, names := range Names {
		for _, known := range names {
			if known == name {
				return t, true
			}
		}
	}
	return "", false
}

// Envelope returns the body an event is sent with: its fields, and the resource (JSON,
// as its GET answers it) under the key of its type. The bytes are signed and sent
// as they are. A nil resource leaves the key out.
func (e Event) Envelope(resource []byte) []byte {
	var b strings.Builder
	b.Grow(200 + len(resource))
	b.WriteString(`{"webhookId":"`)
	b.WriteString(e.ID.String())
	b.WriteString(`","type":"`)
	b.WriteString(string(e.Type))
	b.WriteString(`","event":"`)
	b.WriteString(e.Name)
	b.WriteString(`","timestamp":"`)
	b.WriteString(e.OccurredAt.UTC().Format("2006-01-02T15:04:05.000Z"))
	b.WriteByte('"')
	if key := e.Type.ResourceKey(); key != "" && resource != nil {
		b.WriteString(`,"`)
		b.WriteString(key)
		b.WriteString(`":`)
		b.Write(resource)
	}
	b.WriteByte('}')
	return []byte(b.String())
}
