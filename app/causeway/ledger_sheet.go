package main

import (
	"fmt"
	"io"

	"causeway/core/ident"
	"causeway/core/money"
	"causeway/ledger"
	"causeway/ports"
)

// balanceSheet prints balances as they come: a table for each currency of each
// platform, and below it the proof that its two sides are equal.
type balanceSheet struct {
	out      io.Writer
	platform ident.Platform
	began    bool
	rows     table
	sum      trial
}

// add takes the next line; they come by platform and currency.
func (s *balanceSheet) add(line ports.AccountBalance) error {
	if s.began && (line.Account.Platform != s.platform || line.Account.Currency != s.sum.currency) {
		if err := s.flush(); err != nil {
			return err
		}
	}
	if !s.began || line.Account.Platform != s.platform {
		if _, err := fmt.Fprintf(s.out, "%s\n", line.Account.Platform); err != nil {
			return err
		}
	}
	if !s.began || len(s.rows.rows) == 0 {
		s.sum = trial{currency: line.Account.Currency}
	}
	s.began, s.platform = true, line.Account.Platform
	s.rows.add(line.Account.Path, string(line.Class), inMajorUnits(line.Balance, line.Account.Currency), string(line.Account.Currency))
	return s.sum.add(line.Class, line.Balance)
}

func (s *balanceSheet) flush() error {
	s.rows.right = []int{2}
	err := s.rows.write(s.out, "account", "class", "balance", "")
	s.rows = table{}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.out, "%s\n\n", s.sum)
	return err
}

func (s *balanceSheet) end() error {
	if !s.began {
		_, err := fmt.Fprintln(s.out, "Nothing has been posted yet.")
		return err
	}
	return s.flush()
}

// trial adds up the two sides of a trial balance in one currency.
type trial struct {
	currency    money.Currency
	owns, owing int64
}

// add takes the balance of one account, with the sign of its class.
func (t *trial) add(class ledger.Class, balance int64) error {
	side := &t.owing
	if class.DebitGrows() {
		side = &t.owns
	}
	sum, err := money.AddMinor(*side, balance)
	if err != nil {
		return fmt.Errorf("add up %s: %w", t.currency, err)
	}
	*side = sum
	return nil
}

func (t trial) String() string {
	sign := "="
	if t.owns != t.owing {
		sign = "IS NOT"
	}
	return fmt.Sprintf("assets and expenses %s %s %s liabilities, income and position",
		money.Amount{Minor: t.owns, Currency: t.currency}, sign, money.Amount{Minor: t.owing, Currency: t.currency})
}
