package storage

import "time"

// OldRows are rows that belong to no platform, such as those of a connector, and are deleted when they are old.
type OldRows struct {
	Table  string
	Before time.Time
	// Delete deletes what is older than Before ($1), at most $2 rows.
	Delete string
}
