package cli

import (
	"fmt"
	"io"

	"causeway/adapters/cli/table"
	"causeway/core/money"
	"causeway/ledger"
	"causeway/ports"
)

// entriesTable has the entries of one transaction.
func entriesTable(entries []ports.RecordedEntry) *table.Table {
	t := table.New("no.", "recorded (UTC)", "posting", "debit", "credit", ">amount", "|currency")
	for _, e := range entries {
		recorded := table.CellOf(e.Recorded)
		recorded.Text = e.Recorded.Format("2006-01-02 15:04:05.000")
		t.Add(fmt.Sprintf("%d.%d", e.Position.Seq, e.Position.N), recorded, e.Kind, e.Debit, e.Credit, table.Major(e.Amount, e.Currency),
			e.Currency)
	}
	return t
}

// writeBalances prints a table for each platform and currency, followed by its debit and
// credit totals, which must be equal. Lines are ordered by platform and currency.
func writeBalances(out io.Writer, lines []ports.AccountBalance) error {
	var page table.Page
	if len(lines) == 0 {
		page.Line("Nothing has been posted yet.")
	}
	for i := 0; i < len(lines); {
		first := lines[i].Account
		if i == 0 || lines[i-1].Account.Platform != first.Platform {
			page.Line("%s\n", first.Platform)
		}
		totals, rows := trialBalance{currency: first.Currency}, table.New("account", "class", ">balance", "|currency")
		for ; i < len(lines) && lines[i].Account.Platform == first.Platform && lines[i].Account.Currency == first.Currency; i++ {
			line := lines[i]
			rows.Add(line.Account.Path, line.Class, table.Major(line.Balance, first.Currency), first.Currency)
			if err := totals.add(line.Class, line.Balance); err != nil {
				return err
			}
		}
		page.Table("", rows, "")
		page.Line("%s\n", totals)
	}
	return page.Write(out, table.Text)
}

// trialBalance adds up the debit and credit balances in one currency.
type trialBalance struct {
	currency              money.Currency
	debitSide, creditSide int64
}

// add adds the balance of one account to the side of its class.
func (t *trialBalance) add(class ledger.Class, balance int64) error {
	side := &t.creditSide
	if class.IsDebitNormal() {
		side = &t.debitSide
	}
	sum, err := money.AddMinor(*side, balance)
	if err != nil {
		return fmt.Errorf("add up %s: %w", t.currency, err)
	}
	*side = sum
	return nil
}

func (t trialBalance) String() string {
	sign := "="
	if t.debitSide != t.creditSide {
		sign = "DOES NOT EQUAL"
	}
	return fmt.Sprintf("assets and expenses %s %s liabilities, equity, income and trading %s",
		money.Amount{Minor: t.debitSide, Currency: t.currency}, sign, money.Amount{Minor: t.creditSide, Currency: t.currency})
}
