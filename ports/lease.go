package ports

import "errors"

// ErrLeaseLost is returned for a change under a lease that another process has taken over, or of a job that is finished.
var ErrLeaseLost = errors.New("the lease was lost to another process")

// Lease is the right of one process to something, such as the feed of a connection, until it ends and another process takes it.
type Lease struct {
	Name string
	// Fence is higher than that of every lease before, so that a process that has lost its lease changes nothing.
	Fence int64
}
