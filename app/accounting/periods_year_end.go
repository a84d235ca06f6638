package accounting

import (
	"context"

	"causeway/core/ident"
	"causeway/core/yearend"
)

// checkYearEnd returns CONFLICT if the last month of a year is to be closed before its year, on a platform that
// closes years, and that is not confirmed.
func checkYearEnd(ctx context.Context, tx Tx, p ident.Platform, c MonthChange) error {
	settings, err := tx.BooksSettings(ctx, p)
	if err != nil {
		return err
	}
	year := yearend.OfMonth(c.Month, settings.YearEndMonth)
	if year.Last() != c.Month || c.WithoutYearEnd {
		return nil
	}
	closings, err := tx.YearClosings(ctx, p)
	if err != nil || !yearend.ClosesYears(settings.FunctionalCurrency, closings) {
		return err
	}
	balances, _, err := tx.ResultBalances(ctx, p, c.Month)
	if err != nil {
		return err
	}
	return yearend.CheckMonthClose(year, closings, balances)
}
