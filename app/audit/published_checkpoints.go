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

// PublishedCheckpoint is a checkpoint from outside of the database.
type PublishedCheckpoint struct {
	ledger.Checkpoint
	Note string
	// Location says where it was read: "checkpoints/….checkpoints, line 7".
	Location string
}

// ReadCheckpoints reads signed notes, separated by empty lines, as they are published. Any other
// text is an error that says where.
func ReadCheckpoints(name string, text io.Reader) ([]PublishedCheckpoint, error) {
	var checkpoints []PublishedCheckpoint
	var lines []string
	number, first := 0, 0
	parseNote := func() error {
		if len(lines) == 0 {
			return nil
		}
		where := fmt.Sprintf("%s, line %d", name, first)
		signed := strings.Join(lines, "\n") + "\n"
		lines = nil
		body, _, _ := strings.Cut(signed, "\n\n")
		checkpoint, err := ledger.ParseCheckpoint(strings.TrimSuffix(body, "\n") + "\n")
		if err != nil {
			return fmt.Errorf("%s: %w", where, err)
		}
		var unverified *note.UnverifiedNoteError
		if _, err := note.Open([]byte(signed), note.VerifierList()); !errors.As(err, &unverified) {
			return fmt.Errorf("%s: the checkpoint of size %d is not a complete signed note: %w", where, checkpoint.Size, err)
		}
		checkpoints = append(checkpoints, PublishedCheckpoint{checkpoint, signed, where})
		return nil
	}
	scanner := bufio.NewScanner(text)
	for scanner.Scan() {
		line := strings.TrimSuffix(scanner.Text(), "\r")
		number++
		signatures := len(lines) > 0 && strings.HasPrefix(lines[len(lines)-1], signaturePrefix)
		switch {
		case signatures && !strings.HasPrefix(line, signaturePrefix):
			if err := parseNote(); err != nil {
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
	return checkpoints, parseNote()
}

// signaturePrefix is the prefix of the signature lines of a note.
const signaturePrefix = "— "

// logKeys are the public Ed25519 keys that verify the signatures of checkpoints.
type logKeys [][32]byte

// verify returns an error unless a note is that of a checkpoint and signed with one of the keys.
func (keys logKeys) verify(checkpoint ledger.Checkpoint, signed string) error {
	var known []note.Verifier
	for i, key := range keys {
		if slices.Contains(keys[:i], key) {
			continue // platforms may share a key, and note.Open refuses one that is given twice
		}
		text, err := note.NewEd25519VerifierKey(checkpoint.Origin(), key[:])
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
		return errors.New("it is not signed with a key of the log")
	case err != nil:
		return err
	case opened.Text != checkpoint.Text():
		return errors.New("its signed note has another content")
	}
	return nil
}

// ParseLogKey parses a verifier key of a signed note, "name+hash+key".
func ParseLogKey(text string) ([32]byte, error) {
	text = strings.TrimSpace(text)
	if _, err := note.NewVerifier(text); err != nil {
		return [32]byte{}, fmt.Errorf("%q is not a key of the form name+hash+key", text)
	}
	raw, err := base64.StdEncoding.DecodeString(strings.SplitN(text, "+", 3)[2])
	if err != nil || len(raw) != 33 {
		return [32]byte{}, fmt.Errorf("%q is not an Ed25519 key", text)
	}
	return [32]byte(raw[1:]), nil // after the byte of the algorithm
}

// platformCheckpoints returns the checkpoints of one log of a platform, ordered by size.
func platformCheckpoints(all []PublishedCheckpoint, log ledger.Log, p ident.Platform) (list []PublishedCheckpoint) {
	for _, checkpoint := range all {
		if checkpoint.Platform == p && checkpoint.Log == log {
			list = append(list, checkpoint)
		}
	}
	slices.SortStableFunc(list, func(a, b PublishedCheckpoint) int { return cmp.Compare(a.Size, b.Size) })
	return list
}
