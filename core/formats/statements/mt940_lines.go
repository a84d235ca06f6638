package statements

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"

	"causeway/core/reconcile"
)

const (
	maxEnvelopeLines = 10
	maxFieldBytes    = 16 << 10
)

var (
	mt940Tag     = regexp.MustCompile(`^:([0-9]{2}[A-Z]?|NS|9[0-9]{2}):`)
	messageType  = regexp.MustCompile(`\{2:[IO]([0-9]{3})`)
	envelopeType = regexp.MustCompile(`^:?(94[0-9]|950)\b`)
)

// addLineOfText adds a line of the file: a field, the rest of one, or a part of the envelope.
func (m *mt940Parser) addLineOfText(line string) error {
	if !utf8.ValidString(line) { // banks that name no encoding mean Latin-1, of which Windows-1252 has more characters
		if decoded, err := charmap.Windows1252.NewDecoder().String(line); err == nil {
			line = decoded
		}
	}
	// Files for SWIFT's interfaces put control characters around messages, and DOS one at the end.
	line = strings.Trim(line, "\r\x00\x01\x03\x1a")
	if strings.TrimSpace(line) == "" {
		return nil
	}
	switch tag := mt940Tag.FindStringSubmatch(line); {
	case strings.HasPrefix(line, "{") || strings.HasPrefix(line, "${"):
		return m.addBlocks(line)
	case strings.TrimRight(line, " ") == "-" || strings.HasPrefix(line, "-}"):
		if err := m.endMessage(); err != nil {
			return err
		}
		m.inBlock, m.envelopeLines = false, 0
		if next := strings.Index(line, "{1:"); next >= 0 {
			return m.addBlocks(line[next:])
		}
		return nil
	case tag != nil && len(tag[1]) == 3 && tag[1][2] <= '9': // the message type in a bank's envelope
		return m.addEnvelopeLine(line)
	case tag != nil && !m.isInformation(tag[1], line):
		if err := m.endField(); err != nil {
			return err
		}
		m.field = mt940Field{tag: tag[1], line: m.lineNumber, texts: []string{line[len(tag[0]):]}, bytes: len(line)}
		return nil
	case m.field.tag == "":
		return m.addEnvelopeLine(line)
	}
	if m.field.bytes += len(line); m.field.bytes > maxFieldBytes {
		return m.field.errorf(0, "has more than %d bytes", maxFieldBytes)
	}
	m.field.texts = append(m.field.texts, line)
	return nil
}

// mt940Fields are those of MT940, and of MT942, which is refused by them.
var mt940Fields = []string{"20", "21", "25", "25P", "28", "28C", "60F", "60M", "61", "86", "62F", "62M", "64", "65", "12", "13", "13D",
	"34F", "90C", "90D", "NS"}

var (
	timeStart = regexp.MustCompile(`[0-9]T([01][0-9]|2[0-3])$`)
	timeRest  = regexp.MustCompile(`^:[0-5][0-9]:[0-5][0-9]\b`)
)

// isInformation reports whether a line that looks like a field is a text of :86:. Some banks break
// lines within a time.
func (m *mt940Parser) isInformation(tag, line string) bool {
	if m.field.tag != "86" {
		return false
	}
	before := m.field.texts[len(m.field.texts)-1]
	return !slices.Contains(mt940Fields, tag) || timeStart.MatchString(before) && timeRest.MatchString(line)
}

// addEnvelopeLine checks a line between messages: some banks write sender, message type and receiver there.
func (m *mt940Parser) addEnvelopeLine(line string) error {
	if found := envelopeType.FindStringSubmatch(line); found != nil {
		if err := checkMessageType(found[1]); err != nil {
			return err
		}
	}
	if m.envelopeLines++; m.stage != mt940Outside || m.envelopeLines > maxEnvelopeLines {
		return reconcile.InvalidFile("line %d: %.40q is not a field of MT940", m.lineNumber, line)
	}
	return nil
}

// addBlocks reads the headers of a message up to {4:, where its fields begin.
func (m *mt940Parser) addBlocks(line string) error {
	if m.inBlock {
		return reconcile.InvalidFile("line %d: a message begins before the one before it ends with -}", m.lineNumber)
	}
	if err := m.endMessage(); err != nil {
		return err
	}
	if found := messageType.FindStringSubmatch(line); found != nil {
		if err := checkMessageType(found[1]); err != nil {
			return err
		}
	}
	_, fields, found := strings.Cut(line, "{4:")
	if m.inBlock = found; found && strings.TrimSpace(fields) != "" {
		return m.addLineOfText(fields)
	}
	return nil
}

// checkMessageType refuses what is not an MT940 by its name.
func checkMessageType(number string) error {
	switch number {
	case "940":
		return nil
	case "942":
		return interimReportError()
	case "941":
		return reconcile.InvalidFile("is an MT941 balance report, which has no movements; ask the bank for MT940")
	}
	return reconcile.InvalidFile("is an MT%s message, not a statement; ask the bank for MT940", number)
}

func interimReportError() error {
	return reconcile.InvalidFile("is an MT942 report of a day that is not closed; import the MT940 statement of the day")
}
