package console

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"golang.org/x/mod/sumdb/tlog"

	"causeway/app/audit"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/ledger"
	"causeway/ports"
)

// fakeLedgerLog has a proof of every posting that there is.
type fakeLedgerLog struct{ *fakeAccounting }

// Postings implements Accounting.
func (f *fakeAccounting) Postings(ctx context.Context, filter ports.PostingFilter) (page ports.PostingPage, err error) {
	if f.archived && filter.Ascending {
		return page, fault.New(fault.MonthArchived, "Postings recorded before 2026-01 are archived.")
	}
	if f.postings = filter; f.posting.Seq > filter.After || !filter.Ascending {
		page.Postings = []ports.RecordedPosting{f.posting.RecordedPosting}
	}
	return page, f.read(ctx, filter.Platform, "postings")
}

func (f fakeLedgerLog) InclusionProof(ctx context.Context, p ident.Platform, posting uuid.UUID, size int64) (audit.InclusionProof, error) {
	if err := f.read(ctx, p, "proof of %s in %d", posting, size); err != nil {
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
	return audit.InclusionProof{Leaf: leaf, LeafHash: sha256.Sum256([]byte("leaf")), Checkpoint: newCheckpoints()[1]}, nil
}

// logKey signs the checkpoints of the fake.
var logKey = ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))

// sign returns a checkpoint with its signed note.
func sign(c ports.SignedCheckpoint) ports.SignedCheckpoint {
	name, public := c.Origin(), logKey.Public().(ed25519.PublicKey)
	hash := sha256.Sum256([]byte(name + "\n\x01" + string(public)))
	signature := append(hash[:4], ed25519.Sign(logKey, []byte(c.Text()))...)
	c.Note = c.Text() + "\n— " + name + " " + base64.StdEncoding.EncodeToString(signature) + "\n"
	return c
}

// fakeTree is the tree of the checkpoints of the fake.
var fakeTree = sync.OnceValue(func() tlog.HashReaderFunc {
	var stored []tlog.Hash
	reader := tlog.HashReaderFunc(func(indexes []int64) ([]tlog.Hash, error) {
		found := make([]tlog.Hash, len(indexes))
		for i, index := range indexes {
			found[i] = stored[index]
		}
		return found, nil
	})
	for n := range int64(50) {
		hashes, _ := tlog.StoredHashesForRecordHash(n, tlog.RecordHash([]byte{byte(n)}), reader)
		stored = append(stored, hashes...)
	}
	return reader
})

// newCheckpoints returns the checkpoints of the fake, oldest first.
func newCheckpoints() []ports.SignedCheckpoint {
	checkpoints := []ports.SignedCheckpoint{{Sealed: now}, {Sealed: now, PreviousSize: 41, Published: ports.Publication{Size: 43, At: now,
		Place: "https://log.example"}}, {Sealed: now, PreviousSize: 43}}
	for i, size := range []int64{41, 43, 50} {
		root, _ := tlog.TreeHash(size, fakeTree())
		checkpoints[i].Checkpoint = ledger.Checkpoint{Platform: ownPlatform, Size: size, Root: root}
		checkpoints[i] = sign(checkpoints[i])
	}
	return checkpoints
}

func (f fakeLedgerLog) Checkpoints(ctx context.Context, p ident.Platform, filter ports.CheckpointFilter) (page ports.CheckpointPage,
	err error) {
	for _, c := range slices.Backward(newCheckpoints()) {
		if f.posting.Seq > 0 && (filter.Before == 0 || c.Size < filter.Before) {
			page.Checkpoints = append(page.Checkpoints, c)
		}
	}
	page.More = filter.Before == 0 && f.posting.Seq > 0
	return page, f.read(ctx, p, "checkpoints before %d", filter.Before)
}

func (f fakeLedgerLog) Checkpoint(ctx context.Context, p ident.Platform, size int64) (ports.SignedCheckpoint, error) {
	if err := f.read(ctx, p, "checkpoint %d", size); err != nil {
		return ports.SignedCheckpoint{}, err
	}
	for _, c := range newCheckpoints() {
		if c.Size == size && f.posting.Seq > 0 {
			return c, nil
		}
	}
	return ports.SignedCheckpoint{}, fault.New(fault.NotFound, "The log has no checkpoint of %d postings.", size)
}

func (f fakeLedgerLog) ConsistencyProof(ctx context.Context, p ident.Platform, from, to int64) (proof audit.ConsistencyProof, err error) {
	if proof.From, err = f.Checkpoint(ctx, p, from); err == nil {
		proof.To, err = f.Checkpoint(ctx, p, to)
	}
	proof.Path, _ = tlog.ProveTree(to, from, fakeTree())
	if f.broken {
		proof.From.Root[0]++
	}
	return proof, err
}

func (f fakeLedgerLog) Status(ctx context.Context, p ident.Platform) (ports.LogStatus, error) {
	return ports.LogStatus{Postings: 52, Checkpoint: newCheckpoints()[2], PublishedSize: 43}, f.read(ctx, p, "log")
}

func (f fakeLedgerLog) Keys(context.Context) ([]ports.CheckpointKey, error) {
	return []ports.CheckpointKey{{ValidFrom: now.Add(1)}, {ValidFrom: now, ValidUntil: now.Add(1),
		Public: [32]byte(logKey.Public().(ed25519.PublicKey))}}, nil
}

func verifierKey() string {
	keys, _ := fakeLedgerLog{}.Keys(context.Background())
	return audit.VerifierKey(ownPlatform, keys[1])
}

// escaped returns a text as templates write it.
func escaped(text string) string { return strings.ReplaceAll(text, "+", "&#43;") }

func TestCheckpoints_ListAndPage(t *testing.T) {
	t.Parallel()
	// Checkpoints are listed, the newest first, with the key that signed them and when and where they were published. The page of one has its
	// note, the proof that it continues the one before, and its postings, which lead to their proof in it; a proof that does not hold is said,
	// and that the month of the postings was archived.
	s := asFinance(t)
	list := s.get(base + "/checkpoints")
	_, hash, _ := strings.Cut(verifierKey(), "+")
	for _, want := range []string{"/checkpoints/50\">50<", hash[:8], "https://log.example", "not yet", "/checkpoints?after=41"} {
		if !strings.Contains(list.body, want) {
			t.Errorf("no %q in %s", want, list.body)
		}
	}
	if next := s.get(base + "/checkpoints?after=43"); strings.Contains(next.body, "/checkpoints/43\"") ||
		!strings.Contains(next.body, "/checkpoints/41\"") {
		t.Errorf("the next page: %s", next.body)
	}

	got := s.get(base + "/checkpoints/43")
	for _, want := range []string{escaped(newCheckpoints()[1].Note), escaped(newCheckpoints()[0].Note), "lead to the roots of both",
		base + "/checkpoints/41\"", base + "/postings/" + postingID.String() + "?checkpoint=43", "https://log.example", escaped(verifierKey())} {
		if !strings.Contains(got.body, want) {
			t.Errorf("no %q in %s", want, got.body)
		}
	}
	want := ports.PostingFilter{Platform: ownPlatform, After: 41, Ascending: true, Limit: 2}
	if !reflect.DeepEqual(s.accounting.postings, want) {
		t.Errorf("postings %+v", s.accounting.postings)
	}
	s.get(base + "/postings/" + postingID.String() + "?checkpoint=43")
	if !slices.Contains(s.calls.log, "proof of "+postingID.String()+" in 43") {
		t.Errorf("%q", s.calls.log)
	}
	s.accounting.broken = true
	if got := s.get(base + "/checkpoints/43"); !strings.Contains(got.body, "do not lead to the roots") {
		t.Errorf("a proof that does not hold: %s", got.body)
	}
	if got := s.get(base + "/checkpoints/41"); !strings.Contains(got.body, "the first one of the log") {
		t.Errorf("the first one: %s", got.body)
	}
	s.accounting.broken, s.accounting.archived = false, true
	if got := s.get(base + "/checkpoints/43"); got.StatusCode != http.StatusOK || !strings.Contains(got.body, "lead to the roots of both") ||
		!strings.Contains(got.body, "in a month that was archived") {
		t.Errorf("of an archived month: %d %s", got.StatusCode, got.body)
	}
	// Those that are in a later month are listed.
	if s.accounting.postings.After != 44 || s.accounting.postings.Limit != 2 || !strings.Contains(s.get(base+"/checkpoints/43").body,
		base+"/postings/"+postingID.String()+"?checkpoint=43") {
		t.Errorf("the rest: %+v", s.accounting.postings)
	}
	file := s.get(base + "/checkpoints/43/file.txt")
	if file.body != newCheckpoints()[1].Note+"\n" || !strings.Contains(file.Header.Get("Content-Disposition"), "checkpoint-43.txt") {
		t.Errorf("%q", file.body)
	}
	for _, path := range []string{"/checkpoints/42", "/checkpoints/x", "/checkpoints/-1", "/checkpoints/42/file.txt"} {
		if got := s.get(base + path); got.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %d", path, got.StatusCode)
		}
	}
}

func TestPosting_HasItsProof(t *testing.T) {
	t.Parallel()
	// A posting has the bytes of its leaf, the checkpoint and the key that was valid when it was signed, and a script of the site that checks
	// them; no other page may run one. A memo that may have words of others is on no page, nor is the leaf, which has it. Without a
	// checkpoint the page says so.
	s := asFinance(t)
	path := base + "/postings/" + postingID.String()
	p := newPosting()
	leaf := base64.StdEncoding.EncodeToString(ledger.Leaf{Posting: p.Posting, Seq: p.Seq, Recorded: p.Recorded}.Encode(nil))
	key := verifierKey()
	got := s.get(path)
	for _, want := range []string{leaf, escaped(newCheckpoints()[1].Note), base + "/checkpoints/43\"", escaped(key), "leaf 41",
		"causeway ledger verify"} {
		if !strings.Contains(got.body, want) {
			t.Errorf("no %q in %s", want, got.body)
		}
	}
	if len(got.elements("script")) != 1 || !strings.Contains(got.Header.Get("Content-Security-Policy"), "script-src 'self';") {
		t.Errorf("%q, %s", got.Header.Get("Content-Security-Policy"), got.body)
	}
	if other := s.get(base + "/proposals"); strings.Contains(other.Header.Get("Content-Security-Policy"),
		"script-src") {
		t.Errorf("another page may run scripts: %q", other.Header.Get("Content-Security-Policy"))
	}
	s.accounting.posting.Memo = "Ixchel Balam"
	foreign := base64.StdEncoding.EncodeToString([]byte("Ixchel Balam"))
	for _, kind := range []ledger.Kind{ledger.KindUnmatchedReceived, ledger.KindRefundPaid, ledger.KindRefundFailed} {
		s.accounting.posting.Kind = kind
		if got := s.get(path); strings.Contains(got.body, "Ixchel") || strings.Contains(got.body, foreign[:8]) || strings.Contains(got.body,
			`data-is="leaf"`) {
			t.Errorf("words of others in the memo of %s: %s", kind, got.body)
		}
	}
	s.accounting.posting.Seq = 0
	if got := s.get(path); !strings.Contains(got.body, "The posting is not sealed yet.") || len(got.elements("script")) > 0 {
		t.Errorf("%s", got.body)
	}
}
