package table

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Record is the fields of one thing.
type Record struct {
	// MinWidth is the width of the names at least.
	MinWidth int
	fields   Table
}

// NewRecord returns a record with its first field, such as the kind of the thing and its id.
func NewRecord(name string, value any) *Record {
	r := &Record{}
	r.Add(name, value)
	return r
}

// Add adds a field; see CellOf for its value. A name that was added before has several values.
func (r *Record) Add(name string, value any) { r.AddAs(name, keyOf(strings.TrimSpace(name)), value) }

// AddAs adds a field whose key for programs does not follow from the name.
func (r *Record) AddAs(name, key string, value any) {
	r.fields.rows = append(r.fields.rows, []Cell{{Text: name, Value: key}, CellOf(value)})
}

// Lines returns a line for each field.
func (r *Record) Lines() []string {
	rows := make([][]string, len(r.fields.rows))
	for i, row := range r.fields.rows {
		rows[i] = []string{fmt.Sprintf("%-*s", r.MinWidth, Printable(row[0].Text)), Printable(row[1].Text)}
	}
	return align(rows)
}

// Page is what a command prints: tables and records, and between them lines for people.
type Page struct {
	// Keyed is set if programs read the parts by their keys even if there is one.
	Keyed bool
	parts []part
}

// part is a line, a table or a record.
type part struct {
	line   string // the format of args
	args   []any
	key    string
	table  *Table
	none   string
	hidden bool // from people
	record *Record
}

// PageOf returns a page with a record alone.
func PageOf(r *Record) *Page {
	page := new(Page)
	page.Record("", r)
	return page
}

// Line adds a line that only people read.
func (p *Page) Line(format string, args ...any) {
	p.parts = append(p.parts, part{line: format, args: slices.Clone(args)})
}

// Table adds a table. If it is empty, people read the text none in its place, or nothing. The key names the table for programs
// if the page has several parts.
func (p *Page) Table(key string, t *Table, none string) {
	p.parts = append(p.parts, part{key: key, table: t, none: none})
}

// Data adds a table that only programs read, because people read what it says in lines.
func (p *Page) Data(key string, t *Table) {
	p.parts = append(p.parts, part{key: key, table: t, hidden: true})
}

// DataRecord adds a record that only programs read.
func (p *Page) DataRecord(key string, r *Record) {
	p.parts = append(p.parts, part{key: key, record: r, hidden: true})
}

// Record adds a record. The key names it for programs if the page has several parts.
func (p *Page) Record(key string, r *Record) {
	p.parts = append(p.parts, part{key: key, record: r})
}

// NameActors names the tokens of the actors on the page.
func (p *Page) NameActors(name func(texts ...*string) error) error {
	var cells []*Cell
	var texts []*string
	for _, part := range p.parts {
		for i, arg := range part.args {
			if actor, isActor := arg.(Actor); isActor {
				text := string(actor)
				if err := name(&text); err != nil {
					return err
				}
				part.args[i] = Actor(text)
			}
		}
	}
	for _, part := range p.data() {
		rows := part.table
		if rows == nil {
			rows = &part.record.fields
		}
		for _, row := range rows.rows {
			for i := range row {
				if _, isActor := row[i].Value.(Actor); isActor {
					cells, texts = append(cells, &row[i]), append(texts, &row[i].Text)
				}
			}
		}
	}
	err := name(texts...)
	for _, c := range cells {
		c.Value = Actor(c.Text)
	}
	return err
}

// Write prints the page. The tables and records of CSV are separated by an empty line.
func (p *Page) Write(out io.Writer, f Format) error {
	var text bytes.Buffer
	var err error
	switch f {
	case CSV:
		err = p.writeCSV(&text)
	case JSON:
		err = p.writeJSON(&text)
	default:
		p.writeText(&text)
	}
	if err == nil {
		_, err = out.Write(text.Bytes())
	}
	return err
}

func (p *Page) writeText(text *bytes.Buffer) {
	for _, part := range p.parts {
		lines := []string{fmt.Sprintf(part.line, part.args...)}
		switch {
		case part.hidden:
			continue
		case part.record != nil:
			lines = part.record.Lines()
		case part.table != nil && part.table.Len() > 0:
			lines = part.table.Lines()
		case part.table != nil && part.none == "":
			continue
		case part.table != nil:
			lines = []string{part.none}
		}
		for _, line := range lines {
			text.WriteString(line + "\n")
		}
	}
}

// data returns the tables and records.
func (p *Page) data() []part {
	return slices.DeleteFunc(slices.Clone(p.parts), func(part part) bool { return part.table == nil && part.record == nil })
}

func (p *Page) writeCSV(text *bytes.Buffer) error {
	for i, part := range p.data() {
		if i > 0 {
			text.WriteString("\r\n")
		}
		t := part.table
		if part.record != nil {
			t = New("field", "value")
			for _, row := range part.record.fields.rows {
				t.Add(row[0].Value, Cell{Value: row[1].Value})
			}
		}
		if err := t.writeCSV(text); err != nil {
			return err
		}
	}
	return nil
}

func (p *Page) writeJSON(text *bytes.Buffer) error {
	data := p.data()
	if len(data) == 1 && !p.Keyed {
		return writeJSON(text, data[0].value())
	}
	var all object
	for _, part := range data {
		all.add(part.key, part.value())
	}
	return writeJSON(text, all)
}

func (p part) value() any {
	if p.record != nil {
		return p.record
	}
	return p.table
}

func writeJSON(out io.Writer, value any) error {
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}

// MarshalJSON returns an array with an object for each row.
func (t *Table) MarshalJSON() ([]byte, error) {
	rows := make([]object, len(t.rows))
	for i, row := range t.rows {
		for j, cell := range row {
			rows[i].add(t.columns[j].key, cell.Value)
		}
	}
	return json.Marshal(rows)
}

// MarshalJSON returns an object. A field with several values is an array.
func (r *Record) MarshalJSON() ([]byte, error) {
	var fields object
	for _, row := range r.fields.rows {
		key, value := row[0].Value.(string), row[1].Value
		i := slices.IndexFunc(fields, func(m member) bool { return m.key == key })
		if i < 0 {
			fields.add(key, value)
			continue
		}
		several, ok := fields[i].value.([]any)
		if !ok {
			several = []any{fields[i].value}
		}
		fields[i].value = append(several, value)
	}
	return json.Marshal(fields)
}

// object is a JSON object whose members stay in their order.
type object []member

type member struct {
	key   string
	value any
}

func (o *object) add(key string, value any) { *o = append(*o, member{key, value}) }

// MarshalJSON implements json.Marshaler.
func (o object) MarshalJSON() ([]byte, error) {
	var text bytes.Buffer
	text.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			text.WriteByte(',')
		}
		key, err := json.Marshal(m.key)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(m.value)
		if err != nil {
			return nil, err
		}
		text.Write(key)
		text.WriteByte(':')
		text.Write(value)
	}
	text.WriteByte('}')
	return text.Bytes(), nil
}
