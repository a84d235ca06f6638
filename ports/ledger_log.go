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
	// Due lists the platforms with postings that no head covers.
	Due(ctx context.Context) ([]ident.Platform, error)
	// Seal calls fn with the log of a platform, which is then nobody else's until fn
	// returns; what fn writes is kept when it returns nil. False, and fn is not called,
	// when somebody else has it.
	Seal(ctx context.Context, p ident.Platform, fn func(ctx context.Context, w LogWriter) error) (bool, error)

	// TakeUnpublished gives heads that are not known to be outside yet, of several
	// platforms, at most `most` of each, oldest first. Nobody else is given heads of
	// these platforms before the lease ends or Published is called.
	TakeUnpublished(ctx context.Context, now time.Time, lease time.Duration, most int) ([]UnpublishedHeads, error)
	// Published notes that all heads of a platform up to a size are outside.
	Published(ctx context.Context, p ident.Platform, size int64) error

	// Standing reads how a platform's log stands; zero for a platform without one.
	Standing(ctx context.Context, p ident.Platform) (LogStanding, error)
	// Heads lists heads of a platform by size.
	Heads(ctx context.Context, p ident.Platform, f HeadFilter) (HeadPage, error)
	// Tiles reads full tiles, in the order of their places. One that is not there is nil.
	Tiles(ctx context.Context, p ident.Platform, places []TilePlace) ([][]byte, error)
	// Leaf reads a posting with its number; false when there is none.
	Leaf(ctx context.Context, p ident.Platform, posting uuid.UUID) (ledger.Leaf, bool, error)
}

// LogWriter is the log of one platform, in the hands of whoever seals.
type LogWriter interface {
	// At is how far it has come: the number of leaves, and the tree's edge.
	At() (size int64, edge []byte)
	// Postings is how many postings the platform has.
	Postings() int64
	// Read streams the postings with a number above after, up to another, in order.
	Read(ctx context.Context, after, upto int64, each func(AuditPosting) error) error
	// Add keeps full tiles.
	Add(ctx context.Context, tiles []LogTile) error
	// Seal ends it with a head and the edge at its size.
	Seal(ctx context.Context, head SignedHead, edge []byte) error
}

// TilePlace is where a tile of the tree stands: level 0 are the leaves.
type TilePlace struct {
	Level int
	N     int64
}

// LogTile is a full tile of the tree: 256 hashes of 32 bytes.
type LogTile struct {
	TilePlace
	Hashes []byte
}

// SignedHead is a head as it was sealed.
type SignedHead struct {
	ledger.Head
	Sealed time.Time
	// Note is the head as a signed note: a C2SP checkpoint.
	Note string
}

// UnpublishedHeads are heads of one platform on their way out.
type UnpublishedHeads struct {
	Platform ident.Platform
	Heads    []SignedHead
}

// LogStanding is how the log of a platform stands.
type LogStanding struct {
	// Postings is how many the platform has; Head covers the first Head.Size of them.
	Postings int64
	// Head is the last one; zero when nothing was sealed yet.
	Head SignedHead
	// Edge is the tree's, at that size.
	Edge []byte
	// Published is the size of the last head that is known to be outside.
	Published int64
}

// HeadFilter says which heads are wanted: with a size below Before (or above it when
// Ascending), or the one of a size.
type HeadFilter struct {
	Before    int64 // zero: from the beginning of the order
	Size      int64 // zero: any
	Ascending bool
	Limit     int
}

// HeadPage is one part of a list of heads.
type HeadPage struct {
	Heads []SignedHead
	More  bool
}

// HeadSigner signs heads.
type HeadSigner interface {
	// Sign makes the signed note of a head.
	Sign(ctx context.Context, head ledger.Head) (note string, err error)
	// Keys are the public halves of all keys that ever signed, newest first.
	Keys(ctx context.Context) ([]HeadKey, error)
}

// HeadKey is the public half of a key that signs heads, with Ed25519.
type HeadKey struct {
	ID        uuid.UUID
	Public    [32]byte
	ValidFrom time.Time
	// ValidUntil is zero while the key signs.
	ValidUntil time.Time
}

// SealedHeadKey is such a key as it is kept.
type SealedHeadKey struct {
	HeadKey
	Sealed []byte // the private half, sealed by a Sealer
}

// HeadKeyStore keeps the keys that sign heads.
type HeadKeyStore interface {
	// HeadKeys are all there are, newest first.
	HeadKeys(ctx context.Context) ([]SealedHeadKey, error)
	// ReplaceHeadKey adds a key that signs from now on and ends the one with the id
	// `ends`, if it is not zero. False: somebody else did the same meanwhile, and nothing
	// was changed.
	ReplaceHeadKey(ctx context.Context, ends uuid.UUID, with SealedHeadKey) (bool, error)
}

// HeadSink is where heads go so that they are known outside of the database.
type HeadSink interface {
	// Publish brings heads of one platform out, in this order. Whoever is not sure does
	// it again: the same head may come twice.
	Publish(ctx context.Context, heads []SignedHead) error
}
