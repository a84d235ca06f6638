package ports

import "github.com/google/uuid"

// Paging selects a part of a list: at most Limit items after the one with the id After, in
// ascending or descending order of creation.
type Paging struct {
	Limit     int
	After     uuid.UUID
	Ascending bool
}

// Page is a part of a list. Total is the length of the whole list.
type Page[T any] struct {
	Items []T
	More  bool
	Total int64
}
