package ledger_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strings"
	"testing"
	"time"

	"causeway/core/ident"
	"causeway/core/money"
	"causeway/ledger"
)

// exampleLeaf returns the leaf of the documentation: posting 7 of its platform.
func exampleLeaf() ledger.Leaf {
	p := ledger.Converted(header(3), ledger.Conversion{
		From: ledger.FundingJIT, To: ledger.TransitPayouts, Sent: usd(10050), Fees: 50, Received: btc(100_000)})
	p.Memo = "Rechnung № 7"
	return ledger.Leaf{Posting: p, Seq: 7, Recorded: noon.Add(1500 * time.Microsecond)}
}

func TestLeaf_Encode(t *testing.T) {
	t.Parallel()
	// The encoding of a leaf never changes: a verifier written from the documentation
	// computes these bytes and these hashes.
	const want = "6361757365776179206c65616620310a" + // causeway leaf 1
		"01900000000070008000000000000001" + // platform
		"0000000000000007" + // number
		"01900000000070008000000000000103" + // posting
		"00000009" + "636f6e766572746564" + // converted
		"01900000000070008000000000000002" + // transaction
		"00000000000000000000000000000000" + // reverses none
		"000660b3fbca1000" + "000660b3fbca15dc" + // effective, recorded
		"0000000e" + "526563686e756e6720e284962037" + // memo
		"00000003" +
		"00000001" + "0000000b" + "66756e64696e672f6a6974" + "0000000b" + "696e636f6d652f66656573" + "00000003" + "555344" + "0000000000000032" +
		"00000002" + "0000000b" + "66756e64696e672f6a6974" + "0000000b" + "66782f706f736974696f6e" + "00000003" + "555344" + "0000000000002710" +
		"00000003" + "0000000b" + "66782f706f736974696f6e" + "0000000f" + "7472616e7369742f7061796f757473" + "00000003" +
		"425443" + "00000000000186a0"

	encoded := exampleLeaf().Encode(nil)

	if got := hex.EncodeToString(encoded); got != want {
		t.Errorf("encoded as\n%s\nwant\n%s", got, want)
	}
	hash := sha256.Sum256(append([]byte{0}, encoded...))
	if got := hex.EncodeToString(hash[:]); got != "42aa8ba48c8678bdfca831633f6e4c3dc9ae98e12e62a3a1835aa1310e063afd" {
		t.Errorf("its leaf hash is %s", got)
	}

	reversal := exampleLeaf()
	reversal.Transaction, reversal.Memo = ledger.Posting{}.Transaction, ""
	reversal.Kind, reversal.Reverses, reversal.Entries = ledger.KindReversal, postingID(9), reversal.Entries[:1]
	hash = sha256.Sum256(append([]byte{0}, reversal.Encode(nil)...))
	if got := hex.EncodeToString(hash[:]); got != "748a77014ffd0dabb61f3acae3a4cce664eea67cad5b9ba472c538e48be0ef65" {
		t.Errorf("the leaf hash of the reversal is %s", got)
	}
}

func TestLeaf_EncodeCoversEveryField(t *testing.T) {
	t.Parallel()
	// A change of any one field gives other bytes, and so does moving a letter from one
	// text to the next.
	seen := map[string]string{}
	for name, change := range map[string]func(*ledger.Leaf){
		"nothing":     func(*ledger.Leaf) {},
		"number":      func(l *ledger.Leaf) { l.Seq++ },
		"id":          func(l *ledger.Leaf) { l.ID = postingID(9) },
		"platform":    func(l *ledger.Leaf) { l.Platform = must(parsePlatform(2)) },
		"kind":        func(l *ledger.Leaf) { l.Kind = ledger.KindDeposit },
		"transaction": func(l *ledger.Leaf) { l.Transaction = ledger.Posting{}.Transaction },
		"reverses":    func(l *ledger.Leaf) { l.Reverses = postingID(9) },
		"effective":   func(l *ledger.Leaf) { l.Effective = l.Effective.Add(time.Microsecond) },
		"recorded":    func(l *ledger.Leaf) { l.Recorded = l.Recorded.Add(time.Microsecond) },
		"memo":        func(l *ledger.Leaf) { l.Memo += "." },
		"debit":       func(l *ledger.Leaf) { l.Entries[1].Debit = ledger.FundingUnmatched },
		"credit":      func(l *ledger.Leaf) { l.Entries[1].Credit = ledger.FundingUnmatched },
		"currency":    func(l *ledger.Leaf) { l.Entries[1].Currency = money.USDC },
		"amount":      func(l *ledger.Leaf) { l.Entries[1].Amount++ },
		"an entry":    func(l *ledger.Leaf) { l.Entries = l.Entries[:2] },
		"order":       func(l *ledger.Leaf) { l.Entries[0], l.Entries[1] = l.Entries[1], l.Entries[0] },
		"a letter between texts": func(l *ledger.Leaf) {
			l.Entries[1].Debit, l.Entries[1].Credit = l.Entries[1].Debit+"f", strings.TrimPrefix(l.Entries[1].Credit, "f")
		},
	} {
		l := exampleLeaf()
		change(&l)
		bytes := string(l.Encode(nil))
		if other, ok := seen[bytes]; ok {
			t.Errorf("a change of %s and one of %s give the same bytes", name, other)
		}
		seen[bytes] = name
	}
}

func parsePlatform(n byte) (ident.Platform, error) {
	return ident.ParsePlatform("PlatformConfig:01900000-0000-7000-8000-00000000000" + string('0'+n))
}

const checkpointText = "causeway.ledger/01900000-0000-7000-8000-000000000001\n1208\nAQIDAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n"

func TestCheckpoint_Text(t *testing.T) {
	t.Parallel()
	// A checkpoint is three lines: origin, size, root.
	checkpoint := ledger.Checkpoint{Platform: platform, Size: 1208, Root: [32]byte{1, 2, 3}}
	if got := checkpoint.Text(); got != checkpointText {
		t.Errorf("got %q", got)
	}
	if got, err := ledger.ParseCheckpoint(checkpointText); err != nil || got != checkpoint {
		t.Errorf("got %+v, %v", got, err)
	}
	checkpoint.Log = ledger.EvidenceLog
	text := strings.Replace(checkpointText, "causeway.ledger/", "causeway.evidence/", 1)
	if got, err := ledger.ParseCheckpoint(text); err != nil || got != checkpoint || got.Text() != text {
		t.Errorf("of the evidence: got %+v, %v", got, err)
	}
}

func FuzzParseCheckpoint(f *testing.F) {
	// A text is parsed only if it is exactly what the checkpoint is written as.
	for _, text := range []string{
		checkpointText, strings.Replace(checkpointText, "ledger", "evidence", 1), "", "\n\n\n", checkpointText + "extension\n",
		checkpointText[:len(checkpointText)-1],
		"causeway.ledger/01900000-0000-7000-8000-000000000001\n01208\nAQIDAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n",
		"causeway.ledger/01900000-0000-7000-8000-000000000001\n-1\nAQIDAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n",
		"causeway.ledger/01900000-0000-7000-8000-000000000001\n99999999999999999999\nAQIDAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n",
		"causeway.ledger/01900000-0000-7000-8000-000000000001\n1\nAQID\n",
		"causeway.ledger/01900000-0000-7000-8000-000000000001\n1\nAQIDAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAB=\n",
		"causeway.ledger/{01900000-0000-7000-8000-000000000001}\n1\nAQIDAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n",
		"other.example/log\n1\nAQIDAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		checkpoint, err := ledger.ParseCheckpoint(text)
		switch {
		case err != nil && !errors.Is(err, ledger.ErrInvalidCheckpoint):
			t.Errorf("got %v, want ErrInvalidCheckpoint", err)
		case err == nil && checkpoint.Text() != text:
			t.Errorf("%q is parsed and written as %q", text, checkpoint.Text())
		}
	})
}
