package rail

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"causeway/core/fault"
)

// SettingStatementAccounts is a setting of every connection that reports statements: of which ledger accounts they are,
// as imports name them.
const SettingStatementAccounts = "statementAccounts"

// SettingReader reads the settings of a connection one by one, and collects those that are not valid.
type SettingReader struct {
	adapter Adapter
	values  map[string]string // those that were not read yet
	bad     []fault.Field
}

// ReadSettings returns a reader of the settings of a connection.
func ReadSettings(c Connection) *SettingReader {
	r := &SettingReader{adapter: c.Adapter, values: maps.Clone(c.Settings)}
	delete(r.values, SettingStatementAccounts)
	return r
}

// Refuse adds what is wrong with a setting, such as "must be a number".
func (r *SettingReader) Refuse(name, format string, args ...any) {
	r.RefuseField("settings."+name, format, args...)
}

// RefuseField adds what is wrong with a field of the connection, such as "rails".
func (r *SettingReader) RefuseField(field, format string, args ...any) {
	r.bad = append(r.bad, fault.Field{Field: field, Message: fmt.Sprintf(format, args...)})
}

// Err returns INVALID_INPUT with every field that was refused, and every setting that nothing has read, by name; nil
// if there is none.
func (r *SettingReader) Err() error {
	for name := range r.values {
		r.Refuse(name, "is no setting of %s", r.adapter)
	}
	if len(r.bad) == 0 {
		return nil
	}
	slices.SortStableFunc(r.bad, func(a, b fault.Field) int { return strings.Compare(a.Field, b.Field) })
	return fault.Invalid(r.bad...)
}

// Text returns a setting, and otherwise if it is not given.
func (r *SettingReader) Text(name, otherwise string) string {
	value := r.values[name]
	delete(r.values, name)
	if value == "" {
		return otherwise
	}
	return value
}

// Prefixed returns the settings whose names begin with a prefix, by what follows it.
func (r *SettingReader) Prefixed(prefix string) map[string]string {
	found := map[string]string{}
	for name, value := range r.values {
		if rest, ok := strings.CutPrefix(name, prefix); ok {
			found[rest] = value
			delete(r.values, name)
		}
	}
	return found
}

// Required returns a setting, and refuses it if it is not given; what says what it is.
func (r *SettingReader) Required(name, what string) string {
	value := r.Text(name, "")
	if value == "" {
		r.Refuse(name, "must be given: %s", what)
	}
	return value
}

// Reference returns a setting that refers to a secret; empty if it is not given.
func (r *SettingReader) Reference(name string) string {
	value := r.Text(name, "")
	if value != "" && !IsSecretReference(value) {
		r.Refuse(name, "must be a reference to the secret, file:/path or env:NAME, and never the secret itself")
	}
	return value
}

// RequiredReference returns a setting that refers to a secret, and refuses it if it is not given.
func (r *SettingReader) RequiredReference(name, what string) string {
	if r.values[name] == "" {
		return r.Required(name, what+", as a reference: file:/path or env:NAME")
	}
	return r.Reference(name)
}

// Duration returns a setting such as 3m, and otherwise if it is not given.
func (r *SettingReader) Duration(name string, otherwise, least, most time.Duration) time.Duration {
	text := r.Text(name, "")
	if text == "" {
		return otherwise
	}
	value, err := time.ParseDuration(text)
	if err != nil || value < least || value > most {
		r.Refuse(name, "must be a duration from %s to %s", least, most)
		return otherwise
	}
	return value
}

// Number returns a setting that is a whole number, and otherwise if it is not given.
func (r *SettingReader) Number(name string, otherwise, least, most int64) int64 {
	text := r.Text(name, "")
	if text == "" {
		return otherwise
	}
	value, err := strconv.ParseInt(text, 10, 64)
	if err != nil || value < least || value > most {
		r.Refuse(name, "must be a whole number from %d to %d", least, most)
		return otherwise
	}
	return value
}

// List returns the elements of a setting that are separated by commas, and those of otherwise if it is not given.
func (r *SettingReader) List(name, otherwise string) []string {
	var items []string
	for item := range strings.SplitSeq(r.Text(name, otherwise), ",") {
		if item = strings.TrimSpace(item); item != "" {
			items = append(items, item)
		}
	}
	return items
}

// ParseSetting returns the value of a text that was read; zero if it is empty or, and then it is refused, not valid.
func ParseSetting[T any](r *SettingReader, name, text string, parse func(string) (T, error)) T {
	var none T
	if text == "" {
		return none
	}
	value, err := parse(text)
	if err != nil {
		r.Refuse(name, "%v", err)
		return none
	}
	return value
}
