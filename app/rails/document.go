package rails

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"causeway/core/fault"
	"causeway/core/formats/connection"
	"causeway/core/rail"
)

// MaxFile is the largest file of a connection, in bytes.
const MaxFile = 1 << 20

// document is the file of a connection.
type document = connection.Document[string]

// messages say what is wrong with a value that cannot be read.
const (
	badDuration = "must be a duration above zero, such as 20s or 2h"
	badPlatform = "must be the id of a platform; list them with: causeway platform list"
)

// ParseConnection returns the connection of a file, or INVALID_INPUT with every bad field.
func ParseConnection(name string, file []byte) (rail.Connection, error) {
	d, bad := decode(file)
	if len(bad) > 0 && bad[0].Field == "file" {
		return rail.Connection{}, fault.Invalid(bad...)
	}
	unread := bad
	c := rail.Connection{Name: name}
	d.Read(&c, func(field string, _ error) {
		message := badPlatform
		if strings.HasPrefix(field, "schedules") {
			message = badDuration
		}
		bad = append(bad, fault.Field{Field: field, Message: message})
	})
	if f, ok := fault.As(c.Check(time.LoadLocation)); ok {
		for _, field := range f.Fields {
			// What could not be read is empty, which is not what is wrong with it.
			if !slices.ContainsFunc(unread, func(u fault.Field) bool { return isWithin(u.Field, field.Field) || isWithin(field.Field, u.Field) }) {
				bad = append(bad, field)
			}
		}
	}
	if len(bad) > 0 {
		return rail.Connection{}, fault.Invalid(bad...)
	}
	return c, nil
}

// isWithin reports whether a field is another one or a part of it, such as limits[0].rail of limits[0].
func isWithin(field, whole string) bool {
	rest, within := strings.CutPrefix(field, whole)
	return within && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// File returns the file of a connection.
func File(c rail.Connection) ([]byte, error) {
	return json.MarshalIndent(connection.NewDocument[string](c), "", "  ")
}
