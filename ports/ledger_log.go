package ports

import (
	"context"
	"time"

	"github.com/google/uuid"

	"causeway/core/ident"
	"causeway/ledger"
)

// CheckpointStore stores the signed checkpoints of one log of each platform.
type CheckpointStore interface {
	// TakeUnpublished leases checkpoints that are not marked as published, of several
	// platforms, at most limit of each, oldest first. No other call returns checkpoints of
	// these platforms before the lease ends or MarkPublished is called.
	TakeUnpublished(ctx context.Context, now time.Time, lease time.Duration, limit int) ([]UnpublishedCheckpoints, error)
	// MarkPublished records that all checkpoints of a platform up to a size are published. The first record of a size stays.
	MarkPublished(ctx context.Context, p ident.Platform, publication Publication) error
	// Checkpoints returns a page of a platform's checkpoints, ordered by size, with their publications.
	Checkpoints(ctx context.Context, p ident.Platform, f CheckpointFilter) (CheckpointPage, error)
}

// LedgerLog stores the log of each platform's postings: the tiles of its Merkle tree, and
// the signed checkpoints.
type LedgerLog interface {
	CheckpointStore
	// Unsealed returns the platforms with postings that no checkpoint covers.
	Unsealed(ctx context.Context) ([]ident.Platform, error)
	// Seal calls fn with exclusive access to the log of a platform. What fn writes is
	// committed if it returns nil. Seal returns false, and does not call fn, if another
	// process has access.
	Seal(ctx context.Context, p ident.Platform, fn func(ctx context.Context, w LogWriter) error) (bool, error)

	// LogStatus returns the status of a platform's log; zero for a platform without one.
	LogStatus(ctx context.Context, p ident.Platform) (LogStatus, error)
	// Tiles returns full tiles, one per index; nil if there is none.
	Tiles(ctx context.Context, p ident.Platform, indexes []TileIndex) ([][]byte, error)
	// Leaf returns the leaf of a posting, or false if there is none.
	Leaf(ctx context.Context, p ident.Platform, posting uuid.UUID) (ledger.Leaf, bool, error)
}

// LogWriter appends to the log of one platform.
type LogWriter interface {
	// State returns the number of leaves, and the edge of the tree: the partly filled tile
	// of each level.
	State() (size int64, edge []byte)
	// Postings returns the number of the platform's postings.
	Postings() int64
	// Read streams the postings with numbers above after, up to and including upto, in
	// order.
	Read(ctx context.Context, after, upto int64, each func(AuditPosting) error) error
	// Add stores full tiles.
	Add(ctx context.Context, tiles []LogTile) error
	// Seal stores a checkpoint and the edge of the tree at its size; it is the last call.
	Seal(ctx context.Context, checkpoint SignedCheckpoint, edge []byte) error
}

// TileIndex is the index of a tile of the tree. Level 0 holds the hashes of leaves.
type TileIndex struct {
	Level int
	N     int64
}

// LogTile is a full tile of the tree: 256 hashes of 32 bytes.
type LogTile struct {
	TileIndex
	Hashes []byte
}

// SignedCheckpoint is a checkpoint with its signature.
type SignedCheckpoint struct {
	ledger.Checkpoint
	Sealed time.Time
	// Note is the signed note: a C2SP checkpoint.
	Note string
	// PreviousSize is the size of the checkpoint before it, as recorded with this one in the storage: 0 for the
	// first.
	PreviousSize int64
	// Published is zero as long as nothing is known of a publication.
	Published Publication
}

// Publication is that of all checkpoints of a log up to a size.
type Publication struct {
	Size int64
	At   time.Time
	// Place is where, without secrets.
	Place string
}

// UnpublishedCheckpoints are checkpoints of one platform that are to be published.
type UnpublishedCheckpoints struct {
	Platform    ident.Platform
	Checkpoints []SignedCheckpoint
}

// LogStatus is the status of a platform's log.
type LogStatus struct {
	// Postings is the number of the platform's postings; the checkpoint covers the first
	// Checkpoint.Size of them.
	Postings int64
	// Checkpoint is the latest one; zero if there is none.
	Checkpoint SignedCheckpoint
	// Edge is the edge of the tree at the size of the checkpoint.
	Edge []byte
	// PublishedSize is the size of the latest published checkpoint.
	PublishedSize int64
}

// CheckpointFilter selects checkpoints: those with a size below Before, or above it if
// Ascending; or the one of a size.
type CheckpointFilter struct {
	Before    int64 // zero: from the first in the order
	Size      int64 // zero: any
	Ascending bool
	Limit     int
}

// CheckpointPage is a page of checkpoints.
type CheckpointPage struct {
	Checkpoints []SignedCheckpoint
	More        bool
}

// CheckpointSigner signs checkpoints.
type CheckpointSigner interface {
	// Sign returns the signed note of a checkpoint.
	Sign(ctx context.Context, checkpoint ledger.Checkpoint) (note string, err error)
	// Keys returns the public halves of all keys that ever signed, newest first.
	Keys(ctx context.Context) ([]CheckpointKey, error)
}

// CheckpointKey is the public half of an Ed25519 key that signs checkpoints.
type CheckpointKey struct {
	ID        uuid.UUID
	Public    [32]byte
	ValidFrom time.Time
	// ValidUntil is zero while the key signs.
	ValidUntil time.Time
}

// SealedCheckpointKey is a key with its encrypted private half.
type SealedCheckpointKey struct {
	CheckpointKey
	Sealed []byte // the private half, encrypted by a Sealer
}

// CheckpointKeyStore stores the keys that sign checkpoints.
type CheckpointKeyStore interface {
	// CheckpointKeys returns all keys, newest first.
	CheckpointKeys(ctx context.Context) ([]SealedCheckpointKey, error)
	// ReplaceCheckpointKey adds a key that signs from now on, and ends the key with the id
	// old unless it is zero. It returns false, and changes nothing, if another process
	// replaced that key first.
	ReplaceCheckpointKey(ctx context.Context, old uuid.UUID, key SealedCheckpointKey) (bool, error)
}

// CheckpointPublisher publishes checkpoints outside the database.
type CheckpointPublisher interface {
	// Publish publishes checkpoints of one platform, in the given order. A checkpoint may
	// be published again: a caller that got an error repeats the call.
	Publish(ctx context.Context, checkpoints []SignedCheckpoint) error
	// Newest returns the signed notes that were published last, one of each platform and log; none if the place cannot be read.
	Newest(ctx context.Context) ([]string, error)
}
