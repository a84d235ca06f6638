package ports

// VersionFilter selects at most Limit versions before the version Before, or from the latest if it is zero.
type VersionFilter struct {
	Before int
	Limit  int
}

// VersionPage is a page of versions.
type VersionPage[T any] struct {
	Versions []T
	More     bool
}
