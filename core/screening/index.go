package screening

import (
	"cmp"
	"slices"
)

// Index finds the entries that resemble a subject. It does not change, so any number of goroutines may
// use it.
type Index struct {
	entries []Entry
	names   []indexedName
	// words are the different words of all names, with the names that have them.
	words []indexedWord
	// wordsByKey finds words by each of their keys.
	wordsByKey map[string][]int32
	threshold  int
}

type indexedName struct {
	entry, name int32 // Index.entries[entry].Names[name]
	compared    name
	weight      int32
}

type indexedWord struct {
	letters []rune
	names   []int32
	// joined is the names that consist of this word if their words are joined.
	joined []int32
}

// NewIndex returns an index of entries whose Screen returns the matches with at least a score of
// threshold, from MinThreshold to 100.
func NewIndex(entries []Entry, threshold int) *Index {
	ix := &Index{entries: entries, wordsByKey: make(map[string][]int32), threshold: min(max(threshold, MinThreshold), 100)}
	numbers := make(map[string]int32)
	number := func(letters []rune) int32 {
		n, known := numbers[string(letters)]
		if !known {
			n = int32(len(ix.words))
			numbers[string(letters)] = n
			ix.words = append(ix.words, indexedWord{letters: letters})
			for _, key := range keys(letters) {
				ix.wordsByKey[key] = append(ix.wordsByKey[key], n)
			}
		}
		return n
	}
	for i, e := range entries {
		for j, n := range e.Names {
			compared := newName(n.Text, e.Kind)
			if len(compared.tokens) == 0 {
				continue
			}
			of, total := int32(len(ix.names)), 0
			for _, token := range compared.tokens {
				word := &ix.words[number(token)]
				if !slices.Contains(word.names, of) {
					word.names = append(word.names, of)
				}
				total += weight(token)
			}
			if len(compared.tokens) > 1 {
				word := &ix.words[number(compared.joined)]
				word.joined = append(word.joined, of)
			}
			ix.names = append(ix.names, indexedName{entry: int32(i), name: int32(j), compared: compared, weight: int32(total)})
		}
	}
	return ix
}

// Session screens subjects one after another. It remembers which words of the index resemble the words
// of earlier subjects, so that names of many people, who share first names and surnames, are screened
// faster. Only one goroutine at a time may use it.
type Session struct {
	index *Index
	// of has, for each name, the similarity of its words with those of the subject, and touched the
	// names that have any.
	of      []int32
	touched []int32
	// seen has a bit for each word that was compared with the present word of the subject.
	seen []uint64
	// similar are the words that resemble a word.
	similar map[string][]similarWord
}

type similarWord struct {
	word  int32
	score int32
}

// maxRememberedWords bounds Session.similar, to about 10 MB.
const maxRememberedWords = 10_000

// NewSession returns a session that remembers nothing yet.
func (ix *Index) NewSession() *Session {
	return &Session{index: ix, of: make([]int32, len(ix.names)), seen: make([]uint64, len(ix.words)/64+1),
		similar: make(map[string][]similarWord)}
}

// Index returns the index of which this is a session.
func (s *Session) Index() *Index { return s.index }

// firstTime reports whether a word was not compared yet.
func (s *Session) firstTime(word int32) bool {
	bits, bit := &s.seen[word/64], uint64(1)<<(word%64)
	first := *bits&bit == 0
	*bits |= bit
	return first
}

func (s *Session) add(name, n int32) {
	if s.of[name] == 0 {
		s.touched = append(s.touched, name)
	}
	s.of[name] += n
}

func (s *Session) reset() {
	for _, name := range s.touched {
		s.of[name] = 0
	}
	s.touched = s.touched[:0]
}

// Screen returns the entries that match a subject, the best first: each once, with its best name.
func (ix *Index) Screen(s Subject) []Match { return ix.NewSession().Screen(s) }

// Screen returns the same as Index.Screen.
func (s *Session) Screen(screened Subject) []Match {
	ix, best := s.index, make(map[int32]Match)
	for _, text := range screened.Names {
		subject := newName(text, screened.Kind)
		if len(subject.tokens) == 0 {
			continue
		}
		s.count(subject)
		total := int32(0)
		for _, token := range subject.tokens {
			total += int32(weight(token))
		}
		for _, i := range s.touched {
			n := &ix.names[i]
			// A match needs most of the words of the shorter name.
			if 3*s.of[i] < 2*int32(ix.threshold)*min(n.weight, total) {
				continue
			}
			score := nameScore(subject, n.compared)
			if score < ix.threshold-birthDateMatches-countryMatches {
				continue
			}
			e := ix.entries[n.entry]
			match := newMatch(screened, e, text, e.Names[n.name], score)
			if match.Score >= ix.threshold && match.Score > best[n.entry].Score {
				best[n.entry] = match
			}
		}
		s.reset()
	}
	matches := make([]Match, 0, len(best))
	for _, m := range best {
		matches = append(matches, m)
	}
	slices.SortFunc(matches, func(a, b Match) int {
		return cmp.Or(b.Score-a.Score, cmp.Compare(a.Entry.List, b.Entry.List), cmp.Compare(a.Entry.Ref, b.Entry.Ref))
	})
	return matches
}

// count adds up the similarity of the words.
func (s *Session) count(subject name) {
	ix := s.index
	// All letters of the subject are compared with names of one word, and with the letters of others.
	for _, similar := range s.compare(subject.joined, func(word *indexedWord) bool {
		return len(word.joined) > 0 || len(subject.tokens) == 1 || ix.isWholeName(word)
	}) {
		word := &ix.words[similar.word]
		s.addJoined(word, similar.score)
		for _, name := range word.names {
			if len(ix.names[name].compared.tokens) == 1 {
				s.add(name, similar.score*ix.names[name].weight)
			}
		}
	}
	for _, token := range subject.tokens {
		for _, similar := range s.similarTo(token) {
			word := &ix.words[similar.word]
			s.addJoined(word, similar.score)
			w := int32(min(weight(token), weight(word.letters)))
			for _, name := range word.names {
				s.add(name, similar.score*w)
			}
		}
	}
}

func (s *Session) addJoined(word *indexedWord, score int32) {
	for _, name := range word.joined {
		s.add(name, score*s.index.names[name].weight)
	}
}

// similarTo returns the words that resemble a word, which it remembers.
func (s *Session) similarTo(letters []rune) []similarWord {
	if known, found := s.similar[string(letters)]; found {
		return known
	}
	if len(s.similar) >= maxRememberedWords {
		clear(s.similar)
	}
	similar := s.compare(letters, func(*indexedWord) bool { return true })
	s.similar[string(letters)] = similar
	return similar
}

// compare returns those of the selected words that resemble a word.
func (s *Session) compare(letters []rune, selected func(*indexedWord) bool) (similar []similarWord) {
	clear(s.seen)
	for _, key := range keys(letters) {
		for _, n := range s.index.wordsByKey[key] {
			if word := &s.index.words[n]; s.firstTime(n) && selected(word) {
				if score := tokenScore(letters, word.letters); score > 0 {
					similar = append(similar, similarWord{n, int32(score)})
				}
			}
		}
	}
	return similar
}

// isWholeName reports whether a word is a name alone.
func (ix *Index) isWholeName(word *indexedWord) bool {
	return slices.ContainsFunc(word.names, func(n int32) bool { return len(ix.names[n].compared.tokens) == 1 })
}

// maxKeyLength is how many consonants of a word its keys have.
const maxKeyLength = 8

// keys returns the keys by which similar words are found: the groups of the consonants of the word, and
// the same without each one of them. Similar words have a key in common, as long as they differ in one
// consonant.
func keys(letters []rune) []string {
	key := make([]rune, 0, maxKeyLength)
	for i, r := range letters {
		if len(key) == maxKeyLength {
			break
		}
		if isVowel(r) && i > 0 || r == 'h' && i > 0 || i > 0 && letters[i-1] == r {
			continue
		}
		switch soundOf(r) {
		case vowels:
			r = 'a'
		case throat:
			r = 'k'
		case hiss:
			r = 's'
		case teeth:
			r = 't'
		case lips:
			r = 'p'
		case noSound:
		}
		key = append(key, r)
	}
	found := []string{string(key)}
	if len(key) < 3 {
		return found
	}
	for i := range key {
		shorter := string(key[:i]) + string(key[i+1:])
		if !slices.Contains(found, shorter) {
			found = append(found, shorter)
		}
	}
	return found
}
