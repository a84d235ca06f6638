package sanctions

import (
	"encoding/csv"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"time"

	"causeway/core/screening"
)

// sdnEntry is an element of sdn.xml.
type sdnEntry struct {
	UID       string   `xml:"uid"`
	FirstName string   `xml:"firstName"`
	LastName  string   `xml:"lastName"`
	Type      string   `xml:"sdnType"`
	Programs  []string `xml:"programList>program"`
	Aliases   []struct {
		Category  string `xml:"category"`
		FirstName string `xml:"firstName"`
		LastName  string `xml:"lastName"`
	} `xml:"akaList>aka"`
	Addresses     []string `xml:"addressList>address>country"`
	Nationalities []string `xml:"nationalityList>nationality>country"`
	Citizenships  []string `xml:"citizenshipList>citizenship>country"`
	Births        []string `xml:"dateOfBirthList>dateOfBirthItem>dateOfBirth"`
}

// sdnPublication is the element with the date; its name is published with this spelling.
type sdnPublication struct {
	Date    string `xml:"Publish_Date"`
	Records int    `xml:"Record_Count"`
}

func readOFACXML(r io.Reader) (read File, err error) {
	records := 0
	err = forEachElement(r, "sdnList", func(xml.StartElement) {}, func(d *xml.Decoder, element xml.StartElement) error {
		switch element.Name.Local {
		case "publshInformation":
			var published sdnPublication
			if err := d.DecodeElement(&published, &element); err != nil {
				return err
			}
			records = published.Records
			if read.PublishedAt, err = time.Parse("01/02/2006", published.Date); err != nil {
				return fmt.Errorf("Publish_Date is %q, want month/day/year", published.Date)
			}
			return nil
		case "sdnEntry":
			var e sdnEntry
			if err := d.DecodeElement(&e, &element); err != nil {
				return err
			}
			if clean(e.UID) == "" {
				return errors.New("an sdnEntry has no uid")
			}
			if len(read.Entries) >= maxEntries {
				return fmt.Errorf("the list has more than %d entries", maxEntries)
			}
			read.Entries = append(read.Entries, e.entry())
			return nil
		default:
			return d.Skip()
		}
	})
	if err == nil && records > 0 && records != len(read.Entries) {
		err = fmt.Errorf("the file has %d entries, but says that it has %d: it is not complete", len(read.Entries), records)
	}
	return read, err
}

func (e sdnEntry) entry() screening.Entry {
	b := builder{screening.Entry{List: screening.OFAC, Ref: clean(e.UID), Kind: ofacKind(e.Type)}}
	b.addName(e.FirstName+" "+e.LastName, false)
	for _, alias := range e.Aliases {
		b.addName(alias.FirstName+" "+alias.LastName, strings.EqualFold(clean(alias.Category), "weak"))
	}
	for _, countries := range [][]string{e.Nationalities, e.Citizenships, e.Addresses} {
		for _, country := range countries {
			b.addCountry(country)
		}
	}
	for _, birth := range e.Births {
		b.addBirth(parseOFACBirth(birth))
	}
	for _, program := range e.Programs {
		b.addProgram(program)
	}
	return b.Entry
}

func ofacKind(text string) screening.Kind {
	switch strings.ToLower(clean(text)) {
	case "individual":
		return screening.Person
	case "vessel", "aircraft":
		return screening.Vessel
	}
	return screening.Organization
}

var (
	yearRange  = regexp.MustCompile(`\b(1[89]\d\d|20\d\d)\b(?:\s*(?:to|-)\s*(?:\d{1,2}\s+)?(?:[A-Za-z]{3}\s+)?\b(1[89]\d\d|20\d\d)\b)?`)
	dayOfMonth = regexp.MustCompile(`^(?:(\d{1,2})\s+)?([A-Za-z]{3})\s+\d{4}$`)
)

// parseOFACBirth parses a date of birth such as 18 Jun 1956, Jun 1956, 1956, circa 1956, 1956 to 1958.
func parseOFACBirth(text string) (screening.Birth, bool) {
	text = clean(text)
	years := yearRange.FindStringSubmatch(text)
	if years == nil {
		return screening.Birth{}, false
	}
	from, _ := strconv.Atoi(years[1])
	birth := screening.Birth{Year: from, ToYear: from}
	if years[2] != "" {
		birth.ToYear, _ = strconv.Atoi(years[2])
		birth.ToYear = max(birth.ToYear, from)
	}
	if parts := dayOfMonth.FindStringSubmatch(text); parts != nil {
		if month, err := time.Parse("Jan", parts[2]); err == nil {
			birth.Month = int(month.Month())
			if day, err := strconv.Atoi(parts[1]); err == nil && day <= 31 {
				birth.Day = day
			}
		}
	}
	return birth, true
}

// Columns of sdn.csv, alt.csv and add.csv, which have no header.
const (
	sdnColumns, altColumns, addColumns = 12, 5, 6
	sdnFile                            = "sdn.csv"
	endOfFile                          = "\x1a" // the last line of sdn.csv, at least
)

// readOFACCSV reads the three files. Dates of birth are in the remarks, as in "DOB 18 Jun 1956; POB ...".
func readOFACCSV(sdn, alt, add io.Reader) (read File, err error) {
	byRef := make(map[string]int)
	find := func(ref string) (*builder, error) {
		i, known := byRef[ref]
		if !known {
			return nil, fmt.Errorf("there is no entry %s in sdn.csv", ref)
		}
		return &builder{read.Entries[i]}, nil
	}
	err = forEachRecord(sdn, sdnFile, sdnColumns, func(record []string) error {
		ref := clean(record[0])
		if _, twice := byRef[ref]; twice {
			return fmt.Errorf("the entry %s occurs twice", ref)
		}
		if len(read.Entries) >= maxEntries {
			return fmt.Errorf("the list has more than %d entries", maxEntries)
		}
		b := builder{screening.Entry{List: screening.OFAC, Ref: ref, Kind: ofacKind(record[2])}}
		b.addName(ofacName(record[1], b.Kind), false)
		for program := range strings.SplitSeq(strings.Trim(record[3], "[]"), "] [") {
			b.addProgram(program)
		}
		for remark := range strings.SplitSeq(record[11], ";") {
			remark = strings.TrimSuffix(clean(remark), ".")
			for _, prefix := range []string{"DOB ", "alt. DOB "} {
				if birth, found := strings.CutPrefix(remark, prefix); found {
					b.addBirth(parseOFACBirth(birth))
				}
			}
			for _, prefix := range []string{"nationality ", "citizen "} {
				if country, found := strings.CutPrefix(remark, prefix); found {
					b.addCountry(country)
				}
			}
		}
		byRef[ref] = len(read.Entries)
		read.Entries = append(read.Entries, b.Entry)
		return nil
	})
	if err != nil {
		return read, err
	}
	err = forEachRecord(alt, "alt.csv", altColumns, func(record []string) error {
		b, err := find(clean(record[0]))
		if err != nil {
			return err
		}
		b.addName(ofacName(record[3], b.Kind), strings.Contains(strings.ToLower(record[4]), "weak"))
		read.Entries[byRef[b.Ref]] = b.Entry
		return nil
	})
	if err != nil {
		return read, err
	}
	return read, forEachRecord(add, "add.csv", addColumns, func(record []string) error {
		b, err := find(clean(record[0]))
		if err != nil {
			return err
		}
		b.addCountry(record[4])
		read.Entries[byRef[b.Ref]] = b.Entry
		return nil
	})
}

// ofacName returns the name of a person, which is published as LAST, First, in the usual order.
func ofacName(text string, kind screening.Kind) string {
	last, first, found := strings.Cut(clean(text), ",")
	if kind == screening.Person && found {
		return first + " " + last
	}
	return text
}

func forEachRecord(r io.Reader, name string, columns int, do func([]string) error) error {
	ended := false
	records := csv.NewReader(r)
	records.FieldsPerRecord, records.ReuseRecord, records.LazyQuotes = -1, true, true
	for {
		record, err := records.Read()
		if errors.Is(err, io.EOF) && !ended && name == sdnFile {
			return fmt.Errorf("%s: the end of the file is missing, which is a line with the character 26 (Ctrl-Z) only: it is not complete", name)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		line, _ := records.FieldPos(0)
		switch {
		case len(record) == 1 && strings.TrimSpace(record[0]) == endOfFile:
			ended = true
			continue
		case len(record) == 1 && clean(record[0]) == "":
			continue
		case ended:
			return fmt.Errorf("%s, line %d: is after the end of the file, a line with the character 26 (Ctrl-Z)", name, line)
		}
		if len(record) != columns || clean(record[0]) == "" {
			return fmt.Errorf("%s, line %d: has %d columns, want %d with a number first", name, line, len(record), columns)
		}
		if err := do(record); err != nil {
			return fmt.Errorf("%s, line %d: %w", name, line, err)
		}
	}
}
