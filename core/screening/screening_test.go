package screening

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"causeway/core/customer"
	"causeway/core/party"
)

func score(a, b string, kind Kind) int { return nameScore(newName(a, kind), newName(b, kind)) }

func anyName() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.StringN(0, 40, 80),
		rapid.StringMatching(`[A-Za-zÀ-ž'. -]{1,40}`),
		rapid.Map(rapid.SliceOfN(rapid.SampledFrom(strings.Fields("abdul rahman abdulrahman al-Hakim ivan ivanov Иванов müller mueller john "+
			"jon j smith o'brien ltd co van der berg")), 1, 14),
			func(words []string) string { return strings.Join(words, " ") }))
}

func TestNameScore_IsSymmetricAndBounded(t *testing.T) {
	// The score of two names is from 0 to 100, and the same in either direction.
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		a, b := anyName().Draw(rt, "a"), anyName().Draw(rt, "b")
		kind := rapid.SampledFrom([]Kind{Person, Organization}).Draw(rt, "kind")
		got, back := score(a, b, kind), score(b, a, kind)
		if got != back || got < 0 || got > 100 {
			rt.Fatalf("%q, %q: %d and %d", a, b, got, back)
		}
	})
}

func TestNameScore_EqualNamesAre100(t *testing.T) {
	// A name is equal to itself, also with its words in another order, in capitals, and with marks.
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		a := anyName().Draw(rt, "name")
		n := newName(a, Person)
		if len(n.tokens) == 0 {
			rt.Skip("no words")
		}
		if got := score(a, a, Person); got != 100 {
			rt.Fatalf("%q: %d", a, got)
		}
		if len(n.tokens) == maxTokens {
			return // another order may leave out another word
		}
		words := strings.Fields(a)
		slices.Reverse(words)
		if got := score(strings.Join(strings.Fields(a), " "), strings.Join(words, " "), Person); len(words) <= maxTokens && got < 100 &&
			!strings.Contains(a, ".") {
			rt.Fatalf("%q reversed: %d", a, got)
		}
	})
	for a, b := range map[string]string{
		"José Ñandú": "JOSE NANDU", "O’Brien, Séan": "sean o'brien", "Łukasz Øst": "lukasz ost", "Ｊｏｈｎ Ｄｏｅ": "john doe",
		"Jo\u200bhn\u00ad Do\u2060e\u202e":                   "john doe",
		"J\u3164o\u115fh\u1160n D\uffa0o\u2800e\ufe0f\u034f": "john doe",
		"Anne-Marie Roux":                                    "roux anne marie",
		"J. R. Ortega":                                       "J R Ortega",
	} {
		if got := score(a, b, Person); got != 100 {
			t.Errorf("%q, %q: %d", a, b, got)
		}
	}
	for a, b := range map[string]string{
		"Northgate Trading Co., Ltd.": "NORTHGATE TRADING", "Zarya OOO": "Zarya", "Comercio S.A. de C.V.": "comercio de", "Limited": "LIMITED",
		"Ost Handels GmbH & Co. KG": "Ost Handels",
	} {
		if got := score(a, b, Organization); got != 100 {
			t.Errorf("%q, %q: %d", a, b, got)
		}
	}
}

// variants are spellings of one name, as transliterations and typing errors produce them.
var variants = []struct{ listed, given string }{
	{"Mohammed Al-Rashedi", "Muhammad Al Rashidi"}, {"Mohammed Al-Rashedi", "Mohamed Rashedi"},
	{"Abd al-Rahman Qasimi", "Abdulrahman Kassimi"},
	{"Yusuf Hadadi", "Youssef Haddadi"}, {"Sergei Vladimirovich Antonov", "Sergey Antonov"}, {"Dmitriy Zhukovsky", "Dmitri Joukovski"},
	{"Aleksandr Yemelyanov", "Alexander Emelianov"}, {"Jürgen Großmann", "Juergen Grossmann"}, {"Chidi Okonkwo", "Chidi Okonkow"},
	{"Petar Jovanović", "Peter Jovanovic"}, {"Nguyen Van Thanh", "Thanh Nguyen"}, {"Maria Fernanda Lopez Ruiz", "Maria Lopez Ruis"},
	{"Hussein Karim", "Husayn Kareem"}, {"Gholam Reza Tehrani", "Gholamreza Tehrani"}, {"Kim Jong Su", "Kim Jongsu"},
	{"Oleksandr Shevchuk", "Olexandr Shevtchuk"}, {"Ibrahim bin Khalil Mansur", "Ebrahim Khalil Mansour"},
	{"Katarzyna Wiśniewska", "Katarzyna Wisnewska"},
}

func TestScreen_FindsVariants(t *testing.T) {
	// Other transliterations, missing second names, other word breaks and typing errors are found.
	t.Parallel()
	for _, v := range variants {
		index := NewIndex([]Entry{{List: OFAC, Ref: "1", Kind: Person, Names: []EntryName{{Text: v.listed}}}}, DefaultThreshold)
		if len(index.Screen(Subject{Kind: Person, Names: []string{v.given}})) != 1 {
			t.Errorf("%q is not found as %q: %d", v.listed, v.given, score(v.listed, v.given, Person))
		}
	}
}

func TestScreen_LeavesOutOthers(t *testing.T) {
	// Names that only share a common word, or are short, do not match.
	t.Parallel()
	for _, v := range []struct{ listed, given string }{
		{"Mohammed Al-Rashedi", "Mohammed Al-Farsi"}, {"John Smith", "Smith"}, {"Ivan Petrov", "Ivan Sidorov"}, {"Kim Jong Su", "Kim Min Ho"},
		{"Maria Lopez", "Maria Gomez"}, {"Anna Lee", "Anna Li Wang"}, {"Northgate Trading", "Southgate Trading"},
		{"Northgate Trading", "Trading"},
	} {
		for _, kind := range []Kind{Person, Organization} {
			index := NewIndex([]Entry{{List: EU, Ref: "1", Kind: kind, Names: []EntryName{{Text: v.listed}}}}, DefaultThreshold)
			if found := index.Screen(Subject{Kind: kind, Names: []string{v.given}}); len(found) != 0 {
				t.Errorf("%q matches %q: %d", v.given, v.listed, found[0].Score)
			}
		}
	}
}

func TestScreen_BirthDateAndCountryChangeTheScore(t *testing.T) {
	// The date of birth, the country, the kind and a weak alias raise or lower the score, with a reason.
	t.Parallel()
	entry := func(edit func(*Entry)) Entry {
		e := Entry{List: OFAC, Ref: "7", Kind: Person, Names: []EntryName{{Text: "Ivan Testov"}}}
		edit(&e)
		return e
	}
	subject := Subject{Kind: Person, Names: []string{"Ivan Testow"}, BirthDate: "1970-03-09", Countries: []string{"RU"}}
	plain := newMatch(subject, entry(func(*Entry) {}), "Ivan Testow", EntryName{Text: "Ivan Testov"}, 90)
	if plain.Score != 90 || len(plain.Reasons) != 1 {
		t.Fatalf("%+v", plain)
	}
	for name, c := range map[string]struct {
		points int
		edit   func(*Entry)
	}{
		"same date":     {5, func(e *Entry) { e.Births = []Birth{{Year: 1970, ToYear: 1970, Month: 3, Day: 9}} }},
		"day and month": {5, func(e *Entry) { e.Births = []Birth{{Year: 1970, ToYear: 1970, Month: 9, Day: 3}} }},
		"same year":     {2, func(e *Entry) { e.Births = []Birth{{Year: 1970, ToYear: 1970}} }},
		"same month":    {2, func(e *Entry) { e.Births = []Birth{{Year: 1970, ToYear: 1970, Month: 3}} }},
		"range":         {2, func(e *Entry) { e.Births = []Birth{{Year: 1965, ToYear: 1975}} }},
		"other date":    {-5, func(e *Entry) { e.Births = []Birth{{Year: 1970, ToYear: 1970, Month: 12, Day: 30}} }},
		"a year away":   {-5, func(e *Entry) { e.Births = []Birth{{Year: 1971, ToYear: 1971, Month: 3, Day: 9}} }},
		"other year":    {-15, func(e *Entry) { e.Births = []Birth{{Year: 1990, ToYear: 1990}} }},
		"the best of two": {5, func(e *Entry) {
			e.Births = []Birth{{Year: 1990, ToYear: 1990}, {Year: 1970, ToYear: 1970, Month: 3, Day: 9}}
		}},
		"same country":  {2, func(e *Entry) { e.Countries = []string{"BY", "RU"} }},
		"other country": {-5, func(e *Entry) { e.Countries = []string{"BY"} }},
		"other kind":    {-10, func(e *Entry) { e.Kind = Organization }},
		"date and a country": {7, func(e *Entry) {
			e.Births, e.Countries = []Birth{{Year: 1970, ToYear: 1970, Month: 3, Day: 9}}, []string{"RU"}
		}},
	} {
		m := newMatch(subject, entry(c.edit), "Ivan Testow", EntryName{Text: "Ivan Testov"}, 90)
		if m.Score != 90+c.points || len(m.Reasons) < 2 || !strings.HasSuffix(m.Reasons[1], fmt.Sprintf("%+d", c.points)) &&
			!strings.Contains(name, " and a ") {
			t.Errorf("%s: %d %q, want %+d", name, m.Score, m.Reasons, c.points)
		}
	}
	if weak := newMatch(subject, entry(func(*Entry) {}), "Ivan Testow", EntryName{Text: "Ivan Testov", Weak: true}, 90); weak.Score != 80 {
		t.Errorf("weak alias: %d", weak.Score)
	}
	if exact := newMatch(subject, entry(func(e *Entry) { e.Births = []Birth{{Year: 1970, ToYear: 1970, Month: 3, Day: 9}} }), "x",
		EntryName{Text: "x"}, 100); exact.Score != 100 {
		t.Errorf("more than 100: %d", exact.Score)
	}
}

func TestScreen_ReturnsEachEntryOnceByItsBestName(t *testing.T) {
	// An entry with several names that match is returned once, and the best entry is the first.
	t.Parallel()
	index := NewIndex([]Entry{
		{List: EU, Ref: "b", Kind: Organization, Names: []EntryName{{Text: "Zarya Eksport"}}},
		{List: EU, Ref: "a", Kind: Organization, Names: []EntryName{{Text: "Zaria Export"}, {Text: "Zarya Export", Weak: true},
			{Text: "Zarya Export LLC"}}},
	}, DefaultThreshold)
	found := index.Screen(Subject{Kind: Organization, Names: []string{"Zarya Export", "ZARYA"}})
	if len(found) != 2 || found[0].Entry.Ref != "a" || found[0].EntryName != "Zarya Export LLC" || found[0].Score != 100 ||
		found[1].Entry.Ref != "b" {
		t.Errorf("%+v", found)
	}
}

func TestSubjects(t *testing.T) {
	// Individuals are screened by their name, businesses by both of theirs, and owners.
	t.Parallel()
	person, ok := CustomerSubject(customer.Customer{Type: customer.Individual, FullName: "Ana Ruiz", BirthDate: "1990-01-02",
		Nationality: "ES", Address: &party.Address{Country: "FR"}})
	if !ok || person.Kind != Person || fmt.Sprintf("%v %s %v", person.Names, person.BirthDate,
		person.Countries) != "[Ana Ruiz] 1990-01-02 [ES FR]" {
		t.Errorf("person: %+v", person)
	}
	business, ok := CustomerSubject(customer.Customer{Type: customer.Business, Business: &customer.BusinessInfo{LegalName: "Acme Inc",
		DoingBusinessAs: "Acme", Country: "US"}})
	if !ok || business.Kind != Organization || fmt.Sprintf("%v %v", business.Names, business.Countries) != "[Acme Inc Acme] [US]" {
		t.Errorf("business: %+v", business)
	}
	if _, ok := CustomerSubject(customer.Customer{Type: customer.Individual}); ok {
		t.Error("a customer without a name is screened")
	}
	owner := OwnerSubject(customer.BeneficialOwner{Person: customer.PersonalInfo{FirstName: "Li", LastName: "Wei", BirthDate: "1980-05-05",
		Nationality: "CN"}})
	if owner.Kind != Person || fmt.Sprintf("%v %v", owner.Names, owner.Countries) != "[Li Wei] [CN]" {
		t.Errorf("owner: %+v", owner)
	}
	renamed := person
	renamed.Names = []string{"Ana Ruiz Gil"}
	if person.Version() == renamed.Version() {
		t.Error("the version of a subject does not follow its name")
	}
}

// syllables of invented names.
var syllables = strings.Fields("ba be bi bo da de di do fa fi ga go ha ho ja jo ka ke ki ko la le li lo ma me mi mo na ne ni no pa pe ra " +
	"re ri ro sa se si so ta te ti to va ve vi vo ya za ze zo shi chu kov sky ian dze")

func inventedName(random *rand.Rand) string {
	words := make([]string, 2+random.IntN(2))
	for i := range words {
		for range 2 + random.IntN(3) {
			words[i] += syllables[random.IntN(len(syllables))]
		}
	}
	return strings.Join(words, " ")
}

func inventedEntries(random *rand.Rand, n int) []Entry {
	entries := make([]Entry, n)
	for i := range entries {
		e := Entry{List: OFAC, Ref: fmt.Sprint(i), Kind: Person}
		if i%4 == 0 {
			e.Kind = Organization
		}
		for range 1 + random.IntN(5) {
			e.Names = append(e.Names, EntryName{Text: inventedName(random)})
		}
		entries[i] = e
	}
	return entries
}

// typo changes one letter of a name, swaps two, leaves one out or doubles one.
func typo(random *rand.Rand, name string) string {
	letters := []rune(name)
	i := random.IntN(len(letters) - 1)
	for letters[i] == ' ' || letters[i+1] == ' ' {
		i = random.IntN(len(letters) - 1)
	}
	switch random.IntN(4) {
	case 0:
		letters[i] = 'a' + rune(random.IntN(26))
	case 1:
		letters[i], letters[i+1] = letters[i+1], letters[i]
	case 2:
		letters = slices.Delete(letters, i, i+1)
	case 3:
		letters = slices.Insert(letters, i, letters[i])
	}
	return string(letters)
}

func TestScreen_FindsTypingErrorsAmongManyEntries(t *testing.T) {
	// Of names with one typing error, 98 of 100 are found among thousands of entries.
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	entries := inventedEntries(random, 1000)
	index := NewIndex(entries, DefaultThreshold)
	const tries = 400
	found := 0
	for range tries {
		e := entries[random.IntN(len(entries))]
		name := typo(random, e.Names[random.IntN(len(e.Names))].Text)
		if slices.ContainsFunc(index.Screen(Subject{Kind: e.Kind, Names: []string{name}}), func(m Match) bool { return m.Entry.Ref == e.Ref }) {
			found++
		}
	}
	if found < tries*98/100 {
		t.Errorf("found %d of %d", found, tries)
	}
}

func TestScreen_FindsWhatComparingAllFinds(t *testing.T) {
	// The index leaves out nothing that comparing with every entry finds, but for two in a hundred.
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	entries := inventedEntries(random, 400)
	index := NewIndex(entries, DefaultThreshold)
	all, missed := 0, 0
	for range 200 {
		e := entries[random.IntN(len(entries))]
		subject := Subject{Kind: Person, Names: []string{typo(random, typo(random, e.Names[0].Text))}}
		found := make(map[string]bool)
		for _, m := range index.Screen(subject) {
			found[m.Entry.Ref] = true
		}
		for _, other := range entries {
			best := 0
			for _, n := range other.Names {
				best = max(best, newMatch(subject, other, subject.Names[0], n, nameScore(newName(subject.Names[0], Person),
					newName(n.Text, other.Kind))).Score)
			}
			if best >= DefaultThreshold {
				all++
				if !found[other.Ref] {
					missed++
				}
			}
		}
	}
	if all < 60 || missed > all/50 {
		t.Errorf("missed %d of %d", missed, all)
	}
}

func BenchmarkScreen(b *testing.B) {
	random := rand.New(rand.NewPCG(5, 6))
	index := NewIndex(inventedEntries(random, 20000), DefaultThreshold)
	for b.Loop() {
		index.Screen(Subject{Kind: Person, Names: []string{inventedName(random)}})
	}
}

func TestSession_RemembersAndFindsTheSame(t *testing.T) {
	t.Parallel()
	// What a session remembers of earlier subjects changes no result.
	random := rand.New(rand.NewPCG(7, 8))
	index := NewIndex(inventedEntries(random, 300), MinThreshold)
	session := index.NewSession()
	found := 0
	for range 2 {
		for _, e := range index.entries {
			s := Subject{Kind: e.Kind, Names: []string{typo(random, e.Names[0].Text), inventedName(random)}}
			got := session.Screen(s)
			if want := index.Screen(s); !reflect.DeepEqual(got, want) {
				t.Fatalf("%q: %+v, want %+v", s.Names, got, want)
			}
			found += len(got)
		}
	}
	if found < 300 {
		t.Errorf("only %d entries were found", found)
	}
}

// BenchmarkSession screens people who share 1,000 first names and 10,000 surnames.
func BenchmarkSession(b *testing.B) {
	random := rand.New(rand.NewPCG(5, 6))
	session := NewIndex(inventedEntries(random, 20000), DefaultThreshold).NewSession()
	words := make([]string, 11_000)
	for i := range words {
		words[i], _, _ = strings.Cut(inventedName(random), " ")
	}
	for b.Loop() {
		session.Screen(Subject{Kind: Person, Names: []string{words[random.IntN(1_000)] + " " + words[1_000+random.IntN(10_000)]}})
	}
}

func BenchmarkNewIndex(b *testing.B) {
	entries := inventedEntries(rand.New(rand.NewPCG(5, 6)), 20000)
	for b.Loop() {
		NewIndex(entries, DefaultThreshold)
	}
}
