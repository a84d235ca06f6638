package screening

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
)

// HitStatus is what operators decided about a hit.
type HitStatus string

// The statuses of hits.
const (
	// Open hits wait for an operator.
	Open HitStatus = "OPEN"
	// Cleared: the entry is about somebody else. It is open again when the entry changes, or what is
	// screened of the subject.
	Cleared HitStatus = "CLEARED"
	// Confirmed: the entry is about the subject.
	Confirmed HitStatus = "CONFIRMED"
)

// Party is who is screened: a customer, or one of its beneficial owners.
type Party struct {
	Platform ident.Platform
	Customer ident.Customer
	// Owner is zero if the customer itself is screened.
	Owner ident.BeneficialOwner
	Subject
}

// Parties returns a customer, if it has a name, and its owners.
func Parties(c customer.Customer, owners []customer.BeneficialOwner) []Party {
	var parties []Party
	if subject, hasName := CustomerSubject(c); hasName {
		parties = append(parties, Party{Platform: c.Platform, Customer: c.ID, Subject: subject})
	}
	for _, o := range owners {
		parties = append(parties, OwnerParty(o))
	}
	return parties
}

// OwnerParty returns a beneficial owner.
func OwnerParty(o customer.BeneficialOwner) Party {
	return Party{Platform: o.Platform, Customer: o.Customer, Owner: o.ID, Subject: OwnerSubject(o)}
}

// Concerns reports whether hits of a customer are recorded: not of one that is deleted or rejected, who
// moves no money any more.
func Concerns(c customer.Customer) bool { return !c.Deleted() && c.Status != customer.Rejected }

// String returns the id of the customer or the owner.
func (p Party) String() string { return partyID(p.Customer, p.Owner) }

func partyID(c ident.Customer, o ident.BeneficialOwner) string {
	if !o.IsZero() {
		return o.String()
	}
	return c.String()
}

// Hit is the record that a customer or an owner resembles an entry. There is one for each entry.
type Hit struct {
	ID       uuid.UUID
	Platform ident.Platform
	Customer ident.Customer
	// Owner is zero if the customer itself resembles the entry.
	Owner ident.BeneficialOwner
	// Clearance identifies the entry, and the versions of both sides.
	Clearance
	// ListID is the version of the list; zero if unknown.
	ListID uuid.UUID
	Status HitStatus
	Score  int
	// SubjectName and EntryName are the names that are most similar, and Reasons say how the score came
	// about.
	SubjectName, EntryName string
	Reasons                []string
	// FoundAt is when these versions were compared first.
	FoundAt time.Time
	// By, Reason and DecidedAt are those of the last decision of an operator; zero before.
	By, Reason string
	DecidedAt  time.Time
}

// Of returns the id of the customer or the owner.
func (h Hit) Of() string { return partyID(h.Customer, h.Owner) }

// EntryID returns the list and the number of the entry, such as ofac:36.
func (h Hit) EntryID() string { return string(h.List) + ":" + h.Ref }

// Compared is what parties are compared with.
type Compared struct {
	Lists     []LoadedList
	Threshold int
	// Index is nil if no list is loaded.
	Index *Index
}

// Screen returns the entries that resemble a subject.
func (c Compared) Screen(s Subject) []Match {
	if c.Index == nil {
		return nil
	}
	return c.Index.Screen(s)
}

// Hits returns the hits of a party that are new, or open again because the entry or the party changed.
// known are the hits of the customer and its owners, and cleared what reviews cleared of the party.
func (c Compared) Hits(p Party, known []Hit, cleared []Clearance, newID func() uuid.UUID, now time.Time) (created, changed []Hit) {
	for _, m := range c.Screen(p.Subject) {
		found := Hit{Platform: p.Platform, Customer: p.Customer, Owner: p.Owner, Clearance: m.Clearance(p.Subject), Status: Open,
			Score: m.Score, SubjectName: m.SubjectName, EntryName: m.EntryName, Reasons: m.Reasons, FoundAt: now}
		if i := slices.IndexFunc(c.Lists, func(l LoadedList) bool { return l.List == m.Entry.List }); i >= 0 {
			found.ListID = c.Lists[i].ID
		}
		i := slices.IndexFunc(known, func(h Hit) bool { return h.Owner == p.Owner && h.List == found.List && h.Ref == found.Ref })
		switch {
		case slices.Contains(cleared, found.Clearance):
		case i < 0:
			found.ID = newID()
			created = append(created, found)
		case known[i].Clearance == found.Clearance, known[i].Status == Confirmed:
		default:
			found.ID, found.By, found.Reason, found.DecidedAt = known[i].ID, known[i].By, known[i].Reason, known[i].DecidedAt
			if known[i].Status == Open {
				found.FoundAt = known[i].FoundAt // it waits since then
			}
			changed = append(changed, found)
		}
	}
	return created, changed
}

// OpenHits returns those hits of a customer and its owners that wait for an operator.
func OpenHits(hits []Hit) []Hit {
	return slices.DeleteFunc(slices.Clone(hits), func(h Hit) bool { return h.Status != Open })
}

// Verdict is what an operator says about hits.
type Verdict struct {
	Status HitStatus
	By     string
	Person ident.Person // who has signed in; zero if nobody has
	Reason string
	At     time.Time
}

const maxReasonLength = 2000 // characters

// Check returns INVALID_INPUT unless the verdict clears or confirms, and says who and why.
func (v Verdict) Check() error {
	var bad []fault.Field
	if _, err := platform.ParseActor(v.By); err != nil {
		bad = append(bad, fault.Field{Field: "actor", Message: "must name who decides, in 1 to 200 characters"})
	}
	if n := utf8.RuneCountInString(v.Reason); strings.TrimSpace(v.Reason) == "" || n > maxReasonLength || !utf8.ValidString(v.Reason) ||
		strings.ContainsRune(v.Reason, 0) {
		bad = append(bad, fault.Field{Field: "reason", Message: "must say why, in 1 to 2000 characters"})
	}
	if v.Status != Cleared && v.Status != Confirmed {
		bad = append(bad, fault.Field{Field: "status", Message: "must clear or confirm"})
	}
	if len(bad) == 0 {
		return nil
	}
	return fault.Invalid(bad...)
}

// Judge returns the hits of a customer or one of its owners with the verdict on those of the named
// entries. An entry that was cleared can still be confirmed. CONFLICT if one is decided already,
// INVALID_INPUT if an entry has no hit, or none is named.
func Judge(hits []Hit, of string, entries []string, v Verdict) ([]Hit, error) {
	var judged []Hit
	for _, id := range entries {
		i := slices.IndexFunc(hits, func(h Hit) bool { return h.Of() == of && h.EntryID() == id })
		switch {
		case i < 0:
			return nil, fault.Invalid(fault.Field{Field: "entry", Message: "must be entries that " + of + " resembles; " + id + " is not"})
		case hits[i].Status == v.Status, hits[i].Status == Confirmed:
			return nil, fault.New(fault.Conflict, "The entry %s was decided for %s: %s by %q. Nothing was changed.", id, of,
				hits[i].Status, hits[i].By)
		}
		h := hits[i]
		h.Status, h.By, h.Reason, h.DecidedAt = v.Status, v.By, v.Reason, v.At
		judged = append(judged, h)
	}
	if len(judged) == 0 {
		return nil, fault.Invalid(fault.Field{Field: "entry", Message: "must name at least one entry"})
	}
	return judged, nil
}
