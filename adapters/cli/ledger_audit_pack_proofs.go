package cli

import (
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"causeway/app/audit"
	"causeway/app/audit/merkle"
	"causeway/core/ident"
	"causeway/core/period"
)

// packClosing is the record of a closed month in an auditor's pack.
type packClosing struct {
	Month      string    `json:"month"`
	ClosedAt   time.Time `json:"closedAt"`
	ClosedBy   string    `json:"closedBy"`
	Note       string    `json:"note"`
	Postings   int64     `json:"postings"`
	Digest     string    `json:"digest"`
	Checkpoint string    `json:"checkpoint"`
}

func newPackClosing(c period.Closing) packClosing {
	return packClosing{c.Month.String(), c.At.UTC(), c.By.String(), c.Note, c.Seq, hex.EncodeToString(c.Digest), c.Checkpoint}
}

// packInclusion is a proof as GET /ledger/log/proof returns it, with the signed note for the checkpoint.
type packInclusion struct {
	PostingID  string        `json:"postingId"`
	Number     int64         `json:"number"`
	LeafIndex  int64         `json:"leafIndex"`
	Leaf       []byte        `json:"leaf"` // bytes and hashes are base64
	LeafHash   merkle.Hash   `json:"leafHash"`
	Hashes     []merkle.Hash `json:"hashes"`
	Checkpoint string        `json:"checkpoint"`
}

// packConsistency is a proof as GET /ledger/log/consistency returns it, with the signed notes for the checkpoints.
type packConsistency struct {
	From   string        `json:"from"`
	To     string        `json:"to"`
	Hashes []merkle.Hash `json:"hashes"`
}

// writeProofs writes the proofs that the checkpoint of each closing is continued by the next and the last by the
// newest one, and that the postings of the year's end are in the log of the newest one.
func (a *auditPack) writeProofs(ctx context.Context) error {
	log := a.services.Log()
	sizes, err := a.closingSizes()
	if err != nil {
		return err
	}
	for i, from := range sizes[:len(sizes)-1] {
		proof, err := log.ConsistencyProof(ctx, a.platform, from, sizes[i+1])
		if err != nil {
			return err
		}
		if err := a.files(packJSON(fmt.Sprintf("proofs/consistency-%d-%d.json", from, sizes[i+1]),
			packConsistency{proof.From.Note, proof.To.Note, append([]merkle.Hash{}, proof.Path...)})); err != nil {
			return err
		}
	}
	for _, c := range a.year.Closings {
		postings := []uuid.UUID{c.Posting}
		if c.Reversal != nil {
			postings = append(postings, c.Reversal.Posting)
		}
		for _, id := range postings {
			if id == uuid.Nil {
				continue
			}
			proof, err := log.InclusionProof(ctx, a.platform, id, a.checkpoint.Size)
			if err != nil {
				return err
			}
			var posting ident.Posting
			posting.SetUUID(id)
			err = a.files(packJSON("proofs/posting-"+id.String()+".json", packInclusion{posting.String(), proof.Leaf.Seq, proof.Leaf.Seq - 1,
				proof.Leaf.Encode(nil), proof.LeafHash,
				append([]merkle.Hash{}, proof.Path...), proof.Checkpoint.Note}))
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// closingSizes returns the sizes of the checkpoints of the closings and of the newest one, each once, in order.
func (a *auditPack) closingSizes() ([]int64, error) {
	sizes := []int64{a.checkpoint.Size}
	for _, c := range a.closings {
		checkpoints, err := audit.ReadCheckpoints("the checkpoint of "+c.Month.String(), strings.NewReader(c.Checkpoint))
		if err != nil {
			return nil, err
		}
		for _, checkpoint := range checkpoints {
			sizes = append(sizes, checkpoint.Size)
		}
	}
	slices.Sort(sizes)
	return slices.Compact(sizes), nil
}
