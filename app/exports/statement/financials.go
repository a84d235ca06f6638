package statement

import (
	"fmt"
	"io"

	"causeway/core/financials"
	"causeway/core/money"
)

// Financials are the financial statements of a platform.
type Financials struct {
	Company Company
	// Issuer is the name of the platform.
	Issuer string
	financials.Report
	// IsFinal: the last month is closed.
	IsFinal bool
}

// statementNames are the titles of the statements.
var statementNames = map[financials.Statement]string{
	financials.BalanceSheet: "Balance sheet", financials.IncomeStatement: "Income statement",
	financials.CashFlow: "Cash flow statement", financials.EquityChanges: "Changes in equity",
}

// TitleOf returns the title of a financial statement.
func TitleOf(s financials.Statement) string { return statementNames[s] }

// FinancialsPDF writes the financial statements as a PDF. The same figures have the same bytes.
func FinancialsPDF(out io.Writer, f Financials) error {
	now := f.Columns[0]
	state := "Provisional: the month is not closed"
	if f.IsFinal {
		state = "Final: the month is closed"
	}
	title := "Financial statements " + now.Period.String()
	d := newPages(title, fmt.Sprintf("From the ledger, in %s at the rates of the end of each month. %s.", f.Functional, state), now.To.End())
	d.title(f.Company, f.Issuer, title)
	d.facts([2]string{"Currency", fmt.Sprintf("%s (%s)", f.Functional, f.Functional.Name())}, [2]string{"State", state})
	for _, s := range financials.Statements() {
		d.financialStatement(f, s)
	}
	if err := d.pdf.Error(); err != nil {
		return fmt.Errorf("create the PDF: %w", err)
	}
	return d.pdf.Output(out)
}

// figureWidth is that of a column of a financial statement.
const figureWidth = 34.0

func (d *document) financialStatement(f Financials, s financials.Statement) {
	d.space(4 * lineHeight)
	d.pdf.Ln(3)
	d.font("B", 12, 20)
	d.pdf.CellFormat(width, 7, statementNames[s], "", 1, "L", false, 0, "")
	d.figureHeaders(f)
	lineWidth := width - figureWidth*float64(len(f.Columns))
	for _, row := range f.Of(s) {
		if d.space(lineHeight + 1) {
			d.figureHeaders(f)
		}
		style := ""
		if row.IsTotal {
			style = "B"
		}
		d.font(style, textSize, 20)
		d.pdf.SetDrawColor(215, 215, 215)
		d.pdf.CellFormat(lineWidth, lineHeight+1, row.Name, "B", 0, "L", false, 0, "")
		for i, c := range f.Columns {
			text := ""
			if c.IsKnown {
				text = money.TotalOf(row.Values[i]).Major(f.Functional)
			}
			d.pdf.CellFormat(figureWidth, lineHeight+1, text, "B", 0, "R", false, 0, "")
		}
		d.pdf.Ln(-1)
	}
}

func (d *document) figureHeaders(f Financials) {
	d.font("B", 8, 90)
	d.pdf.SetDrawColor(60, 60, 60)
	d.pdf.CellFormat(width-figureWidth*float64(len(f.Columns)), 6, "", "B", 0, "L", false, 0, "")
	for _, c := range f.Columns {
		d.pdf.CellFormat(figureWidth, 6, c.Period.String(), "B", 0, "R", false, 0, "")
	}
	d.pdf.Ln(-1)
}

// space begins a page unless something of a height fits on this one, and reports whether it did.
func (d *document) space(height float64) bool {
	_, pageHeight := d.pdf.GetPageSize()
	if d.pdf.GetY()+height <= pageHeight-bottom {
		return false
	}
	d.pdf.AddPage()
	return true
}
