package ports

import "github.com/google/uuid"

// Paging selects a part of a list: at most Limit items after the one with the id After, in
// ascending or descending order of creation.
type Paging struct {
	Limit     int
	After     uuid.UUID
	Ascending bool
}

// MaxTotal is the largest exact Total of a page. Counting more would cost more than the page.
const MaxTotal = 10_000

// Page is a part of a list. Total is the length of the whole list, or a smaller number if
// TotalIsMinimum.
type Page[T any] struct {
	Items []T
	More  bool
	// Total is at most MaxTotal. TotalIsMinimum reports that counting stopped there, or after
	// many items that a filter left out.
	Total          int64
	TotalIsMinimum bool
}
