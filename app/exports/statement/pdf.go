package statement

import (
	_ "embed" // the fonts
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/go-pdf/fpdf"

	"causeway/app/exports/records"
)

// The fonts are used for the characters in supportedRanges: Latin, Cyrillic and Greek.
//
//go:embed fonts/DejaVuSansCondensed.ttf
var regularFont []byte

//go:embed fonts/DejaVuSansCondensed-Bold.ttf
var boldFont []byte

// MaxPDFMovements is the maximum number of movements in a PDF, which is built in memory.
const MaxPDFMovements = 20_000

// The layout of the A4 page in millimetres.
const (
	margin, top, bottom = 14.0, 16.0, 15.0
	width               = 210 - 2*margin
	dateWidth           = 20.0
	amountWidth         = 36.0
	descriptionWidth    = 46.0
	counterpartyWidth   = width - dateWidth - descriptionWidth - 2*amountWidth
	// Details are below the columns, in smaller letters, so that an id is not broken.
	detailWidth  = width - dateWidth
	lineHeight   = 3.8
	detailHeight = 2.8
	rowGap       = 0.6
	textSize     = 8.0
	detailSize   = 6.5
)

// PDF writes a statement as a PDF. It reads all movements before it writes.
func PDF(out io.Writer, s Summary, movements Movements) error {
	d := newDocument(s)
	d.heading()
	d.table(movements)
	if err := d.pdf.Error(); err != nil {
		return fmt.Errorf("create the PDF: %w", err)
	}
	return d.pdf.Output(out)
}

// document is the PDF of a statement.
type document struct {
	pdf     *fpdf.Fpdf
	summary Summary
}

func newDocument(s Summary) *document {
	d := newPages("Account statement, "+s.periodText(), s.basisText(), s.AsOf)
	d.summary = s
	return d
}

// newPages returns a document with its first page; every page has the basis at its foot.
func newPages(title, basis string, asOf time.Time) *document {
	pdf := fpdf.New("P", "mm", "A4", "")
	// The same statement has the same bytes.
	pdf.SetCatalogSort(true)
	pdf.SetCreationDate(asOf)
	pdf.SetModificationDate(asOf)
	pdf.SetTitle(title, true)
	pdf.SetProducer("Causeway", true)
	pdf.SetLang("en")
	pdf.AddUTF8FontFromBytes("text", "", regularFont)
	pdf.AddUTF8FontFromBytes("text", "B", boldFont)
	pdf.SetMargins(margin, top, margin)
	pdf.SetAutoPageBreak(false, bottom)
	pdf.AliasNbPages("{pages}")
	d := &document{pdf: pdf}
	pdf.SetFooterFunc(func() {
		pdf.SetY(-bottom + 6)
		d.font("", 7.5, 110)
		pdf.CellFormat(width-30, 4, basis, "", 0, "L", false, 0, "")
		pdf.CellFormat(30, 4, fmt.Sprintf("Page %d of {pages}", pdf.PageNo()), "", 0, "R", false, 0, "")
	})
	pdf.AddPage()
	return d
}

func (d *document) font(style string, size float64, grey int) {
	d.pdf.SetFont("text", style, size)
	d.pdf.SetTextColor(grey, grey, grey)
}

// title writes who issues the document, and what it is.
func (d *document) title(company Company, issuer, title string) {
	if issuer := replaceUnsupported(issuer); issuer != "" {
		d.font("B", 10, 90)
		d.pdf.MultiCell(width, 5, issuer, "", "L", false)
	}
	for _, line := range company.lines() {
		d.font("", 8.5, 110)
		d.pdf.MultiCell(width, 4.2, replaceUnsupported(line), "", "L", false)
	}
	d.font("B", 17, 20)
	d.pdf.CellFormat(width, 11, title, "", 1, "L", false, 0, "")
}

// facts writes names with their values, but for empty ones.
func (d *document) facts(facts ...[2]string) {
	for _, fact := range facts {
		if fact[1] == "" {
			continue
		}
		d.font("", 9.5, 110)
		d.pdf.CellFormat(32, 5.2, fact[0], "", 0, "L", false, 0, "")
		d.font("", 9.5, 20)
		d.pdf.MultiCell(width-32, 5.2, fact[1], "", "L", false)
	}
	d.pdf.Ln(4)
}

// heading writes the title, the details and the totals.
func (d *document) heading() {
	s := d.summary
	d.title(s.Company, s.Issuer, "Account statement")
	d.facts([2]string{"Account holder", replaceUnsupported(s.Owner)}, [2]string{"Account number", s.Account},
		[2]string{"Currency", string(s.Currency)}, [2]string{"Statement", s.number()}, [2]string{"Period", s.periodText()})
	for _, total := range [][2]string{
		{"Opening balance, " + formatDay(s.From), formatAmount(s.Opening, s.Currency)}, {"Money in", formatSigned(s.TotalIn, s.Currency)},
		{"Money out", formatSigned(-s.TotalOut, s.Currency)}, {"Fees, less returned", formatAmount(s.Fees, s.Currency)},
		{"Closing balance, " + s.lastDay(), formatAmount(s.Closing, s.Currency)},
	} {
		d.font("", 9.5, 60)
		d.pdf.CellFormat(60, 5.4, total[0], "", 0, "L", false, 0, "")
		d.font("B", 9.5, 20)
		d.pdf.CellFormat(60, 5.4, total[1]+" "+string(s.Currency), "", 1, "R", false, 0, "")
	}
	if refunds := s.refundsText(); refunds != "" {
		d.font("", 9.5, 60)
		d.pdf.MultiCell(width, 5.4, refunds, "", "L", false)
	}
	d.pdf.Ln(5)
}

// columnHeaders writes the header of the table, on every page.
func (d *document) columnHeaders() {
	d.font("B", 8, 90)
	d.pdf.SetDrawColor(60, 60, 60)
	for _, c := range []struct {
		name, align string
		wide        float64
	}{{"Date", "L", dateWidth}, {"Description", "L", descriptionWidth}, {"Counterparty", "L", counterpartyWidth}, {"Amount", "R", amountWidth},
		{"Balance", "R", amountWidth}} {
		d.pdf.CellFormat(c.wide, 6, c.name, "B", 0, c.align, false, 0, "")
	}
	d.pdf.Ln(6.8)
}

func (d *document) table(movements Movements) {
	s := d.summary
	d.columnHeaders()
	d.row(row{style: "B", date: formatDay(s.From), description: []string{"Opening balance"}, balance: formatAmount(s.Opening, s.Currency)})
	for m := range movements {
		d.row(row{date: formatDay(m.At), description: d.wrap(m.Description, textSize, descriptionWidth),
			counterparty: d.wrap(replaceUnsupported(m.Counterparty), textSize, counterpartyWidth),
			details:      d.wrap(replaceUnsupported(strings.Join(m.details(s.Currency), " · ")), detailSize, detailWidth),
			amount:       formatSigned(m.Amount, s.Currency), balance: formatAmount(m.Balance, s.Currency)})
	}
	d.row(row{style: "B", date: s.lastDay(), description: []string{"Closing balance"}, balance: formatAmount(s.Closing, s.Currency)})
}

// row is a row of the table. Details are below the columns.
type row struct {
	style, date, amount, balance       string
	description, counterparty, details []string
}

// row writes one row of the table, on a new page if it does not fit.
func (d *document) row(r row) {
	columns := float64(max(len(r.description), len(r.counterparty), 1)) * lineHeight
	height := columns + float64(len(r.details))*detailHeight + rowGap
	if d.space(height) {
		d.columnHeaders()
	}
	x, y := margin, d.pdf.GetY()
	column := func(wide, lineHeight float64, align string, lines ...string) {
		for i, text := range lines {
			d.pdf.SetXY(x, y+float64(i)*lineHeight)
			d.pdf.CellFormat(wide, lineHeight, text, "", 0, align, false, 0, "")
		}
		x += wide
	}
	d.font(r.style, textSize, 20)
	column(dateWidth, lineHeight, "L", r.date)
	column(descriptionWidth, lineHeight, "L", r.description...)
	column(counterpartyWidth, lineHeight, "L", r.counterparty...)
	column(amountWidth, lineHeight, "R", r.amount)
	column(amountWidth, lineHeight, "R", r.balance)
	d.font("", detailSize, 90)
	x, y = margin+dateWidth, y+columns
	column(detailWidth, detailHeight, "L", r.details...)
	y += float64(len(r.details))*detailHeight + rowGap
	d.pdf.SetDrawColor(215, 215, 215)
	d.pdf.Line(margin, y-rowGap/2, margin+width, y-rowGap/2)
	d.pdf.SetXY(margin, y)
}

// wrap breaks text of a size into at most four lines of a column.
func (d *document) wrap(text string, size, wide float64) []string {
	if text == "" {
		return nil
	}
	d.font("", size, 20)
	lines := d.pdf.SplitText(text, wide-2)
	if len(lines) > 4 {
		lines = append(lines[:3:3], lines[3]+"…")
	}
	return lines
}

// replaceUnsupported returns user-provided text with a box for each unsupported character.
func replaceUnsupported(text string) string {
	return strings.Map(func(r rune) rune {
		if isSupported(r) {
			return r
		}
		return '□'
	}, records.SingleLine(text))
}

// isSupported reports whether the fonts have a character.
func isSupported(r rune) bool {
	for _, bounds := range supportedRanges {
		if r <= bounds[1] {
			return r >= bounds[0]
		}
	}
	return false
}

// supportedRanges has Latin, Greek and Cyrillic letters, punctuation and currency signs, in order.
var supportedRanges = [][2]rune{
	{0x20, 0x7e}, {0xa0, 0x2e9}, {0x300, 0x34f}, {0x370, 0x377}, {0x37a, 0x37f}, {0x384, 0x38a}, {0x38c, 0x38c},
	{0x38e, 0x3a1}, {0x3a3, 0x525},
	{0x1e00, 0x1efb}, {0x1f00, 0x1f15}, {0x1f18, 0x1f1d}, {0x1f20, 0x1f45}, {0x1f48, 0x1f4d}, {0x1f50, 0x1f57},
	{0x1f5f, 0x1f7d}, {0x1f80, 0x1fb4},
	{0x1fb6, 0x1fc4}, {0x1fc6, 0x1fd3}, {0x1fd6, 0x1fdb}, {0x1fdd, 0x1fef}, {0x1ff2, 0x1ff4}, {0x1ff6, 0x1ffe},
	{0x2010, 0x2027}, {0x202f, 0x205e}, {0x20a0, 0x20b5}, {0x20b8, 0x20ba}, {0x20bd, 0x20bd}, {0x2116, 0x2116},
	{0x2122, 0x2122}, {0x25a1, 0x25a1},
}
