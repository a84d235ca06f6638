package monthend

import (
	"context"

	"github.com/google/uuid"

	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/yearend"
	"causeway/ports"
)

// YearClosings reads the closings of financial years.
type YearClosings interface {
	// YearClosings returns all closings of a platform, with their reversals, by year and number.
	YearClosings(ctx context.Context, p ident.Platform) ([]yearend.Closing, error)
}

// RecordedPostings reads postings with the times at which they were recorded.
type RecordedPostings interface {
	// RecordedPosting returns a posting, or false if there is none.
	RecordedPosting(ctx context.Context, p ident.Platform, id uuid.UUID) (ports.RecordedPosting, bool, error)
}

// YearPostings returns the postings that close years and that reverse such closings: they are no part of what was
// earned. Postings in archived months are left out, as are those months.
func YearPostings(ctx context.Context, p ident.Platform, years YearClosings, ledger RecordedPostings) (postings []ports.RecordedPosting,
	err error) {
	closings, err := years.YearClosings(ctx, p)
	if err != nil {
		return nil, err
	}
	var ids []uuid.UUID
	for _, c := range closings {
		ids = append(ids, c.Posting)
		if c.Reversal != nil {
			ids = append(ids, c.Reversal.Posting)
		}
	}
	for _, id := range ids {
		if id == uuid.Nil {
			continue
		}
		posting, found, err := ledger.RecordedPosting(ctx, p, id)
		if f, ok := fault.As(err); ok && f.Code == fault.MonthArchived {
			continue
		}
		if err != nil {
			return nil, err
		}
		if found {
			postings = append(postings, posting)
		}
	}
	return postings, nil
}
