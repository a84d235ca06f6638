package reconcile

import (
	"slices"
	"strings"
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
// posting, and the references of the partner.
func (e Entry) keys() []string {
	var k keyList
	for word := range strings.FieldsSeq(e.Memo) {
		if isReference(word) {
			k.add(word)
		}
	}
	if !e.Transaction.IsZero() {
		k.add(e.Transaction.UUID().String())
	}
	k.add(e.Posting.String())
	for _, name := range e.PartnerReferences {
		k.add(name)
	}
	return k.keys
}

// key is a shared key: one that both a line and an entry have. It is an index into the names.
type key int32

// sharedKeys returns the shared keys of each line and entry, and their names. Most keys are words that
// the other side does not have: they are identified by their hashes, so that they need not be kept.
func sharedKeys(lines []Line, entries []Entry) (ofLines, ofEntries [][]key, names []string) {
	entryHashes := make(map[uint64]struct{}, len(entries))
	for _, e := range entries {
		for _, name := range e.keys() {
			entryHashes[hashKey(name)] = struct{}{}
		}
	}
	numbers := map[string]key{}
	ofLines, ofEntries = make([][]key, len(lines)), make([][]key, len(entries))
	for i, l := range lines {
		for _, name := range l.keys() {
			if _, found := entryHashes[hashKey(name)]; !found {
				continue
			}
			number, known := numbers[name]
			if !known {
				number = key(len(names))
				numbers[name], names = number, append(names, name)
			}
			ofLines[i] = append(ofLines[i], number)
		}
	}
	shared := make([]bool, len(names))
	for i, e := range entries {
		for _, name := range e.keys() {
			if number, found := numbers[name]; found {
				ofEntries[i] = append(ofEntries[i], number)
				shared[number] = true
			}
		}
	}
	if slices.Contains(shared, false) { // two keys have one hash
		for i := range ofLines {
			ofLines[i] = slices.DeleteFunc(ofLines[i], func(k key) bool { return !shared[k] })
		}
	}
	return ofLines, ofEntries, names
}

// hashKey returns the FNV-1a hash of a key.
func hashKey(name string) uint64 {
	hash := uint64(14695981039346656037)
	for _, b := range []byte(name) {
		hash = (hash ^ uint64(b)) * 1099511628211
	}
	return hash
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
