package ports

import (
	"context"
	"time"

	"github.com/google/uuid"

	"causeway/core/ident"
	"causeway/ledger"
)

// LedgerLog keeps the log of each platform's postings: the tree over them, in tiles,
// and the heads that were signed.
type LedgerLog interface {
	// Unsealed returns the platforms with postings that no head covers.
	Unsealed(ctx context.Context) ([]ident.Platform, error)
	// Seal calls fn with the log of a platform, which is then nobody else's until fn
	// returns; what fn writes is kept when it returns nil. False, and fn is not called,
	// when somebody else has it.
	Seal(ctx context.Context, p ident.Platform, fn func(ctx context.Context, w LogWriter) error) (bool, error)

	// TakeUnpublished returns heads that are not known to be outside yet, of several
	// platforms, at most `most` of each, oldest first. Nobody else is given heads of
	// these platforms before the lease ends or Published is called.
	TakeUnpublished(ctx context.Context, now time.Time, lease time.Duration, most int) ([]UnpublishedCheckpoints, error)
	// MarkPublished notes that all heads of a platform up to a size are outside.
	MarkPublished(ctx context.Context, p ident.Platform, size int64) error

	// LogStatus reads how a platform's log stands; zero for a platform without one.
	LogStatus(ctx context.Context, p ident.Platform) (LogStatus, error)
	// Checkpoints returns heads of a platform by size.
	Checkpoints(ctx context.Context, p ident.Platform, f CheckpointFilter) (CheckpointPage, error)
	// Tiles reads full tiles, in the order of their places. One that is not there is nil.
	Tiles(ctx context.Context, p ident.Platform, places []TileIndex) ([][]byte, error)
	// Leaf reads a posting with its number; false when there is none.
	Leaf(ctx context.Context, p ident.Platform, posting uuid.UUID) (ledger.Leaf, bool, error)
}

// LogWriter is the log of one platform, in the hands of whoever seals.
type LogWriter interface {
	// State returns how far it has come: the number of leaves, and the tree's edge.
	State() (size int64, edge []byte)
	// Postings returns how many postings the platform has.
	Postings() int64
	// Read streams the postings with a number above after, up to another, in order.
	Read(ctx context.Context, after, upto int64, each func(AuditPosting) error) error
	// Add keeps full tiles.
	Add(ctx context.Context, tiles []LogTile) error
	// Seal ends it with a head and the edge at its size.
	Seal(ctx context.Context, head SignedCheckpoint, edge []byte) error
}

// TileIndex is where a tile of the tree stands: level 0 are the leaves.
type TileIndex struct {
	Level int
	N     int64
}

// LogTile is a full tile of the tree: 256 hashes of 32 bytes.
type LogTile struct {
	TileIndex
	Hashes []byte
}

// SignedCheckpoint is a head as it was sealed.
type SignedCheckpoint struct {
	ledger.Checkpoint
	Sealed time.Time
	// Note is the head as a signed note: a C2SP checkpoint.
	Note string
}

// UnpublishedCheckpoints are heads of one platform on their way out.
type UnpublishedCheckpoints struct {
	Platform    ident.Platform
	Checkpoints []SignedCheckpoint
}

// LogStatus is how the log of a platform stands.
type LogStatus struct {
	// Postings is how many the platform has; Head covers the first Head.Size of them.
	Postings int64
	// Checkpoint is the last one; zero when nothing was sealed yet.
	Checkpoint SignedCheckpoint
	// Edge is the tree's, at that size.
	Edge []byte
	// PublishedSize is the size of the last head that is known to be outside.
	PublishedSize int64
}

// CheckpointFilter says which heads are wanted: with a size below Before (or above it when
// Ascending), or the one of a size.
type CheckpointFilter struct {
	Before    int64 // zero: from the beginning of the order
	Size      int64 // zero: any
	Ascending bool
	Limit     int
}

// CheckpointPage is one part of a list of heads.
type CheckpointPage struct {
	Checkpoints []SignedCheckpoint
	More        bool
}

// CheckpointSigner signs heads.
type CheckpointSigner interface {
	// Sign returns the signed note of a head.
	Sign(ctx context.Context, head ledger.Checkpoint) (note string, err error)
	// Keys returns the public halves of all keys that ever signed, newest first.
	Keys(ctx context.Context) ([]CheckpointKey, error)
}

// CheckpointKey is the public half of a key that signs heads, with Ed25519.
type CheckpointKey struct {
	ID        uuid.UUID
	Public    [32]byte
	ValidFrom time.Time
	// ValidUntil is zero while the key signs.
	ValidUntil time.Time
}

// SealedCheckpointKey is such a key as it is kept.
type SealedCheckpointKey struct {
	CheckpointKey
	Sealed []byte // the private half, sealed by a Sealer
}

// CheckpointKeyStore keeps the keys that sign heads.
type CheckpointKeyStore interface {
	// CheckpointKeys returns all there are, newest first.
	CheckpointKeys(ctx context.Context) ([]SealedCheckpointKey, error)
	// ReplaceCheckpointKey adds a key that signs from now on and ends the one with the id
	// `ends`, if it is not zero. False: somebody else did the same meanwhile, and nothing
	// was changed.
	ReplaceCheckpointKey(ctx context.Context, ends uuid.UUID, with SealedCheckpointKey) (bool, error)
}

// CheckpointPublisher is where heads go so that they are known outside of the database.
type CheckpointPublisher interface {
	// Publish brings heads of one platform out, in this order. Whoever is not sure does
	// it again: the same head may come twice.
	Publish(ctx context.Context, heads []SignedCheckpoint) error
}
