package audit

import (
	"context"
	"fmt"

	"causeway/core/money"
	"causeway/core/monthend"
	"causeway/core/receivable"
	"causeway/ledger"
	"causeway/ports"
)

// checkAllowance computes what was owed at the end of a month again, and what follows from it at the stored rates.
func (c *monthEndCheck) checkAllowance(ctx context.Context, run, _ monthend.Run, _ bool) ([]ledger.Posting, string, error) {
	stored, err := c.stored.Allowances(ctx, run)
	if err != nil {
		return nil, "", err
	}
	owed, err := c.reader.Owed(ctx, run)
	if err != nil {
		return nil, "", err
	}
	ages := map[money.Currency]receivable.Aging{}
	for _, aging := range owed {
		ages[aging.Currency] = aging
	}
	for _, a := range stored {
		for i, band := range receivable.Bands() {
			if computed := ages[a.Currency].ByAge[band]; !computed.Equal(money.TotalOf(a.Owed[i])) {
				return nil, fmt.Sprintf("%d %s are stored as owed for %s days, and by the receivables it is %s", a.Owed[i], a.Currency, band,
					computed), nil
			}
		}
		delete(ages, a.Currency)
		if !a.IsConsistent() {
			return nil, fmt.Sprintf("the allowance is stored as %d %s, which does not follow from what is owed at %s percent", a.Required,
				a.Currency,
				a.Rates), nil
		}
		account := ledger.Account{Platform: run.Platform, Path: ledger.AllowanceReceivables, Currency: a.Currency}
		balance, err := c.postings.BalanceAt(ctx, account, ports.ByEffective, monthend.Last(run.Month))
		if err != nil {
			return nil, "", err
		}
		if balance != -a.Required {
			return nil, fmt.Sprintf("%s is %d %s, and the allowance is %d", ledger.AllowanceReceivables, balance, a.Currency, a.Required), nil
		}
	}
	for currency, aging := range ages {
		return nil, fmt.Sprintf("no allowance in %s is stored, and %s are owed", currency, aging.Owed), nil
	}
	return monthend.AllowancePostings(run, stored), "", nil
}
