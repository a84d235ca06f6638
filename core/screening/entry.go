package screening

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"time"

	"github.com/google/uuid"

	"causeway/core/customer"
	"causeway/core/ident"
)

// List is a sanctions list.
type List string

// The lists.
const (
	// OFAC is the list of Specially Designated Nationals of the US Treasury.
	OFAC List = "ofac"
	// EU is the consolidated list of persons, groups and entities of the European Union.
	EU List = "eu"
)

// Lists lists every list.
var Lists = []List{OFAC, EU}

// Kind is what a subject or an entry is.
type Kind string

// The kinds.
const (
	Person       Kind = "PERSON"
	Organization Kind = "ORGANIZATION"
	// Vessel is a ship or an aircraft.
	Vessel Kind = "VESSEL"
)

// Entry is an entry of a list.
type Entry struct {
	List List
	// Ref is the number of the entry in its list, which stays the same when the entry changes.
	Ref  string
	Kind Kind
	// Names has the main name first, then the aliases.
	Names  []EntryName
	Births []Birth
	// Countries are the countries of nationality, residence or registration, in ISO 3166-1 alpha-2.
	Countries []string
	Programs  []string
}

// EntryName is a name of an entry.
type EntryName struct {
	Text string
	// Weak: the list says that many others have this alias.
	Weak bool
}

// Birth is a date of birth as far as a list knows it. Month and Day are zero if only the year is known;
// the year is from Year to ToYear, which are equal if it is known exactly.
type Birth struct {
	Year   int
	ToYear int
	Month  int
	Day    int
}

// Version returns a hash of the entry, which changes with anything in it.
func (e Entry) Version() string { return hash(e) }

// LoadedList is the version of a list that is screened against.
type LoadedList struct {
	ID   uuid.UUID
	List List
	// PublishedAt is the date of publication in the file; zero if the file has none.
	PublishedAt time.Time
	// SHA256 is the hash of the files, in hexadecimal digits.
	SHA256   string
	Entries  int
	LoadedAt time.Time
	Actor    string
	Person   ident.Person // who has signed in; zero if nobody has
}

// Subject is who is screened.
type Subject struct {
	Kind Kind
	// Names are the names the subject is known by; the first is the main one.
	Names []string
	// BirthDate is YYYY-MM-DD; it may be empty.
	BirthDate string
	// Countries are the countries of nationality, residence or registration, in ISO 3166-1 alpha-2.
	Countries []string
}

// Version returns a hash of what is screened, which changes with anything in it.
func (s Subject) Version() string { return hash(s) }

// hash returns the hash of a value that encoding/json can encode.
func hash(value any) string {
	encoded, err := json.Marshal(value)
	if err != nil {
		panic(err) // texts and numbers only
	}
	sum := sha256.Sum256(encoded)
	return hex.EncodeToString(sum[:])
}

// CustomerSubject returns what is screened of a customer, and false if it has no name yet.
func CustomerSubject(c customer.Customer) (Subject, bool) {
	s := Subject{Kind: Person, BirthDate: c.BirthDate}
	s.addName(c.FullName)
	s.addCountry(c.Nationality)
	if c.Address != nil {
		s.addCountry(c.Address.Country)
	}
	if b := c.Business; b != nil {
		s = Subject{Kind: Organization}
		s.addName(b.LegalName)
		s.addName(b.DoingBusinessAs)
		s.addCountry(b.Country)
	}
	return s, len(s.Names) > 0
}

// CounterpartySubject returns what is screened of the other party of a payment, by what is stated about it, and false if it has no
// name.
func CounterpartySubject(facts map[string]string) (Subject, bool) {
	s := Subject{Kind: Person, BirthDate: facts["BIRTH_DATE"]}
	if company := facts["COMPANY_LEGAL_NAME"]; company != "" {
		s = Subject{Kind: Organization}
		s.addName(company)
	}
	s.addName(facts["FULL_NAME"])
	s.addCountry(facts["NATIONALITY"])
	s.addCountry(facts["COUNTRY_OF_RESIDENCE"])
	return s, len(s.Names) > 0
}

// OwnerSubject returns what is screened of a beneficial owner.
func OwnerSubject(o customer.BeneficialOwner) Subject {
	s := Subject{Kind: Person, BirthDate: o.Person.BirthDate}
	s.addName(o.Person.FullName())
	s.addCountry(o.Person.Nationality)
	s.addCountry(o.Person.Address.Country)
	return s
}

func (s *Subject) addName(name string) {
	if name != "" && !slices.Contains(s.Names, name) {
		s.Names = append(s.Names, name)
	}
}

func (s *Subject) addCountry(country string) {
	if country != "" && !slices.Contains(s.Countries, country) {
		s.Countries = append(s.Countries, country)
	}
}
