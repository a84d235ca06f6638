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

// Status is how a platform's log stands.
func (s *Log) Status(ctx context.Context, p ident.Platform) (ports.LogStatus, error) {
	return s.Log.LogStatus(ctx, p)
}

// Checkpoints lists the heads of a platform.
func (s *Log) Checkpoints(ctx context.Context, p ident.Platform, f ports.CheckpointFilter) (ports.CheckpointPage, error) {
	return s.Log.Checkpoints(ctx, p, f)
}

// Keys are the public halves of all keys that ever signed heads.
func (s *Log) Keys(ctx context.Context) ([]ports.CheckpointKey, error) {
	return s.Signer.Keys(ctx)
}

// VerifierKey is a key as verifiers of signed notes take it for the heads of a platform:
// "name+hash+key".
func VerifierKey(p ident.Platform, key ports.CheckpointKey) string {
	text, err := note.NewEd25519VerifierKey(ledger.LogOrigin(p), key.Public[:])
	if err != nil {
		panic(err) // 32 bytes always are a key
	}
	return text
}

// InclusionProof proves that a posting is in the log that a head is of.
type InclusionProof struct {
	Leaf       ledger.Leaf
	LeafHash   merkle.Hash // of the leaf
	Checkpoint ports.SignedCheckpoint
	Path       []merkle.Hash
}

// InclusionProof proves that a posting is covered by the head of a size, the last one for
// zero.
//
// Errors: NOT_FOUND without such a posting, CONFLICT while no head covers it, and
// INVALID_INPUT for a size that no head has or that does not reach it.
func (s *Log) InclusionProof(ctx context.Context, p ident.Platform, posting uuid.UUID, size int64) (InclusionProof, error) {
	leaf, found, err := s.Log.Leaf(ctx, p, posting)
	if err != nil {
		return InclusionProof{}, err
	}
	if !found {
		return InclusionProof{}, fault.New(fault.NotFound, "There is no posting with this id. Check postingId.")
	}
	at, err := s.Log.LogStatus(ctx, p)
	if err != nil {
		return InclusionProof{}, err
	}
	if leaf.Seq > at.Checkpoint.Size {
		return InclusionProof{}, fault.New(fault.Conflict, "The posting is number %d and the last head covers %d. Ask again in a moment: new postings are sealed every %s.",
			leaf.Seq, at.Checkpoint.Size, s.Interval)
	}
	head, err := s.findCheckpoint(ctx, p, at, "size", size)
	if err != nil {
		return InclusionProof{}, err
	}
	if leaf.Seq > head.Size {
		return InclusionProof{}, fault.Invalid(fault.Field{Field: "size", Message: fmt.Sprintf("must be at least %d, the number of the posting", leaf.Seq)})
	}
	path, hash, err := s.storedTree(ctx, p, at).InclusionProof(leaf.Seq-1, head.Size)
	if err != nil {
		return InclusionProof{}, fmt.Errorf("prove posting %s: %w", posting, err)
	}
	if hash != merkle.LeafHash(leaf) {
		return InclusionProof{}, fmt.Errorf("posting %s, number %d of %s, is not what was sealed", posting, leaf.Seq, p)
	}
	return InclusionProof{leaf, hash, head, path}, nil
}

// ConsistencyProof proves that the log of one head goes on in the log of a later one.
type ConsistencyProof struct {
	From, To ports.SignedCheckpoint
	Path     []merkle.Hash
}

// ConsistencyProof proves that what the head of one size covers was left as it was up to the
// head of another size, the last one for zero. INVALID_INPUT for sizes that no head has
// or that are the wrong way round.
func (s *Log) ConsistencyProof(ctx context.Context, p ident.Platform, from, to int64) (ConsistencyProof, error) {
	at, err := s.Log.LogStatus(ctx, p)
	if err != nil {
		return ConsistencyProof{}, err
	}
	later, err := s.findCheckpoint(ctx, p, at, "to", to)
	if err != nil {
		return ConsistencyProof{}, err
	}
	if from > later.Size {
		return ConsistencyProof{}, fault.Invalid(fault.Field{Field: "from", Message: fmt.Sprintf("must not be above %d, the size of the later head", later.Size)})
	}
	earlier, err := s.findCheckpoint(ctx, p, at, "from", from)
	if err != nil {
		return ConsistencyProof{}, err
	}
	path, err := s.storedTree(ctx, p, at).ConsistencyProof(earlier.Size, later.Size)
	if err != nil {
		return ConsistencyProof{}, fmt.Errorf("prove the log of %s from %d to %d: %w", p, earlier.Size, later.Size, err)
	}
	return ConsistencyProof{earlier, later, path}, nil
}

// findCheckpoint is the head of a size, the last one for zero.
func (s *Log) findCheckpoint(ctx context.Context, p ident.Platform, at ports.LogStatus, field string, size int64) (ports.SignedCheckpoint, error) {
	if (size == 0 || size == at.Checkpoint.Size) && at.Checkpoint.Size > 0 {
		return at.Checkpoint, nil
	}
	if size > 0 && size < at.Checkpoint.Size {
		page, err := s.Log.Checkpoints(ctx, p, ports.CheckpointFilter{Size: size, Limit: 1})
		if err != nil {
			return ports.SignedCheckpoint{}, err
		}
		if len(page.Checkpoints) > 0 {
			return page.Checkpoints[0], nil
		}
	}
	return ports.SignedCheckpoint{}, fault.Invalid(fault.Field{Field: field, Message: "must be the size of a head; GET /ledger/log/checkpoints lists them"})
}

func (s *Log) storedTree(ctx context.Context, p ident.Platform, at ports.LogStatus) merkle.StoredTree {
	return merkle.StoredTree{Size: at.Checkpoint.Size, Root: at.Checkpoint.Root, Edge: at.Edge, Fetch: func(places []ports.TileIndex) ([][]byte, error) {
		return s.Log.Tiles(ctx, p, places)
	}}
}
