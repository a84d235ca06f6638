package statements

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"causeway/core/money"
	"causeway/core/plaintext"
	"causeway/core/reconcile"
)

// camtStatement has the fields of a Stmt element.
type camtStatement struct {
	id, number, currency string
	sequences            string // its sequence numbers
	page                 string
	from, to             camtDay
	account              *accountBuilder // set with the first amount
	opening, closing     camtBalance
	sum                  int64
	balance              camtBalance // the current one
	withoutStatus        int         // the line of the first entry without a status; 0 if there is none
}

// camtDay is a day, and how it is written: as a date or as a time.
type camtDay struct {
	reconcile.Day
	text string
}

// timeOfDay returns the time to the second; the empty string for a date.
func (d camtDay) timeOfDay() string {
	if len(d.text) < len("2006-01-02T15:04:05") {
		return ""
	}
	return d.text[len(time.DateOnly):len("2006-01-02T15:04:05")]
}

// camtBalance has the fields of a Bal element as written.
type camtBalance struct {
	kind, amount, currency, side string
	day                          camtDay
	line                         int
}

// balanceKinds are the codes of the opening and the closing balance in BAI2, which banks in North
// America use in camt.053.
var balanceKinds = map[string]string{"010": "OPBD", "015": "CLBD"}

func (c *camtParser) setStatementField(part, text string) (err error) {
	s := &c.statement
	switch part {
	case "Id":
		s.id = text
	case "ElctrncSeqNb", "LglSeqNb":
		s.sequences += " " + part + text
	case "StmtPgntn/PgNb":
		s.page = text
	case "Acct/Id/IBAN", "Acct/Id/Othr/Id":
		s.number = text
	case "Acct/Ccy":
		s.currency = text
	case "FrToDt/FrDtTm":
		s.from, err = c.parseWrittenDay(text)
	case "FrToDt/ToDtTm":
		s.to, err = c.parseWrittenDay(text)
	case "Bal/Tp/CdOrPrtry/Cd":
		s.balance.kind = text
	case "Bal/Tp/CdOrPrtry/Prtry":
		s.balance.kind = balanceKinds[text]
	case "Bal/Amt":
		s.balance.amount, s.balance.currency = text, c.elementCurrency
	case "Bal/CdtDbtInd":
		s.balance.side = text
	case "Bal/Dt/Dt", "Bal/Dt/DtTm":
		s.balance.day, err = c.parseWrittenDay(text)
	case "Bal":
		switch b := s.balance; {
		case b.kind == "OPBD", b.kind == "PRCD" && s.opening.kind == "":
			s.opening = b
		case b.kind == "CLBD":
			s.closing = b
		}
	}
	return err
}

func (c *camtParser) parseWrittenDay(text string) (camtDay, error) {
	d, err := c.parseDay(text)
	return camtDay{d, text}, err
}

// days returns the days that the statement covers and the day of its closing balance; NoDay for what
// it does not say. A period from a time of day to the same one, as midnight, does not cover the day
// that begins with its end, unless the closing balance is of that day.
func (s *camtStatement) days() (from, to, closing reconcile.Day) {
	from, to, closing = s.from.Day, s.to.Day, s.closing.day.Day
	isOfLastDay := closing == to && s.closing.day.timeOfDay() == ""
	if from != reconcile.NoDay && to > from && s.to.timeOfDay() != "" && s.to.timeOfDay() == s.from.timeOfDay() && !isOfLastDay {
		if s.closing.day.text == s.to.text {
			closing--
		}
		to--
	}
	if from == reconcile.NoDay && to == reconcile.NoDay {
		from, to = closing, closing
	}
	return from, to, closing
}

// onlyDay returns the day of a statement that covers a single one, and NoDay for others.
func (s *camtStatement) onlyDay() reconcile.Day {
	from, to, closing := s.days()
	saysDays := s.from.Day != reconcile.NoDay || s.to.Day != reconcile.NoDay
	if from == to && (saysDays || s.opening.kind == "OPBD" && s.opening.day.Day == closing) {
		return from
	}
	return reconcile.NoDay
}

// beginStatementAccount makes the account of the statement the current one. Without an own currency
// the account has that of the first amount.
func (c *camtParser) beginStatementAccount(firstCurrency string) error {
	s := &c.statement
	if s.account == nil {
		if s.currency == "" && c.currency != "" {
			s.currency = string(c.currency) // an amount in another currency says where it is
		}
		if err := c.beginAccount(s.number, cmp.Or(s.currency, firstCurrency)); err != nil {
			return err
		}
		s.account = c.current
	}
	c.current = s.account
	return nil
}

// endStatement finishes a statement.
func (c *camtParser) endStatement() error {
	s := &c.statement
	firstCurrency := cmp.Or(s.opening.currency, s.closing.currency)
	if s.account == nil && s.currency == "" && c.currency == "" && firstCurrency == "" {
		return reconcile.InvalidFile("has the statement %.60q, which does not say its currency", s.id)
	}
	if err := c.beginStatementAccount(firstCurrency); err != nil {
		return err
	}
	a := c.current
	p := page{name: fmt.Sprintf("the statement %.60q of account %.60q", s.id, a.PartnerAccount), id: s.id, sum: s.sum}
	var err error
	var complete bool
	if p.opening, p.closing, complete, err = c.parseBalances(); err != nil {
		return err
	}
	if s.withoutStatus > 0 && !complete {
		return reconcile.InvalidFile("line %d: an entry has no status, and no balances show whether all entries are booked", s.withoutStatus)
	}
	from, to, closing := s.days()
	p.day = max(closing, to, from)
	var key string
	if s.id != "" {
		key = fmt.Sprintf("%s %s %s %s %s", s.id, s.sequences, s.page, s.from.Day, s.to.Day)
	}
	if s.page == "" {
		p.id = ""
	}
	if err := c.addPage(p, key); err != nil {
		return err
	}
	if s.id != "" && len(a.Statements) < reconcile.MaxReferences {
		a.Statements = append(a.Statements, plaintext.Clean(s.id, reconcile.MaxReference))
	}
	if from != reconcile.NoDay && (a.From == reconcile.NoDay || from < a.From) {
		a.From = from
	}
	a.To = max(a.To, to)
	return nil
}

// parseBalances returns the opening and the closing balance; nil for one that is missing. If a bank
// does not write CdtDbtInd, the sign of the amount says it, or else the lines do: only one choice of
// directions may lead from the opening to the closing balance. If they add up to nothing, a balance
// without a direction is unknown. complete means that the lines lead from one to the other.
func (c *camtParser) parseBalances() (opening, closing *int64, complete bool, err error) {
	s := &c.statement
	openings, err := c.possibleBalances(s.opening)
	if err != nil {
		return nil, nil, false, err
	}
	closings, err := c.possibleBalances(s.closing)
	if err != nil {
		return nil, nil, false, err
	}
	found := 0
	for i := range openings {
		for j := range closings {
			if sum, err := money.AddMinor(openings[i], s.sum); err == nil && sum == closings[j] {
				opening, closing = &openings[i], &closings[j]
				found++
			}
		}
	}
	switch {
	case found > 1: // both directions of the same amount
		return nil, nil, true, nil
	case found == 0 && (len(openings) > 1 || len(closings) > 1):
		unclear := s.opening
		if len(openings) < 2 {
			unclear = s.closing
		}
		return nil, nil, false, reconcile.InvalidFile("line %d: the balance %s of the statement %.60q has no CdtDbtInd, and the lines do not show whether it is a credit or a debit",
			unclear.line, unclear.kind, s.id)
	case found == 0:
		return first(openings), first(closings), false, nil
	}
	return opening, closing, true, nil
}

func first(balances []int64) *int64 {
	if len(balances) == 0 {
		return nil
	}
	return &balances[0]
}

// possibleBalances returns what a balance can be: nothing if there is none, and both directions if
// neither CdtDbtInd nor a sign says which.
func (c *camtParser) possibleBalances(b camtBalance) ([]int64, error) {
	if b.kind == "" {
		return nil, nil
	}
	minor, err := c.parseMinor(b.amount, b.currency, "the balance", b.line)
	if err != nil {
		return nil, err
	}
	signed := strings.HasPrefix(b.amount, "-") || strings.HasPrefix(b.amount, "+")
	switch {
	case b.side != "" && b.side != "CRDT" && b.side != "DBIT":
		return nil, reconcile.InvalidFile("line %d: the balance %s is neither CRDT nor DBIT", b.line, b.kind)
	case signed && b.side != "" && (minor < 0) != (b.side == "DBIT") && minor != 0:
		return nil, reconcile.InvalidFile("line %d: the balance %s of %s has a sign that its CdtDbtInd %s contradicts", b.line, b.kind, b.amount, b.side)
	case b.side == "DBIT" && !signed:
		return []int64{-minor}, nil
	case b.side == "" && !signed && minor != 0:
		return []int64{minor, -minor}, nil
	}
	return []int64{minor}, nil
}

// parseEntryAmount parses an amount whose direction is in CdtDbtInd.
func (c *camtParser) parseEntryAmount(subject, text, currency, side string) (int64, error) {
	minor, err := c.parseMinor(text, currency, subject, c.lineNumber())
	switch {
	case err != nil:
		return 0, err
	case strings.HasPrefix(text, "-"):
		return 0, reconcile.InvalidFile("line %d: %q has a sign; CdtDbtInd has the direction", c.lineNumber(), text)
	case side == "DBIT":
		return -minor, nil
	case side != "CRDT":
		return 0, reconcile.InvalidFile("line %d: %s is neither CRDT nor DBIT", c.lineNumber(), subject)
	}
	return minor, nil
}

// parseMinor parses an amount in the currency of the current account. Banks write zeros after the
// minor unit.
func (c *camtParser) parseMinor(text, currency, subject string, line int) (int64, error) {
	if currency != string(c.current.Currency) {
		return 0, currencyMismatch(subject, currency, c.current.Currency)
	}
	minor, err := reconcile.ParseAmount(trimDecimals(text, c.current.Currency), c.current.Currency, '.', 0)
	if err != nil {
		err = reconcile.InvalidFile("line %d: %v", line, errors.New(strings.Replace(err.Error(), trimDecimals(text, c.current.Currency), text, 1)))
	}
	return minor, err
}

// trimDecimals returns an amount with a decimal point without the zeros after the minor unit.
func trimDecimals(text string, currency money.Currency) string {
	whole, fraction, found := strings.Cut(text, ".")
	if !found || len(fraction) <= currency.Decimals() {
		return text
	}
	kept := fraction[:currency.Decimals()] + strings.TrimRight(fraction[currency.Decimals():], "0")
	if kept == "" {
		return whole
	}
	return whole + "." + kept
}
