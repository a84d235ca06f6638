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

// counters add up, for each name, the similarity of its words with those of a subject.
type counters struct {
	of      []int32
	touched []int32
	// seen has a bit for each word that was compared with the present word of the subject.
	seen []uint64
}

// firstTime reports whether a word was not compared yet.
func (c *counters) firstTime(word int32) bool {
	bits, bit := &c.seen[word/64], uint64(1)<<(word%64)
	first := *bits&bit == 0
	*bits |= bit
	return first
}

func (c *counters) add(name, n int32) {
	if c.of[name] == 0 {
		c.touched = append(c.touched, name)
	}
	c.of[name] += n
}

func (c *counters) reset() {
	for _, name := range c.touched {
		c.of[name] = 0
	}
	c.touched = c.touched[:0]
}

// Screen returns the entries that match a subject, the best first: each once, with its best name.
func (ix *Index) Screen(s Subject) []Match {
	best := make(map[int32]Match)
	count := &counters{of: make([]int32, len(ix.names)), seen: make([]uint64, len(ix.words)/64+1)}
	for _, text := range s.Names {
		subject := newName(text, s.Kind)
		if len(subject.tokens) == 0 {
			continue
		}
		ix.count(subject, count)
		total := int32(0)
		for _, token := range subject.tokens {
			total += int32(weight(token))
		}
		for _, i := range count.touched {
			n := &ix.names[i]
			// A match needs most of the words of the shorter name.
			if 3*count.of[i] < 2*int32(ix.threshold)*min(n.weight, total) {
				continue
			}
			score := nameScore(subject, n.compared)
			if score < ix.threshold-birthDateMatches-countryMatches {
				continue
			}
			e := ix.entries[n.entry]
			match := newMatch(s, e, text, e.Names[n.name], score)
			if match.Score >= ix.threshold && match.Score > best[n.entry].Score {
				best[n.entry] = match
			}
		}
		count.reset()
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
func (ix *Index) count(subject name, count *counters) {
	for t := -1; t < len(subject.tokens); t++ {
		letters := subject.joined
		if t >= 0 {
			letters = subject.tokens[t]
		}
		clear(count.seen)
		for _, key := range keys(letters) {
			for _, n := range ix.wordsByKey[key] {
				if !count.firstTime(n) {
					continue
				}
				word := &ix.words[n]
				if t < 0 && len(word.joined) == 0 && len(subject.tokens) > 1 && !ix.isWholeName(word) {
					continue
				}
				score := int32(tokenScore(letters, word.letters))
				if score == 0 {
					continue
				}
				for _, name := range word.joined {
					count.add(name, score*ix.names[name].weight)
				}
				if t < 0 {
					for _, name := range word.names {
						if len(ix.names[name].compared.tokens) == 1 {
							count.add(name, score*ix.names[name].weight)
						}
					}
					continue
				}
				w := int32(min(weight(letters), weight(word.letters)))
				for _, name := range word.names {
					count.add(name, score*w)
				}
			}
		}
	}
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
