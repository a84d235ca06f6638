package transaction

import (
	"time"

	"causeway/core/ident"
)

// Approval is what an incoming payment asks of the platform before it is credited.
type Approval struct {
	// Webhook is the event that asks; the same however often it has to be sent.
	Webhook ident.Webhook
	// Requested are the facts about the receiver that the sending side wants and the
	// service does not have.
	Requested []InfoField
	// Deadline is when the platform's time to decide ends, once it said that it will;
	// zero before.
	Deadline time.Time
	// Receiver are the facts that the platform gave, by the names of the fields.
	Receiver map[string]string
	// Note is why the platform rejected the payment, in its own words.
	Note string
}

// InfoField names one fact about a person (FULL_NAME …), and whether a payment
// fails without it.
type InfoField struct {
	Name      string
	Mandatory bool
}

// MissingFields are the wanted facts that are not known.
func MissingFields(known map[string]string, wants []InfoField) []InfoField {
	var lacks []InfoField
	for _, want := range wants {
		if known[want.Name] == "" {
			lacks = append(lacks, want)
		}
	}
	return lacks
}
