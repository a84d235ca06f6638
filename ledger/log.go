package ledger

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"causeway/core/ident"
)

// Digest returns a hash of the whole content of the posting. It is stored with the
// posting, so that a later change of any field is detected. Each field is written with
// its length or in a fixed length, in the order of the struct, so that two different
// postings never hash the same bytes.
func (p Posting) Digest() [32]byte {
	platform, transaction := p.Platform.UUID(), p.Transaction.UUID()
	b := make([]byte, 0, 512)
	b = append(b, "causeway posting 1\n"...)
	b = append(b, p.ID[:]...)
	b = append(b, platform[:]...)
	b = appendText(b, string(p.Kind))
	b = append(b, transaction[:]...)
	b = binary.BigEndian.AppendUint64(b, uint64(p.Effective.UnixMicro()))
	b = appendText(b, p.Memo)
	b = append(b, p.Reverses[:]...)
	b = binary.BigEndian.AppendUint32(b, uint32(len(p.Entries)))
	for _, e := range p.Entries {
		b = appendText(b, e.Debit)
		b = appendText(b, e.Credit)
		b = appendText(b, string(e.Currency))
		b = binary.BigEndian.AppendUint64(b, uint64(e.Amount))
	}
	return sha256.Sum256(b)
}

func appendText(b []byte, text string) []byte {
	return append(binary.BigEndian.AppendUint32(b, uint32(len(text))), text...)
}

// Leaf is a posting in the log of its platform: its content, its number and the time at
// which it was recorded. Seq counts from one without a gap; the leaf with number n has
// the index n-1 in the log's tree.
type Leaf struct {
	Posting
	Seq      int64
	Recorded time.Time
}

// leafVersion begins every leaf, so that no other encoding can be taken for this one.
const leafVersion = "causeway leaf 1\n"

// Encode appends the bytes of the leaf to b. Anyone can compute them from an export.
// Whole numbers are big-endian; a text is its length in bytes, in 4 bytes, and then its
// UTF-8; an id is its 16 bytes, zeros for none; a time is microseconds since 1970 in 8
// bytes. In this order:
//
//	"causeway leaf 1\n"
//	platform id, number (8 bytes), posting id, kind (text)
//	transaction id, id of the posting it reverses
//	effective time, recorded time, memo (text)
//	number of entries (4 bytes), and for each entry in order:
//	    its number from one (4 bytes), debit account (text), credit account (text),
//	    currency (text), amount in minor units (8 bytes)
func (l Leaf) Encode(b []byte) []byte {
	platform, transaction := l.Platform.UUID(), l.Transaction.UUID()
	b = append(b, leafVersion...)
	b = append(b, platform[:]...)
	b = binary.BigEndian.AppendUint64(b, uint64(l.Seq))
	b = append(b, l.ID[:]...)
	b = appendText(b, string(l.Kind))
	b = append(b, transaction[:]...)
	b = append(b, l.Reverses[:]...)
	b = binary.BigEndian.AppendUint64(b, uint64(l.Effective.UnixMicro()))
	b = binary.BigEndian.AppendUint64(b, uint64(l.Recorded.UnixMicro()))
	b = appendText(b, l.Memo)
	b = binary.BigEndian.AppendUint32(b, uint32(len(l.Entries)))
	for i, e := range l.Entries {
		b = binary.BigEndian.AppendUint32(b, uint32(i+1))
		b = appendText(b, e.Debit)
		b = appendText(b, e.Credit)
		b = appendText(b, string(e.Currency))
		b = binary.BigEndian.AppendUint64(b, uint64(e.Amount))
	}
	return b
}

// Log is one of the logs of a platform.
type Log uint8

// The logs. Each has checkpoints of its own, under a name of its own.
const (
	PostingLog  Log = iota // its leaves are the postings: Leaf
	EvidenceLog            // its leaves are facts beside the postings: EvidenceLeaf
)

// Checkpoint states the content of a log of a platform at one moment: the number of leaves, and the root of the
// Merkle tree (RFC 6962, SHA-256) over the leaves 1 to Size.
type Checkpoint struct {
	Platform ident.Platform
	Log      Log
	Size     int64
	Root     [32]byte
}

var logOriginPrefixes = [...]string{PostingLog: "causeway.ledger/", EvidenceLog: "causeway.evidence/"}

// Origin returns the name of a platform's log, which is also the name of the key that signs its checkpoints:
// "causeway.ledger/<uuid of the platform>" or "causeway.evidence/<uuid of the platform>".
func (l Log) Origin(p ident.Platform) string { return logOriginPrefixes[l] + p.UUID().String() }

// LogOrigin returns the name of the log of a platform's postings.
func LogOrigin(p ident.Platform) string { return PostingLog.Origin(p) }

// Origin returns the name of the log.
func (c Checkpoint) Origin() string { return c.Log.Origin(c.Platform) }

// Text returns the checkpoint as it is signed: a C2SP checkpoint without signatures, which
// is the origin, the size and the root in base64, each on a line.
func (c Checkpoint) Text() string {
	return fmt.Sprintf("%s\n%d\n%s\n", c.Origin(), c.Size, base64.StdEncoding.EncodeToString(c.Root[:]))
}

// ErrInvalidCheckpoint is the error for a text that is not a checkpoint of a log of the ledger.
var ErrInvalidCheckpoint = errors.New("not a checkpoint of a ledger log")

// ParseCheckpoint parses exactly what Text returns; anything else is ErrInvalidCheckpoint.
func ParseCheckpoint(text string) (Checkpoint, error) {
	var c Checkpoint
	lines := strings.Split(text, "\n")
	if len(lines) != 4 || lines[3] != "" {
		return c, fmt.Errorf("%w: want three lines, the origin, the size and the root", ErrInvalidCheckpoint)
	}
	name, found := strings.CutPrefix(lines[0], logOriginPrefixes[PostingLog])
	if !found {
		name, found = strings.CutPrefix(lines[0], logOriginPrefixes[EvidenceLog])
		c.Log = EvidenceLog
	}
	platform, err := uuid.Parse(name)
	if !found || err != nil || platform.String() != name || platform == uuid.Nil {
		return c, fmt.Errorf("%w: the first line is not %s<uuid> or %s<uuid>", ErrInvalidCheckpoint, logOriginPrefixes[PostingLog],
			logOriginPrefixes[EvidenceLog])
	}
	c.Platform.SetUUID(platform)
	if c.Size, err = strconv.ParseInt(lines[1], 10, 64); err != nil || c.Size < 0 || strconv.FormatInt(c.Size, 10) != lines[1] {
		return c, fmt.Errorf("%w: the second line is not a size", ErrInvalidCheckpoint)
	}
	root, err := base64.StdEncoding.Strict().DecodeString(lines[2])
	if err != nil || len(root) != len(c.Root) {
		return c, fmt.Errorf("%w: the third line is not a SHA-256 hash in base64", ErrInvalidCheckpoint)
	}
	c.Root = [32]byte(root)
	return c, nil
}
