package exports_test

import (
	"encoding/xml"
	"os"
	"strconv"
	"strings"
	"testing"
)

// camtStatement is what a program that knows the format reads: minor units, debits above
// zero.
type camtStatement struct{ opening, closing, sum, entries int64 }

type amountElement struct {
	Amt struct {
		Text     string `xml:",chardata"`
		Currency string `xml:"Ccy,attr"`
	}
	CdtDbtInd string
}

// minor reads an amount by its digits, whatever the currency.
func (a amountElement) minor(t testing.TB) int64 {
	n, err := strconv.ParseInt(strings.Replace(a.Amt.Text, ".", "", 1), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	if a.CdtDbtInd == "CRDT" {
		return -n
	}
	return n
}

// parseStatements reads the statements of a message, by the name of their account.
func parseStatements(t testing.TB, path string) map[[2]string]camtStatement {
	t.Helper()
	var document struct {
		BkToCstmrStmt struct {
			Stmt []struct {
				Acct struct{ Ccy, Nm string }
				Bal  []struct {
					Cd string `xml:"Tp>CdOrPrtry>Cd"`
					amountElement
				}
				Ntry []amountElement
			}
		}
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := xml.Unmarshal(data, &document); err != nil {
		t.Fatal(err)
	}
	read := map[[2]string]camtStatement{}
	for _, s := range document.BkToCstmrStmt.Stmt {
		var is camtStatement
		for _, balance := range s.Bal {
			if balance.Amt.Currency != s.Acct.Ccy {
				t.Errorf("%s: a balance in %s", s.Acct.Nm, balance.Amt.Currency)
			}
			switch balance.Cd {
			case "OPBD":
				is.opening = balance.minor(t)
			case "CLBD":
				is.closing = balance.minor(t)
			}
		}
		for _, entry := range s.Ntry {
			is.sum += entry.minor(t)
			is.entries++
		}
		read[[2]string{s.Acct.Nm, s.Acct.Ccy}] = is
	}
	return read
}
