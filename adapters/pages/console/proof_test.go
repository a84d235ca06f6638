package console

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"strings"
	"testing"

	"github.com/google/uuid"

	"causeway/app/audit"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/ledger"
	"causeway/ports"
)

// fakeLedgerLog has a proof of every posting that there is.
type fakeLedgerLog struct{ *fakeAccounting }

func (f fakeLedgerLog) InclusionProof(ctx context.Context, p ident.Platform, posting uuid.UUID, _ int64) (audit.InclusionProof, error) {
	if err := f.read(ctx, p, "proof of %s", posting); err != nil {
		return audit.InclusionProof{}, err
	}
	found, err := f.Posting(ctx, p, posting)
	if err != nil {
		return audit.InclusionProof{}, err
	}
	if found.Seq == 0 {
		return audit.InclusionProof{}, fault.New(fault.Conflict, "The posting is not sealed yet.")
	}
	leaf := ledger.Leaf{Posting: found.RecordedPosting.Posting, Seq: found.Seq, Recorded: found.Recorded}
	return audit.InclusionProof{Leaf: leaf, LeafHash: sha256.Sum256([]byte("leaf")), Checkpoint: ports.SignedCheckpoint{
		Checkpoint: ledger.Checkpoint{Platform: p, Size: 43}, Sealed: now, Note: "origin\n43\nroot\n\n— origin signature\n"}}, nil
}

func (f fakeLedgerLog) Keys(context.Context) ([]ports.CheckpointKey, error) {
	return []ports.CheckpointKey{{ValidFrom: now.Add(1)}, {ValidFrom: now, Public: [32]byte{1}}}, nil
}

func TestPosting_HasItsProof(t *testing.T) {
	t.Parallel()
	// A posting has the bytes of its leaf, the checkpoint and the key that was valid when it was signed, and a script of the site that checks
	// them; no other page may run one. A memo that may have words of a payer is on no page, nor is the leaf, which has it. Without a
	// checkpoint the page says so.
	s := asFinance(t)
	path := base + "/postings/" + postingID.String()
	p := newPosting()
	leaf := base64.StdEncoding.EncodeToString(ledger.Leaf{Posting: p.Posting, Seq: p.Seq, Recorded: p.Recorded}.Encode(nil))
	key := audit.VerifierKey(ownPlatform, ports.CheckpointKey{Public: [32]byte{1}})
	got := s.get(path)
	for _, want := range []string{leaf, "origin\n43\nroot\n\n— origin signature", strings.ReplaceAll(key, "+", "&#43;"), "leaf 41",
		"causeway ledger verify"} {
		if !strings.Contains(got.body, want) {
			t.Errorf("no %q in %s", want, got.body)
		}
	}
	if len(got.elements("script")) != 1 || !strings.Contains(got.Header.Get("Content-Security-Policy"), "script-src 'self';") {
		t.Errorf("%q, %s", got.Header.Get("Content-Security-Policy"), got.body)
	}
	if other := s.get(base + "/entries?path=income/fees&currency=USD"); strings.Contains(other.Header.Get("Content-Security-Policy"),
		"script-src") {
		t.Errorf("another page may run scripts: %q", other.Header.Get("Content-Security-Policy"))
	}
	s.accounting.posting.Kind, s.accounting.posting.Memo = ledger.KindUnmatchedReceived, "unknown reference Ixchel Balam"
	foreign := base64.StdEncoding.EncodeToString([]byte("Ixchel Balam"))
	if got := s.get(path); strings.Contains(got.body, "Ixchel") || strings.Contains(got.body, foreign[:8]) || strings.Contains(got.body,
		`data-is="leaf"`) {
		t.Errorf("words of a payer: %s", got.body)
	}
	s.accounting.posting.Seq = 0
	if got := s.get(path); !strings.Contains(got.body, "The posting is not sealed yet.") || len(got.elements("script")) > 0 {
		t.Errorf("%s", got.body)
	}
}
