package statements

import (
	"regexp"
	"strconv"
	"strings"

	"causeway/core/money"
	"causeway/core/plaintext"
	"causeway/core/reconcile"
)

// mt940Number is the content of :28C:, the number of a statement and of its page.
type mt940Number struct {
	statement string
	sequence  int // from 1; 0 if it has none
}

// String returns the number as in "84/1".
func (n mt940Number) String() string {
	if n.sequence == 0 {
		return n.statement
	}
	return n.statement + "/" + strconv.Itoa(n.sequence)
}

// follows reports whether the page is the next after another. Banks that do not number pages have
// only the balances to show it.
func (n mt940Number) follows(before mt940Number) bool {
	return n.statement == before.statement && (n.sequence == 0 || before.sequence == 0 || n.sequence == before.sequence+1)
}

// parseMT940Number parses a number of the form 5n[/5n]. Some banks write more behind it, or the page
// alone.
func parseMT940Number(f mt940Field) (n mt940Number, err error) {
	text := strings.TrimSpace(f.texts[0])
	statement, rest, hasPage := strings.Cut(text, "/")
	if n.statement = plaintext.Clean(statement, reconcile.MaxReference); strings.Trim(statement, "0123456789") != "" ||
		statement == "" && !hasPage {
		return n, f.errorf(0, "%.40q is not a statement number", text)
	}
	sequence, _, _ := strings.Cut(rest, "/")
	if sequence = strings.TrimSpace(sequence); sequence == "" {
		return n, nil
	}
	if n.sequence, err = strconv.Atoi(sequence); err != nil || n.sequence < 0 {
		return n, f.errorf(len(statement)+1, "%.40q is not a page number", sequence)
	}
	return n, nil
}

// mt940Balance is the content of :60a:, :62a:, :64: and :65:.
type mt940Balance struct {
	day    reconcile.Day // NoDay for the zeros that some banks write before the first statement
	amount int64
}

var balanceSyntax = regexp.MustCompile(`^([CD])([0-9]{6})([A-Z]{3})(.*)$`)

// parseBalanceCurrency returns the currency of a balance as written.
func parseBalanceCurrency(f mt940Field) (string, error) {
	parts := balanceSyntax.FindStringSubmatch(strings.TrimSpace(f.texts[0]))
	if parts == nil {
		return "", f.errorf(0, "%.40q is not a balance: C or D, a date of the form YYMMDD, a currency and an amount with a decimal comma",
			f.texts[0])
	}
	return parts[3], nil
}

// parseBalance parses a balance in the currency of the current account.
func (m *mt940Parser) parseBalance(f mt940Field) (b mt940Balance, err error) {
	currency, err := parseBalanceCurrency(f)
	if err != nil {
		return b, err
	}
	parts := balanceSyntax.FindStringSubmatch(strings.TrimSpace(f.texts[0]))
	if currency != string(m.current.Currency) {
		return b, f.errorf(7, "is in %q, and the account is in %s", currency, m.current.Currency)
	}
	if b.day, err = parseBAI2Date(parts[2]); err != nil && strings.Trim(parts[2], "0") != "" { // zeros: the first statement of an account
		return b, f.errorf(1, "%v", err)
	}
	if b.amount, err = parseMT940Amount(parts[4], m.current.Currency); err != nil {
		return b, f.errorf(10, "%v", err)
	}
	if parts[1] == "D" {
		b.amount = -b.amount
	}
	return b, nil
}

// parseMT940Amount parses an amount without a sign, with a comma before its decimals or at its end.
func parseMT940Amount(text string, currency money.Currency) (int64, error) {
	whole, fraction, hasComma := strings.Cut(text, ",")
	if !hasComma && strings.Trim(text, "0") != "" || strings.Trim(whole+fraction, "0123456789") != "" || whole == "" && fraction == "" {
		return 0, recordErrorf("%.40q is not an amount with a decimal comma, as 1234,50", text)
	}
	if whole == "" {
		whole = "0"
	}
	return reconcile.ParseAmount(trimDecimals(strings.TrimSuffix(whole+"."+fraction, "."), currency), currency, '.', 0)
}

// A statement line: value date, entry date, direction, funds code, amount, type of transaction,
// reference of the account owner and, after //, of the bank. Some banks have shorter types, or none, and
// four blanks for no entry date.
var statementLineSyntax = regexp.MustCompile(
	`^([0-9]{6})([0-9]{4}|    )?(R?[CD])([A-Z])?([0-9,.]+)(NONREF.*|//.*)?(?: ?[A-Z]([A-Z0-9 ]{3})(.*))?$`)

// ownerReferenceLength is the length of the reference of the account owner. Some banks fill it with
// spaces and write a name behind it.
const ownerReferenceLength = 16

// beginMovement parses a statement line, with supplementary details in its second line.
func (m *mt940Parser) beginMovement(f mt940Field) error {
	match := statementLineSyntax.FindStringSubmatchIndex(f.texts[0])
	if match == nil {
		return statementLineError(f)
	}
	part := func(i int) string {
		if match[2*i] < 0 {
			return ""
		}
		return f.texts[0][match[2*i]:match[2*i+1]]
	}
	var l reconcile.Line
	var err error
	if l.Value, err = parseValueDate(part(1)); err != nil {
		return f.errorf(0, "value date: %v", err)
	}
	if strings.TrimSpace(part(2)) != "" {
		var ok bool
		if l.Booked, ok = entryDate(l.Value, part(2)); !ok {
			return f.errorf(match[4], "entry date: %q is not a date of the form MMDD", part(2))
		}
	}
	amount := part(5)
	if isDigits(amount) { // whole units, as the balances show
		amount += ","
	}
	if l.Amount, err = parseMT940Amount(amount, m.current.Currency); err != nil {
		return f.errorf(match[10], "amount: %v", err)
	}
	switch part(3) {
	case "D":
		l.Amount = -l.Amount
	case "RC":
		l.Amount, l.Returned = -l.Amount, true
	case "RD":
		l.Returned = true
	}
	if part(7) == "RTI" { // returned item
		l.Returned = true
	}
	if m.sum, err = money.AddMinor(m.sum, l.Amount); err != nil {
		return sumTooLargeError()
	}
	owner, bank, _ := strings.Cut(part(6)+part(8), "//")
	var name string
	if len(owner) > ownerReferenceLength && owner[ownerReferenceLength-1] == ' ' {
		owner, name = owner[:ownerReferenceLength], strings.TrimSpace(owner[ownerReferenceLength:])
	}
	if bank = strings.TrimSpace(bank); isMT940Reference(bank) {
		l.ServicerReference = bank
	}
	if isMT940Reference(owner) {
		addReference(&l, owner)
	}
	l.Description = strings.TrimSpace(name + " " + strings.Join(f.texts[1:], " "))
	m.movements++
	m.movement = &l
	return nil
}

// statementLineError returns the error for a statement line, with the first part that is wrong.
func statementLineError(f mt940Field) error {
	offset := 0
	for _, part := range []struct{ syntax, message string }{
		{`^[0-9]{6}`, "is not a value date of the form YYMMDD"},
		{`^([0-9]{4})?R?[CD]`, "is not a direction: C, D, RC or RD after the dates"},
		{`^[A-Z]?[0-9,.]+`, "is not an amount with a decimal comma, as 1234,50"},
		{`^ ?[A-Z][A-Z0-9 ]{3}`, "is not a type of transaction: a letter and three letters or digits, as NTRF"},
	} {
		found := regexp.MustCompile(part.syntax).FindString(f.texts[0][offset:])
		if found == "" {
			return f.errorf(offset, "%.20q %s", f.texts[0][offset:], part.message)
		}
		offset += len(found)
	}
	return f.errorf(0, "%.60q is not a statement line", f.texts[0])
}

// entryDate returns the day of the form MMDD that is nearest to a value date: the two may be in
// different years.
func entryDate(value reconcile.Day, text string) (nearest reconcile.Day, ok bool) {
	n, _ := strconv.Atoi(text)
	year := value.Start().Year()
	distance := func(d reconcile.Day) reconcile.Day { return max(d-value, value-d) }
	for y := year - 1; y <= year+1; y++ {
		if d, exists := reconcile.Date(y, n/100, n%100); exists && (!ok || distance(d) < distance(nearest)) {
			nearest, ok = d, true
		}
	}
	return nearest, ok
}

// isMT940Reference reports whether a reference is more than what SWIFT and banks write for none, or
// for one that is in :86:.
func isMT940Reference(text string) bool {
	switch text = strings.TrimSpace(text); strings.TrimSuffix(text, "+") {
	case "NONREF", "NOTPROVIDED", "EREF", "KREF", "MREF", "BREF", "RREF", "PREF", "IREF", "MARF":
		return false
	}
	return strings.Trim(text, "0") != ""
}

// parseValueDate parses a value date. Banks that count 30 days a month write 30 February, and 29 in
// every year: the last day of that month.
func parseValueDate(text string) (reconcile.Day, error) {
	day, err := parseBAI2Date(text)
	if err != nil && (strings.HasSuffix(text, "0229") || strings.HasSuffix(text, "0230")) {
		if march, err := parseBAI2Date(text[:2] + "0301"); err == nil {
			return march - 1, nil
		}
	}
	return day, err
}

var ibanSyntax = regexp.MustCompile(`^[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}$`)

// partnerAccount returns the account of :25:, as written or, if it is in it, its IBAN alone: some
// banks write their code before it and the currency after it.
func partnerAccount(text, currency string) string {
	text = strings.TrimPrefix(text, "/")
	last := strings.ReplaceAll(text[strings.LastIndexByte(text, '/')+1:], " ", "")
	for _, candidate := range []string{last, strings.TrimSuffix(last, currency)} {
		if isIBAN(candidate) {
			return candidate
		}
	}
	return text
}

// isIBAN reports whether a text is an IBAN with valid check digits, by ISO 13616.
func isIBAN(text string) bool {
	if !ibanSyntax.MatchString(text) {
		return false
	}
	remainder := 0
	for _, c := range []byte(text[4:] + text[:4]) {
		if c >= 'A' {
			remainder = (remainder*100 + int(c-'A') + 10) % 97
		} else {
			remainder = (remainder*10 + int(c-'0')) % 97
		}
	}
	return remainder == 1
}
