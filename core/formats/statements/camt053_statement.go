package statements

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"causeway/core/formats/iso20022"
	"causeway/core/money"
	"causeway/core/plaintext"
	"causeway/core/reconcile"
)

// camtStatement is the statement that is being read.
type camtStatement struct {
	written          *iso20022.WrittenReport
	from, to         camtDay
	account          *accountBuilder // set with the first amount
	opening, closing camtBalance
	sum              int64
	withoutStatus    int // the line of the first entry without a status; 0 if there is none
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

// camtBalance is an opening or closing balance as written.
type camtBalance struct {
	iso20022.WrittenBalance
	day camtDay
}

// balanceTypes are the codes of the opening and the closing balance in BAI2, which banks in North
// America use in camt.053.
var balanceTypes = map[string]string{"010": "OPBD", "015": "CLBD"}

// Balance implements iso20022.StatementVisitor.
func (c *camtParser) Balance(_ *iso20022.WrittenReport, w iso20022.WrittenBalance) error {
	day, err := parseDay(w.At)
	if w.OwnType {
		w.Type = balanceTypes[w.Type]
	}
	switch s := &c.statement; {
	case w.Type == "OPBD", w.Type == "PRCD" && s.opening.Type == "":
		s.opening = camtBalance{w, day}
	case w.Type == "CLBD":
		s.closing = camtBalance{w, day}
	}
	return err
}

// readPeriod reads the days that the statement says it covers.
func (s *camtStatement) readPeriod() (err error) {
	if s.from, err = parseDay(s.written.From); err == nil {
		s.to, err = parseDay(s.written.To)
	}
	return err
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
	if from == to && (saysDays || s.opening.Type == "OPBD" && s.opening.day.Day == closing) {
		return from
	}
	return reconcile.NoDay
}

// beginStatementAccount makes the account of the statement the current one. Without an own currency
// the account has that of the first amount.
func (c *camtParser) beginStatementAccount(firstCurrency string) error {
	s := &c.statement
	if s.account == nil {
		// An amount in another currency than that of the only account says where it is.
		account := s.written.Account
		if err := c.beginAccount(account.ID(), cmp.Or(account.Currency, string(c.currency), firstCurrency)); err != nil {
			return err
		}
		s.account = c.current
	}
	c.current = s.account
	return nil
}

// End implements iso20022.StatementVisitor.
func (c *camtParser) End(w *iso20022.WrittenReport) error {
	s := &c.statement
	firstCurrency := cmp.Or(s.opening.Amount.Currency, s.closing.Amount.Currency)
	if s.account == nil && w.Account.Currency == "" && c.currency == "" && firstCurrency == "" {
		return reconcile.InvalidFile("has the statement %.60q, which does not say its currency", w.ID)
	}
	if err := c.beginStatementAccount(firstCurrency); err != nil {
		return err
	}
	if err := s.readPeriod(); err != nil {
		return err
	}
	a := c.current
	p := page{name: fmt.Sprintf("the statement %.60q of account %.60q", w.ID, a.PartnerAccount), id: w.ID, sum: s.sum}
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
	if w.ID != "" {
		key = fmt.Sprintf("%s %s %s %s %s", w.ID, w.Numbers, w.Page, s.from.Day, s.to.Day)
	}
	if w.Page == "" {
		p.id = ""
	}
	if err := c.addPage(p, key); err != nil {
		return err
	}
	if w.ID != "" && len(a.Statements) < reconcile.MaxReferences {
		a.Statements = append(a.Statements, plaintext.Clean(w.ID, reconcile.MaxReference))
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
		return nil, nil, false, reconcile.InvalidFile("line %d: the balance %s of the statement %.60q has no CdtDbtInd, and the lines do not "+
			"show whether it is a credit or a debit",
			unclear.Line, unclear.Type, s.written.ID)
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
	if b.Type == "" {
		return nil, nil
	}
	minor, err := c.parseMinor(b.Amount, "the balance", b.Line)
	if err != nil {
		return nil, err
	}
	signed := strings.HasPrefix(b.Amount.Digits, "-") || strings.HasPrefix(b.Amount.Digits, "+")
	switch {
	case b.Amount.Side != "" && b.Amount.Side != "CRDT" && b.Amount.Side != "DBIT":
		return nil, reconcile.InvalidFile("line %d: the balance %s is neither CRDT nor DBIT", b.Line, b.Type)
	case signed && b.Amount.Side != "" && (minor < 0) != (b.Amount.Side == "DBIT") && minor != 0:
		return nil, reconcile.InvalidFile("line %d: the balance %s of %s has a sign that its CdtDbtInd %s contradicts", b.Line, b.Type,
			b.Amount.Digits, b.Amount.Side)
	case b.Amount.Side == "DBIT" && !signed:
		return []int64{-minor}, nil
	case b.Amount.Side == "" && !signed && minor != 0:
		return []int64{minor, -minor}, nil
	}
	return []int64{minor}, nil
}

// parseEntryAmount parses an amount whose direction is in CdtDbtInd.
func (c *camtParser) parseEntryAmount(subject string, a iso20022.Stated, line int) (int64, error) {
	minor, err := c.parseMinor(a, subject, line)
	switch {
	case err != nil:
		return 0, err
	case strings.HasPrefix(a.Digits, "-"):
		return 0, reconcile.InvalidFile("line %d: %q has a sign; CdtDbtInd has the direction", line, a.Digits)
	case a.Side == "DBIT":
		return -minor, nil
	case a.Side != "CRDT":
		return 0, reconcile.InvalidFile("line %d: %s is neither CRDT nor DBIT", line, subject)
	}
	return minor, nil
}

// parseMinor parses an amount in the currency of the current account. Banks write zeros after the
// minor unit.
func (c *camtParser) parseMinor(a iso20022.Stated, subject string, line int) (int64, error) {
	if a.Currency != string(c.current.Currency) {
		return 0, currencyMismatch(subject, a.Currency, c.current.Currency)
	}
	text := a.Digits
	minor, err := reconcile.ParseAmount(trimDecimals(text, c.current.Currency), c.current.Currency, '.', 0)
	if err != nil {
		err = reconcile.InvalidFile("line %d: %v", line,
			errors.New(strings.Replace(err.Error(), trimDecimals(text, c.current.Currency), text, 1)))
	}
	return minor, err
}
