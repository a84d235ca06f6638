package main

import (
	"fmt"
	"io"

	"causeway/core/money"
	"causeway/ledger"
	"causeway/ports"
)

// writeEntries prints the entries of one transaction.
func writeEntries(out io.Writer, entries []ports.RecordedEntry) error {
	if len(entries) == 0 {
		_, err := fmt.Fprintln(out, "This transaction has no ledger entries.")
		return err
	}
	rows := table{rightAligned: []int{5}}
	for _, e := range entries {
		rows.add(fmt.Sprintf("%d.%d", e.Position.Seq, e.Position.N), e.Recorded.Format("2006-01-02 15:04:05.000"), string(e.Kind),
			e.Debit, e.Credit, formatMajor(e.Amount, e.Currency), string(e.Currency))
	}
	return rows.write(out, "no.", "recorded (UTC)", "posting", "debit", "credit", "amount", "")
}

// writeBalances prints a table for each platform and currency, followed by its debit and
// credit totals, which must be equal. Lines are ordered by platform and currency.
func writeBalances(out io.Writer, lines []ports.AccountBalance) error {
	if len(lines) == 0 {
		_, err := fmt.Fprintln(out, "Nothing has been posted yet.")
		return err
	}
	for i := 0; i < len(lines); {
		first := lines[i].Account
		if i == 0 || lines[i-1].Account.Platform != first.Platform {
			if _, err := fmt.Fprintf(out, "%s\n\n", first.Platform); err != nil {
				return err
			}
		}
		totals, rows := trialBalance{currency: first.Currency}, table{rightAligned: []int{2}}
		for ; i < len(lines) && lines[i].Account.Platform == first.Platform && lines[i].Account.Currency == first.Currency; i++ {
			line := lines[i]
			rows.add(line.Account.Path, string(line.Class), formatMajor(line.Balance, first.Currency), string(first.Currency))
			if err := totals.add(line.Class, line.Balance); err != nil {
				return err
			}
		}
		if err := rows.write(out, "account", "class", "balance", ""); err != nil {
			return err
		}
		if _, err := fmt.Fprintf(out, "%s\n\n", totals); err != nil {
			return err
		}
	}
	return nil
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
