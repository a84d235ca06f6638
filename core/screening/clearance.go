package screening

import (
	"slices"

	"causeway/core/fault"
)

// Clearance says that an operator judged a match: the entry is about somebody else. It holds until the
// entry changes, or what is screened of the subject.
type Clearance struct {
	List           List
	Ref            string
	EntryVersion   string
	SubjectVersion string
}

// Clearance returns that a match of a subject is cleared.
func (m Match) Clearance(s Subject) Clearance {
	return Clearance{List: m.Entry.List, Ref: m.Entry.Ref, EntryVersion: m.Entry.Version(), SubjectVersion: s.Version()}
}

// ID returns the list and the number of the entry, such as ofac:36.
func (e Entry) ID() string { return string(e.List) + ":" + e.Ref }

// Clear returns the clearances of all matches of a subject. named are the ids of entries that an
// operator clears now, and earlier is what was cleared before. Faults: CONFLICT if a match is not
// cleared, INVALID_INPUT if a named entry does not match.
func Clear(s Subject, matches []Match, named []string, earlier []Clearance) ([]Clearance, error) {
	cleared := make([]Clearance, 0, len(matches))
	for _, m := range matches {
		c := m.Clearance(s)
		if !slices.Contains(named, m.Entry.ID()) && !slices.Contains(earlier, c) {
			return nil, fault.New(fault.Conflict, "%q resembles the entry %s, %q (score %d). Clear the entry if it is about somebody else, or reject.", m.SubjectName, m.Entry.ID(), m.EntryName, m.Score)
		}
		cleared = append(cleared, c)
	}
	for _, id := range named {
		if !slices.ContainsFunc(matches, func(m Match) bool { return m.Entry.ID() == id }) {
			return nil, fault.Invalid(fault.Field{Field: "clear", Message: "must be entries that match; " + id + " does not"})
		}
	}
	return cleared, nil
}
