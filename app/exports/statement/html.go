package statement

import (
	"crypto/sha256"
	_ "embed" // the template and its style
	"encoding/base64"
	"fmt"
	"html/template"
	"io"

	"causeway/app/exports/records"
)

//go:embed statement.html
var templateText string

//go:embed statement.css
var stylesheet string

// ContentSecurityPolicy is the policy of the page: it allows its own inline style and nothing else.
var ContentSecurityPolicy = func() string {
	sum := sha256.Sum256([]byte(stylesheet))
	return fmt.Sprintf("default-src 'none'; style-src 'sha256-%s'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
		base64.StdEncoding.EncodeToString(sum[:]))
}()

var pageTemplate = template.Must(template.New("statement").Parse(templateText))

// templateData has the formatted values of a statement, and streams its lines.
type templateData struct {
	Style                                             template.CSS
	Issuer, Owner, Account, Currency, Number, Period  string
	Basis, Fees, Refunds                              string
	FirstDay, LastDay, Opening, Closing, MoneyIn, Out string
	Company                                           []string
	Lines                                             func(func(templateLine) bool)
}

type templateLine struct {
	Date, Machine, What, Who, Amount, Balance string
	Details                                   []string
	In                                        bool
}

// HTML writes a statement as a page. It streams the movements.
func HTML(out io.Writer, s Summary, movements Movements) error {
	return pageTemplate.Execute(out, templateData{
		Style:  template.CSS(stylesheet), //nolint:gosec // embedded file
		Issuer: records.SingleLine(s.Issuer), Owner: records.SingleLine(s.Owner), Account: s.Account, Currency: string(s.Currency),
		Company: s.Company.lines(), Number: s.number(), Fees: formatAmount(s.Fees, s.Currency), Refunds: s.refundsText(),
		Period: s.periodText(), Basis: s.basisText(), FirstDay: formatDay(s.From), LastDay: s.lastDay(),
		Opening: formatAmount(s.Opening, s.Currency), Closing: formatAmount(s.Closing, s.Currency),
		MoneyIn: formatSigned(s.TotalIn, s.Currency), Out: formatSigned(-s.TotalOut, s.Currency),
		Lines: func(yield func(templateLine) bool) {
			for m := range movements {
				if !yield(templateLine{
					Date: formatDay(m.At), Machine: records.FormatTime(m.At), What: m.Description, Who: records.SingleLine(m.Counterparty),
					Details: m.details(s.Currency),
					Amount:  formatSigned(m.Amount, s.Currency), Balance: formatAmount(m.Balance, s.Currency), In: m.Amount > 0,
				}) {
					return
				}
			}
		},
	})
}
