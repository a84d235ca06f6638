package report

import "context"

// PageSize is the number of items that a table of any length reads at a time.
const PageSize = 1000

// Pages returns Table.Pages of a list. read returns the items of a page and whether there are more,
// and sets the filter to the page after it; rows returns the rows of an item.
func Pages[Filter, Item any](first Filter, read func(context.Context, *Filter) ([]Item, bool, error),
	rows func(Item) [][]string) func(context.Context, func([][]string) error) error {
	return func(ctx context.Context, write func([][]string) error) error {
		filter := first
		for more := true; more; {
			items, isMore, err := read(ctx, &filter)
			if err != nil {
				return err
			}
			page := make([][]string, 0, len(items))
			for _, item := range items {
				page = append(page, rows(item)...)
			}
			if err := write(page); err != nil {
				return err
			}
			more = isMore
		}
		return nil
	}
}
