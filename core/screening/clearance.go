package screening

import (
	"slices"

	"causeway/core/fault"
	"causeway/core/ident"
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

// ClearedHits returns what operators cleared of an owner, or of the customer if owner is zero.
func ClearedHits(hits []Hit, owner ident.BeneficialOwner) (cleared []Clearance) {
	for _, h := range hits {
		if h.Owner == owner && h.Status == Cleared {
			cleared = append(cleared, h.Clearance)
		}
	}
	return cleared
}

// Clear returns the clearances of all matches of a subject. named are the ids of entries that an
// operator clears now, and earlier is what was cleared before. open are its hits that wait: also those
// whose entry matches no more, because the list or the name changed, have to be named. Faults: CONFLICT
// if an entry is not cleared, INVALID_INPUT if a named one does not match.
func Clear(s Subject, matches []Match, open []Hit, named []string, earlier []Clearance) ([]Clearance, error) {
	cleared := make([]Clearance, 0, len(matches))
	known := make(map[string]bool)
	for _, m := range matches {
		c := m.Clearance(s)
		if known[m.Entry.ID()] = true; !slices.Contains(named, m.Entry.ID()) && !slices.Contains(earlier, c) {
			return nil, fault.New(fault.Conflict, "%q resembles the entry %s, %q (score %d). Clear the entry if it is about somebody else, or "+
				"reject.", m.SubjectName, m.Entry.ID(), m.EntryName, m.Score)
		}
		cleared = append(cleared, c)
	}
	for _, h := range open {
		if !known[h.EntryID()] && !slices.Contains(named, h.EntryID()) {
			return nil, fault.New(fault.Conflict, "%q resembled the entry %s, %q (score %d). Clear the entry if it is about somebody else, or "+
				"reject.", h.SubjectName, h.EntryID(), h.EntryName, h.Score)
		}
		known[h.EntryID()] = true
	}
	for _, id := range named {
		if !known[id] {
			return nil, fault.Invalid(fault.Field{Field: "clear", Message: "must be entries that match; " + id + " does not"})
		}
	}
	return cleared, nil
}
