package ports

import (
	"context"
	"time"
)

// PartnerEvents keeps what partners report by themselves until it is read. An event is kept once for a connection and
// its id, in the order in which it was first saved.
type PartnerEvents interface {
	// SavePartnerEvents saves the events that are new, all or none. It returns those that are known with another body as they
	// are stored, which stays so.
	SavePartnerEvents(ctx context.Context, connection string, now time.Time, events []PartnerEvent) (differing []PartnerEvent, err error)
	// PartnerEvents returns the events of a connection after a number, oldest first, at most limit. Numbers grow, and
	// no event appears later with a number below one that was returned.
	PartnerEvents(ctx context.Context, connection string, after int64, limit int) ([]PartnerEvent, error)
}

// PartnerEvent is an event of a partner. Its body may have personal data.
type PartnerEvent struct {
	// Number is set when it is read.
	Number int64
	// ID is the partner's id of the event.
	ID   string
	Body []byte
}
