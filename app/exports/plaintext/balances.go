package plaintext

import (
	"strings"
	"time"

	"causeway/app/exports/records"
	"causeway/core/money"
	"causeway/ports"
)

// declaration is an account that is being declared.
type declaration struct {
	path       string
	since      time.Time
	currencies []string
}

// Declare declares an account, and its currency if it is new. Accounts come by path:
// one that has several currencies is declared once.
func (j *Journal) Declare(t ports.AccountTurnover) error {
	if j.account.path != t.Account.Path {
		if err := j.Declared(); err != nil {
			return err
		}
		j.account.path = t.Account.Path
	}
	if !t.First.IsZero() && (j.account.since.IsZero() || t.First.Before(j.account.since)) {
		j.account.since = t.First
	}
	j.account.currencies = append(j.account.currencies, string(t.Account.Currency))
	if !j.declared[t.Account.Currency] {
		j.declared[t.Account.Currency] = true
		j.commodity(t.Account.Currency)
	}
	return j.write()
}

// Declared ends the declarations.
func (j *Journal) Declared() error {
	a := j.account
	j.account = declaration{}
	if a.path == "" || a.since.IsZero() { // it is not touched in the period nor before
		return nil
	}
	name, err := Name(a.path)
	if err != nil {
		return err
	}
	if j.dialect == Beancount {
		j.line("%s open %s %s", records.Date(a.since), name, strings.Join(a.currencies, ","))
	} else {
		j.line("account %s", name)
	}
	return j.write()
}

func (j *Journal) commodity(currency money.Currency) {
	switch j.dialect {
	case HLedger: // it wants a decimal mark, also where there are no decimals
		sample := records.Major(0, currency)
		if !strings.Contains(sample, ".") {
			sample += "."
		}
		j.line("commodity %s %s", sample, currency)
	case Ledger:
		j.line("commodity %s", currency)
	case Beancount: // it would want a date, and takes any
	}
}

// Brought declares what opening balances are brought forward against.
func (j *Journal) Brought(from time.Time) error {
	if j.dialect == Beancount {
		j.line("%s open %s", records.Date(from), opening)
	} else {
		j.line("account %s", opening)
	}
	return j.write()
}

// Open brings forward the balance that an account had at the beginning of the period.
func (j *Journal) Open(from time.Time, t ports.AccountTurnover) error {
	if t.Opening == 0 {
		return nil
	}
	name, err := Name(t.Account.Path)
	if err != nil {
		return err
	}
	j.balance(from, "opening balance")
	j.move(name, t.Opening, t.Account.Currency)
	j.move(opening, -t.Opening, t.Account.Currency)
	return j.write()
}

// Close has the program check the balance of an account at the end of the period that
// began with from, zero for the beginning.
func (j *Journal) Close(from time.Time, t ports.AccountTurnover) error {
	if t.Last.IsZero() {
		return nil // it is not touched in the period nor before
	}
	name, err := Name(t.Account.Path)
	if err != nil {
		return err
	}
	currency := t.Account.Currency
	closing, last := records.Major(t.Closing, currency), t.Last
	if last.Before(from) {
		last = from // it was brought forward then
	}
	if j.dialect == Beancount {
		// It looks at the beginning of a day, and without "~ 0" not at the last digit.
		j.line("\n%s balance %s  %s ~ 0 %s", records.Date(last.UTC().AddDate(0, 0, 1)), name, closing, currency)
		return j.write()
	}
	j.balance(last, "closing balance")
	j.line("    %s  %s %s = %s %s", name, records.Major(0, currency), currency, closing, currency)
	return j.write()
}

// balance begins a transaction of ours that no posting stands behind.
func (j *Journal) balance(on time.Time, what string) {
	if j.dialect == Beancount {
		j.line("\n%s * %q", records.Date(on), what)
	} else {
		j.line("\n%s * %s", records.Date(on), what)
	}
}
