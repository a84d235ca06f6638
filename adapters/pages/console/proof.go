package console

import (
	"context"
	"encoding/base64"

	"github.com/google/uuid"

	"causeway/app/audit"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/ports"
)

// LedgerLog are the use cases on the signed log of postings.
type LedgerLog interface {
	InclusionProof(ctx context.Context, p ident.Platform, posting uuid.UUID, size int64) (audit.InclusionProof, error)
	Keys(ctx context.Context) ([]ports.CheckpointKey, error)
}

// postingProof proves that a posting is in the log. The script of the page checks it in the browser.
type postingProof struct {
	audit.InclusionProof
	// Key is the present key of the log, as a verifier key of signed notes.
	Key string
}

// Index returns the index of the leaf.
func (p postingProof) Index() int64 { return p.Leaf.Seq - 1 }

// LeafText returns the bytes of the leaf in base64; empty if its memo may have words of a payer.
func (p postingProof) LeafText() string {
	if hasForeignMemo(p.Leaf.Kind) {
		return ""
	}
	return base64.StdEncoding.EncodeToString(p.Leaf.Encode(nil))
}

// HashText returns the hash of the leaf in base64.
func (p postingProof) HashText() string { return base64.StdEncoding.EncodeToString(p.LeafHash[:]) }

// PathTexts returns the hashes of the proof in base64, from the leaf to the root.
func (p postingProof) PathTexts() []string {
	texts := make([]string, len(p.Path))
	for i, hash := range p.Path {
		texts[i] = base64.StdEncoding.EncodeToString(hash[:])
	}
	return texts
}

// proofOf returns the proof of a posting, or why there is none: it is sealed within a minute or so.
func (c *Console) proofOf(r *request, posting uuid.UUID) (*postingProof, string, error) {
	proof, err := c.LedgerLog.InclusionProof(r.Context(), r.platform.ID, posting, 0)
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
	for _, key := range keys { // newest first; the one that was valid when the checkpoint was signed
		if !key.ValidFrom.After(proof.Checkpoint.Sealed) {
			found.Key = audit.VerifierKey(r.platform.ID, key)
			break
		}
	}
	return &found, "", nil
}
