package mcp

import (
	"crypto/sha256"
	"strings"

	"github.com/google/uuid"
	"golang.org/x/text/unicode/norm"
)

// keySpace separates our idempotency keys from those of other programs. It never changes: a changed key pays again.
var keySpace = uuid.MustParse("7a0c5a4e-6f0d-8c59-9f0a-52b7f1c6d3e8")

// idempotencyKey returns the key of one intent of an agent. It depends on nothing else, so that a repeated call pays
// once, also after a restart and from another process.
func idempotencyKey(agent, tool, intent string) string {
	return uuid.NewHash(sha256.New(), keySpace, []byte(agent+"\x00"+tool+"\x00"+canonicalIntent(intent)), 8).String()
}

// canonicalIntent returns an intent without what a model may write differently when it repeats itself: case, white
// space, punctuation at the end, and the form of Unicode.
func canonicalIntent(intent string) string {
	words := strings.Fields(strings.ToLower(norm.NFKC.String(intent)))
	return strings.TrimRight(strings.Join(words, " "), ".!")
}
