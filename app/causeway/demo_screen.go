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

	"causeway/core/money"
)

// screen writes the play: plain text of at most screenWidth columns, with a little
// colour on a terminal.
type screen struct {
	out    io.Writer
	colour bool
	steps  int
	failed error // the first write that did not work
}

const (
	screenWidth = 100
	inset       = "   "
)

func newScreen(out io.Writer) *screen { return &screen{out: out, colour: wantsColour(out)} }

// wantsColour follows no-color.org: a terminal that is not dumb, unless NO_COLOR is set.
func wantsColour(out io.Writer) bool {
	file, ok := out.(*os.File)
	if !ok || os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

type paint string

const (
	bold   paint = "1"
	dim    paint = "2"
	green  paint = "32"
	yellow paint = "33"
	red    paint = "31"
)

func (s *screen) in(p paint, text string) string {
	if !s.colour {
		return text
	}
	return "\x1b[" + string(p) + "m" + text + "\x1b[0m"
}

func (s *screen) line(parts ...string) {
	if _, err := fmt.Fprintln(s.out, strings.Join(parts, "")); err != nil && s.failed == nil {
		s.failed = err
	}
}

func (s *screen) title(title, below string) {
	s.line("\n", s.in(bold, title))
	s.say("", below)
}

// step begins the next part of the play.
func (s *screen) step(title, about string) {
	s.steps++
	s.line("\n", s.in(bold, fmt.Sprintf("%d  %s", s.steps, title)))
	s.say(inset, about)
}

func (s *screen) end(sentences ...string) {
	s.line()
	for _, sentence := range sentences {
		s.say("", sentence)
	}
}

// say writes a sentence, broken into lines.
func (s *screen) say(indent, text string) {
	line := indent
	for word := range strings.FieldsSeq(text) {
		if line != indent && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > screenWidth {
			s.line(s.in(dim, line))
			line = indent
		}
		if line != indent {
			line += " "
		}
		line += word
	}
	s.line(s.in(dim, line))
}

// request shows what is asked of the service.
func (s *screen) request(method, path, key string, body []byte) {
	line := inset + "→ " + method + " " + path
	s.line()
	switch header := "Idempotency-Key: " + key; {
	case key == "":
		s.line(s.in(bold, line))
	case utf8.RuneCountInString(line)+2+len(header) <= screenWidth:
		s.line(s.in(bold, line), "  ", s.in(dim, header))
	default:
		s.line(s.in(bold, line))
		s.line(inset, "  ", s.in(dim, header))
	}
	if len(body) > 0 {
		for _, line := range layOut(body, screenWidth-len(inset)-2) {
			s.line(inset, "  ", line)
		}
	}
}

// status shows the head of an answer.
func (s *screen) status(a answer) {
	paint := green
	if a.status > 299 {
		paint = red
	}
	s.line(inset, s.in(paint, fmt.Sprintf("← %d %s", a.status, http.StatusText(a.status))),
		s.in(dim, fmt.Sprintf("  after %s", a.took.Round(100*time.Microsecond))))
}

// fields shows some of an answer by their paths; those it does not have are left
// out. "amount@currency" also shows the amount as people write it.
func (s *screen) fields(a answer, paths ...string) {
	type shown struct{ label, value, note string }
	var all []shown
	width := 0
	for _, path := range paths {
		path, currency, _ := strings.Cut(path, "@")
		value := a.text(path)
		if value == "" {
			continue
		}
		field := shown{label(path), value, ""}
		if amount, ok := inMajor(a, path, currency); ok {
			field.note = "  = " + amount
		}
		all, width = append(all, field), max(width, len(field.label))
	}
	for _, f := range all {
		value := shorten(f.value, screenWidth-len(inset)-4-width-utf8.RuneCountInString(f.note))
		s.line(inset, "  ", s.in(dim, fmt.Sprintf("%-*s", width, f.label)), "  ", value, s.in(dim, f.note))
	}
}

// label is a path without what leads to the one thing it is about.
func label(path string) string {
	for _, lead := range []string{"data.0.", "paymentInstructions.0.accountOrWalletInfo.", "accountInfo."} {
		path = strings.TrimPrefix(path, lead)
	}
	return strings.TrimSuffix(path, ".amount")
}

func inMajor(a answer, path, currency string) (string, bool) {
	number, ok := a.at(path).(json.Number)
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

// list shows two fields of each item of a list.
func (s *screen) list(a answer, path, first, second string) {
	items, _ := a.at(path).([]any)
	for _, item := range items {
		one := answer{body: item}
		s.line(inset, "  ", s.in(dim, fmt.Sprintf("%-17s", one.text(first))), "  ", one.text(second))
	}
}

// webhook shows one that came, with the statuses it tells of.
func (s *screen) webhook(w webhook) {
	s.line()
	s.line(inset, s.in(yellow, "◆ webhook "+w.event), s.in(dim, "  signature verified"))
	s.fields(w.answer, "webhookId", "timestamp", "transaction.status", "transaction.settledAt")
}

func shorten(text string, width int) string {
	runes := []rune(text)
	if len(runes) <= width || width < 2 {
		return text
	}
	return string(runes[:width-1]) + "…"
}

// layOut writes JSON in lines of at most width columns: an object that fits stands
// on one line, another has a line for each member.
func layOut(text []byte, width int) []string {
	compact := spaced(text)
	if len(compact) <= width {
		return []string{compact}
	}
	var members []json.RawMessage
	names, err := membersOf(text, &members)
	if err != nil {
		return []string{shorten(compact, width)}
	}
	lines := []string{"{"}
	for i, member := range members {
		inner := layOut(member, width-2-len(names[i])-1)
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

// membersOf splits a JSON object into its members, in order; a name comes with its
// quotes and colon.
func membersOf(text []byte, members *[]json.RawMessage) (names []string, err error) {
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

// spaced puts a space after every colon and comma outside of strings.
func spaced(text []byte) string {
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
