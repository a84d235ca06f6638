package storage

import "time"

// OldRows are rows of a connector that are deleted when they are old.
type OldRows struct {
	Table  string
	Before time.Time
	// Delete deletes what is older than Before ($1), at most $2 rows.
	Delete string
}
