package books

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"causeway/core/fault"
	"causeway/core/money"
	"causeway/ledger"
)

// MaxOpeningLines is the maximum number of lines of a file of opening balances.
const MaxOpeningLines = 100_000

// OpeningColumns are the columns of a file of opening balances. A file may omit gl_code.
var OpeningColumns = []string{"account", "currency", "debit", "credit", "gl_code"}

// OpeningLine is the balance of an account in earlier books.
type OpeningLine struct {
	Row      int // in the file, from 1 for the header
	Path     string
	Currency money.Currency
	// Minor is the balance: a debit above zero, a credit below.
	Minor int64
	// GLCode, if given, must be the code of the account in the general ledger.
	GLCode string
}

// ParseOpeningRows returns the lines in the rows of a CSV file, whose first row is the header, or INVALID_INPUT
// with the rows that cannot be read. Amounts are in major units. Lines without an amount are left out.
func ParseOpeningRows(rows [][]string) ([]OpeningLine, error) {
	rows = withoutBlankEnd(rows)
	columns, err := parseHeader(rows, OpeningColumns, "gl_code")
	if err != nil {
		return nil, err
	}
	var lines []OpeningLine
	var bad []fault.Field
	for i, row := range rows[1:] {
		line := OpeningLine{Row: i + 2}
		if len(row) != len(rows[0]) {
			bad = append(bad, rowField(line.Row, "", "must have %d values, as the header, not %d", len(rows[0]), len(row)))
			continue
		}
		line.Path, line.Currency, line.GLCode = columns.cell(row, "account"), money.Currency(columns.cell(row, "currency")),
			columns.cell(row, "gl_code")
		if !line.Currency.Known() {
			bad = append(bad, rowField(line.Row, "currency", "must be a currency that the service knows, such as USD"))
			continue
		}
		var sides [2]int64
		for side, name := range []string{"debit", "credit"} {
			minor, err := parseMajor(columns.cell(row, name), line.Currency)
			if err != nil {
				bad = append(bad, rowField(line.Row, name, "%v", err))
			}
			sides[side] = minor
		}
		if sides[0] != 0 && sides[1] != 0 {
			bad = append(bad, rowField(line.Row, "", "must have a debit or a credit, not both"))
		}
		if line.Minor = sides[0] - sides[1]; line.Minor != 0 {
			lines = append(lines, line)
		}
	}
	if len(bad) > 0 {
		return nil, invalidRows(bad)
	}
	return lines, nil
}

// parseMajor parses an amount in major units of a currency, such as 1234.5; empty is zero.
func parseMajor(text string, currency money.Currency) (int64, error) {
	wrong := fmt.Errorf("must be an amount in %s without sign and thousands separators, such as %s, not %.40q", currency,
		money.TotalOf(123456).Major(currency), text)
	if text == "" {
		return 0, nil
	}
	whole, fraction, hasPoint := strings.Cut(text, ".")
	fraction = strings.TrimRight(fraction, "0")
	if whole == "" || hasPoint && strings.HasSuffix(text, ".") || len(fraction) > currency.Decimals() {
		return 0, wrong
	}
	var minor int64
	for _, digit := range []byte(whole + fraction + strings.Repeat("0", currency.Decimals()-len(fraction))) {
		if digit < '0' || digit > '9' {
			return 0, wrong
		}
		if minor > (math.MaxInt64-9)/10 {
			return 0, fmt.Errorf("must be at most %s", money.TotalOf(ledger.MaxAmount).Major(currency))
		}
		minor = 10*minor + int64(digit-'0')
	}
	if minor > ledger.MaxAmount {
		return 0, fmt.Errorf("must be at most %s", money.TotalOf(ledger.MaxAmount).Major(currency))
	}
	return minor, nil
}

// OpeningBalances are the balances of earlier books in one currency, which were checked.
type OpeningBalances struct {
	Currency money.Currency
	Lines    []OpeningLine
	// Debits and Credits are the sums of the lines. Difference is debits minus credits, which
	// equity/brought-forward is left with.
	Debits, Credits, Difference money.Total
}

// Balances returns the balances as the ledger posts them.
func (b OpeningBalances) Balances() []ledger.OpeningBalance {
	balances := make([]ledger.OpeningBalance, len(b.Lines))
	for i, l := range b.Lines {
		balances[i] = ledger.OpeningBalance{Path: l.Path, Minor: l.Minor}
	}
	return balances
}

// OpeningChecks is what the lines of opening balances are checked against.
type OpeningChecks struct {
	Added   AddedAccounts
	Mapping Mapping
	// AgainstBroughtForward accepts currencies whose debits differ from their credits: the difference is left at
	// equity/brought-forward.
	AgainstBroughtForward bool
}

// CheckOpening returns the lines by currency, in the order of the codes, or INVALID_INPUT with the lines that are
// wrong, and with the difference of every currency that does not balance.
func CheckOpening(lines []OpeningLine, checks OpeningChecks) ([]OpeningBalances, error) {
	var bad []fault.Field
	if len(lines) == 0 {
		return nil, fault.Invalid(fault.Field{Field: "file", Message: "has no line with an amount"})
	}
	rows, byCurrency := map[ledger.Account]int{}, map[money.Currency]*OpeningBalances{}
	for _, line := range lines {
		account := ledger.Account{Path: line.Path, Currency: line.Currency}
		if problem := checks.problem(line); problem != "" {
			bad = append(bad, rowField(line.Row, "account", "%s", problem))
		} else if first, repeated := rows[account]; repeated {
			bad = append(bad, rowField(line.Row, "account", "is in row %d too, in the same currency", first))
		} else if code := checks.Mapping.Resolve(line.Path, line.Currency).Code; line.GLCode != "" && line.GLCode != code {
			bad = append(bad, rowField(line.Row, "gl_code", "must be %s, the code of %s in %s by the mapping of the platform, or empty", code,
				line.Path, line.Currency))
		}
		rows[account] = line.Row
		b := byCurrency[line.Currency]
		if b == nil {
			b = &OpeningBalances{Currency: line.Currency}
			byCurrency[line.Currency] = b
		}
		b.add(line)
	}
	var checked []OpeningBalances
	for _, currency := range money.Currencies() {
		b := byCurrency[currency]
		if b == nil {
			continue
		}
		if len(b.Lines) > ledger.MaxOpeningBalances {
			bad = append(bad, fault.Field{Field: "file", Message: fmt.Sprintf("must have at most %d lines in a currency; %s has %d",
				ledger.MaxOpeningBalances, currency, len(b.Lines))})
		}
		if b.Difference.Sign() != 0 && !checks.AgainstBroughtForward {
			bad = append(bad, fault.Field{Field: string(currency), Message: fmt.Sprintf("has debits of %s and credits of %s, which differ by %s; "+
				"correct the file, or leave the difference at %s",
				b.Debits.Major(currency), b.Credits.Major(currency), b.Difference.Major(currency), ledger.EquityBroughtForward)})
		}
		if len(b.Balances()) == 1 && b.Lines[0].Path == ledger.EquityBroughtForward {
			bad = append(bad, rowField(b.Lines[0].Row, "account", "cannot be the only account in its currency"))
		}
		checked = append(checked, *b)
	}
	if len(bad) > 0 {
		return nil, invalidRows(bad)
	}
	return checked, nil
}

func (b *OpeningBalances) add(line OpeningLine) {
	b.Lines = append(b.Lines, line)
	if line.Minor > 0 {
		b.Debits = b.Debits.Add(money.TotalOf(line.Minor))
	} else {
		b.Credits = b.Credits.Sub(money.TotalOf(line.Minor))
	}
	b.Difference = b.Debits.Sub(b.Credits)
}

// problem returns why an account cannot have an opening balance, or nothing.
func (c OpeningChecks) problem(line OpeningLine) string {
	found, err := ledger.FindChartLine(line.Path)
	switch {
	case err != nil:
		return "must be an account of the chart of accounts, such as rails/RTP"
	case line.Path == ledger.TransitInternal:
		return "is always zero"
	case line.Path == ledger.FXValuation:
		return "is posted by the revaluation of a month only; import the position as fx/position, and the earlier result as " +
			ledger.EquityRetainedEarnings
	case ledger.IsCustomerReceivable(line.Path):
		return "changes only with a receivable: use an account of your own, such as asset/earlier-receivables"
	case found.NoOverdraft && line.Minor > 0:
		return "must have a credit balance: it cannot be overdrawn"
	}
	return c.Added.Check(line.Path)
}

// OpeningMemo is the memo of opening balances as of a day.
func OpeningMemo(day time.Time) string { return "Opening balances as of " + day.Format(time.DateOnly) }

// OpeningMoment returns when the balances at the end of a day take effect: at its last microsecond (UTC).
func OpeningMoment(day time.Time) time.Time {
	return time.Date(day.Year(), day.Month(), day.Day()+1, 0, 0, 0, 0, time.UTC).Add(-time.Microsecond)
}

// OpeningPaths returns the paths of lines that are those of accounts that finance adds, each once.
func OpeningPaths(lines []OpeningLine) []string {
	var paths []string
	for _, l := range lines {
		if ledger.IsAdded(l.Path) {
			paths = append(paths, l.Path)
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}
