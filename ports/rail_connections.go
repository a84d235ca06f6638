package ports

import (
	"context"
	"errors"
	"time"

	"causeway/core/rail"
)

// ErrRailConnectionChanged is returned if another operator has set a connection meanwhile.
var ErrRailConnectionChanged = errors.New("the connection was set by another command meanwhile; look at it and repeat")

// RailConnectionVersion is one version of a connection, with who set it and why.
type RailConnectionVersion struct {
	rail.Connection
	By, Note string
}

// RailPause stops or resumes the payments of a connection, or of a rail, by its name.
type RailPause struct {
	// Name is that of a connection or, in capital letters, of a rail.
	Name     string
	Paused   bool
	By, Note string
	At       time.Time
}

// RailConnectionReader reads the connections as operators have set them.
type RailConnectionReader interface {
	// RailConnections returns the latest version of every connection, by name.
	RailConnections(ctx context.Context) ([]RailConnectionVersion, error)
	// RailConnectionHistory returns every version of a connection, oldest first.
	RailConnectionHistory(ctx context.Context, name string) ([]RailConnectionVersion, error)
	// RailPauses returns the latest pause or resumption of each name.
	RailPauses(ctx context.Context) ([]RailPause, error)
	// RailPauseHistory returns every pause and resumption of a name, oldest first.
	RailPauseHistory(ctx context.Context, name string) ([]RailPause, error)
}

// RailConnectionStore is what the commands of operators change.
type RailConnectionStore interface {
	RailConnectionReader
	// SaveRailConnection stores a version. It returns ErrRailConnectionChanged if there is one with its number.
	SaveRailConnection(ctx context.Context, v RailConnectionVersion) error
	SaveRailPause(ctx context.Context, p RailPause) error
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
