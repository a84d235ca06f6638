package console

import (
	"context"
	"encoding/base64"
	"strconv"

	"github.com/google/uuid"

	"causeway/app/audit"
	"causeway/app/audit/merkle"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/ports"
)

// LedgerLog are the use cases on the signed log of postings.
type LedgerLog interface {
	InclusionProof(ctx context.Context, p ident.Platform, posting uuid.UUID, size int64) (audit.InclusionProof, error)
	ConsistencyProof(ctx context.Context, p ident.Platform, from, to int64) (audit.ConsistencyProof, error)
	Status(ctx context.Context, p ident.Platform) (ports.LogStatus, error)
	Checkpoints(ctx context.Context, p ident.Platform, f ports.CheckpointFilter) (ports.CheckpointPage, error)
	Checkpoint(ctx context.Context, p ident.Platform, size int64) (ports.SignedCheckpoint, error)
	Keys(ctx context.Context) ([]ports.CheckpointKey, error)
}

// postingProof proves that a posting is in the log. The script of the page checks it in the browser.
type postingProof struct {
	audit.InclusionProof
	// Key is the one that signed the checkpoint, as a verifier key of signed notes.
	Key string
}

// Index returns the index of the leaf.
func (p postingProof) Index() int64 { return p.Leaf.Seq - 1 }

// LeafText returns the bytes of the leaf in base64; empty if its memo may have words of others.
func (p postingProof) LeafText() string {
	if p.Leaf.Kind.HasForeignMemo() {
		return ""
	}
	return base64.StdEncoding.EncodeToString(p.Leaf.Encode(nil))
}

// HashText returns the hash of the leaf in base64.
func (p postingProof) HashText() string { return base64.StdEncoding.EncodeToString(p.LeafHash[:]) }

// PathTexts returns the hashes of the proof in base64, from the leaf to the root.
func (p postingProof) PathTexts() []string { return hashTexts(p.Path) }

func hashTexts(hashes []merkle.Hash) []string {
	texts := make([]string, len(hashes))
	for i, hash := range hashes {
		texts[i] = base64.StdEncoding.EncodeToString(hash[:])
	}
	return texts
}

// proofOf returns the proof of a posting in the checkpoint that the request names or the newest one, or why there is none: it is sealed
// within a minute or so.
func (c *Console) proofOf(r *request, posting uuid.UUID) (*postingProof, string, error) {
	size, _ := strconv.ParseInt(r.URL.Query().Get("checkpoint"), 10, 64)
	proof, err := c.LedgerLog.InclusionProof(r.Context(), r.platform.ID, posting, max(size, 0))
	if f, ok := fault.As(err); ok && (f.Code == fault.Conflict || f.Code == fault.NotFound) {
		return nil, f.Message, nil
	}
	if err != nil {
		return nil, "", err
	}
	keys, err := c.LedgerLog.Keys(r.Context())
	if err != nil {
		return nil, "", err
	}
	found := postingProof{InclusionProof: proof}
	found.Key = verifierKeys(keys, []ports.SignedCheckpoint{proof.Checkpoint})
	return &found, "", nil
}
