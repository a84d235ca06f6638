package ports

import (
	"errors"
	"time"

	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/rail"
)

// ErrRailConnectionChanged is returned if another operator has set, tested, retired or deleted a connection meanwhile.
var ErrRailConnectionChanged = errors.New("a connection was changed by another command meanwhile; look at it and repeat")

// RailConnectionVersion is one version of a connection, with who set it and why.
type RailConnectionVersion struct {
	rail.Connection
	// Deleted: the version ends the connection. It has the settings of the one before.
	Deleted bool
	// Latest is the number of the latest version that is stored. It is higher than that of the version in force as long as it
	// was not tested.
	Latest   int
	By, Note string
	Person   ident.Person // who has set it; zero if nobody had signed in
	// Approval is by which proposal it was made; zero if it needed none.
	Approval platform.Approval
}

// RailTest is a test of a version of a connection.
type RailTest struct {
	Connection string
	Version    int
	Passed     bool
	// Checked is what was found to be right, and Problem the first thing that was not; empty if the test has passed.
	Checked []string
	Problem string
	At      time.Time
}

// RailPause stops or resumes the payments of a connection, or of a rail, by its name.
type RailPause struct {
	// Name is that of a connection or, in capital letters, of a rail. It is empty for the newest finding of lost commits, At its time.
	Name     string
	Paused   bool
	By, Note string
	Person   ident.Person // who has; zero if nobody had signed in
	At       time.Time
	// LostCommits is the finding because of which it is paused until somebody reviews it; zero for none.
	LostCommits int64
}

// LiveConnection is a connection with its adapter.
type LiveConnection struct {
	rail.Connection
	// Adapter is nil if it could not be opened, and Err says why.
	Adapter ConnectedRail
	Err     error
}

// ConnectedRails returns the connections of this process.
type ConnectedRails interface {
	// ConnectedRails returns all connections, also paused ones, by name. They may be replaced at any time; a replaced
	// adapter is closed, and its calls fail.
	ConnectedRails() []LiveConnection
}
