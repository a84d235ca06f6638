package ports

import (
	"strings"
	"time"

	"github.com/google/uuid"

	"causeway/core/diff"
	"causeway/core/ident"
	"causeway/core/period"
)

// Activity is something that a person has done.
type Activity struct {
	ID uuid.UUID // in the order of time
	At time.Time
	// Actor is who did it: the name and e-mail address of a person, the name that it has given, or a token.
	Actor string
	// Action is what was done, such as CREATE_TOKEN, and Note the reason or what came of it.
	Action, Note string
	// SubjectID is what it was done to; zero if that has no id. Subject names what else was changed, such as a month.
	SubjectID uuid.UUID
	Subject   string
	// Changes are the fields that were changed. Of what is recorded elsewhere too, such as months of the ledger, there are none.
	Changes []diff.Field
}

// Object returns what it was done to, by its name, its id or both.
func (a Activity) Object() string {
	if a.SubjectID == uuid.Nil || strings.Contains(a.Subject, a.SubjectID.String()) {
		return a.Subject
	}
	return strings.TrimSpace(a.Subject + " " + a.SubjectID.String())
}

// ActivityFilter selects what people have done. Empty fields select all.
type ActivityFilter struct {
	// Platform is what it belongs to; zero for the service as a whole, such as signing in.
	Platform ident.Platform
	// ID is that of one entry.
	ID uuid.UUID
	// Actor is a part of who did it, and SubjectID what it was done to, or Subject if that has a name and no id.
	Actor     string
	SubjectID uuid.UUID
	Subject   string
	At        period.Interval
	After     uuid.UUID // the last one of the page before
	Limit     int
}
