package transaction

import (
	"time"

	"causeway/core/ident"
)

// Approval is what an incoming payment needs from the platform before it is credited.
type Approval struct {
	// Webhook is the id of the event that requests the approval; it is the same for every attempt.
	Webhook ident.Webhook
	// Requested are the facts about the receiver that the sender requires and the service does not
	// have.
	Requested []InfoField
	// Deadline is when the time of the platform to decide ends; zero before its endpoint returned
	// 202.
	Deadline time.Time
	// Receiver are the facts that the platform gave, by field name.
	Receiver map[string]string
	// Note is why the platform rejected the payment, in its own words.
	Note string
}

// InfoField names one fact about a person (FULL_NAME …), and whether a payment fails without it.
type InfoField struct {
	Name      string
	Mandatory bool
}

// MissingFields returns the requested facts that are not known.
func MissingFields(known map[string]string, wants []InfoField) []InfoField {
	var lacks []InfoField
	for _, want := range wants {
		if known[want.Name] == "" {
			lacks = append(lacks, want)
		}
	}
	return lacks
}
