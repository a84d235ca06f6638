package statements

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"time"

	"causeway/core/formats/iso20022"
	"causeway/core/formats/textfile"
	"causeway/core/formats/xmlguard"
	"causeway/core/money"
	"causeway/core/reconcile"
)

// otherMessages are messages that are taken for a statement.
var otherMessages = map[string]string{
	"camt.052": "a camt.052 report of a day that is not closed; import the camt.053 statement of the day",
	"camt.054": "a camt.054 notification of single entries, without balances; import the camt.053 statement of the day",
}

const messageElement = "BkToCstmrStmt"

// readCAMT053 reads ISO 20022 bank-to-customer statements of version 2 or later, in an envelope with
// a business header or not.
func readCAMT053(r io.Reader, builder statementBuilder) ([]reconcile.Statement, error) {
	c := &camtParser{statementBuilder: builder}
	if err := iso20022.ReadStatements(r, acceptStatement, c, reconcile.MaxLines); err != nil {
		return nil, camtError(err)
	}
	if len(c.accounts) == 0 {
		return nil, reconcile.InvalidFile("has no statement")
	}
	statements, err := c.finish()
	for i := range statements {
		statements[i].Created = c.created
	}
	return statements, err
}

// acceptStatement accepts the element of a camt.053 message, and refuses another message by its name. An
// element without a namespace, or in one that names no message, says itself what it is.
func acceptStatement(name xml.Name) (bool, error) {
	isStatement, other := name.Local == messageElement, otherMessages[iso20022.MessageOfElement(name.Local)]
	if !isStatement && name.Local != "Document" && other == "" {
		return false, nil
	}
	found := iso20022.MessageOfNamespace(name.Space)
	switch {
	case other != "":
		return false, reconcile.InvalidFile("is not a camt.053 statement: it is %s", other)
	case found.Name == "camt.053" && found.Version == "01":
		return false, reconcile.InvalidFile("is a camt.053 statement of version 1, which is not supported; ask for version 2 or later")
	case found.Name == "" || found.Name == "camt.053":
		return isStatement, nil
	case otherMessages[found.Name] != "":
		return false, reconcile.InvalidFile("is not a camt.053 statement: it is %s", otherMessages[found.Name])
	}
	return false, reconcile.InvalidFile("is not a camt.053 statement: it is %.60q in the namespace %.80q", name.Local, name.Space)
}

// camtError says what is wrong with a file that is not read.
func camtError(err error) error {
	var none *iso20022.NoMessageError
	var wrong *textfile.Error
	var document *xmlguard.Error
	switch {
	case errors.As(err, &none):
		return reconcile.InvalidFile("is not a camt.053 statement: it is %.60q in the namespace %.80q, without the element %s",
			none.Root.Local, none.Root.Space, messageElement)
	case errors.As(err, &wrong):
		return reconcile.InvalidFile("%v", wrong)
	case !errors.As(err, &document):
		return err
	}
	switch document.Problem {
	case xmlguard.UnknownEncoding:
		return reconcile.InvalidFile("is not valid XML: line %d: %v", document.Line, document.Unwrap())
	case xmlguard.Empty:
		return reconcile.InvalidFile("is empty")
	case xmlguard.Truncated:
		return reconcile.InvalidFile("ends too early, in line %d: it is truncated", document.Line)
	case xmlguard.Continued:
		return reconcile.InvalidFile("continues after its end, in line %d", document.Line)
	case xmlguard.Declaration:
		return reconcile.InvalidFile("has a document type or entity declaration in line %d, which is not allowed", document.Line)
	case xmlguard.TooDeep:
		return reconcile.InvalidFile("has more than %d nested elements in line %d", xmlguard.MaxDepth, document.Line)
	case xmlguard.ElementTooLarge:
		return reconcile.InvalidFile("has a text or tag of more than %d bytes near line %d", xmlguard.MaxElementBytes, document.Line)
	case xmlguard.Malformed, xmlguard.TextOutside:
	}
	return reconcile.InvalidFile("is not valid XML: line %d: %s", document.Line, document.Detail)
}

// camtParser collects the statements of a message.
type camtParser struct {
	statementBuilder
	created   time.Time
	statement camtStatement
}

// Begin implements iso20022.StatementVisitor.
func (c *camtParser) Begin(w *iso20022.WrittenReport) error {
	c.statement = camtStatement{written: w}
	if w.MessageCreated.Line == 0 {
		return nil
	}
	created, ok := w.MessageCreated.Time()
	if !ok {
		return reconcile.InvalidFile("%.40q is not a time", w.MessageCreated.Text)
	}
	if created.After(c.created) {
		c.created = created
	}
	return nil
}

// parseDay returns a date, or the local date of a time; no day if the bank wrote none.
func parseDay(w iso20022.WrittenTime) (camtDay, error) {
	if w.Line == 0 {
		return camtDay{}, nil
	}
	if t, ok := w.Day(); ok {
		if d := dayOf(t); d != reconcile.NoDay {
			return camtDay{d, w.Text}, nil
		}
	}
	return camtDay{}, reconcile.InvalidFile("line %d: %.40q is not a date", w.Line, w.Text)
}

// dayOf returns the day of a date; no day for one that no statement has.
func dayOf(t time.Time) reconcile.Day {
	d, _ := reconcile.Date(t.Year(), int(t.Month()), t.Day())
	return d
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
