// Package yearend closes the financial years of a platform and reverses such closings.
package yearend

import (
	"context"
	"slices"

	"causeway/app/internal/foureyes"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/period"
	"causeway/core/yearend"
	"causeway/ports"
)

// Config is what the use cases need.
type Config struct {
	Store  Store
	Ledger LedgerReader
	Clock  ports.Clock
	IDs    ports.IDs
}

// Service holds the use cases.
type Service struct{ Config }

// New returns a Service.
func New(c Config) *Service { return &Service{c} }

// Executors carry out the approved proposals to close years and to reverse their closings.
func (s *Service) Executors() []foureyes.Executor {
	return []foureyes.Executor{s.closing().Executor(s.foureyes()), s.reversal().Executor(s.foureyes())}
}

// Year is a financial year of a platform with its closings, oldest first.
type Year struct {
	Year     yearend.Year
	Closings []yearend.Closing
}

// Current returns the closing in force; false if the year is not closed.
func (y Year) Current() (yearend.Closing, bool) { return yearend.Current(y.Closings, y.Year) }

// List lists the years of a platform, newest first: from that of its first month to the current one.
func (s *Service) List(ctx context.Context, p ident.Platform) ([]Year, error) {
	overview, err := s.Store.PeriodOverview(ctx, p)
	if err != nil {
		return nil, err
	}
	settings, err := s.Store.BooksSettings(ctx, p)
	if err != nil {
		return nil, err
	}
	closings, err := s.Store.YearClosings(ctx, p)
	if err != nil {
		return nil, err
	}
	now := period.MonthOf(s.Clock.Now())
	first := overview.Calendar.FirstMonth(overview.FirstPosted, now)
	var years []Year
	for y := yearend.OfMonth(now, settings.YearEndMonth); !y.Last().Before(first); y = y.Previous() {
		years = append(years, newYear(y, closings))
	}
	return years, nil
}

func newYear(y yearend.Year, closings []yearend.Closing) Year {
	return Year{y, slices.DeleteFunc(slices.Clone(closings), func(c yearend.Closing) bool { return c.Year != y })}
}

// Get returns a year of a platform. Fault: NOT_FOUND for a year that has not begun or is before the first.
func (s *Service) Get(ctx context.Context, p ident.Platform, number int) (Year, error) {
	years, err := s.List(ctx, p)
	if err != nil {
		return Year{}, err
	}
	i := slices.IndexFunc(years, func(y Year) bool { return y.Year.Number() == number })
	if i < 0 {
		return Year{}, fault.New(fault.NotFound, "There is no year %d: the years are %s to %s.", number, years[len(years)-1].Year, years[0].Year)
	}
	return years[i], nil
}
