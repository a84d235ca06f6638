package audit

import (
	"github.com/google/uuid"

	"causeway/core/money"
	"causeway/ledger"
)

// openingCheck checks the opening balances of one platform, in the order of postings: each brings balances
// forward in one currency, and there is a further one only after the one before was reversed.
type openingCheck struct {
	latest map[money.Currency]openingBalances
}

// openingBalances are the latest opening balances in a currency.
type openingBalances struct {
	id       uuid.UUID
	nth      int
	reversed bool
}

func (c *openingCheck) check(report *Report, seq int64, p ledger.Posting) {
	if p.Kind == ledger.KindReversal {
		c.reverse(p.Reverses)
	}
	if p.Kind != ledger.KindOpeningBalances {
		return
	}
	report.countChecked(RuleOpeningBalances)
	if len(p.Entries) == 0 {
		return // found as a posting that is not well-formed
	}
	currency := p.Entries[0].Currency
	before, repeated := c.latest[currency]
	next := openingBalances{id: p.ID}
	if repeated {
		next.nth = before.nth + 1
	}
	if repeated && !before.reversed {
		report.addFinding(RuleOpeningBalances, "posting %s (number %d on %s) has opening balances in %s, and so has %s, which is not reversed",
			p.ID, seq, p.Platform, currency, before.id)
	}
	if err := p.CheckOpeningBalances(next.nth); err != nil {
		report.addFinding(RuleOpeningBalances, "posting %s (number %d on %s) is not one of opening balances: %v", p.ID, seq, p.Platform, err)
	}
	if c.latest == nil {
		c.latest = map[money.Currency]openingBalances{}
	}
	c.latest[currency] = next
}

// reverse notes that a posting was reversed.
func (c *openingCheck) reverse(id uuid.UUID) {
	for currency, b := range c.latest {
		if b.id == id {
			b.reversed = true
			c.latest[currency] = b
		}
	}
}
