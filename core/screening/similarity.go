package screening

import "slices"

// Costs of edits. A change that is common between transliterations costs half.
const (
	fullCost = 2
	halfCost = 1
)

// minTokenScore is the score below which two words have nothing in common.
const minTokenScore = 70

// initialScore is the score of an initial and a word that begins with it.
const initialScore = 85

// tokenScore returns how similar two words are, from 0 to 100.
func tokenScore(a, b []rune) int {
	switch {
	case slices.Equal(a, b):
		return 100
	case len(a) == 0 || len(b) == 0:
		return 0
	case min(len(a), len(b)) == 1:
		if a[0] == b[0] {
			return initialScore
		}
		return 0
	}
	longest := max(len(a), len(b))
	// Every letter that one has more costs at least halfCost.
	if atMost := 100 - 100*halfCost*(longest-min(len(a), len(b)))/(fullCost*longest); atMost < minTokenScore {
		return 0
	}
	mostCost := (100 - minTokenScore) * fullCost * longest / 100
	if cost := distance(a, b, mostCost); cost <= mostCost {
		return 100 - (100*cost+fullCost*longest-1)/(fullCost*longest)
	}
	return 0
}

// maxFastLetters is how long a word may be to be compared without allocation.
const maxFastLetters = 63

// distance returns the cost of the edits between two words: of letters inserted, deleted, replaced, and
// of adjacent letters exchanged (optimal string alignment). Costs above most are not computed exactly.
func distance(a, b []rune, most int) int {
	// Rows of the table for the last two and the current letter of a; and of each letter of b, what
	// inserting it costs and its sound.
	var rowsBuffer [3 * (maxFastLetters + 1)]int
	var insertBuffer [maxFastLetters]int
	var soundBuffer [maxFastLetters]sound
	width := len(b) + 1
	rows, insert, sounds := rowsBuffer[:], insertBuffer[:], soundBuffer[:]
	if len(b) > maxFastLetters {
		rows, insert, sounds = make([]int, 3*width), make([]int, len(b)), make([]sound, len(b))
	}
	before, last, row := rows[:width], rows[width:2*width], rows[2*width:3*width]
	insert, sounds = insert[:len(b)], sounds[:len(b)]
	last[0] = 0
	for j, r := range b {
		insert[j], sounds[j] = insertCost(b, j), soundOf(r)
		last[j+1] = last[j] + insert[j]
	}
	for i, r := range a {
		deletion, rSound := insertCost(a, i), soundOf(r)
		row[0] = last[0] + deletion
		least := min(row[0], last[0])
		for j, s := range b {
			replacement := last[j]
			switch {
			case r == s:
			case rSound != noSound && rSound == sounds[j]:
				replacement += halfCost
			default:
				replacement += fullCost
			}
			cost := min(last[j+1]+deletion, row[j]+insert[j], replacement)
			if i > 0 && j > 0 && r == b[j-1] && a[i-1] == s {
				cost = min(cost, before[j-1]+fullCost)
			}
			row[j+1] = cost
			least = min(least, cost, last[j+1])
		}
		if least > most {
			return least
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}

// insertCost returns the cost of the letter i of a word that the other word does not have.
func insertCost(word []rune, i int) int {
	r := word[i]
	if r == 'h' || isVowel(r) || i > 0 && word[i-1] == r {
		return halfCost
	}
	return fullCost
}

// sound is a group of letters that are written for each other.
type sound byte

// noSound is that of letters which are only written for themselves.
const (
	noSound sound = iota
	vowels
	throat
	hiss
	teeth
	lips
)

// latinSounds are the sounds of the letters from a to z.
var latinSounds = func() (of [26]sound) {
	for s, letters := range map[sound]string{vowels: "aeiouy", throat: "ckqgx", hiss: "sz", teeth: "dt", lips: "bpfvw"} {
		for _, r := range letters {
			of[r-'a'] = s
		}
	}
	return of
}()

func soundOf(r rune) sound {
	if r < 'a' || r > 'z' {
		return noSound
	}
	return latinSounds[r-'a']
}

func isVowel(r rune) bool { return soundOf(r) == vowels }

// nameScore returns how similar two names are, from 0 to 100: 100 for equal ones, and the same in
// either direction.
func nameScore(a, b name) int {
	if len(a.tokens) == 0 || len(b.tokens) == 0 {
		return 0
	}
	score := tokensScore(a, b)
	if len(a.tokens) == len(b.tokens) {
		// Among assignments with the same sum, either direction may choose another.
		score = max(score, tokensScore(b, a))
	}
	if longest, shortest := max(len(a.joined), len(b.joined)), min(len(a.joined), len(b.joined)); score < 100 && shortest > 3 &&
		4*shortest >= 3*longest {
		score = max(score, tokenScore(a.joined, b.joined))
	}
	return score
}

// tokensScore compares the words of names in any order, each with the one that gives the best sum. A
// word that only one of the names has counts less if the other name has two words at least: second
// names are often left out.
func tokensScore(a, b name) int {
	if len(a.tokens) > len(b.tokens) {
		a, b = b, a
	}
	gains := make([][]int, len(a.tokens))
	weights := func(n name) (total int) {
		for _, token := range n.tokens {
			total += weight(token)
		}
		return total
	}
	for i, x := range a.tokens {
		gains[i] = make([]int, len(b.tokens))
		for j, y := range b.tokens {
			gains[i][j] = tokenScore(x, y) * (weight(x) + weight(y))
		}
	}
	assigned := assign(gains)
	gain, matchedA, matchedB := 0, 0, 0
	for i, j := range assigned {
		if gains[i][j] > 0 {
			gain += gains[i][j]
			matchedA += weight(a.tokens[i])
			matchedB += weight(b.tokens[j])
		}
	}
	missingA, missingB := weights(a)-matchedA, weights(b)-matchedB
	both, one := 2*min(missingA, missingB), max(missingA, missingB)-min(missingA, missingB)
	if len(a.tokens) > 1 {
		one = (one + 2) / 3
	}
	return gain / (matchedA + matchedB + both + one)
}

// assign returns for each row a column of its own so that the sum of the values is the greatest: the
// Hungarian method. There are at least as many columns as rows.
func assign(values [][]int) []int {
	rows, columns := len(values), len(values[0])
	const unreached = 1 << 30
	rowPotential, columnPotential := make([]int, rows+1), make([]int, columns+1)
	rowOf := make([]int, columns+1) // of a column, from 1; 0 for none
	way := make([]int, columns+1)
	for row := 1; row <= rows; row++ {
		rowOf[0] = row
		column := 0
		slack, used := make([]int, columns+1), make([]bool, columns+1)
		for j := range slack {
			slack[j] = unreached
		}
		for rowOf[column] != 0 {
			used[column] = true
			current, delta, next := rowOf[column], unreached, 0
			for j := 1; j <= columns; j++ {
				if used[j] {
					continue
				}
				if reduced := -values[current-1][j-1] - rowPotential[current] - columnPotential[j]; reduced < slack[j] {
					slack[j], way[j] = reduced, column
				}
				if slack[j] < delta {
					delta, next = slack[j], j
				}
			}
			for j := 0; j <= columns; j++ {
				if used[j] {
					rowPotential[rowOf[j]] += delta
					columnPotential[j] -= delta
				} else {
					slack[j] -= delta
				}
			}
			column = next
		}
		for column != 0 {
			previous := way[column]
			rowOf[column] = rowOf[previous]
			column = previous
		}
	}
	columnOf := make([]int, rows)
	for j := 1; j <= columns; j++ {
		if rowOf[j] > 0 {
			columnOf[rowOf[j]-1] = j - 1
		}
	}
	return columnOf
}
