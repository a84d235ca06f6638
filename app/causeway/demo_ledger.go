package main

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"causeway/adapters/cli/table"
	"causeway/core/ident"
	"causeway/ledger"
	"causeway/ports"
)

// ledgerUnavailable is shown instead of the entries.
const ledgerUnavailable = "The entries are in the server's database. To show them, set DATABASE_URL, or --data if the server is causeway " +
	"dev."

// showEntries shows the ledger entries of the payment.
func (p *paymentDemo) showEntries(ctx context.Context) error {
	if p.ledger == nil {
		p.screen.beginStep("Read the ledger entries", ledgerUnavailable)
		return nil
	}
	p.screen.beginStep("Read the ledger entries", "Every movement of money is an entry from a debit account to a credit account. Entries "+
		"are never changed.")
	entries, err := p.entries(ctx)
	if err != nil {
		return err
	}
	rows := table.New("posting", "debit", "credit", ">amount", "|currency")
	var last uuid.UUID
	for _, e := range entries {
		kind := ""
		if e.Posting != last {
			kind, last = string(e.Kind), e.Posting
		}
		rows.Add(kind, e.Debit, e.Credit, table.Major(e.Amount, e.Currency), e.Currency)
	}
	p.screen.writeTable(rows)
	return nil
}

// entries returns the entries of the payment. It completed before its last webhook was sent,
// so none is missing.
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

// showBalances shows the accounts that the payment changed.
func (p *paymentDemo) showBalances(ctx context.Context) error {
	if p.ledger == nil {
		return nil
	}
	p.screen.beginStep("Read the balances", "In each currency, what was received equals what is held, in transit and earned.")
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
	rows := table.New("account", "class", ">this payment", ">balance", "|currency")
	for _, c := range changes {
		line, err := ledger.FindChartLine(c.Account.Path)
		if err != nil {
			return err
		}
		rows.Add(c.Account.Path, line.Class, table.Major(c.Amount, c.Account.Currency),
			table.Major(balances[c.Account], c.Account.Currency), c.Account.Currency)
	}
	p.screen.writeTable(rows)
	return nil
}

func (s *screen) writeTable(rows *table.Table) {
	s.writeLine()
	for i, line := range rows.Lines() {
		if i == 0 {
			line = s.styled(dim, line)
		}
		s.writeLine(margin, line)
	}
}
