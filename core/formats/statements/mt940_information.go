package statements

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"causeway/core/reconcile"
)

// The lengths at which banks break lines of :86: and its subfields, in the middle of words too.
const (
	informationLine     = 65
	informationSubfield = 27
)

// addMT940Information adds the text of :86: to a movement: subfields that begin with a mark and two
// digits (?20), parts that begin with a name (/EREF/), or plain text.
func addMT940Information(l *reconcile.Line, texts []string) {
	if code, subfields := splitSubfields(texts); code != "" {
		addSubfields(l, code, subfields)
		return
	}
	text := joinWrapped(texts, informationLine)
	if strings.HasPrefix(text, "/") {
		addNamedParts(l, text)
	}
	addSEPAReferences(l, text)
	l.Description = strings.TrimSpace(l.Description + " " + text)
}

// addMT940OwnFields adds the fields that some banks write in :NS: instead: lines that begin with two
// digits, of which 01 to 14 are the purpose, 15 and 16 the name of the other party and 17 the text of
// the booking.
func addMT940OwnFields(l *reconcile.Line, texts []string) {
	var purposes, others []string
	for _, text := range texts {
		switch {
		case len(text) <= 2 || !isDigits(text[:2]) || text[:2] == "00" || text[:2] > "17":
		case text[:2] <= "14":
			purposes = append(purposes, text[2:])
		default:
			others = append(others, text[2:])
		}
	}
	purpose := joinWrapped(purposes, informationSubfield)
	addSEPAReferences(l, purpose)
	l.Description = strings.TrimSpace(l.Description + " " + purpose + " " + strings.Join(others, " "))
}

// joinWrapped joins the lines of a text: one that fills its line goes on in the next.
func joinWrapped(texts []string, width int) string {
	var joined strings.Builder
	for i, text := range texts {
		if i > 0 && utf8.RuneCountInString(texts[i-1]) < width {
			joined.WriteByte(' ')
		}
		joined.WriteString(text)
	}
	return joined.String()
}

// subfield is a part of structured information: a text with a code of two digits.
type subfield struct{ code, text string }

// splitSubfields returns the code of the transaction and the subfields after it. Banks have
// different marks before the codes: ? in Germany, others elsewhere. The code is empty if the text has no
// subfields.
func splitSubfields(texts []string) (code string, subfields []subfield) {
	text := strings.TrimLeft(strings.Join(texts, ""), " ")
	if len(text) < 6 || strings.Trim(text[:3], "0123456789") != "" || strings.IndexByte("?<>^~@#|*$%&;=!", text[3]) < 0 ||
		!isDigits(text[4:6]) {
		return "", nil
	}
	mark := text[3:4]
	for part := range strings.SplitSeq(text[4:], mark) {
		if len(part) >= 2 && isDigits(part[:2]) {
			subfields = append(subfields, subfield{part[:2], part[2:]})
			continue
		}
		subfields[len(subfields)-1].text += mark + part // the mark is a part of the text
	}
	return text[:3], subfields
}

func isDigits(text string) bool { return strings.Trim(text, "0123456789") == "" }

// returnCodes are the codes of the German banks' transactions that return or reverse a payment.
var returnCodes = []string{"108", "109", "159", "181", "184"}

// addSubfields adds subfields: 00 is the text of the booking, 20 to 29 and 60 to 63 the purpose, and
// 32 and 33 the name of the other party.
func addSubfields(l *reconcile.Line, code string, subfields []subfield) {
	var booking, name string
	var purposes []string
	for _, s := range subfields {
		switch {
		case s.code == "00":
			booking = s.text
		case s.code >= "20" && s.code <= "29", s.code >= "60" && s.code <= "63":
			purposes = append(purposes, s.text)
		case s.code == "32", s.code == "33":
			name += s.text
		}
	}
	purpose := joinWrapped(purposes, informationSubfield)
	addSEPAReferences(l, purpose)
	l.Returned = l.Returned || slices.Contains(returnCodes, code)
	l.Description = strings.Join([]string{l.Description, purpose, name, booking}, " ")
}

var (
	sepaName = regexp.MustCompile(`(EREF|KREF|MREF|CRED|DEBT|COAM|OAMT|SVWZ|ABWA|ABWE|IBAN|BIC|BREF|RREF|ANAM|PURP)\+`)
	partName = regexp.MustCompile(`/([A-Z]{4})/`)
)

// addSEPAReferences adds the references of the account owner and the payer that a purpose has in the
// style of German banks: EREF+ and the like, each up to the next name.
func addSEPAReferences(l *reconcile.Line, text string) {
	names := sepaName.FindAllStringSubmatchIndex(text, -1)
	for i, found := range names {
		end := len(text)
		if i+1 < len(names) {
			end = names[i+1][0]
		}
		switch value := text[found[1]:end]; text[found[2]:found[3]] {
		case "EREF", "KREF", "BREF", "RREF":
			if isMT940Reference(value) {
				addReference(l, value)
			}
		}
	}
}

// addNamedParts adds the references of a text of parts with names, as /EREF/..., each up to the
// next name. /RTRN/ is the reason of a return.
func addNamedParts(l *reconcile.Line, text string) {
	for {
		found := partName.FindStringSubmatchIndex(text)
		if found == nil {
			return
		}
		name, value := text[found[2]:found[3]], text[found[1]:]
		// The slash that ends a value begins the next name.
		text = value
		if next := partName.FindStringIndex("/" + value); next != nil && next[0] == 0 {
			text, value = "/"+value, ""
		} else if next := partName.FindStringIndex(value); next != nil {
			value = value[:next[0]]
		}
		switch name {
		case "EREF", "IREF", "PREF", "KREF":
			value, _, _ = strings.Cut(value, "//")
			if isMT940Reference(value) {
				addReference(l, strings.Trim(value, "/ "))
			}
		case "RTRN":
			l.Returned = true
		}
	}
}
