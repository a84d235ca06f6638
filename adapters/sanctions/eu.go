package sanctions

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"causeway/core/screening"
)

// sanctionEntity is an element of the full sanctions list 1.1 of the European Union.
type sanctionEntity struct {
	LogicalID string `xml:"logicalId,attr"`
	Subject   struct {
		Code string `xml:"classificationCode,attr"`
	} `xml:"subjectType"`
	Regulations []struct {
		Programme string `xml:"programme,attr"`
	} `xml:"regulation"`
	Names []struct {
		WholeName  string `xml:"wholeName,attr"`
		FirstName  string `xml:"firstName,attr"`
		MiddleName string `xml:"middleName,attr"`
		LastName   string `xml:"lastName,attr"`
		Strong     string `xml:"strong,attr"`
	} `xml:"nameAlias"`
	Citizenships []euCountry `xml:"citizenship"`
	Addresses    []euCountry `xml:"address"`
	Births       []struct {
		Year  string `xml:"year,attr"`
		Month string `xml:"monthOfYear,attr"`
		Day   string `xml:"dayOfMonth,attr"`
		From  string `xml:"yearRangeFrom,attr"`
		To    string `xml:"yearRangeTo,attr"`
		Circa string `xml:"circa,attr"`
	} `xml:"birthdate"`
}

type euCountry struct {
	Code string `xml:"countryIso2Code,attr"`
}

func readEU(r io.Reader) (read File, err error) {
	begin := func(root xml.StartElement) {
		for _, a := range root.Attr {
			if a.Name.Local == "generationDate" {
				read.PublishedAt = parseEUTime(a.Value)
			}
		}
	}
	err = forEachElement(r, "export", begin, func(d *xml.Decoder, element xml.StartElement) error {
		if element.Name.Local != "sanctionEntity" {
			return d.Skip()
		}
		var e sanctionEntity
		if err := d.DecodeElement(&e, &element); err != nil {
			return err
		}
		if clean(e.LogicalID) == "" {
			return errors.New("a sanctionEntity has no logicalId")
		}
		if len(read.Entries) >= maxEntries {
			return fmt.Errorf("the list has more than %d entries", maxEntries)
		}
		read.Entries = append(read.Entries, e.entry())
		return nil
	})
	return read, err
}

func parseEUTime(text string) time.Time {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999", time.DateOnly} {
		if at, err := time.Parse(layout, text); err == nil {
			return at.UTC()
		}
	}
	return time.Time{}
}

func (e sanctionEntity) entry() screening.Entry {
	b := builder{screening.Entry{List: screening.EU, Ref: clean(e.LogicalID), Kind: screening.Organization}}
	if e.Subject.Code == "P" {
		b.Kind = screening.Person
	}
	for _, n := range e.Names {
		name := n.WholeName
		if clean(name) == "" {
			name = n.FirstName + " " + n.MiddleName + " " + n.LastName
		}
		b.addName(name, n.Strong == "false")
	}
	for _, country := range append(e.Citizenships, e.Addresses...) {
		b.addCountry(country.Code)
	}
	for _, r := range e.Regulations {
		b.addProgram(r.Programme)
	}
	for _, listed := range e.Births {
		year, from, to := number(listed.Year), number(listed.From), number(listed.To)
		birth := screening.Birth{Year: year, ToYear: year, Month: number(listed.Month), Day: number(listed.Day)}
		if from > 0 {
			birth = screening.Birth{Year: from, ToYear: max(from, to)}
		}
		if listed.Circa == "true" {
			birth.Month, birth.Day = 0, 0
		}
		b.addBirth(birth, birth.Year > 0)
	}
	return b.Entry
}

// number returns a number, or 0.
func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0
	}
	return n
}
