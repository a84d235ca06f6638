package ports

import (
	"context"
	"time"

	"github.com/google/uuid"

	"causeway/core/ident"
	"causeway/ledger"
)

// EvidenceLog stores the log of evidence of each platform: hashes of the facts beside the postings, and the signed
// checkpoints of their tree.
type EvidenceLog interface {
	CheckpointStore
	// PlatformsWithFacts returns the platforms with facts that are not sealed.
	PlatformsWithFacts(ctx context.Context) ([]ident.Platform, error)
	// SealEvidence calls fn with exclusive access to the log of a platform. What fn writes is committed if it
	// returns nil. It returns false, and does not call fn, if another process has access.
	SealEvidence(ctx context.Context, p ident.Platform, fn func(ctx context.Context, w EvidenceWriter) error) (bool, error)
	// EvidenceStatus returns the status of a platform's log; zero for a platform without one.
	EvidenceStatus(ctx context.Context, p ident.Platform) (EvidenceStatus, error)
}

// EvidenceWriter appends to the log of evidence of one platform.
type EvidenceWriter interface {
	// State returns the number of leaves, and the edge of the tree.
	State() (size int64, edge []byte)
	// Take returns the next facts that are not sealed, in a bounded number, and takes them from the queue; none if
	// there are no more.
	Take(ctx context.Context) ([]ledger.Fact, error)
	// Add stores a leaf.
	Add(ctx context.Context, leaf ledger.EvidenceLeaf) error
	// Seal stores a checkpoint and the edge of the tree at its size; it is the last call.
	Seal(ctx context.Context, checkpoint SignedCheckpoint, edge []byte) error
}

// EvidenceStatus is the status of a platform's log of evidence.
type EvidenceStatus struct {
	// Checkpoint is the latest one; zero if there is none.
	Checkpoint SignedCheckpoint
	// PublishedSize is the size of the latest published checkpoint.
	PublishedSize int64
}

// EvidenceAudit reads the logs of evidence, and the facts as they are stored now, to compare them.
type EvidenceAudit interface {
	// EvidenceSnapshot calls fn with a view of one snapshot of the whole storage.
	EvidenceSnapshot(ctx context.Context, fn func(ctx context.Context, view EvidenceView) error) error
}

// EvidenceView reads one snapshot, in a bounded amount of memory. An error of a callback ends the stream and is
// returned.
type EvidenceView interface {
	// EvidencePlatforms returns every platform with evidence, a checkpoint of it, or facts that are not sealed.
	EvidencePlatforms(ctx context.Context) ([]ident.Platform, error)
	// EvidenceLog returns the size of the log of a platform, and the edge of its tree.
	EvidenceLog(ctx context.Context, p ident.Platform) (size int64, edge []byte, err error)
	// EvidenceCheckpoints returns the checkpoints with sizes above a size, in order, at most limit.
	EvidenceCheckpoints(ctx context.Context, p ident.Platform, above int64, limit int) ([]SignedCheckpoint, error)
	// LogKeys returns the public halves of the keys that sign checkpoints, newest first.
	LogKeys(ctx context.Context) ([]CheckpointKey, error)
	// Leaves streams the leaves in the order of their numbers.
	Leaves(ctx context.Context, p ident.Platform, each func(ledger.EvidenceLeaf) error) error
	// Facts returns the facts of subjects as they are stored now; those that do not exist are omitted.
	Facts(ctx context.Context, p ident.Platform, kind ledger.FactKind, subjects []string) (map[string]StoredFact, error)
	// QueuedKinds returns the kinds of the facts that are queued when they are recorded: those of rows that never change,
	// and those of the versions of rows.
	QueuedKinds() (kinds, versions []ledger.FactKind)
	// QueuedSubjects returns the subjects of a kind that are queued.
	QueuedSubjects(ctx context.Context, p ident.Platform, kind ledger.FactKind) (map[string]bool, error)
	// Subjects streams the subjects of all facts of a queued kind, and whether each is still queued.
	Subjects(ctx context.Context, p ident.Platform, kind ledger.FactKind, each func(subject string, queued bool) error) error
	// SkippedPayments streams the transactions, and the receipts that belong to none, without evidence whose postings
	// count as sealed.
	SkippedPayments(ctx context.Context, p ident.Platform, each func(kind ledger.FactKind, subject string) error) error
	// UnmatchedWithoutReceipt streams the ids of the postings of unmatched funds that no receipt is stored for. They are
	// missing from the list of unmatched funds.
	UnmatchedWithoutReceipt(ctx context.Context, p ident.Platform, each func(posting uuid.UUID) error) error
	// DanglingMatches streams what was matched in reconciliations and belongs to none of them: "match" with its id, which has
	// no reconciliation, and "matched line" and "matched entry" without a match.
	DanglingMatches(ctx context.Context, p ident.Platform, each func(what, id, without string) error) error
	// ChangedPayees counts the outgoing payments that are not paid yet, and passes those whose payee or amount is not what
	// was accepted.
	ChangedPayees(ctx context.Context, p ident.Platform, each func(t ident.Transaction) error) (waiting int64, err error)
	// ChangedAccounts counts the external accounts that were compared with what was registered, and passes those that are
	// not what it was; unreadable is why one cannot be decrypted, because its data are not those of its row.
	ChangedAccounts(ctx context.Context, p ident.Platform, each func(id ident.ExternalAccount, unreadable error) error) (
		compared int64, err error)
	// Unsealed counts the facts that are not sealed, and returns since when the oldest of them is not.
	Unsealed(ctx context.Context, p ident.Platform) (count int64, since time.Time, err error)
}

// StoredFact is a fact as it is stored now.
type StoredFact struct {
	ledger.Fact
	// Names are the names of all its fields, also of empty ones.
	Names []string
	// Erased reports whether its texts were erased; OfDeleted whether its customer was deleted.
	Erased, OfDeleted bool
	// Unreadable is set, instead of the hash, for texts that are encrypted and cannot be decrypted; NoKey if there is no
	// master key to do so.
	Unreadable error
	NoKey      bool
}
