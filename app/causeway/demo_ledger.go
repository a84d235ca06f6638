package main

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"causeway/core/ident"
	"causeway/ledger"
	"causeway/ports"
)

// ledgerUnavailable says what is missing to see them.
const ledgerUnavailable = "The entries are in the server's database, which this program does not know. Set DATABASE_URL to see them, " +
	"or use --data when the server was started with causeway dev."

// showEntries shows what the payment wrote into the ledger.
func (p *paymentDemo) showEntries(ctx context.Context) error {
	if p.ledger == nil {
		p.screen.beginStep("What stands in the ledger", ledgerUnavailable)
		return nil
	}
	p.screen.beginStep("What stands in the ledger", "Every movement is an entry from one account (debit) to another (credit), and is never changed.")
	entries, err := p.entries(ctx)
	if err != nil {
		return err
	}
	rows := table{rightAligned: []int{3}}
	var last uuid.UUID
	for _, e := range entries {
		kind := ""
		if e.Posting != last {
			kind, last = string(e.Kind), e.Posting
		}
		rows.add(kind, e.Debit, e.Credit, formatMajor(e.Amount, e.Currency), string(e.Currency))
	}
	p.screen.writeTable(rows, "posting", "debit", "credit", "amount", "")
	return nil
}

// entries are those of the payment. It was completed before its last webhook, so
// they are all there.
func (p *paymentDemo) entries(ctx context.Context) ([]ports.RecordedEntry, error) {
	id, err := ident.ParseTransaction(p.transactionID)
	if err != nil {
		return nil, err
	}
	page, err := p.ledger.Entries(ctx, ports.EntryFilter{Platform: p.platform, Transaction: id})
	if err != nil {
		return nil, err
	}
	if len(page.Entries) == 0 {
		return nil, fmt.Errorf("the database has no entries of %s; is it the server's?", p.transactionID)
	}
	return page.Entries, nil
}

// showBalances shows the accounts that the payment touched.
func (p *paymentDemo) showBalances(ctx context.Context) error {
	if p.ledger == nil {
		return nil
	}
	p.screen.beginStep("Where that leaves the accounts", "For each currency, what came in is what is still there, on its way, or earned.")
	entries, err := p.entries(ctx)
	if err != nil {
		return err
	}
	payment := ledger.Posting{Platform: p.platform}
	for _, e := range entries {
		payment.Entries = append(payment.Entries, e.Entry)
	}
	changes, err := ledger.NetChanges(payment)
	if err != nil {
		return err
	}
	accounts := make([]ledger.Account, len(changes))
	for i, c := range changes {
		accounts[i] = c.Account
	}
	balances, err := p.ledger.Balances(ctx, accounts)
	if err != nil {
		return err
	}
	rows := table{rightAligned: []int{2, 3}}
	for _, c := range changes {
		line, err := ledger.FindChartLine(c.Account.Path)
		if err != nil {
			return err
		}
		rows.add(c.Account.Path, string(line.Class), formatMajor(c.Amount, c.Account.Currency),
			formatMajor(balances[c.Account], c.Account.Currency), string(c.Account.Currency))
	}
	p.screen.writeTable(rows, "account", "class", "this payment", "balance", "")
	return nil
}

func (s *screen) writeTable(rows table, header ...string) {
	s.writeLine()
	for i, line := range rows.lines(header...) {
		if i == 0 {
			line = s.styled(dim, line)
		}
		s.writeLine(margin, line)
	}
}
