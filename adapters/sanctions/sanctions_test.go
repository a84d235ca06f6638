package sanctions

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"causeway/core/screening"
)

func open(t testing.TB, name string) io.Reader {
	t.Helper()
	content, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.NewReader(content)
}

// ofacEntries are the entries of testdata/sdn.xml and of the CSV files.
var ofacEntries = []screening.Entry{
	{
		List: screening.OFAC, Ref: "90001", Kind: screening.Person,
		Names:     []screening.EntryName{{Text: "Ivan TESTOV"}, {Text: "Ivan TESTOFF"}, {Text: "VANYA", Weak: true}},
		Births:    []screening.Birth{{Year: 1956, ToYear: 1956, Month: 6, Day: 18}, {Year: 1958, ToYear: 1958}},
		Countries: []string{"RU", "KP"}, Programs: []string{"EXAMPLE1", "EXAMPLE2"},
	},
	{List: screening.OFAC, Ref: "90002", Kind: screening.Organization, Names: []screening.EntryName{{Text: "ZARYA EXAMPLE EXPORT LLC"}},
		Programs: []string{"EXAMPLE1"}},
	{List: screening.OFAC, Ref: "90003", Kind: screening.Vessel, Names: []screening.EntryName{{Text: "EXAMPLE STAR"}}},
}

func TestRead_OFACXML(t *testing.T) {
	// sdn.xml is read with names in the usual order, dates of birth, countries and its date.
	t.Parallel()
	read, err := Read(screening.OFAC, open(t, "sdn.xml"), nil, nil)
	if err != nil || !reflect.DeepEqual(read.Entries, ofacEntries) || !read.PublishedAt.Equal(time.Date(2026, 3, 5, 0, 0, 0, 0, time.UTC)) {
		t.Errorf("%+v, %v", read, err)
	}
}

func TestRead_OFACCSV(t *testing.T) {
	// The three CSV files have the same entries as the XML.
	t.Parallel()
	read, err := Read(screening.OFAC, open(t, "sdn.csv"), open(t, "alt.csv"), open(t, "add.csv"))
	if err != nil || !reflect.DeepEqual(read.Entries, ofacEntries) || !read.PublishedAt.IsZero() {
		t.Errorf("%+v, %v", read, err)
	}
}

func TestRead_EU(t *testing.T) {
	// The list of the European Union is read with all spellings, ranges of years and its date.
	t.Parallel()
	read, err := Read(screening.EU, open(t, "eu.xml"), nil, nil)
	want := []screening.Entry{
		{
			List: screening.EU, Ref: "701", Kind: screening.Person, Countries: []string{"RU"}, Programs: []string{"EXAMPLE"},
			Names:  []screening.EntryName{{Text: "Ivan Testov"}, {Text: "Иван Тестов"}, {Text: "Van Ya", Weak: true}},
			Births: []screening.Birth{{Year: 1956, ToYear: 1956, Month: 6, Day: 18}, {Year: 1950, ToYear: 1955}},
		},
		{List: screening.EU, Ref: "702", Kind: screening.Organization, Countries: []string{"BY"},
			Names: []screening.EntryName{{Text: "Zarya Example Export"}}},
	}
	if err != nil || !reflect.DeepEqual(read.Entries, want) || !read.PublishedAt.Equal(time.Date(2026, 3, 4, 9, 0, 0, 0, time.UTC)) {
		t.Errorf("%+v, %v", read, err)
	}
}

func TestParseOFACBirth(t *testing.T) {
	// A date of birth is read as far as it is known.
	t.Parallel()
	for text, want := range map[string]screening.Birth{
		"18 Jun 1956": {Year: 1956, ToYear: 1956, Month: 6, Day: 18}, "Jun 1956": {Year: 1956, ToYear: 1956, Month: 6},
		"1956":       {Year: 1956, ToYear: 1956},
		"circa 1956": {Year: 1956, ToYear: 1956}, "1956 to 1958": {Year: 1956, ToYear: 1958}, "01 Jan 1956 to 31 Dec 1958": {Year: 1956,
			ToYear: 1958}, "unknown": {},
	} {
		if got, known := parseOFACBirth(text); got != want || known != (want.Year > 0) {
			t.Errorf("%q: %+v %v", text, got, known)
		}
	}
}

func TestRead_RefusesInvalidFiles(t *testing.T) {
	// A file that is not the list, is not complete or is broken is refused; the error says where.
	t.Parallel()
	sdn := func(entries string) string { return "<sdnList>\n" + entries + "\n</sdnList>" }
	var manyAliases string
	for i := range maxNames {
		manyAliases += fmt.Sprintf("<aka><lastName>B%d</lastName></aka>", i)
	}
	named := "<sdnEntry><uid>1</uid><lastName>A</lastName></sdnEntry>"
	for text, want := range map[string]string{
		"":                                       "is not XML",
		"1,2,3\n":                                "is not XML",
		"<html></html>":                          "line 1: the file begins with <html>, want <sdnList>",
		sdn(""):                                  "has no entries",
		sdn(named + "\n<sdnEnt"):                 "line 4:",
		sdn(named + named):                       "the entry 1 occurs twice",
		sdn("<sdnEntry><uid>1</uid></sdnEntry>"): "the entry 1 has no name",
		sdn(
			"<sdnEntry><lastName>A</lastName></sdnEntry>"): "line 2: an sdnEntry has no uid",
		sdn(
			"<sdnEntry><uid>1,2</uid><lastName>A</lastName></sdnEntry>"): `the entry "1,2" has a number with other characters`,
		sdn("<sdnEntry><uid>1</uid><lastName>A</lastName><akaList>" + manyAliases +
			"</akaList></sdnEntry>"): "the entry 1 has more than 1000 names",
		sdn(
			"<publshInformation><Publish_Date>soon</Publish_Date></publshInformation>"): `line 2: Publish_Date is "soon"`,
		sdn("<publshInformation><Publish_Date>03/05/2026</Publish_Date><Record_Count>2</Record_Count></publshInformation>" +
			named): "has 1 entries, but says that it has 2",
		"<!DOCTYPE x [<!ENTITY e SYSTEM \"file:///etc/passwd\">]>" +
			sdn("<sdnEntry><uid>1</uid><lastName>&e;</lastName></sdnEntry>"): "invalid character entity &e;",
	} {
		if _, err := Read(screening.OFAC, strings.NewReader(text), nil, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	const sdnLine = "1,A,-0-,P,-0-,-0-,-0-,-0-,-0-,-0-,-0-,-0-\n"
	for _, c := range []struct{ sdn, alt, add, want string }{
		{sdnLine, "", "", "sdn.csv: the end of the file is missing"},
		{sdnLine + "\x1a\n" + sdnLine, "", "", "sdn.csv, line 3: is after the end of the file"},
		{"1,\"A\",individual\n", "", "", "sdn.csv, line 1: has 3 columns, want 12"},
		{sdnLine + "\x1a\n", "\n2,1,aka,B,-0-\n", "", "alt.csv, line 2: there is no entry 2 in sdn.csv"},
		{sdnLine + "\x1a\n", "", "1,1,x\n", "add.csv, line 1: has 3 columns, want 6"},
	} {
		if _, err := Read(screening.OFAC, strings.NewReader(c.sdn), strings.NewReader(c.alt), strings.NewReader(c.add)); err == nil ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.sdn, err, c.want)
		}
	}
	if _, err := Read(screening.EU, strings.NewReader("a,b"), nil, nil); err == nil {
		t.Error("a CSV file is read as the list of the EU")
	}
	if _, err := Read("un", strings.NewReader("<x/>"), nil, nil); err == nil {
		t.Error("an unknown list is read")
	}
}

func FuzzRead(f *testing.F) {
	// The files of testdata are too long: the engine would try for a minute to shorten each variant.
	for _, text := range []string{
		"<sdnList><publshInformation><Publish_Date>03/05/2026</Publish_Date><Record_Count>1</Record_Count></publshInformation></sdnList>",
		"<sdnList><sdnEntry><uid>1</uid><lastName>A</lastName><akaList><aka><lastName>B</lastName></aka></akaList></sdnEntry></sdnList>",
		"<sdnList><sdnEntry><uid>1</uid><lastName>A</lastName><dateOfBirthList><dateOfBirthItem><dateOfBirth>circa " +
			"1956</dateOfBirth></dateOfBirthItem></dateOfBirthList></sdnEntry></sdnList>",
		`<export><sanctionEntity logicalId="7"><nameAlias wholeName="A"/><birthdate year="1956"/></sanctionEntity></export>`,
		"1,\"A\x1b, B\x00\",individual,X] [Y,-0-,-0-,-0-,-0-,-0-,-0-,-0-,DOB 1956; citizen Cuba.\n\x1a\n",
	} {
		f.Add([]byte(text), []byte("1,1,aka,B,-0-\n"), []byte("1,1,-0-,-0-,Cuba,-0-\n"))
	}
	f.Fuzz(func(t *testing.T, file, alt, add []byte) {
		// Whatever a file contains, reading it ends with an error, or with entries that can be stored: each
		// with another number, names within the limits, and texts without control characters.
		for _, list := range screening.Lists {
			for _, csv := range []bool{false, true} {
				var aliases, addresses io.Reader
				if csv {
					aliases, addresses = bytes.NewReader(alt), bytes.NewReader(add)
				}
				read, err := Read(list, bytes.NewReader(file), aliases, addresses)
				if err != nil {
					continue
				}
				refs := make(map[string]bool)
				for _, e := range read.Entries {
					refs[e.Ref] = true
					if e.List != list || len(e.Names) == 0 || len(e.Names) > maxNames || len(e.Births) > maxValues || len(e.Countries) > maxValues ||
						len(e.Programs) > maxValues {
						t.Errorf("%+v", e)
					}
					for _, n := range e.Names {
						if n.Text == "" || len(n.Text) > maxTextBytes || !utf8.ValidString(n.Text) || strings.ContainsFunc(n.Text, unicode.IsControl) {
							t.Errorf("%q", n.Text)
						}
					}
				}
				if len(refs) == 0 || len(refs) != len(read.Entries) {
					t.Errorf("%d entries have %d numbers", len(read.Entries), len(refs))
				}
			}
		}
	})
}
