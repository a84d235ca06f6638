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
	Limit  int    `query:"limit" minimum:"1" maximum:"100" default:"20" doc:"Maximum number of items to return."`
	Cursor Cursor `query:"cursor" doc:"Cursor of the page: nextCursor of the previous page."`
}

// Sorting is embedded in the input of an operation that lists in either order.
type Sorting struct {
	SortOrder string `query:"sortOrder" enum:"asc,desc" default:"desc" doc:"Sort order by creation time: asc is oldest first."`
}

// Ascending reports whether the oldest items come first.
func (s Sorting) Ascending() bool { return s.SortOrder == "asc" }

// Page is the body of an operation that lists.
type Page[T any] struct {
	Data       []T    `json:"data" doc:"Items of the page."`
	HasMore    bool   `json:"hasMore" doc:"Whether there are more items."`
	NextCursor string `json:"nextCursor,omitempty" doc:"Cursor of the next page. Only if hasMore is true."`
	TotalCount *int64 `json:"totalCount,omitempty" doc:"Total number of items on all pages: exact up to 10,000, unless totalCountIsMinimum is true."`
	// TotalCountIsMinimum marks a total that was not counted to the end.
	TotalCountIsMinimum bool `json:"totalCountIsMinimum,omitempty" doc:"Only if true: there are at least totalCount items, and counting stopped because there are more than 10,000 or the filter leaves out too many."`
}

// NewPage returns a page of rendered items. If there are more, last is the cursor of the
// last item.
func NewPage[T any](items []T, more bool, last Cursor, total int64, totalIsMinimum bool) Page[T] {
	page := Page[T]{Data: items, HasMore: more, TotalCount: &total, TotalCountIsMinimum: totalIsMinimum}
	if page.Data == nil {
		page.Data = []T{} // an empty list, not null
	}
	if more {
		page.NextCursor = last.String()
	}
	return page
}

// Cursor is a position in a list: the id of the previous item, and its sort key if that
// is not the id. It is opaque to callers.
type Cursor struct {
	ID  string
	Key string
}

type cursorBody struct {
	ID  string `json:"id"`
	Key string `json:"key,omitempty"`
}

const maxCursorLength = 512

var errCursor = errors.New("must be the nextCursor of the previous page; omit it for the first page")

// InvalidCursor returns the error for a cursor that is not one of the list.
func InvalidCursor() error {
	return fault.Invalid(fault.Field{Field: "cursor", Message: errCursor.Error()})
}

// IsZero reports whether the cursor is the beginning of the list.
func (c Cursor) IsZero() bool { return c == Cursor{} }

// String returns the opaque text; empty for the beginning.
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

// UnmarshalText parses the opaque text.
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

// Schema returns the schema of an opaque string.
func (Cursor) Schema(huma.Registry) *huma.Schema {
	max := maxCursorLength
	return &huma.Schema{Type: huma.TypeString, MaxLength: &max}
}

// CursorID returns the id of a cursor, which must have the type of the list. At the
// beginning it is the zero id.
func CursorID[T identifier[T]](c Cursor) (T, error) {
	var id T
	if c.IsZero() {
		return id, nil
	}
	id, err := id.Parse(c.ID)
	if err != nil {
		return id, InvalidCursor()
	}
	return id, nil
}
