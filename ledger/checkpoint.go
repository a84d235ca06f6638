package ledger

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"causeway/core/ident"
)

// Checkpoint says what a platform's log held at one moment: how many postings, and the root
// of the Merkle tree (RFC 6962, SHA-256) over the leaves of postings 1 to Size.
type Checkpoint struct {
	Platform ident.Platform
	Size     int64
	Root     [32]byte
}

const logOriginPrefix = "causeway.ledger/"

// LogOrigin names the log of a platform, and the key that signs its heads:
// "causeway.ledger/<uuid of the platform>".
func LogOrigin(p ident.Platform) string { return logOriginPrefix + p.UUID().String() }

// Text is the head as it is signed: a C2SP checkpoint without its signatures, which is
// the origin, the size and the root in base64, a line each.
func (h Checkpoint) Text() string {
	return fmt.Sprintf("%s\n%d\n%s\n", LogOrigin(h.Platform), h.Size, base64.StdEncoding.EncodeToString(h.Root[:]))
}

// ErrInvalidCheckpoint says that a text is no head of a log of ours.
var ErrInvalidCheckpoint = errors.New("not a head of a ledger's log")

// ParseCheckpoint reads what Text writes, and nothing else; otherwise ErrHead.
func ParseCheckpoint(text string) (Checkpoint, error) {
	var h Checkpoint
	lines := strings.Split(text, "\n")
	if len(lines) != 4 || lines[3] != "" {
		return h, fmt.Errorf("%w: want three lines, the origin, the size and the root", ErrInvalidCheckpoint)
	}
	name, ours := strings.CutPrefix(lines[0], logOriginPrefix)
	platform, err := uuid.Parse(name)
	if !ours || err != nil || platform.String() != name || platform == uuid.Nil {
		return h, fmt.Errorf("%w: the first line is not %s<uuid>", ErrInvalidCheckpoint, logOriginPrefix)
	}
	ident.SetUUID(&h.Platform, platform)
	if h.Size, err = strconv.ParseInt(lines[1], 10, 64); err != nil || h.Size < 0 || strconv.FormatInt(h.Size, 10) != lines[1] {
		return h, fmt.Errorf("%w: the second line is no size", ErrInvalidCheckpoint)
	}
	root, err := base64.StdEncoding.Strict().DecodeString(lines[2])
	if err != nil || len(root) != len(h.Root) {
		return h, fmt.Errorf("%w: the third line is no SHA-256 in base64", ErrInvalidCheckpoint)
	}
	h.Root = [32]byte(root)
	return h, nil
}
