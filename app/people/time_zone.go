package people

import (
	"context"
	"strings"
	"time"

	"causeway/core/fault"
	"causeway/core/person"
)

// SetTimeZone sets the zone in which a person sees times, by its IANA name. Fault: INVALID_INPUT for one that is not known.
func (s *Service) SetTimeZone(ctx context.Context, in SignedIn, name string) error {
	name = strings.TrimSpace(name)
	if _, err := time.LoadLocation(name); err != nil || name == "" || name == "Local" {
		return fault.Invalid(fault.Field{Field: "zone", Message: "must be a time zone of the IANA database, such as Europe/Berlin or UTC"})
	}
	return s.do(ctx, func(ctx context.Context, tx Tx) error {
		p, err := tx.LockPerson(ctx, in.Person.ID)
		if err != nil {
			return err
		}
		p.TimeZone, p.UpdatedAt = name, s.Clock.Now()
		if name == person.UTC {
			p.TimeZone = ""
		}
		return tx.UpdatePerson(ctx, p)
	})
}
