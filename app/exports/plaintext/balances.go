package plaintext

import (
	"strings"
	"time"

	"causeway/app/exports/records"
	"causeway/core/money"
	"causeway/ledger"
	"causeway/ports"
)

// declaration is the declaration of an account.
type declaration struct {
	path       string
	holder     ports.AccountHolder
	since      time.Time
	currencies []string
}

// DeclareAccount declares an account, and its currency if it is new. Accounts must be ordered by
// path; an account with several currencies is declared once.
func (j *Journal) DeclareAccount(t ports.AccountTurnover) error {
	if j.declaring.path != t.Account.Path {
		if err := j.EndDeclarations(); err != nil {
			return err
		}
		j.declaring.path, j.declaring.holder = t.Account.Path, j.holder(t.Account.Path)
	}
	if !t.First.IsZero() && (j.declaring.since.IsZero() || t.First.Before(j.declaring.since)) {
		j.declaring.since = t.First
	}
	j.declaring.currencies = append(j.declaring.currencies, string(t.Account.Currency))
	if !j.declaredCurrencies[t.Account.Currency] {
		j.declaredCurrencies[t.Account.Currency] = true
		j.commodity(t.Account.Currency)
	}
	return j.write()
}

// EndDeclarations writes the last declaration.
func (j *Journal) EndDeclarations() error {
	a := j.declaring
	j.declaring = declaration{}
	if a.path == "" || a.since.IsZero() { // without entries in the interval or before
		return nil
	}
	name, err := NamedAccount(a.path, a.holder)
	if err != nil {
		return err
	}
	if j.dialect == Beancount {
		j.line("%s open %s %s", records.FormatDate(a.since), name, strings.Join(a.currencies, ","))
	} else {
		j.line("account %s", name)
	}
	return j.write()
}

func (j *Journal) commodity(currency money.Currency) {
	switch j.dialect {
	case HLedger: // requires a decimal mark, also without decimals
		sample := records.FormatMajor(0, currency)
		if !strings.Contains(sample, ".") {
			sample += "."
		}
		j.line("commodity %s %s", sample, currency)
	case Ledger:
		j.line("commodity %s", currency)
	case Beancount: // needs no declaration of currencies
	}
}

// DeclareOpeningAccount declares the account that opening balances are posted against.
func (j *Journal) DeclareOpeningAccount(from time.Time) error {
	if j.dialect == Beancount {
		j.line("%s open %s", records.FormatDate(from), openingAccount)
	} else {
		j.line("account %s", openingAccount)
	}
	return j.write()
}

// broughtForward returns the balance with which an account begins. Income and expense begin at zero,
// so that income statements show what was earned in the interval. What was earned before stays in the
// opening account, whose balance is the difference of the others.
func broughtForward(t ports.AccountTurnover) int64 {
	if t.Class == ledger.Income || t.Class == ledger.Expense {
		return 0
	}
	return t.Opening
}

// OpeningBalance writes the balance of an account at the start of the interval.
func (j *Journal) OpeningBalance(from time.Time, t ports.AccountTurnover) error {
	opening := broughtForward(t)
	if opening == 0 {
		return nil
	}
	name, err := j.accountName(t.Account.Path)
	if err != nil {
		return err
	}
	j.balanceHeading(from, "opening balance")
	j.amountLine(name, opening, t.Account.Currency)
	j.amountLine(openingAccount, -opening, t.Account.Currency)
	return j.write()
}

// BalanceAssertion writes an assertion of the balance of an account at the end of the interval that
// starts at from.
func (j *Journal) BalanceAssertion(from time.Time, t ports.AccountTurnover) error {
	if t.Last.IsZero() {
		return nil // without entries in the interval or before
	}
	name, err := j.accountName(t.Account.Path)
	if err != nil {
		return err
	}
	currency := t.Account.Currency
	closing, last := records.FormatMajor(broughtForward(t)+t.Debits.Sum-t.Credits.Sum, currency), t.Last
	if last.Before(from) {
		last = from // the time of its opening balance
	}
	if j.dialect == Beancount {
		// It checks the balance at the start of a day, and without "~ 0" with a tolerance.
		j.line("\n%s balance %s  %s ~ 0 %s", records.FormatDate(last.UTC().AddDate(0, 0, 1)), name, closing, currency)
		return j.write()
	}
	j.balanceHeading(last, "closing balance")
	j.line("    %s  %s %s = %s %s", name, records.FormatMajor(0, currency), currency, closing, currency)
	return j.write()
}

// balanceHeading writes the first line of a transaction that is not a posting.
func (j *Journal) balanceHeading(day time.Time, description string) {
	if j.dialect == Beancount {
		j.line("\n%s * %q", records.FormatDate(day), description)
	} else {
		j.line("\n%s * %s", records.FormatDate(day), description)
	}
}
