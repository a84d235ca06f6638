package httpapi

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"

	"causeway/core/requestlog"
)

// maskOptions are options of maskJSON.
type maskOptions struct {
	// limit is about how long the result may be, in bytes.
	limit int
	// hideIn is given each value that is masked; nil for none.
	hideIn *requestlog.Hidden
	// texts are names whose texts are shown without the values of hidden; nil for none.
	texts map[string]bool
	// hidden are the values that they must not repeat.
	hidden *requestlog.Hidden
}

// maskJSON returns a JSON text with what the rule does not show masked. It is JSON too if the limit has cut it: what follows the
// limit is left out. It is not ok for a text that is not JSON.
func maskJSON(rule requestlog.Rule, text []byte, o maskOptions) (masked string, cut, ok bool) {
	m := masker{maskOptions: o, rule: rule, out: make([]byte, 0, min(len(text), o.limit)+64),
		Decoder: jsontext.NewDecoder(bytes.NewBuffer(text), decoderOptions...)}
	if !m.value(nil, "", 0) || m.PeekKind() != 0 { // an error, also at the end
		return "", false, false
	}
	return string(m.out), m.cut, true
}

type masker struct {
	*jsontext.Decoder
	maskOptions
	rule requestlog.Rule
	out  []byte
	cut  bool
}

// write appends to what is shown, unless that was cut.
func (m *masker) write(text ...byte) {
	if !m.cut {
		m.out = append(m.out, text...)
	}
}

// value masks one value and reports whether it is JSON. forms are those of its name.
func (m *masker) value(forms *requestlog.Forms, name string, depth int) bool {
	switch kind := m.PeekKind(); {
	case forms != nil && forms.Whole && kind != 'n', (kind == '{' || kind == '[') && depth >= maxDepth:
		return m.whole()
	case kind == '{' || kind == '[':
		return m.elements(kind, forms, name, depth)
	}
	value, err := m.ReadValue()
	if err != nil {
		return false
	}
	switch kind := value.Kind(); {
	case kind == 'n', kind == '0' && forms != nil && forms.Number, (kind == 't' || kind == 'f') && forms != nil && forms.Boolean:
		m.write(value...)
	case kind == '"':
		m.text(value, forms, name)
	default:
		m.hide(value)
	}
	return true
}

// text masks a string.
func (m *masker) text(value jsontext.Value, forms *requestlog.Forms, name string) {
	if m.texts[name] {
		plain, _ := jsontext.AppendUnquote(nil, value) // it was read as a string
		quoted, _ := jsontext.AppendQuote(nil, m.hidden.Scrub(string(bytes.ToValidUTF8(plain, nil))))
		m.write(quoted...)
		return
	}
	if forms.ShowsText(value[1 : len(value)-1]) { // what is shown needs no escapes
		m.write(value...)
		return
	}
	m.hide(value)
}

// whole masks a value with all that is in it.
func (m *masker) whole() bool {
	value, err := m.ReadValue()
	if err == nil {
		m.hide(value)
	}
	return err == nil
}

// hide writes the mask in place of a value.
func (m *masker) hide(value jsontext.Value) {
	m.write([]byte(`"` + requestlog.Masked + `"`)...)
	if m.hideIn == nil {
		return
	}
	for d := jsontext.NewDecoder(bytes.NewReader(value), decoderOptions...); ; {
		token, err := d.ReadToken()
		if err != nil {
			return // the end
		}
		if kind := token.Kind(); kind == '"' || kind == '0' {
			m.hideIn.Add(token.String())
		}
	}
}

// elements masks an object or an array. The elements of an array have the name of the array.
func (m *masker) elements(kind jsontext.Kind, forms *requestlog.Forms, name string, depth int) bool {
	closing := kind + 2 // ASCII: [ and ], { and }
	_, _ = m.ReadToken()
	m.write(byte(kind))
	shown := !m.cut
	for first := true; m.PeekKind() != closing; first = false {
		if !m.cut && len(m.out) >= m.limit {
			m.cut = true
		}
		if !first {
			m.write(',')
		}
		of, ofName := forms, name
		if kind == '{' {
			key, err := m.ReadValue()
			if err != nil || key.Kind() != '"' {
				return false
			}
			of, ofName = m.key(key)
		}
		if !m.value(of, ofName, depth+1) {
			return false
		}
	}
	_, err := m.ReadToken()
	if shown {
		m.out = append(m.out, byte(closing))
	}
	return err == nil
}

// key writes the name of a field, and returns the forms of its value.
func (m *masker) key(key jsontext.Value) (*requestlog.Forms, string) {
	plain := key[1 : len(key)-1]
	forms := m.rule[string(plain)]
	if forms != nil || requestlog.IsName(plain) {
		m.write(key...)
	} else {
		m.hide(key)
	}
	m.write(':')
	if m.texts != nil && m.texts[string(plain)] {
		return forms, string(plain)
	}
	return forms, ""
}
