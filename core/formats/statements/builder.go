package statements

import (
	"cmp"
	"slices"

	"causeway/core/money"
	"causeway/core/plaintext"
	"causeway/core/reconcile"
)

// statementBuilder collects the statements of a file while it is parsed: one for each account.
type statementBuilder struct {
	// currency is that of the only account of the file; empty if the file may have several accounts.
	currency money.Currency
	// acceptsMismatch keeps what would be refused for its balances as a problem of the statement.
	acceptsMismatch bool
	accounts        []*accountBuilder
	current         *accountBuilder
	lineCount       int
	seenPages       map[pageKey]bool
}

// accountBuilder collects all statements of an account in the file as one.
type accountBuilder struct {
	reconcile.Statement
	pages []page
}

// page is one statement of an account, or one of its pages, with its own balances.
type page struct {
	name             string // as in messages
	id               string // statements with one id are pages of one statement; empty for none
	day              reconcile.Day
	opening, closing *int64
	sum              int64
}

// pageKey identifies a statement of an account in a file.
type pageKey struct {
	account *accountBuilder
	id      string
}

// beginAccount makes an account the one that lines are added to. currency is as in the file.
func (b *statementBuilder) beginAccount(number, currency string) error {
	number = plaintext.Clean(number, reconcile.MaxReference)
	parsed, err := money.ParseCurrency(currency)
	switch {
	case b.currency != "" && currency != string(b.currency):
		return currencyMismatch("the statement", currency, b.currency)
	case err != nil:
		return reconcile.InvalidFile("the account %s is in %.8q, which is not a currency of this service", number, currency)
	}
	for _, a := range b.accounts {
		if a.PartnerAccount == number && a.Currency == parsed {
			b.current = a
			return nil
		}
	}
	if b.currency != "" && len(b.accounts) > 0 {
		return reconcile.InvalidFile("has statements of two accounts, %s and %s; import them without account and currency, or separately",
			b.accounts[0].PartnerAccount, number)
	}
	if len(b.accounts) == reconcile.MaxAccounts {
		return reconcile.InvalidFile("has statements of more than %d accounts; split it into several files", reconcile.MaxAccounts)
	}
	b.current = &accountBuilder{}
	b.current.PartnerAccount, b.current.Currency = number, parsed
	b.accounts = append(b.accounts, b.current)
	return nil
}

// addPage adds a statement of the current account. key identifies it in the file; empty if nothing
// does.
func (b *statementBuilder) addPage(p page, key string) error {
	a := b.current
	if seen := (pageKey{a, key}); key != "" {
		if b.seenPages[seen] {
			return reconcile.InvalidFile("has %s twice; remove one of them", p.name)
		}
		if b.seenPages == nil {
			b.seenPages = map[pageKey]bool{}
		}
		b.seenPages[seen] = true
	}
	last := len(a.pages) - 1
	if last < 0 || p.id == "" || a.pages[last].id != p.id {
		a.pages = append(a.pages, p)
		return nil
	}
	// A further page of the same statement. Some banks repeat its balances on every page.
	whole := &a.pages[last]
	if whole.opening == nil {
		whole.opening = p.opening
	}
	if p.closing != nil {
		whole.closing = p.closing
	}
	var err error
	if whole.sum, err = money.AddMinor(whole.sum, p.sum); err != nil {
		return sumTooLargeError()
	}
	return nil
}

// finish returns the statements. The lines of each page lead from its opening to its closing
// balance, and each page continues the one before.
func (b *statementBuilder) finish() ([]reconcile.Statement, error) {
	statements := make([]reconcile.Statement, len(b.accounts))
	for i, a := range b.accounts {
		if err := b.checkBalances(a); err != nil {
			return nil, err
		}
		statements[i] = a.Statement
	}
	return statements, nil
}

func (b *statementBuilder) checkBalances(a *accountBuilder) error {
	amount := func(minor int64) string { return money.Amount{Minor: minor, Currency: a.Currency}.String() }
	if !slices.ContainsFunc(a.pages, func(p page) bool { return p.day == reconcile.NoDay }) {
		slices.SortStableFunc(a.pages, func(x, y page) int { return cmp.Compare(x.day, y.day) })
	}
	for i, p := range a.pages {
		if p.opening != nil && p.closing != nil {
			if expected, err := money.AddMinor(*p.opening, p.sum); err != nil || expected != *p.closing {
				if err := b.mismatch(a, "is not complete: the lines of %s add up to %s, but its opening balance is %s and its closing balance %s",
					p.name, amount(p.sum), amount(*p.opening), amount(*p.closing)); err != nil {
					return err
				}
			}
		}
		switch {
		case i == 0:
			a.Opening = p.opening
		case p.opening == nil || a.Closing == nil:
			a.Opening = nil
		case *p.opening != *a.Closing:
			before := a.pages[i-1].name
			if err := b.mismatch(a, "is not complete: %s closes with %s, and %s after it opens with %s; a statement between them is missing",
				before, amount(*a.Closing), p.name, amount(*p.opening)); err != nil {
				return err
			}
		}
		a.Closing = p.closing
	}
	return nil
}

// mismatch refuses a file that is not complete, or notes it if a person accepts that.
func (b *statementBuilder) mismatch(a *accountBuilder, format string, args ...any) error {
	if !b.acceptsMismatch {
		return reconcile.InvalidFile(format+"; if it is right, say why with override", args...)
	}
	a.Mismatches = append(a.Mismatches, reconcile.Mismatchf(format, args...))
	return nil
}

// addLine adds a line to the current account. A line of zero is counted as ignored.
func (b *statementBuilder) addLine(l reconcile.Line) error {
	if l.Amount == 0 {
		b.current.Ignored++
		return nil
	}
	if b.lineCount++; b.lineCount > reconcile.MaxLines {
		return reconcile.InvalidFile("has more than %d lines; split it into several files", reconcile.MaxLines)
	}
	l.ServicerReference = plaintext.Clean(l.ServicerReference, reconcile.MaxReference)
	l.Description = plaintext.Clean(l.Description, reconcile.MaxDescription)
	b.current.Lines = append(b.current.Lines, l)
	return nil
}

func sumTooLargeError() error {
	return reconcile.InvalidFile("adds up to more than the maximum amount")
}
