package reconcile

import (
	"fmt"
	"regexp"
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
	// Decimal is the decimal mark or 0 if the amounts show it, Group the separator of thousands or
	// 0, and Delimiter the separator of columns.
	Decimal, Group, Delimiter byte
	// Ignore has the beginnings of lines that are not movements, such as totals.
	Ignore []string
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
var Encodings = []string{string(UTF8), string(UTF16), "ISO-8859-1", "ISO-8859-2", "ISO-8859-15", "windows-1250",
	"windows-1252", "CP850", "CP852"}

// Column is a field of a line.
type Column string

// The fields. Date is required, and either Amount or both Debit and Credit.
const (
	ColumnDate        Column = "date"
	ColumnAccount     Column = "account" // the partner's number of the account
	ColumnValueDate   Column = "valueDate"
	ColumnAmount      Column = "amount"
	ColumnSide        Column = "side"
	ColumnDebit       Column = "debit"
	ColumnCredit      Column = "credit"
	ColumnBalance     Column = "balance"
	ColumnCurrency    Column = "currency"
	ColumnID          Column = "id"
	ColumnReference   Column = "reference"
	ColumnDescription Column = "description"
)

var columns = []Column{ColumnDate, ColumnAccount, ColumnValueDate, ColumnAmount, ColumnSide, ColumnDebit, ColumnCredit, ColumnBalance,
	ColumnCurrency, ColumnID, ColumnReference, ColumnDescription}

// DateFormats lists the supported date formats.
var DateFormats = []string{"YYYY-MM-DD", "YYYY/MM/DD", "YYYYMMDD", "DD.MM.YYYY", "DD/MM/YYYY", "DD-MM-YYYY", "MM/DD/YYYY", "MM-DD-YYYY",
	"DD.MM.YY", "DD/MM/YY", "MM/DD/YY", "DD MMM YYYY", "DD-MMM-YYYY", "DD-MMM-YY"}

// maxLayoutBytes is the maximum length of a layout.
const maxLayoutBytes = 2000

// ParseLayout parses a layout: name=value pairs separated by semicolons. The names are those of
// columns, and dateFormat, decimal, group, delimiter, encoding and ignore. Fault: INVALID_INPUT for the field map,
// with everything that is wrong.
func ParseLayout(text string) (Layout, error) {
	l := Layout{Columns: map[Column]string{}, DateFormat: DateFormats[0], Delimiter: ','}
	bad, err := parseSettings(text, l.set)
	if err != nil {
		return l, err
	}
	if l.Decimal == 0 && l.Group != 0 {
		l.Decimal = '.'
	}
	return l, l.check(bad)
}

// HasAccounts reports whether the lines of the file say their account.
func (l Layout) HasAccounts() bool { return l.Columns[ColumnAccount] != "" }

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
	case "ignore":
		for text := range strings.SplitSeq(value, "|") {
			if text = strings.TrimSpace(text); text != "" {
				l.Ignore = append(l.Ignore, text)
			}
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
	if has(ColumnSide) && !has(ColumnAmount) {
		bad = append(bad, "side needs amount")
	}
	if l.Decimal != 0 && l.Decimal == l.Group {
		bad = append(bad, "decimal and group must differ")
	}
	if len(bad) > 0 {
		return invalidMap("%s", strings.Join(bad, "; "))
	}
	return nil
}

var timeOfDay = regexp.MustCompile(
	`^[T ,]{1,2}[0-9]{1,2}[:.][0-9]{2}([:.][0-9]{2}([.,][0-9]{1,9})?)?( ?(AM|PM|am|pm))?( ?(Z|UTC|GMT|[+-][0-9]{2}:?[0-9]{2}))?$`)

// ParseDay parses a day in the date format of the layout. A time of day after it is not used: the
// day is the written one. Day and month may have one digit if something separates them.
func (l Layout) ParseDay(text string) (Day, error) {
	invalid := fmt.Errorf("%.40q is not a date of the form %s", text, l.DateFormat)
	rest, parts := text, map[byte]int{}
	for format := l.DateFormat; format != ""; {
		letter := format[0]
		width := len(format) - len(strings.TrimLeft(format, string(letter)))
		format = format[width:]
		found := 0
		switch {
		case strings.IndexByte("YMD", letter) < 0:
			if rest == "" || rest[0] != letter {
				return NoDay, invalid
			}
			rest = rest[1:]
			continue
		case letter == 'M' && width == 3:
			if len(rest) < 3 {
				return NoDay, invalid
			}
			month := strings.Index("janfebmaraprmayjunjulaugsepoctnovdec", strings.ToLower(rest[:3]))
			if month < 0 || month%3 != 0 {
				return NoDay, invalid
			}
			parts[letter], rest = month/3+1, rest[3:]
			continue
		}
		for found < width && found < len(rest) && rest[found] >= '0' && rest[found] <= '9' {
			parts[letter] = parts[letter]*10 + int(rest[found]-'0')
			found++
		}
		if found != width && (found == 0 || letter == 'Y' || l.DateFormat == "YYYYMMDD") {
			return NoDay, invalid
		}
		if letter == 'Y' && width == 2 {
			parts[letter] += 2000
		}
		rest = rest[found:]
	}
	d, ok := Date(parts['Y'], parts['M'], parts['D'])
	if !ok || rest != "" && !timeOfDay.MatchString(rest) {
		return NoDay, invalid
	}
	return d, nil
}

// ParseSide returns whether a word says that a movement is a credit, as the amounts of some banks
// have no sign.
func ParseSide(text string) (credit bool, err error) {
	switch strings.ToUpper(text) {
	case "C", "CR", "CRDT", "CREDIT", "H", "HABEN", "BIJ", "+":
		return true, nil
	case "D", "DR", "DBIT", "DEBIT", "S", "SOLL", "AF", "-":
		return false, nil
	}
	return false, fmt.Errorf("%.40q is neither a credit nor a debit: one of C and D, CR and DR, CRDT and DBIT, Credit and Debit, H and S, "+
		"Haben and Soll, Bij and Af, + and -", text)
}

func invalidMap(format string, args ...any) error {
	return fault.Invalid(fault.Field{Field: "map", Message: fmt.Sprintf(format, args...)})
}
