package ports

import (
	"context"
	"iter"

	"github.com/google/uuid"

	"causeway/core/ident"
	"causeway/core/platform"
)

// Paging selects a part of a list: at most Limit items after the one with the id After, in
// ascending or descending order of creation.
type Paging struct {
	Limit     int
	After     uuid.UUID
	Ascending bool
	// WithoutTotal: the list is not counted.
	WithoutTotal bool
	// MaxRead is about how many rows are read for a page, with those that a filter leaves out; any number if zero.
	MaxRead int
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
	// ReadTo is zero, or the page is not full because MaxRead rows were read: the list goes on after this id.
	ReadTo uuid.UUID
}

// PageOf returns a page with items that were made of those of another one.
func PageOf[T, From any](items []T, of Page[From]) Page[T] {
	return Page[T]{Items: items, More: of.More, Total: of.Total, TotalIsMinimum: of.TotalIsMinimum, ReadTo: of.ReadTo}
}

// All reads a whole list, page by page, and returns its items or, as the last one, an error.
func All[T any](paging Paging, read func(Paging) (Page[T], error), id func(T) uuid.UUID) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for {
			page, err := read(paging)
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, item := range page.Items {
				if !yield(item, nil) {
					return
				}
				paging.After = id(item)
			}
			if !page.More {
				return
			}
		}
	}
}

// Platforms reads platforms.
type Platforms interface {
	// Platforms returns at most limit platforms after one, in order of creation.
	Platforms(ctx context.Context, after ident.Platform, limit int) ([]platform.Platform, error)
}

// platformsPerRead is how many platforms AllPlatforms reads at once.
const platformsPerRead = 500

// AllPlatforms reads all platforms, and returns them in order of creation or, as the last one, an error.
func AllPlatforms(ctx context.Context, store Platforms) iter.Seq2[platform.Platform, error] {
	return All(Paging{Limit: platformsPerRead}, func(p Paging) (Page[platform.Platform], error) {
		var after ident.Platform
		after.SetUUID(p.After)
		found, err := store.Platforms(ctx, after, p.Limit)
		return Page[platform.Platform]{Items: found, More: len(found) == p.Limit}, err
	}, func(p platform.Platform) uuid.UUID { return p.ID.UUID() })
}
