package ports

import (
	"time"

	"github.com/google/uuid"
)

// Clock returns the present time, in UTC.
type Clock interface{ Now() time.Time }

// IDs returns new UUIDv7 with the given time. They sort in the order of the calls as long
// as the times do not decrease. It is safe for concurrent use.
type IDs interface{ New(at time.Time) uuid.UUID }
