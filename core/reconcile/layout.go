package reconcile

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"causeway/core/fault"
)

// Layout describes a CSV file: the name of the column of each field, and the formats of dates and
// amounts.
type Layout struct {
	Columns map[Column]string
	// DateFormat consists of YYYY, MM and DD.
	DateFormat string
	// Decimal is the decimal mark, Group the separator of thousands or 0, and Delimiter the
	// separator of columns.
	Decimal, Group, Delimiter byte
	// Encoding is that of the file. Without one it is UTF-8 or UTF-16.
	Encoding Encoding
}

// Encoding is the name of how a file encodes characters.
type Encoding string

// The encodings that a file has without saying so.
const (
	UTF8  Encoding = "UTF-8"
	UTF16 Encoding = "UTF-16"
)

// Encodings lists the supported encodings.
var Encodings = []string{string(UTF8), string(UTF16), "ISO-8859-1", "ISO-8859-2", "ISO-8859-15", "windows-1250", "windows-1252", "CP850"}

// Column is a field of a line.
type Column string

// The fields. Date is required, and either Amount or both Debit and Credit.
const (
	ColumnDate        Column = "date"
	ColumnValueDate   Column = "valueDate"
	ColumnAmount      Column = "amount"
	ColumnDebit       Column = "debit"
	ColumnCredit      Column = "credit"
	ColumnCurrency    Column = "currency"
	ColumnID          Column = "id"
	ColumnReference   Column = "reference"
	ColumnDescription Column = "description"
)

var columns = []Column{ColumnDate, ColumnValueDate, ColumnAmount, ColumnDebit, ColumnCredit, ColumnCurrency, ColumnID, ColumnReference, ColumnDescription}

// DateFormats lists the supported date formats.
var DateFormats = []string{"YYYY-MM-DD", "YYYY/MM/DD", "YYYYMMDD", "DD.MM.YYYY", "DD/MM/YYYY", "DD-MM-YYYY", "MM/DD/YYYY", "MM-DD-YYYY"}

// maxLayoutBytes is the maximum length of a layout.
const maxLayoutBytes = 2000

// ParseLayout parses a layout: name=value pairs separated by semicolons. The names are those of
// columns, and dateFormat, decimal, group, delimiter and encoding. Fault: INVALID_INPUT for the field map,
// with everything that is wrong.
func ParseLayout(text string) (Layout, error) {
	l := Layout{Columns: map[Column]string{}, DateFormat: DateFormats[0], Decimal: '.', Delimiter: ','}
	bad, err := parseSettings(text, l.set)
	if err != nil {
		return l, err
	}
	return l, l.check(bad)
}

// ParseEncoding parses the layout of a file that has no columns but may need an encoding, as
// encoding=windows-1252. Fault: INVALID_INPUT for the field map.
func ParseEncoding(text string) (l Layout, err error) {
	bad, err := parseSettings(text, func(name, value string) string {
		if name != "encoding" {
			return fmt.Sprintf("%.40q is only valid for the format csv", name)
		}
		return l.set(name, value)
	})
	if err == nil && len(bad) > 0 {
		err = invalidMap("%s", strings.Join(bad, "; "))
	}
	return l, err
}

// parseSettings calls set with each name and value of a layout, and returns what is wrong with them.
func parseSettings(text string, set func(name, value string) string) (bad []string, err error) {
	if len(text) > maxLayoutBytes || !utf8.ValidString(text) {
		return nil, invalidMap("must have at most %d bytes of UTF-8", maxLayoutBytes)
	}
	seen := map[string]bool{}
	for part := range strings.SplitSeq(text, ";") {
		name, value, ok := strings.Cut(strings.TrimSpace(part), "=")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		switch {
		case name == "" && !ok:
			continue
		case !ok || value == "":
			bad = append(bad, fmt.Sprintf("%q has no value: write name=value", name))
		case seen[name]:
			bad = append(bad, fmt.Sprintf("%s is given twice", name))
		default:
			if problem := set(name, value); problem != "" {
				bad = append(bad, problem)
			}
		}
		seen[name] = true
	}
	return bad, nil
}

func (l *Layout) set(name, value string) string {
	switch name {
	case "dateFormat":
		l.DateFormat = value
		if !slices.Contains(DateFormats, value) {
			return "dateFormat must be one of " + strings.Join(DateFormats, ", ")
		}
	case "decimal":
		return setSeparator(&l.Decimal, name, value, ".", ",")
	case "group":
		return setSeparator(&l.Group, name, value, ".", ",", "'", "space")
	case "encoding":
		if l.Encoding = Encoding(value); !slices.Contains(Encodings, value) {
			return "encoding must be one of " + strings.Join(Encodings, ", ")
		}
	case "delimiter":
		return setSeparator(&l.Delimiter, name, value, ",", "semicolon", "tab", "|")
	default:
		if !slices.Contains(columns, Column(name)) {
			return fmt.Sprintf("%.40q is not a field", name)
		}
		l.Columns[Column(name)] = value
	}
	return ""
}

func setSeparator(target *byte, name, value string, allowed ...string) string {
	if !slices.Contains(allowed, value) {
		return name + " must be one of " + strings.Join(allowed, " ")
	}
	switch value {
	case "space":
		*target = ' '
	case "tab":
		*target = '\t'
	case "semicolon":
		*target = ';'
	default:
		*target = value[0]
	}
	return ""
}

func (l Layout) check(bad []string) error {
	has := func(c Column) bool { return l.Columns[c] != "" }
	if !has(ColumnDate) {
		bad = append(bad, "date must name the column of the booking date")
	}
	if has(ColumnAmount) == (has(ColumnDebit) || has(ColumnCredit)) || has(ColumnDebit) != has(ColumnCredit) {
		bad = append(bad, "set either amount, or both debit and credit")
	}
	if l.Decimal == l.Group {
		bad = append(bad, "decimal and group must differ")
	}
	if len(bad) > 0 {
		return invalidMap("%s", strings.Join(bad, "; "))
	}
	return nil
}

// ParseDay parses a day in the date format of the layout.
func (l Layout) ParseDay(text string) (Day, error) {
	invalid := fmt.Errorf("%.40q is not a date of the form %s", text, l.DateFormat)
	if len(text) != len(l.DateFormat) {
		return NoDay, invalid
	}
	var year, month, day int
	for i := range len(text) {
		var target *int
		switch l.DateFormat[i] {
		case 'Y':
			target = &year
		case 'M':
			target = &month
		case 'D':
			target = &day
		default:
			if text[i] != l.DateFormat[i] {
				return NoDay, invalid
			}
			continue
		}
		if text[i] < '0' || text[i] > '9' {
			return NoDay, invalid
		}
		*target = *target*10 + int(text[i]-'0')
	}
	d, ok := Date(year, month, day)
	if !ok {
		return NoDay, invalid
	}
	return d, nil
}

func invalidMap(format string, args ...any) error {
	return fault.Invalid(fault.Field{Field: "map", Message: fmt.Sprintf(format, args...)})
}
