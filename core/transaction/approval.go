package transaction

import (
	"time"

	"causeway/core/ident"
)

// Approval is the platform's approval of an incoming payment, which is required before the account
// is credited.
type Approval struct {
	// Webhook is the id of the event that requests the approval; it is the same for every attempt.
	Webhook ident.Webhook
	// Requested are the facts about the receiver that the sender requires and the service does not
	// have.
	Requested []InfoField
	// Deadline is when the platform's time to decide ends; zero until its endpoint returns 202.
	Deadline time.Time
	// ApprovedAt is when the platform approved a payment whose invoice is paid after that; zero for others.
	ApprovedAt time.Time
	// Receiver are the facts that the platform provided, by field name.
	Receiver map[string]string
	// Note is why the platform rejected the payment, in its own words.
	Note string
}

// InfoField is one fact about a person, such as FULL_NAME. A payment without a mandatory fact fails.
type InfoField struct {
	Name      string
	Mandatory bool
}

// MissingFields returns the requested facts that are not known.
func MissingFields(known map[string]string, requested []InfoField) []InfoField {
	var missing []InfoField
	for _, field := range requested {
		if known[field.Name] == "" {
			missing = append(missing, field)
		}
	}
	return missing
}
