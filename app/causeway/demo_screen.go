package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"causeway/adapters/apiclient"
	"causeway/core/money"
)

// screen writes the output of the demo: plain text of at most screenWidth columns, with a little
// colour on a terminal.
type screen struct {
	out      io.Writer
	colour   bool
	steps    int
	writeErr error // the first write that failed
}

const (
	screenWidth = 100
	margin      = "   "
)

func newScreen(out io.Writer) *screen { return &screen{out: out, colour: supportsColour(out)} }

// supportsColour follows no-color.org: a terminal that is not dumb, unless NO_COLOR is set.
func supportsColour(out io.Writer) bool {
	file, ok := out.(*os.File)
	if !ok || os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

type textStyle string

const (
	bold   textStyle = "1"
	dim    textStyle = "2"
	green  textStyle = "32"
	yellow textStyle = "33"
	red    textStyle = "31"
)

func (s *screen) styled(p textStyle, text string) string {
	if !s.colour {
		return text
	}
	return "\x1b[" + string(p) + "m" + text + "\x1b[0m"
}

func (s *screen) writeLine(parts ...string) {
	if _, err := fmt.Fprintln(s.out, strings.Join(parts, "")); err != nil && s.writeErr == nil {
		s.writeErr = err
	}
}

func (s *screen) writeTitle(title, below string) {
	s.writeLine("\n", s.styled(bold, title))
	s.writeText("", below)
}

// beginStep writes the heading of the next step.
func (s *screen) beginStep(title, about string) {
	s.steps++
	s.writeLine("\n", s.styled(bold, fmt.Sprintf("%d  %s", s.steps, title)))
	s.writeText(margin, about)
}

func (s *screen) writeEnd(sentences ...string) {
	s.writeLine()
	for _, sentence := range sentences {
		s.writeText("", sentence)
	}
}

// writeText writes a sentence, broken into lines.
func (s *screen) writeText(indent, text string) {
	line := indent
	for word := range strings.FieldsSeq(text) {
		if line != indent && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > screenWidth {
			s.writeLine(s.styled(dim, line))
			line = indent
		}
		if line != indent {
			line += " "
		}
		line += word
	}
	s.writeLine(s.styled(dim, line))
}

// writeRequest writes a request.
func (s *screen) writeRequest(method, path, key string, body []byte) {
	line := margin + "→ " + method + " " + path
	s.writeLine()
	switch header := "Idempotency-Key: " + key; {
	case key == "":
		s.writeLine(s.styled(bold, line))
	case utf8.RuneCountInString(line)+2+len(header) <= screenWidth:
		s.writeLine(s.styled(bold, line), "  ", s.styled(dim, header))
	default:
		s.writeLine(s.styled(bold, line))
		s.writeLine(margin, "  ", s.styled(dim, header))
	}
	if len(body) > 0 {
		for _, line := range formatJSON(body, screenWidth-len(margin)-2) {
			s.writeLine(margin, "  ", line)
		}
	}
}

// writeStatus writes the status of a response.
func (s *screen) writeStatus(r *apiclient.Response) {
	paint := green
	if r.Status > 299 {
		paint = red
	}
	s.writeLine(margin, s.styled(paint, fmt.Sprintf("← %d %s", r.Status, http.StatusText(r.Status))),
		s.styled(dim, fmt.Sprintf("  after %s", r.Duration.Round(100*time.Microsecond))))
}

// writeFields writes fields of a response by their paths, without those that it does not
// have. "amount@currency" also writes the amount in major units.
func (s *screen) writeFields(a apiResponse, paths ...string) {
	type shown struct{ label, value, note string }
	var all []shown
	width := 0
	for _, path := range paths {
		path, currency, _ := strings.Cut(path, "@")
		value := a.text(path)
		if value == "" {
			continue
		}
		field := shown{fieldLabel(path), value, ""}
		if amount, ok := responseAmount(a, path, currency); ok {
			field.note = "  = " + amount
		}
		all, width = append(all, field), max(width, len(field.label))
	}
	for _, f := range all {
		value := truncate(f.value, screenWidth-len(margin)-4-width-utf8.RuneCountInString(f.note))
		s.writeLine(margin, "  ", s.styled(dim, fmt.Sprintf("%-*s", width, f.label)), "  ", value, s.styled(dim, f.note))
	}
}

// fieldLabel returns a path without the names of the objects around the field.
func fieldLabel(path string) string {
	for _, lead := range []string{"data.0.", "paymentInstructions.0.accountOrWalletInfo.", "accountInfo."} {
		path = strings.TrimPrefix(path, lead)
	}
	return strings.TrimSuffix(path, ".amount")
}

func responseAmount(a apiResponse, path, currency string) (string, bool) {
	number, ok := a.value(path).(json.Number)
	if !ok || currency == "" {
		return "", false
	}
	code, err := money.ParseCurrency(a.text(currency))
	if err != nil {
		return "", false
	}
	minor, err := number.Int64()
	return money.Amount{Minor: minor, Currency: code}.String(), err == nil
}

// writeList writes two fields of each item of a list.
func (s *screen) writeList(a apiResponse, path, first, second string) {
	items, _ := a.value(path).([]any)
	for _, item := range items {
		one := apiResponse{item}
		s.writeLine(margin, "  ", s.styled(dim, fmt.Sprintf("%-17s", one.text(first))), "  ", one.text(second))
	}
}

// writeWebhook writes a webhook and the status in it.
func (s *screen) writeWebhook(w receivedWebhook) {
	s.writeLine()
	s.writeLine(margin, s.styled(yellow, "◆ webhook "+w.event), s.styled(dim, "  signatures verified"))
	s.writeFields(w.apiResponse, "webhookId", "timestamp", "transaction.status", "transaction.settledAt")
}

func truncate(text string, width int) string {
	runes := []rune(text)
	if len(runes) <= width || width < 2 {
		return text
	}
	return string(runes[:width-1]) + "…"
}

// formatJSON writes JSON in lines of at most width columns: an object that fits is on
// one line, any other has a line for each member.
func formatJSON(text []byte, width int) []string {
	compact := addSpaces(text)
	if len(compact) <= width {
		return []string{compact}
	}
	var members []json.RawMessage
	names, err := splitObject(text, &members)
	if err != nil {
		return []string{truncate(compact, width)}
	}
	lines := []string{"{"}
	for i, member := range members {
		inner := formatJSON(member, width-2-len(names[i])-1)
		inner[0] = names[i] + inner[0]
		if i < len(members)-1 {
			inner[len(inner)-1] += ","
		}
		for _, line := range inner {
			lines = append(lines, "  "+line)
		}
	}
	return append(lines, "}")
}

// splitObject splits a JSON object into its members, in order; a name comes with its
// quotes and colon.
func splitObject(text []byte, members *[]json.RawMessage) (names []string, err error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	if open, err := decoder.Token(); err != nil || open != json.Delim('{') {
		return nil, fmt.Errorf("not an object: %w", err)
	}
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return nil, err
		}
		var member json.RawMessage
		if err := decoder.Decode(&member); err != nil {
			return nil, err
		}
		names, *members = append(names, fmt.Sprintf("%q: ", name)), append(*members, member)
	}
	return names, nil
}

// addSpaces puts a space after every colon and comma outside of strings.
func addSpaces(text []byte) string {
	var b strings.Builder
	quoted, escaped := false, false
	for _, c := range text {
		b.WriteByte(c)
		switch {
		case escaped:
			escaped = false
		case quoted && c == '\\':
			escaped = true
		case c == '"':
			quoted = !quoted
		case !quoted && (c == ':' || c == ','):
			b.WriteByte(' ')
		}
	}
	return b.String()
}
