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
var page string

//go:embed statement.css
var style string

// Policy is the Content-Security-Policy of the page: it shows itself in its own style,
// and may nothing else.
var Policy = func() string {
	sum := sha256.Sum256([]byte(style))
	return fmt.Sprintf("default-src 'none'; style-src 'sha256-%s'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
		base64.StdEncoding.EncodeToString(sum[:]))
}()

var layout = template.Must(template.New("statement").Parse(page))

// view is a statement in words, and its movements as they come.
type view struct {
	Style                                             template.CSS
	Issuer, Owner, Account, Currency, Period, Basis   string
	FirstDay, LastDay, Opening, Closing, MoneyIn, Out string
	Lines                                             func(func(line) bool)
}

type line struct {
	Date, Machine, What, Who, Note, Amount, Balance string
	In                                              bool
}

// HTML writes a statement as a page, line by line.
func HTML(out io.Writer, s Statement, movements Movements) error {
	return layout.Execute(out, view{
		Style:  template.CSS(style), //nolint:gosec // our own file
		Issuer: records.Line(s.Issuer), Owner: records.Line(s.Owner), Account: s.Account, Currency: string(s.Currency),
		Period: s.period(), Basis: s.basis(), FirstDay: day(s.From), LastDay: s.last(),
		Opening: amount(s.Opening, s.Currency), Closing: amount(s.Closing, s.Currency),
		MoneyIn: signed(s.In, s.Currency), Out: signed(-s.Out, s.Currency),
		Lines: func(yield func(line) bool) {
			for m := range movements {
				if !yield(line{
					Date: day(m.At), Machine: records.Moment(m.At), What: m.What, Who: records.Line(m.Who), Note: records.Line(m.Note),
					Amount: signed(m.Amount, s.Currency), Balance: amount(m.Balance, s.Currency), In: m.Amount > 0,
				}) {
					return
				}
			}
		},
	})
}
