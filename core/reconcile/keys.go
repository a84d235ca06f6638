package reconcile

import (
	"bytes"
	"crypto/sha256"
	"slices"
	"strings"

	"causeway/core/bankorder"
	"causeway/core/rail"
)

// A key is a normalized reference: capital letters and digits alone, because partners change
// case and add or remove hyphens and spaces.

// minKeyLength is the minimum length of a word of a text that is used as a key: shorter words
// are ordinary language.
const minKeyLength = 6

// maxKeys is the maximum number of keys of a line or entry.
const maxKeys = 32

// placeholderReferences are what partners write if there is no reference.
var placeholderReferences = []string{"", "NOTPROVIDED", "NONREF", "NOREFERENCE", "NOTAVAILABLE", "UNKNOWN", "NONE", "NA"}

// keys returns the keys of a line: its references, and every longer word of them and of the
// description.
func (l Line) keys() []string {
	var k keyList
	k.add(l.ServicerReference)
	for _, r := range l.References {
		k.add(r)
	}
	for _, r := range l.References {
		k.addWords(r)
	}
	k.addWords(l.Description)
	return k.keys
}

// keys returns the keys of an entry: the references in its memo, the ids of its transaction and
// posting, the short ids of its payment and refund, which ACH files have in place of the id of the
// transaction, and the references of the partner.
func (e Entry) keys() []string {
	var k keyList
	for word := range strings.FieldsSeq(e.Memo) {
		if isReference(word) {
			k.add(word)
		}
	}
	if !e.Transaction.IsZero() {
		id := e.Transaction.UUID()
		k.add(id.String())
		for _, kind := range []bankorder.Kind{bankorder.Payout, bankorder.Refund} {
			k.add(rail.ShortID(bankorder.EndToEndIDOf(kind, id)))
		}
	}
	k.add(e.Posting.String())
	for _, name := range e.PartnerReferences {
		k.add(name)
	}
	return k.keys
}

// key is a shared key: one that both a line and an entry have. It is an index into the names.
type key int32

// noKey is the key of a match without one.
const noKey key = -1

// keyHash is the first half of the SHA-256 of a key. Most keys are words that the other side does not
// have, so only hashes are kept. Nobody can write references with equal hashes.
type keyHash [sha256.Size / 2]byte

func hashKey(name string) keyHash {
	sum := sha256.Sum256([]byte(name))
	return keyHash(sum[:])
}

func compareHashes(a, b keyHash) int { return bytes.Compare(a[:], b[:]) }

// sharedKeys finds the shared keys: those of the entries are added before those of the lines.
type sharedKeys struct {
	ofEntries []keyHash // of all entries, one after the other
	sorted    []uint32  // indexes of them by hash, without repetitions; nil until the first line
	numbers   []key     // by the index in sorted; noKey if no line has the key
	names     []string
}

func (s *sharedKeys) addEntry(names []string) {
	for _, name := range names {
		s.ofEntries = append(s.ofEntries, hashKey(name))
	}
}

// appendLine appends those keys of a line that an entry has.
func (s *sharedKeys) appendLine(keys []key, names []string) []key {
	if s.sorted == nil {
		s.sorted = make([]uint32, len(s.ofEntries))
		for i := range s.sorted {
			s.sorted[i] = uint32(i)
		}
		slices.SortFunc(s.sorted, func(a, b uint32) int { return compareHashes(s.ofEntries[a], s.ofEntries[b]) })
		s.sorted = slices.CompactFunc(s.sorted, func(a, b uint32) bool { return s.ofEntries[a] == s.ofEntries[b] })
		s.numbers = make([]key, len(s.sorted))
		for i := range s.numbers {
			s.numbers[i] = noKey
		}
	}
	for _, name := range names {
		i, found := s.find(hashKey(name))
		if !found {
			continue
		}
		if s.numbers[i] == noKey {
			s.numbers[i] = key(len(s.names))
			s.names = append(s.names, strings.Clone(name))
		}
		keys = append(keys, s.numbers[i])
	}
	return keys
}

// find returns the index of a hash in sorted.
func (s *sharedKeys) find(h keyHash) (int, bool) {
	return slices.BinarySearchFunc(s.sorted, h, func(i uint32, h keyHash) int { return compareHashes(s.ofEntries[i], h) })
}

// appendEntry appends those of some keys of entries that a line has.
func (s *sharedKeys) appendEntry(keys []key, hashes []keyHash) []key {
	for _, h := range hashes {
		if i, found := s.find(h); found && s.numbers[i] != noKey {
			keys = append(keys, s.numbers[i])
		}
	}
	return keys
}

// isReference reports whether a word of a memo is a reference: those have no small letters.
func isReference(word string) bool {
	if len(word) < minKeyLength {
		return false
	}
	for _, c := range []byte(word) {
		if (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' && c != '_' && c != '/' && c != '.' {
			return false
		}
	}
	return true
}

type keyList struct{ keys []string }

func (k *keyList) add(text string) {
	key := normalize(text)
	if len(k.keys) < maxKeys && !slices.Contains(placeholderReferences, key) && !slices.Contains(k.keys, key) {
		k.keys = append(k.keys, key)
	}
}

// addWords adds every longer word of a text, and every longer part of a word with hyphens.
func (k *keyList) addWords(text string) {
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return !isAlphanumeric(r) && r != '-' }) {
		if len(word) >= minKeyLength {
			k.add(word)
		}
		if !strings.Contains(word, "-") {
			continue
		}
		for part := range strings.SplitSeq(word, "-") {
			if len(part) >= minKeyLength {
				k.add(part)
			}
		}
	}
}

func isAlphanumeric(r rune) bool {
	return r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z'
}

// normalize returns the key of a text.
func normalize(text string) string {
	clean := true
	for _, c := range []byte(text) {
		if (c < 'A' || c > 'Z') && (c < '0' || c > '9') {
			clean = false
			break
		}
	}
	if clean {
		return text
	}
	return strings.Map(func(r rune) rune {
		switch {
		case !isAlphanumeric(r):
			return -1
		case r >= 'a' && r <= 'z':
			return r - 'a' + 'A'
		}
		return r
	}, text)
}
