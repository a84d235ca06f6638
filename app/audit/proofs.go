package audit

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"golang.org/x/mod/sumdb/note"

	"causeway/app/audit/merkle"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/ledger"
	"causeway/ports"
)

// Status returns the status of a platform's log.
func (s *Log) Status(ctx context.Context, p ident.Platform) (ports.LogStatus, error) {
	return s.Reads.LogStatus(ctx, p)
}

// EvidenceStatus returns the status of a platform's log of evidence.
func (s *Log) EvidenceStatus(ctx context.Context, p ident.Platform) (ports.EvidenceStatus, error) {
	if s.Evidence == nil {
		return ports.EvidenceStatus{}, nil
	}
	return s.Evidence.EvidenceStatus(ctx, p)
}

// Checkpoints lists the checkpoints of a platform.
func (s *Log) Checkpoints(ctx context.Context, p ident.Platform, f ports.CheckpointFilter) (ports.CheckpointPage, error) {
	return s.Reads.Checkpoints(ctx, p, f)
}

// Keys returns all keys that ever signed checkpoints.
func (s *Log) Keys(ctx context.Context) ([]ports.CheckpointKey, error) {
	return s.Signer.Keys(ctx)
}

// VerifierKey returns a key as a verifier key of signed notes for the checkpoints of a platform:
// "name+hash+key".
func VerifierKey(p ident.Platform, key ports.CheckpointKey) string {
	text, err := note.NewEd25519VerifierKey(ledger.LogOrigin(p), key.Public[:])
	if err != nil {
		panic(err) // cannot happen with 32 bytes
	}
	return text
}

// InclusionProof proves that a posting is in the log of a checkpoint.
type InclusionProof struct {
	Leaf       ledger.Leaf
	LeafHash   merkle.Hash
	Checkpoint ports.SignedCheckpoint
	Path       []merkle.Hash
}

// InclusionProof proves that a posting is in the log of the checkpoint of a size, the latest one
// if the size is zero.
//
// Faults: NOT_FOUND for an unknown posting; CONFLICT if no checkpoint covers it yet;
// INVALID_INPUT for a size without a checkpoint or below the number of the posting.
func (s *Log) InclusionProof(ctx context.Context, p ident.Platform, posting uuid.UUID, size int64) (InclusionProof, error) {
	leaf, found, err := s.Reads.Leaf(ctx, p, posting)
	if err != nil {
		return InclusionProof{}, err
	}
	if !found {
		return InclusionProof{}, fault.New(fault.NotFound, "No posting has this id. Check postingId.")
	}
	status, err := s.Reads.LogStatus(ctx, p)
	if err != nil {
		return InclusionProof{}, err
	}
	if leaf.Seq > status.Checkpoint.Size {
		return InclusionProof{}, fault.New(fault.Conflict, "The posting is number %d and the latest checkpoint covers %d. Retry later: new "+
			"postings are sealed every %s.",
			leaf.Seq, status.Checkpoint.Size, s.Interval)
	}
	checkpoint, err := s.findCheckpoint(ctx, p, status, "size", size)
	if err != nil {
		return InclusionProof{}, err
	}
	if leaf.Seq > checkpoint.Size {
		return InclusionProof{}, fault.Invalid(fault.Field{Field: "size", Message: fmt.Sprintf("must be at least %d, the number of the posting",
			leaf.Seq)})
	}
	path, hash, err := s.storedTree(ctx, p, status).InclusionProof(leaf.Seq-1, checkpoint.Size)
	if err != nil {
		return InclusionProof{}, fmt.Errorf("prove that posting %s is in the log: %w", posting, err)
	}
	if hash != merkle.LeafHash(leaf) {
		return InclusionProof{}, fmt.Errorf("posting %s, number %d of %s, has been changed since it was sealed", posting, leaf.Seq, p)
	}
	return InclusionProof{leaf, hash, checkpoint, path}, nil
}

// ConsistencyProof proves that the log of a checkpoint is a prefix of the log of a later one.
type ConsistencyProof struct {
	From, To ports.SignedCheckpoint
	Path     []merkle.Hash
}

// Holds reports whether the hashes of the proof lead to the roots of both checkpoints.
func (p ConsistencyProof) Holds() bool {
	return merkle.IsConsistent(p.Path, p.From.Checkpoint, p.To.Checkpoint)
}

// ConsistencyProof proves that the log of the checkpoint of one size is a prefix of the log of
// the checkpoint of another size, the latest one if that is zero. Fault: INVALID_INPUT for a
// size without a checkpoint, or a first size above the second.
func (s *Log) ConsistencyProof(ctx context.Context, p ident.Platform, from, to int64) (ConsistencyProof, error) {
	status, err := s.Reads.LogStatus(ctx, p)
	if err != nil {
		return ConsistencyProof{}, err
	}
	later, err := s.findCheckpoint(ctx, p, status, "to", to)
	if err != nil {
		return ConsistencyProof{}, err
	}
	if from > later.Size {
		return ConsistencyProof{}, fault.Invalid(fault.Field{Field: "from", Message: fmt.Sprintf("must be at most %d, the size of the later "+
			"checkpoint", later.Size)})
	}
	earlier, err := s.findCheckpoint(ctx, p, status, "from", from)
	if err != nil {
		return ConsistencyProof{}, err
	}
	path, err := s.storedTree(ctx, p, status).ConsistencyProof(earlier.Size, later.Size)
	if err != nil {
		return ConsistencyProof{}, fmt.Errorf("prove that the log of %s is consistent from %d to %d: %w", p, earlier.Size, later.Size, err)
	}
	return ConsistencyProof{earlier, later, path}, nil
}

// SignedBy returns the key whose signature a checkpoint has, and false if it has one of none of the keys.
func SignedBy(c ports.SignedCheckpoint, keys []ports.CheckpointKey) (ports.CheckpointKey, bool) {
	for _, key := range keys {
		if (logKeys{key.Public}).verify(c.Checkpoint, c.Note) == nil {
			return key, true
		}
	}
	return ports.CheckpointKey{}, false
}

// Checkpoint returns the checkpoint of a size. Fault: NOT_FOUND.
func (s *Log) Checkpoint(ctx context.Context, p ident.Platform, size int64) (ports.SignedCheckpoint, error) {
	// Below one would be any size.
	page, err := s.Reads.Checkpoints(ctx, p, ports.CheckpointFilter{Size: max(size, 1), Limit: 1})
	if err == nil && (size < 1 || len(page.Checkpoints) == 0) {
		err = fault.New(fault.NotFound, "The log has no checkpoint of %d postings.", size)
	}
	if err != nil {
		return ports.SignedCheckpoint{}, err
	}
	return page.Checkpoints[0], nil
}

// findCheckpoint returns the checkpoint of a size, the latest one if the size is zero.
func (s *Log) findCheckpoint(ctx context.Context, p ident.Platform, status ports.LogStatus, field string,
	size int64) (ports.SignedCheckpoint, error) {
	if (size == 0 || size == status.Checkpoint.Size) && status.Checkpoint.Size > 0 {
		return status.Checkpoint, nil
	}
	if size < status.Checkpoint.Size {
		if found, err := s.Checkpoint(ctx, p, size); !fault.Is(err, fault.NotFound) {
			return found, err
		}
	}
	return ports.SignedCheckpoint{}, fault.Invalid(fault.Field{Field: field, Message: "must be the size of a checkpoint; list them with GET " +
		"/ledger/log/checkpoints"})
}

func (s *Log) storedTree(ctx context.Context, p ident.Platform, status ports.LogStatus) merkle.StoredTree {
	return merkle.StoredTree{Size: status.Checkpoint.Size, Root: status.Checkpoint.Root, Edge: status.Edge,
		Fetch: func(indexes []ports.TileIndex) ([][]byte, error) {
			return s.Reads.Tiles(ctx, p, indexes)
		}}
}
