// Package sanctions reads the files in which sanctions lists are published: the list of Specially
// Designated Nationals of the US Treasury (sdn.xml, or sdn.csv with alt.csv and add.csv) and the
// consolidated list of the European Union (xmlFullSanctionsList 1.1).
//
// A file is read as a stream. What is wrong with it is an error with the line; unknown elements are
// left out, and neither external entities nor more than MaxFileBytes are read.
package sanctions

import (
	"bufio"
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"
	"unicode"

	"golang.org/x/text/language"
	"golang.org/x/text/language/display"

	"causeway/core/party"
	"causeway/core/screening"
)

// Limits of a list. The published lists have about 20,000 entries and 100 MB.
const (
	MaxFileBytes = 512 << 20
	maxEntries   = 200_000
	maxNames     = 1000 // of an entry
	maxValues    = 100  // of an entry: births, countries, programs
	maxTextBytes = 1000
)

// File is what was read of a list.
type File struct {
	Entries []screening.Entry
	// PublishedAt is zero if the file has no date of publication.
	PublishedAt time.Time
}

// validRef is what the number of an entry is; operators type it to clear a match.
var validRef = regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z._-]{0,49}$`)

// Read reads a list from its main file, whose format it recognizes, and for CSV from the files of
// aliases and addresses, which are nil otherwise. An entry without a name or with more than it can
// have, an entry that occurs twice, and a list without entries are errors.
func Read(list screening.List, file, aliases, addresses io.Reader) (File, error) {
	content := bufio.NewReaderSize(&limitedReader{from: file, left: MaxFileBytes}, 64<<10)
	isXML := beginsWithMarkup(content)
	if isXML && (aliases != nil || addresses != nil) {
		return File{}, errors.New("the file is XML, which contains the aliases and addresses: name one file only")
	}
	var read File
	var err error
	switch {
	case list == screening.OFAC && isXML:
		read, err = readOFACXML(content)
	case list == screening.OFAC && aliases != nil && addresses != nil:
		read, err = readOFACCSV(content, &limitedReader{from: aliases, left: MaxFileBytes}, &limitedReader{from: addresses, left: MaxFileBytes})
	case list == screening.OFAC:
		return File{}, errors.New("the file is not XML; with sdn.csv, name alt.csv and add.csv too")
	case list == screening.EU && isXML:
		read, err = readEU(content)
	case list == screening.EU:
		return File{}, errors.New("the file is not XML; use the full sanctions list 1.1 in XML")
	default:
		return File{}, fmt.Errorf("%q is not a list; the lists are %q", list, screening.Lists)
	}
	if err != nil {
		return File{}, err
	}
	return read, checkEntries(read.Entries)
}

func checkEntries(entries []screening.Entry) error {
	if len(entries) == 0 {
		return errors.New("the file has no entries")
	}
	seen := make(map[string]bool, len(entries))
	for _, e := range entries {
		if seen[e.Ref] {
			return fmt.Errorf("the entry %s occurs twice", e.Ref)
		}
		seen[e.Ref] = true
		switch {
		case !validRef.MatchString(e.Ref):
			return fmt.Errorf("the entry %q has a number with other characters than digits, letters, dots and hyphens, or more than 50", e.Ref)
		case len(e.Names) == 0:
			return fmt.Errorf("the entry %s has no name", e.Ref)
		case len(e.Names) > maxNames:
			return fmt.Errorf("the entry %s has more than %d names", e.Ref, maxNames)
		}
	}
	return nil
}

// beginsWithMarkup reports whether the first character that is not a space is that of markup.
func beginsWithMarkup(r *bufio.Reader) bool {
	start, _ := r.Peek(512)
	start = bytes.TrimPrefix(start, []byte("\ufeff"))
	return bytes.HasPrefix(bytes.TrimSpace(start), []byte("<"))
}

// limitedReader returns an error instead of more than a number of bytes.
type limitedReader struct {
	from io.Reader
	left int64
}

func (r *limitedReader) Read(p []byte) (int, error) {
	if r.left <= 0 {
		return 0, fmt.Errorf("the file has more than %d MB", MaxFileBytes>>20)
	}
	n, err := r.from.Read(p[:min(int64(len(p)), r.left)])
	r.left -= int64(n)
	return n, err
}

// forEachElement decodes the elements below the root, one at a time, and calls decode for each; the
// root must have the given name. Errors have the line.
func forEachElement(r io.Reader, root string, begin func(xml.StartElement), decode func(*xml.Decoder, xml.StartElement) error) error {
	decoder := xml.NewDecoder(r)
	depth := 0
	for {
		line, _ := decoder.InputPos()
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) && depth == 0 {
			return nil
		}
		if err != nil {
			return lineError(decoder, err)
		}
		switch element := token.(type) {
		case xml.StartElement:
			if depth == 0 {
				if element.Name.Local != root {
					return fmt.Errorf("line %d: the file begins with <%s>, want <%s>", line, element.Name.Local, root)
				}
				begin(element)
				depth++
				continue
			}
			if err := decode(decoder, element); err != nil {
				return lineError(decoder, err)
			}
		case xml.EndElement:
			depth--
		}
	}
}

func lineError(decoder *xml.Decoder, err error) error {
	var syntax *xml.SyntaxError
	if errors.As(err, &syntax) {
		return fmt.Errorf("line %d: %s", syntax.Line, syntax.Msg)
	}
	line, _ := decoder.InputPos()
	return fmt.Errorf("line %d: %w", line, err)
}

// builder collects an entry within the limits.
type builder struct{ screening.Entry }

func (b *builder) addName(text string, weak bool) {
	text = clean(text)
	if text == "" || len(b.Names) > maxNames { // one more is an error later
		return
	}
	for i, n := range b.Names {
		if n.Text == text {
			b.Names[i].Weak = n.Weak && weak
			return
		}
	}
	b.Names = append(b.Names, screening.EntryName{Text: text, Weak: weak})
}

func (b *builder) addBirth(birth screening.Birth, known bool) {
	if known && len(b.Births) < maxValues {
		b.Births = append(b.Births, birth)
	}
}

// addCountry adds a country by its code or its English name; others are left out.
func (b *builder) addCountry(country string) {
	code := strings.ToUpper(clean(country))
	if !party.KnownCountry(code) {
		code = countryCodes[strings.ToLower(clean(country))]
	}
	if code == "" || len(b.Countries) >= maxValues {
		return
	}
	for _, other := range b.Countries {
		if other == code {
			return
		}
	}
	b.Countries = append(b.Countries, code)
}

func (b *builder) addProgram(program string) {
	if program = clean(program); program != "" && len(b.Programs) < maxValues {
		b.Programs = append(b.Programs, program)
	}
}

// clean returns a text without control characters and repeated spaces, and at most maxTextBytes of it. A file has -0- for an
// empty value.
func clean(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && !unicode.IsSpace(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, ""))
	text = strings.Join(strings.Fields(text), " ")
	if text == "-0-" {
		return ""
	}
	if len(text) > maxTextBytes {
		text = strings.ToValidUTF8(text[:maxTextBytes], "")
	}
	return text
}

// countryCodes are the codes of the English names of countries, in lower case.
var countryCodes = func() map[string]string {
	codes := map[string]string{
		"burma": "MM", "congo, democratic republic of the": "CD", "congo, republic of the": "CG", "cote d ivoire": "CI", "czech republic": "CZ",
		"hong kong": "HK", "korea, north": "KP", "korea, south": "KR", "macau": "MO", "macedonia, the former yugoslav republic of": "MK",
		"palestinian": "PS",
		"west bank":   "PS", "region: gaza": "PS", "region: crimea": "UA", "the bahamas": "BS", "the gambia": "GM",
		"turkey": "TR", "swaziland": "SZ",
		"bosnia and herzegovina": "BA", "trinidad and tobago": "TT", "saint kitts and nevis": "KN", "saint vincent and the grenadines": "VC",
		"antigua and barbuda": "AG", "sao tome and principe": "ST", "cape verde": "CV", "ivory coast": "CI",
	}
	names := display.English.Regions()
	for a := 'A'; a <= 'Z'; a++ {
		for b := 'A'; b <= 'Z'; b++ {
			code := string(a) + string(b)
			if !party.KnownCountry(code) {
				continue
			}
			if region, err := language.ParseRegion(code); err == nil {
				codes[strings.ToLower(names.Name(region))] = code
			}
		}
	}
	return codes
}()
