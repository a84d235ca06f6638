package statements

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"strconv"
	"strings"

	"causeway/core/formats/textfile"
	"causeway/core/money"
	"causeway/core/plaintext"
	"causeway/core/reconcile"
)

// readBAI2 reads a balance report in BAI2, the format of banks in the United States. Its control
// totals and record counts must match, which shows that it is complete.
func readBAI2(r io.Reader, builder statementBuilder) ([]reconcile.Statement, error) {
	b := &bai2Parser{statementBuilder: builder, accountText: sha256.New()}
	text, _ := textfile.DecodeUnicode(r)
	lines := bufio.NewScanner(text)
	lines.Buffer(make([]byte, 0, 4096), maxLineBytes)
	for lines.Scan() {
		b.lineNumber++
		// Some banks end the file with the end-of-file character of DOS.
		line := strings.TrimRight(lines.Text(), " \r\x1a")
		if line == "" {
			continue
		}
		if err := b.addPhysicalRecord(line); err != nil {
			return nil, b.wrapError(err)
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return nil, reconcile.InvalidFile("has a line of more than %d bytes", maxLineBytes)
	}
	if err := b.parseLogicalRecord(); err != nil {
		return nil, b.wrapError(err)
	}
	switch {
	case b.lineNumber == 0:
		return nil, reconcile.InvalidFile("is empty")
	case !b.ended:
		return nil, reconcile.InvalidFile("ends too early, in line %d: it is truncated", b.lineNumber)
	}
	statements, err := b.finish()
	for i := range statements {
		statements[i].Created = b.created.Start()
		if b.fileID != "" {
			statements[i].Statements = []string{b.fileID}
		}
	}
	return statements, err
}

// bai2Parser is the state of reading a file.
type bai2Parser struct {
	statementBuilder
	lineNumber  int
	record      string // current logical record with its continuations; empty for none
	recordStart int    // its first line
	recordLines int64  // its number of lines
	started     bool
	ended       bool
	inGroup     bool
	inAccount   bool

	created          reconcile.Day
	fileID           string
	day              reconcile.Day // of the group
	groupCurrency    string
	opening, closing *int64
	sum              int64
	movements        int
	accountText      hash.Hash // of the records of the account

	// Expected values of the trailers: sums of the amounts as written, and counts of physical
	// records.
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

// recordError is an error in a record.
type recordError string

func (m recordError) Error() string { return string(m) }

func recordErrorf(format string, args ...any) error { return recordError(fmt.Sprintf(format, args...)) }

// addPhysicalRecord adds a line: the start or a continuation of a logical record.
func (b *bai2Parser) addPhysicalRecord(line string) error {
	if len(line) < 3 || line[2] != ',' && line[2] != '/' {
		b.recordStart = b.lineNumber
		return recordErrorf("%.40q is not a record", line)
	}
	if line[:2] == "88" {
		if b.record == "" {
			b.recordStart = b.lineNumber
			return recordErrorf("a continuation without a record")
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

// parseLogicalRecord parses a record with all its continuations.
func (b *bai2Parser) parseLogicalRecord() error {
	if b.record == "" {
		return nil
	}
	fields := strings.Split(strings.TrimSuffix(b.record, "/"), ",")
	code := fields[0]
	if code == "03" {
		b.accountText.Reset()
		fmt.Fprintln(b.accountText, b.day)
	}
	fmt.Fprintln(b.accountText, b.record)
	b.record = ""
	switch {
	case b.ended:
		return recordErrorf("the file continues after its end")
	case b.started == (code == "01"):
		return recordErrorf("the file must begin with exactly one record 01; this is not a BAI2 file")
	case code == "02":
		b.groupControl = controlTotals{}
	case code == "03":
		b.accountControl = controlTotals{}
	}
	for _, c := range []*controlTotals{&b.accountControl, &b.groupControl, &b.fileControl} {
		c.records += b.recordLines
	}
	field := func(i int) string {
		if i < len(fields) {
			return strings.TrimSpace(fields[i])
		}
		return ""
	}
	switch code {
	case "01":
		return b.beginFile(field)
	case "02":
		return b.beginGroup(field)
	case "03":
		return b.beginAccountRecord(fields, field)
	case "16":
		return b.parseTransactionDetail(fields, field)
	case "49":
		return b.endAccount(field)
	case "98":
		return b.endGroup(field)
	case "99":
		return b.endFile(field)
	}
	return recordErrorf("%.10q is not a record type", code)
}

func (b *bai2Parser) beginFile(field func(int) string) (err error) {
	b.started = true
	if field(8) != "2" {
		return recordErrorf("the version is %.10q, not 2", field(8))
	}
	b.created, err = parseBAI2Date(field(3))
	if id := field(5); id != "" {
		b.fileID = plaintext.Clean(field(3)+"-"+id, reconcile.MaxReference)
	}
	return err
}

func (b *bai2Parser) beginGroup(field func(int) string) (err error) {
	if b.inGroup {
		return recordErrorf("a group within a group")
	}
	switch field(3) {
	case "2":
		return recordErrorf("the group deletes an earlier one (status 2), which is not supported: a statement is final once imported")
	case "4":
		return recordErrorf("the group is a test (status 4), not a statement")
	}
	b.inGroup, b.groupCurrency = true, field(6)
	if b.day, err = parseBAI2Date(field(4)); err != nil {
		return err
	}
	return nil
}

// beginAccountRecord parses an account with its balances, each with type, amount, count and funds type.
func (b *bai2Parser) beginAccountRecord(fields []string, field func(int) string) error {
	if !b.inGroup || b.inAccount {
		return recordErrorf("an account outside of a group or inside another account")
	}
	b.inAccount, b.opening, b.closing, b.sum, b.movements = true, nil, nil, 0, 0
	if err := b.beginAccount(field(1), cmp.Or(field(2), b.groupCurrency, string(money.USD))); err != nil {
		return err
	}
	if a := b.current; a.From == reconcile.NoDay || b.day < a.From {
		a.From = b.day
	}
	b.current.To = max(b.current.To, b.day)
	for i := 3; i < len(fields); {
		kind, written := field(i), field(i+1)
		if written != "" {
			amount, err := strconv.ParseInt(written, 10, 64)
			if err != nil || amount > money.MaxMinor || amount < -money.MaxMinor {
				return recordErrorf("%.40q is not an amount", written)
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
		next, _, err := b.parseFundsType(i+3, field)
		if err != nil {
			return err
		}
		i = next
	}
	return nil
}

// parseTransactionDetail parses a movement: type, amount, funds type, bank and customer reference,
// and text.
func (b *bai2Parser) parseTransactionDetail(fields []string, field func(int) string) error {
	if !b.inAccount {
		return recordErrorf("a movement outside of an account")
	}
	kind, err := strconv.Atoi(field(1))
	if err != nil || len(field(1)) != 3 {
		return recordErrorf("%.10q is not a movement type", field(1))
	}
	var amount int64
	if field(2) != "" {
		if amount, err = strconv.ParseInt(field(2), 10, 64); err != nil || amount < 0 || amount > money.MaxMinor {
			return recordErrorf("%.40q is not an amount", field(2))
		}
	}
	if err := b.accountControl.add(amount); err != nil {
		return err
	}
	next, value, err := b.parseFundsType(3, field)
	if err != nil {
		return err
	}
	l := reconcile.Line{Booked: b.day, Value: value, ServicerReference: field(next), Amount: amount}
	if value == reconcile.NoDay {
		l.Value = b.day
	}
	switch {
	case kind >= 101 && kind <= 399, kind >= 900 && kind <= 919:
	case kind >= 401 && kind <= 699, kind >= 920 && kind <= 959:
		l.Amount = -amount
	case kind == 890 && amount == 0: // information without a movement
	default:
		return recordErrorf("movements of type %d are neither debit nor credit", kind)
	}
	switch kind {
	case 255, 257, 258, 555, 557, 558: // returned and reversed items
		l.Returned = true
	}
	addReference(&l, field(next+1))
	if next+2 < len(fields) {
		l.Description = strings.Join(fields[next+2:], ",")
	}
	if b.sum, err = money.AddMinor(b.sum, l.Amount); err != nil {
		return sumTooLargeError()
	}
	b.movements++
	return b.addLine(l)
}

// parseFundsType skips the funds type and returns its value date if it has one.
func (b *bai2Parser) parseFundsType(i int, field func(int) string) (next int, value reconcile.Day, err error) {
	switch kind := field(i); kind {
	case "", "Z", "0", "1", "2":
		return i + 1, reconcile.NoDay, nil
	case "V":
		if field(i+1) != "" {
			value, err = parseBAI2Date(field(i + 1))
		}
		return i + 3, value, err
	case "S":
		return i + 4, reconcile.NoDay, nil
	case "D":
		n, err := strconv.Atoi(field(i + 1))
		if err != nil || n < 0 || n > 100 {
			return 0, reconcile.NoDay, recordErrorf("%.10q is not a number of days", field(i+1))
		}
		return i + 2 + 2*n, reconcile.NoDay, nil
	default:
		return 0, reconcile.NoDay, recordErrorf("%.10q is not a funds type", kind)
	}
}

func (b *bai2Parser) endAccount(field func(int) string) error {
	if !b.inAccount {
		return recordErrorf("an account trailer without an account")
	}
	b.inAccount = false
	if err := b.accountControl.checkTrailer("account", field(1), field(2)); err != nil {
		return err
	}
	if err := b.groupControl.add(b.accountControl.total); err != nil {
		return err
	}
	p := page{name: fmt.Sprintf("the statement of account %.60q on %s", b.current.PartnerAccount, b.day), day: b.day, opening: b.opening,
		closing: b.closing, sum: b.sum}
	var key string
	if b.movements > 0 {
		key = string(b.accountText.Sum(nil))
	}
	return b.addPage(p, key)
}

func (b *bai2Parser) endGroup(field func(int) string) error {
	if !b.inGroup || b.inAccount {
		return recordErrorf("a group trailer without a group, or inside an account")
	}
	b.inGroup = false
	if err := b.groupControl.checkTrailer("group", field(1), field(3)); err != nil {
		return err
	}
	return b.fileControl.add(b.groupControl.total)
}

func (b *bai2Parser) endFile(field func(int) string) error {
	if b.inGroup {
		return recordErrorf("a file trailer inside a group")
	}
	b.ended = true
	return b.fileControl.checkTrailer("file", field(1), field(3))
}

func (c *controlTotals) add(amount int64) error {
	sum, err := money.AddMinor(c.total, amount)
	if err != nil {
		return recordErrorf("the amounts add up to more than the maximum amount")
	}
	c.total = sum
	return nil
}

// checkTrailer compares a trailer with what was read.
func (c controlTotals) checkTrailer(subject, total, records string) error {
	if n, err := strconv.ParseInt(total, 10, 64); err != nil || n != c.total {
		return recordErrorf("the control total of the %s is %.30q, and its amounts add up to %d: it is incomplete", subject, total, c.total)
	}
	if n, err := strconv.ParseInt(records, 10, 64); err != nil || n != c.records {
		return recordErrorf("the %s should have %.30q records, and has %d: it is incomplete", subject, records, c.records)
	}
	return nil
}

// parseBAI2Date parses a date of the form YYMMDD in this century.
func parseBAI2Date(text string) (reconcile.Day, error) {
	n, err := strconv.Atoi(text)
	if err != nil || len(text) != 6 || n < 0 {
		return reconcile.NoDay, recordErrorf("%.20q is not a date of the form YYMMDD", text)
	}
	day, ok := reconcile.Date(2000+n/10000, n/100%100, n%100)
	if !ok {
		return reconcile.NoDay, recordErrorf("%.20q is not a date of the form YYMMDD", text)
	}
	return day, nil
}
