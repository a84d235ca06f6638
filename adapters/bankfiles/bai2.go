package bankfiles

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"causeway/core/money"
	"causeway/core/reconcile"
)

// readBAI2 reads a balance report of version 2, as banks in the United States send it.
// Its control totals and counts of records must be right: they tell whether it is whole.
func readBAI2(r io.Reader, currency money.Currency) (reconcile.Statement, error) {
	b := &bai2Parser{statementBuilder: statementBuilder{currency: currency}}
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 4096), maxLineBytes)
	for lines.Scan() {
		b.lineNumber++
		line := strings.TrimRight(lines.Text(), " \r")
		if line == "" {
			continue
		}
		if err := b.addPhysicalRecord(line); err != nil {
			return reconcile.Statement{}, b.wrapError(err)
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return reconcile.Statement{}, reconcile.InvalidFile("has a line of more than %d bytes", maxLineBytes)
	}
	if err := b.parseLogicalRecord(); err != nil {
		return reconcile.Statement{}, b.wrapError(err)
	}
	switch {
	case b.lineNumber == 0:
		return reconcile.Statement{}, reconcile.InvalidFile("is empty")
	case !b.ended:
		return reconcile.Statement{}, reconcile.InvalidFile("ends too early, in line %d: it is cut off", b.lineNumber)
	}
	return b.Statement, nil
}

// bai2Parser is a file that is being read.
type bai2Parser struct {
	statementBuilder
	lineNumber  int
	record      string // with all its continuations; empty for none
	recordStart int    // the row where it begins
	recordLines int64  // that it takes
	started     bool
	ended       bool
	inGroup     bool
	inAccount   bool // an account

	day                            reconcile.Day
	groupCurrency, accountCurrency string
	opening, closing               *int64
	sum                            int64

	// What the trailers must say: the sums of the amounts as they are written, and the
	// counts of physical records.
	accountControl, groupControl, fileControl controlTotals
}

type controlTotals struct{ total, records int64 }

func (b *bai2Parser) wrapError(err error) error {
	var plain recordError
	if errors.As(err, &plain) {
		return reconcile.InvalidFile("line %d: %s", b.recordStart, string(plain))
	}
	return err
}

// recordError is what is wrong with a record.
type recordError string

func (m recordError) Error() string { return string(m) }

func recordErrorf(format string, args ...any) error { return recordError(fmt.Sprintf(format, args...)) }

// addPhysicalRecord takes a row: the beginning of a record, or more of one.
func (b *bai2Parser) addPhysicalRecord(line string) error {
	if len(line) < 3 || line[2] != ',' && line[2] != '/' {
		b.recordStart = b.lineNumber
		return recordErrorf("%.40q is no record", line)
	}
	if line[:2] == "88" {
		if b.record == "" {
			b.recordStart = b.lineNumber
			return recordErrorf("there is nothing to continue")
		}
		b.recordLines++
		if b.record = strings.TrimSuffix(b.record, "/") + line[2:]; len(b.record) > maxLineBytes {
			return recordErrorf("the record has more than %d bytes", maxLineBytes)
		}
		return nil
	}
	if err := b.parseLogicalRecord(); err != nil {
		return err
	}
	b.record, b.recordStart, b.recordLines = line, b.lineNumber, 1
	return nil
}

// parseLogicalRecord takes a record with all its continuations.
func (b *bai2Parser) parseLogicalRecord() error {
	if b.record == "" {
		return nil
	}
	fields := strings.Split(strings.TrimSuffix(b.record, "/"), ",")
	b.record = ""
	code := fields[0]
	switch {
	case b.ended:
		return recordErrorf("the file goes on after its end")
	case b.started == (code == "01"):
		return recordErrorf("a file begins with one record 01, and this one does not: it is no BAI2 file")
	case code == "02":
		b.groupControl = controlTotals{}
	case code == "03":
		b.accountControl = controlTotals{}
	}
	for _, c := range []*controlTotals{&b.accountControl, &b.groupControl, &b.fileControl} {
		c.records += b.recordLines
	}
	at := func(i int) string {
		if i < len(fields) {
			return strings.TrimSpace(fields[i])
		}
		return ""
	}
	switch code {
	case "01":
		return b.beginFile(at)
	case "02":
		return b.beginGroup(at)
	case "03":
		return b.beginAccount(fields, at)
	case "16":
		return b.parseTransactionDetail(fields, at)
	case "49":
		return b.endAccount(at)
	case "98":
		return b.endGroup(at)
	case "99":
		return b.endFile(at)
	}
	return recordErrorf("there is no record %.10q", code)
}

func (b *bai2Parser) beginFile(at func(int) string) (err error) {
	b.started = true
	if at(8) != "2" {
		return recordErrorf("the version is %.10q, not 2", at(8))
	}
	b.day, err = parseBAI2Date(at(3))
	b.Created = b.day.Start()
	if id := at(5); id != "" {
		b.Statements = append(b.Statements, cleanText(at(3)+"-"+id, reconcile.MaxReference))
	}
	return err
}

func (b *bai2Parser) beginGroup(at func(int) string) (err error) {
	if b.inGroup {
		return recordErrorf("a group within a group")
	}
	b.inGroup, b.groupCurrency = true, at(6)
	if b.day, err = parseBAI2Date(at(4)); err != nil {
		return err
	}
	if b.From == reconcile.NoDay || b.day < b.From {
		b.From = b.day
	}
	b.To = max(b.To, b.day)
	return nil
}

// beginAccount reads an account with its balances: a type, an amount, a count and the
// availability, for each.
func (b *bai2Parser) beginAccount(fields []string, at func(int) string) error {
	if !b.inGroup || b.inAccount {
		return recordErrorf("an account outside of a group, or within another")
	}
	b.inAccount, b.opening, b.closing, b.sum = true, nil, nil, 0
	number := cleanText(at(1), reconcile.MaxReference)
	if b.PartnerAccount != "" && b.PartnerAccount != number {
		return reconcile.InvalidFile("has statements of two accounts, %s and %s; import them one by one", b.PartnerAccount, number)
	}
	b.PartnerAccount = number
	if b.accountCurrency = at(2); b.accountCurrency == "" {
		b.accountCurrency = b.groupCurrency
	}
	if b.accountCurrency == "" {
		b.accountCurrency = string(money.USD)
	}
	if b.accountCurrency != string(b.currency) {
		return currencyMismatch("the statement", b.accountCurrency, b.currency)
	}
	for i := 3; i < len(fields); {
		kind, written := at(i), at(i+1)
		if written != "" {
			amount, err := strconv.ParseInt(written, 10, 64)
			if err != nil || amount > money.MaxMinor || amount < -money.MaxMinor {
				return recordErrorf("%.40q is no amount", written)
			}
			if err := b.accountControl.add(amount); err != nil {
				return err
			}
			switch kind {
			case "010":
				b.opening = &amount
			case "015":
				b.closing = &amount
			}
		}
		next, _, err := b.parseFundsType(i+3, at)
		if err != nil {
			return err
		}
		i = next
	}
	return nil
}

// parseTransactionDetail reads a movement: type, amount, availability, the bank's and the customer's
// reference, and a text.
func (b *bai2Parser) parseTransactionDetail(fields []string, at func(int) string) error {
	if !b.inAccount {
		return recordErrorf("a movement outside of an account")
	}
	kind, err := strconv.Atoi(at(1))
	if err != nil || len(at(1)) != 3 {
		return recordErrorf("%.10q is no type of movement", at(1))
	}
	var amount int64
	if at(2) != "" {
		if amount, err = strconv.ParseInt(at(2), 10, 64); err != nil || amount < 0 || amount > money.MaxMinor {
			return recordErrorf("%.40q is no amount", at(2))
		}
	}
	if err := b.accountControl.add(amount); err != nil {
		return err
	}
	next, value, err := b.parseFundsType(3, at)
	if err != nil {
		return err
	}
	l := reconcile.Line{Booked: b.day, Value: value, ServicerReference: at(next), Amount: amount}
	if value == reconcile.NoDay {
		l.Value = b.day
	}
	switch {
	case kind >= 101 && kind <= 399, kind >= 900 && kind <= 919:
	case kind >= 401 && kind <= 699, kind >= 920 && kind <= 959:
		l.Amount = -amount
	case kind == 890 && amount == 0: // says something, and moves nothing
	default:
		return recordErrorf("movements of type %d say not which way money goes", kind)
	}
	switch kind {
	case 255, 257, 258, 555, 557, 558: // returned and reversed items
		l.Returned = true
	}
	addReference(&l, at(next+1))
	if next+2 < len(fields) {
		l.Description = strings.Join(fields[next+2:], ",")
	}
	if b.sum, err = money.AddMinor(b.sum, l.Amount); err != nil {
		return reconcile.InvalidFile("adds up to more than can be counted")
	}
	return b.addLine(l)
}

// parseFundsType passes over what is said about availability, and finds the value date in it.
func (b *bai2Parser) parseFundsType(i int, at func(int) string) (next int, value reconcile.Day, err error) {
	switch kind := at(i); kind {
	case "", "Z", "0", "1", "2":
		return i + 1, reconcile.NoDay, nil
	case "V":
		if at(i+1) != "" {
			value, err = parseBAI2Date(at(i + 1))
		}
		return i + 3, value, err
	case "S":
		return i + 4, reconcile.NoDay, nil
	case "D":
		n, err := strconv.Atoi(at(i + 1))
		if err != nil || n < 0 || n > 100 {
			return 0, reconcile.NoDay, recordErrorf("%.10q is no count of days", at(i+1))
		}
		return i + 2 + 2*n, reconcile.NoDay, nil
	default:
		return 0, reconcile.NoDay, recordErrorf("there is no availability %.10q", kind)
	}
}

func (b *bai2Parser) endAccount(at func(int) string) error {
	if !b.inAccount {
		return recordErrorf("the end of an account that did not begin")
	}
	b.inAccount = false
	if err := b.accountControl.checkTrailer("account", at(1), at(2)); err != nil {
		return err
	}
	if err := b.groupControl.add(b.accountControl.total); err != nil {
		return err
	}
	return b.endPage(b.PartnerAccount+" of "+b.day.String(), b.opening, b.closing, b.sum)
}

func (b *bai2Parser) endGroup(at func(int) string) error {
	if !b.inGroup || b.inAccount {
		return recordErrorf("the end of a group that did not begin, or whose account did not end")
	}
	b.inGroup = false
	if err := b.groupControl.checkTrailer("group", at(1), at(3)); err != nil {
		return err
	}
	return b.fileControl.add(b.groupControl.total)
}

func (b *bai2Parser) endFile(at func(int) string) error {
	if b.inGroup {
		return recordErrorf("the end of a file whose group did not end")
	}
	b.ended = true
	return b.fileControl.checkTrailer("file", at(1), at(3))
}

func (c *controlTotals) add(amount int64) error {
	sum, err := money.AddMinor(c.total, amount)
	if err != nil {
		return recordErrorf("the amounts add up to more than can be counted")
	}
	c.total = sum
	return nil
}

// checkTrailer holds what a trailer says against what was read.
func (c controlTotals) checkTrailer(of, total, records string) error {
	if n, err := strconv.ParseInt(total, 10, 64); err != nil || n != c.total {
		return recordErrorf("the control total of the %s is %.30q, and its amounts add up to %d: it is not whole", of, total, c.total)
	}
	if n, err := strconv.ParseInt(records, 10, 64); err != nil || n != c.records {
		return recordErrorf("the %s should have %.30q records, and has %d: it is not whole", of, records, c.records)
	}
	return nil
}

// parseBAI2Date reads a day of the form YYMMDD, of this century.
func parseBAI2Date(text string) (reconcile.Day, error) {
	n, err := strconv.Atoi(text)
	if err != nil || len(text) != 6 || n < 0 {
		return reconcile.NoDay, recordErrorf("%.20q is no day of the form YYMMDD", text)
	}
	day, ok := reconcile.Date(2000+n/10000, n/100%100, n%100)
	if !ok {
		return reconcile.NoDay, recordErrorf("%.20q is no day of the form YYMMDD", text)
	}
	return day, nil
}
