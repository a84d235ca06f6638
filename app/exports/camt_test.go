package exports_test

import (
	"encoding/xml"
	"os"
	"strconv"
	"strings"
	"testing"
)

// camtStatement is one statement of a camt.053 message, in minor units with debits positive.
type camtStatement struct{ opening, closing, sum, entries int64 }

type amountElement struct {
	Amt struct {
		Text     string `xml:",chardata"`
		Currency string `xml:"Ccy,attr"`
	}
	CdtDbtInd string
}

// minor returns the digits of an amount, in any currency.
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

// parseStatements reads the statements of a message by account name and currency.
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
	statements := map[[2]string]camtStatement{}
	for _, s := range document.BkToCstmrStmt.Stmt {
		var statement camtStatement
		for _, balance := range s.Bal {
			if balance.Amt.Currency != s.Acct.Ccy {
				t.Errorf("%s has a balance in %s", s.Acct.Nm, balance.Amt.Currency)
			}
			switch balance.Cd {
			case "OPBD":
				statement.opening = balance.minor(t)
			case "CLBD":
				statement.closing = balance.minor(t)
			}
		}
		for _, entry := range s.Ntry {
			statement.sum += entry.minor(t)
			statement.entries++
		}
		statements[[2]string{s.Acct.Nm, s.Acct.Ccy}] = statement
	}
	return statements
}
