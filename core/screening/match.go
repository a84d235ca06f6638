package screening

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// DefaultThreshold is the score from which a name resembles that of an entry, and MinThreshold the
// smallest that an Index can have.
const (
	DefaultThreshold = 80
	MinThreshold     = 50
)

// Points that are added to the score of the names.
const (
	birthDateMatches  = 5
	birthYearMatches  = 2
	birthDateDiffers  = -5
	birthYearDiffers  = -15
	countryMatches    = 2
	countriesDiffer   = -5
	kindDiffers       = -10
	weakAlias         = -10
	birthYearMaxSlack = 1 // years
)

// Match is an entry that resembles a subject.
type Match struct {
	Entry Entry
	// Score is from 0 to 100.
	Score int
	// SubjectName and EntryName are the names that are most similar.
	SubjectName string
	EntryName   string
	// Reasons say how the score came about, in the order in which it was computed.
	Reasons []string
}

// adjustments collects points with their reasons.
type adjustments struct {
	points  int
	reasons []string
}

func (a *adjustments) add(points int, reason string) {
	a.points += points
	a.reasons = append(a.reasons, fmt.Sprintf("%s: %+d", reason, points))
}

// newMatch returns the match of a subject with an entry by the score of one pair of their names.
func newMatch(s Subject, e Entry, subjectName string, entryName EntryName, score int) Match {
	m := Match{Entry: e, SubjectName: subjectName, EntryName: entryName.Text}
	m.Reasons = []string{fmt.Sprintf("%q resembles %q: %d", subjectName, entryName.Text, score)}
	var a adjustments
	if entryName.Weak {
		a.add(weakAlias, "the list says that it is a weak alias")
	}
	if s.Kind != e.Kind {
		a.add(kindDiffers, "the entry is a "+strings.ToLower(string(e.Kind)))
	}
	a.addBirth(s, e)
	a.addCountries(s, e)
	m.Score = min(max(score+a.points, 0), 100)
	m.Reasons = append(m.Reasons, a.reasons...)
	return m
}

// addBirth compares the date of birth with that of the entry which fits best.
func (a *adjustments) addBirth(s Subject, e Entry) {
	born, known := parseDate(s.BirthDate)
	if !known || len(e.Births) == 0 {
		return
	}
	best := birthYearDiffers
	for _, listed := range e.Births {
		best = max(best, listed.points(born))
	}
	a.add(best, map[int]string{
		birthDateMatches: "the date of birth is the same", birthYearMatches: "the year of birth is the same",
		birthDateDiffers: "the year of birth is the same, or one away, but not the date", birthYearDiffers: "the year of birth differs",
	}[best])
}

// points compares a date of birth with that of an entry. A list confuses day and month at times.
func (b Birth) points(born date) int {
	switch {
	case born.year < b.Year-birthYearMaxSlack, born.year > b.ToYear+birthYearMaxSlack:
		return birthYearDiffers
	case born.year < b.Year, born.year > b.ToYear:
		return birthDateDiffers
	case b.Month == 0:
		return birthYearMatches
	case b.Day == 0 && b.Month == born.month:
		return birthYearMatches
	case b.Month == born.month && b.Day == born.day, b.Month == born.day && b.Day == born.month:
		return birthDateMatches
	}
	return birthDateDiffers
}

func (a *adjustments) addCountries(s Subject, e Entry) {
	if len(s.Countries) == 0 || len(e.Countries) == 0 {
		return
	}
	for _, country := range s.Countries {
		if slices.Contains(e.Countries, country) {
			a.add(countryMatches, "the entry has the country "+country+" too")
			return
		}
	}
	a.add(countriesDiffer, "the countries differ")
}

type date struct{ year, month, day int }

// parseDate parses YYYY-MM-DD.
func parseDate(text string) (date, bool) {
	year, rest, _ := strings.Cut(text, "-")
	month, day, _ := strings.Cut(rest, "-")
	var d date
	for _, part := range []struct {
		text string
		into *int
	}{{year, &d.year}, {month, &d.month}, {day, &d.day}} {
		n, err := strconv.Atoi(part.text)
		if err != nil || n <= 0 {
			return date{}, false
		}
		*part.into = n
	}
	return d, true
}
