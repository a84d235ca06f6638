package accounting

import (
	"context"
	"time"

	"causeway/app/internal/report"
)

// Table is a report as rows of text.
type Table = report.Table

const tablePageSize = report.PageSize

// pagesOf returns Table.Pages of a list with one row for each item, as report.Pages.
func pagesOf[Filter, Item any](first Filter, read func(context.Context, *Filter) ([]Item, bool, error),
	row func(Item) []string) func(context.Context, func([][]string) error) error {
	return report.Pages(first, read, func(item Item) [][]string { return [][]string{row(item)} })
}

func tableTime(t time.Time) string { return report.Time(t) }
