package audit

import (
	"context"

	"causeway/app/audit/merkle"
	"causeway/core/ident"
	"causeway/ledger"
	"causeway/ports"
)

// maxLeavesPerEvidenceCheckpoint is the maximum number of leaves that one checkpoint of the evidence adds.
const maxLeavesPerEvidenceCheckpoint = 100

// SealEvidenceDue seals the new facts of every platform. A platform whose facts cannot be sealed does not delay
// others.
func (s *Log) SealEvidenceDue(ctx context.Context) error {
	if s.Evidence == nil {
		return nil
	}
	due, err := s.Evidence.PlatformsWithFacts(ctx)
	if err != nil {
		return err
	}
	return sealEach(ctx, due, "evidence", s.sealEvidence)
}

// sealEvidence seals the new facts of one platform, unless another process is sealing them.
func (s *Log) sealEvidence(ctx context.Context, p ident.Platform) error {
	for more := true; more; {
		locked, err := s.Evidence.SealEvidence(ctx, p, func(ctx context.Context, w ports.EvidenceWriter) (err error) {
			more, err = s.sealNextFacts(ctx, p, w)
			return err
		})
		if err != nil || !locked {
			return err
		}
	}
	return nil
}

// sealNextFacts adds the next facts to the tree and signs a checkpoint. It reports whether there may be more.
func (s *Log) sealNextFacts(ctx context.Context, p ident.Platform, w ports.EvidenceWriter) (more bool, err error) {
	size, edge := w.State()
	tree, err := merkle.ResumeTree(size, edge)
	if err != nil {
		return false, err
	}
	for more = true; more && tree.Size() < size+maxLeavesPerEvidenceCheckpoint; {
		facts, err := w.Take(ctx)
		if err != nil {
			return false, err
		}
		if more = len(facts) > 0; !more {
			break
		}
		leaf := ledger.EvidenceLeaf{Platform: p, Seq: tree.Size() + 1, Sealed: s.Clock.Now(), Facts: facts}
		if err := tree.Add(merkle.LeafHash(leaf)); err != nil {
			return false, err
		}
		if err := w.Add(ctx, leaf); err != nil {
			return false, err
		}
	}
	checkpoint := ports.SignedCheckpoint{Checkpoint: ledger.Checkpoint{Platform: p, Log: ledger.EvidenceLog, Size: tree.Size()},
		Sealed: s.Clock.Now()}
	if tree.Size() > size {
		if checkpoint.Root, err = tree.Root(); err != nil {
			return false, err
		}
		if checkpoint.Note, err = s.Signer.Sign(ctx, checkpoint.Checkpoint); err != nil {
			return false, err
		}
		if _, edge, err = tree.Flush(); err != nil {
			return false, err
		}
	}
	return more, w.Seal(ctx, checkpoint, edge)
}
