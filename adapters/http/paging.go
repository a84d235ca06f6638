package httpapi

import (
	"encoding/base64"
	"encoding/json"
	"errors"

	"github.com/danielgtaylor/huma/v2"

	"causeway/core/fault"
)

// Paging is embedded in the input of an operation that lists.
type Paging struct {
	Limit  int    `query:"limit" minimum:"1" maximum:"100" default:"20" doc:"How many to return at most."`
	Cursor Cursor `query:"cursor" doc:"Where to go on: nextCursor of the page before."`
}

// Sorting is embedded in the input of an operation that lists in either order.
type Sorting struct {
	SortOrder string `query:"sortOrder" enum:"asc,desc" default:"desc" doc:"Order by creation: asc is oldest first."`
}

// Ascending tells whether the oldest come first.
func (s Sorting) Ascending() bool { return s.SortOrder == "asc" }

// Page is the body of an operation that lists.
type Page[T any] struct {
	Data       []T    `json:"data" doc:"The items of this page."`
	HasMore    bool   `json:"hasMore" doc:"Whether there are more after these."`
	NextCursor string `json:"nextCursor,omitempty" doc:"Send it as cursor to get the next page. Only when hasMore is true."`
	TotalCount *int64 `json:"totalCount,omitempty" doc:"How many there are on all pages."`
}

// NewPage makes a body from rendered items. More comes with the cursor of the last.
func NewPage[T any](items []T, more bool, last Cursor, total int64) Page[T] {
	page := Page[T]{Data: items, HasMore: more, TotalCount: &total}
	if page.Data == nil {
		page.Data = []T{} // an empty list, not null
	}
	if more {
		page.NextCursor = last.String()
	}
	return page
}

// Cursor is a place in a list: the id of the item before, and its sort key where
// that is not the id. Callers see it as one opaque word.
type Cursor struct {
	ID  string
	Key string
}

type cursorBody struct {
	ID  string `json:"id"`
	Key string `json:"key,omitempty"`
}

const maxCursorLength = 512

var errCursor = errors.New("is not a cursor of this list; send nextCursor of the page before, or none for the first page")

// IsZero tells whether the list is read from its beginning.
func (c Cursor) IsZero() bool { return c == Cursor{} }

// String is the opaque word; empty for the beginning.
func (c Cursor) String() string {
	if c.IsZero() {
		return ""
	}
	body, err := json.Marshal(cursorBody(c))
	if err != nil {
		panic(err) // two strings always marshal
	}
	return base64.RawURLEncoding.EncodeToString(body)
}

// UnmarshalText reads the word.
func (c *Cursor) UnmarshalText(text []byte) error {
	if len(text) > maxCursorLength {
		return errCursor
	}
	plain, err := base64.RawURLEncoding.Strict().DecodeString(string(text))
	if err != nil {
		return errCursor
	}
	value, err := parseJSON(plain)
	if err != nil {
		return errCursor
	}
	object, ok := value.(map[string]any)
	if !ok {
		return errCursor
	}
	id, idOK := object["id"].(string)
	key, keyOK := object["key"].(string)
	if !idOK || id == "" || (!keyOK && object["key"] != nil) {
		return errCursor
	}
	*c = Cursor{ID: id, Key: key}
	return nil
}

// Schema publishes that there is nothing to see in it.
func (Cursor) Schema(huma.Registry) *huma.Schema {
	max := maxCursorLength
	return &huma.Schema{Type: huma.TypeString, MaxLength: &max}
}

// CursorID reads the id of a cursor as the kind that the list is of. The beginning
// is the zero id.
func CursorID[T identifier[T]](c Cursor) (T, error) {
	var id T
	if c.IsZero() {
		return id, nil
	}
	id, err := id.Parse(c.ID)
	if err != nil {
		return id, fault.Invalid(fault.Field{Field: "cursor", Message: errCursor.Error()})
	}
	return id, nil
}
