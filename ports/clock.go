package ports

import (
	"time"

	"github.com/google/uuid"
)

// Clock tells the time, in UTC.
type Clock interface{ Now() time.Time }

// IDs makes new identifiers: UUIDv7 that carry the given moment, ever increasing
// while the moments do not run backwards.
type IDs interface{ New(at time.Time) uuid.UUID }
