package audit

import (
	"bufio"
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"golang.org/x/mod/sumdb/note"

	"causeway/core/ident"
	"causeway/ledger"
)

// PublishedCheckpoint is a head that was kept outside of the books.
type PublishedCheckpoint struct {
	ledger.Checkpoint
	Note string
	// Location it stands, for people: "heads/….heads, line 7".
	Location string
}

// ReadCheckpoints reads signed notes, one after the other with empty lines between, as they
// are published. A text that is anything else is an error that says where.
func ReadCheckpoints(name string, text io.Reader) ([]PublishedCheckpoint, error) {
	var heads []PublishedCheckpoint
	var lines []string
	number, first := 0, 0
	take := func() error {
		if len(lines) == 0 {
			return nil
		}
		where := fmt.Sprintf("%s, line %d", name, first)
		signed := strings.Join(lines, "\n") + "\n"
		lines = nil
		body, _, _ := strings.Cut(signed, "\n\n")
		head, err := ledger.ParseCheckpoint(strings.TrimSuffix(body, "\n") + "\n")
		if err != nil {
			return fmt.Errorf("%s: %w", where, err)
		}
		var unverified *note.UnverifiedNoteError
		if _, err := note.Open([]byte(signed), note.VerifierList()); !errors.As(err, &unverified) {
			return fmt.Errorf("%s: the head of size %d is not a whole signed note: %w", where, head.Size, err)
		}
		heads = append(heads, PublishedCheckpoint{head, signed, where})
		return nil
	}
	scanner := bufio.NewScanner(text)
	for scanner.Scan() {
		line := strings.TrimSuffix(scanner.Text(), "\r")
		number++
		signatures := len(lines) > 0 && strings.HasPrefix(lines[len(lines)-1], signaturePrefix)
		switch {
		case signatures && !strings.HasPrefix(line, signaturePrefix):
			if err := take(); err != nil {
				return nil, err
			}
			fallthrough
		case len(lines) == 0:
			if line == "" {
				continue
			}
			first = number
		}
		lines = append(lines, line)
	}
	if err := scanner.Err(); err != nil {
		return nil, fmt.Errorf("%s, line %d: %w", name, number+1, err)
	}
	return heads, take()
}

// signaturePrefix begins the lines of a note that are signatures.
const signaturePrefix = "— "

// logKeys verify the signatures of heads: public keys for Ed25519.
type logKeys [][32]byte

// verify tells whether a note is the one of a head and signed with one of the keys.
func (keys logKeys) verify(head ledger.Checkpoint, signed string) error {
	var known []note.Verifier
	for _, key := range keys {
		text, err := note.NewEd25519VerifierKey(ledger.LogOrigin(head.Platform), key[:])
		if err != nil {
			return err
		}
		verifier, err := note.NewVerifier(text)
		if err != nil {
			return err
		}
		known = append(known, verifier)
	}
	opened, err := note.Open([]byte(signed), note.VerifierList(known...))
	var unverified *note.UnverifiedNoteError
	switch {
	case errors.As(err, &unverified):
		return errors.New("it is signed with no key of the log")
	case err != nil:
		return err
	case opened.Text != head.Text():
		return errors.New("its note says something else")
	}
	return nil
}

// ParseLogKey reads a key as verifiers of notes take it, "name+hash+key".
func ParseLogKey(text string) ([32]byte, error) {
	text = strings.TrimSpace(text)
	if _, err := note.NewVerifier(text); err != nil {
		return [32]byte{}, fmt.Errorf("%q is not a key of the form name+hash+key", text)
	}
	raw, err := base64.StdEncoding.DecodeString(strings.SplitN(text, "+", 3)[2])
	if err != nil || len(raw) != 33 {
		return [32]byte{}, fmt.Errorf("%q is not a key for Ed25519", text)
	}
	return [32]byte(raw[1:]), nil // behind the byte that names the algorithm
}

// platformCheckpoints are the published heads of one platform by size, out of all.
func platformCheckpoints(all []PublishedCheckpoint, p ident.Platform) (of []PublishedCheckpoint) {
	for _, h := range all {
		if h.Platform == p {
			of = append(of, h)
		}
	}
	slices.SortStableFunc(of, func(a, b PublishedCheckpoint) int { return cmp.Compare(a.Size, b.Size) })
	return of
}
