package browser

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"causeway/e2e/kit"
)

// tryForm is the form of the reference that sends requests.
type tryForm struct {
	*tab
	credentials kit.Credentials
}

// send opens the form of an operation, changes its fields, sends it, and returns the status and the text of the response.
func (f tryForm) send(id string, fields map[string]string) (status, response string) {
	f.t.Helper()
	f.open(id)
	for name, value := range fields {
		f.set(name, value)
	}
	f.evaluate(`part.send.click(); ""`)
	eventually(f.t, "a response to "+id, func() bool { return f.evaluate(`part.result.innerText + part.invalid.innerText`) != "" })
	status, response, _ = strings.Cut(f.evaluate(`part.result.innerText`), "\n")
	return status, response
}

// checkForm checks that the form is accessible. The page behind it, on which the rules take minutes, is removed.
func (f tryForm) checkForm(name string) {
	f.t.Helper()
	f.evaluate(`document.querySelectorAll("main > :not(:first-child), nav > section").forEach((e) => e.remove()); ""`)
	f.check(name)
}

func (f tryForm) open(id string) {
	f.t.Helper()
	f.evaluate(fmt.Sprintf(`dialog.close(); document.querySelector("#%s .try").click(); ""`, id))
	eventually(f.t, "the form", func() bool { return f.evaluate(`String(dialog.open)`) == "true" })
}

func (f tryForm) set(field, value string) {
	f.t.Helper()
	f.evaluate(fmt.Sprintf(`part[%q].value = %q; ""`, field, value))
}

// result evaluates an expression about r, the body of the response.
func (f tryForm) result(expression string) string {
	f.t.Helper()
	return f.evaluate(`String(((r) => ` + expression + `)(JSON.parse(document.querySelector("#try-result pre:last-child").textContent)))`)
}

func TestReference_TryItPays(t *testing.T) {
	t.Parallel()
	// With a token of a sandbox platform, the reference makes a payment on the service itself: a customer, money, an account, a quote and
	// its execution. Ids of responses replace those of the examples, the token is kept in this tab alone, and the response shows the id
	// of the request.
	s := startService(t)
	credentials, err := kit.CreatePlatform(t.Context(), program, s.database, "Tried", "SANDBOX")
	if err != nil {
		t.Fatal(err)
	}
	f := tryForm{s.openReference(view{width: 360, height: 740, script: true}), credentials}
	token := map[string]string{"id": credentials.ClientID, "secret": credentials.ClientSecret}

	token["body"] = `{"customerType": "INDIVIDUAL", "fullName": "Ana Silva", "birthDate": "1990-01-31", "nationality": "US",
		"address": {"line1": "123 Main Street", "city": "San Francisco", "state": "CA", "postalCode": "94105", "country": "US"}}`
	status, response := f.send("createCustomer", token) // the one of the example has an address at another domain
	if status != "201 Created" || !strings.Contains(strings.ToLower(response), "request-id: ") {
		t.Fatalf("the response is %s\n%s", status, response)
	}
	customer := f.result("r.id")
	if status, response = f.send("listCustomerInternalAccounts", nil); status != "200 OK" || f.result("r.data[0].customerId") != customer {
		t.Fatalf("with the id of the customer, the response is %s\n%s", status, response)
	}
	account := f.result("r.data[0].id")
	if status, response = f.send("sandboxFundInternalAccount", nil); status != "200 OK" || f.result("r.id") != account {
		t.Fatalf("the response is %s\n%s", status, response)
	}
	wallet := map[string]string{"body": `{"customerId": "` + customer + `", "currency": "BTC",
		"accountInfo": {"accountType": "LAYER2_WALLET", "address": "spark1qexamplewalletofada"}}`}
	if status, response = f.send("createCustomerExternalAccount", wallet); status != "201 Created" {
		t.Fatalf("the response is %s\n%s", status, response)
	}
	if status, response = f.send("createQuote", nil); status != "201 Created" {
		t.Fatalf("the response is %s\n%s", status, response)
	}
	transaction := f.result("r.transactionId")
	if status, response = f.send("executeQuote", nil); status != "200 OK" {
		t.Fatalf("the response is %s\n%s", status, response)
	}
	eventually(t, "the payment", func() bool {
		status, _ := f.send("getTransactionById", map[string]string{"path": "/transactions/" + transaction})
		return status == "200 OK" && f.result("r.status") == "COMPLETED"
	})
	if wide := f.evaluate(`String([document.documentElement, dialog].every((e) => e.scrollWidth <= 360))`); wide != "true" {
		t.Error("the page or the form is wider than the phone")
	}
	if kept := f.evaluate(`Object.keys(localStorage) + " " + document.cookie`); strings.TrimSpace(kept) != "" {
		t.Errorf("the browser keeps %s", kept)
	}
	other := newTab(t, f.view)
	other.open(s.base + "/docs")
	if got := other.evaluate(`String(sessionStorage.length)`); got != "0" {
		t.Errorf("another tab has %s values", got)
	}
	f.checkForm("the form with a response")
	f.wantNoComplaints(404) // by which the page knows a sandbox platform
}

func TestReference_TryItRefuses(t *testing.T) {
	t.Parallel()
	// Nothing is sent with a token of a production platform or a wrong one, nor a body that is no JSON: the page says so. A request that
	// the service refuses is shown with its errors. The keyboard opens and closes the form, and the focus returns.
	s := startService(t)
	production, err := kit.CreatePlatform(t.Context(), program, s.database, "Live", "PRODUCTION")
	if err != nil {
		t.Fatal(err)
	}
	sandbox, err := kit.CreatePlatform(t.Context(), program, s.database, "Tried", "SANDBOX")
	if err != nil {
		t.Fatal(err)
	}
	f := tryForm{s.openReference(view{width: 1300, height: 900, dark: true, script: true, keyboard: true}), sandbox}
	invalid := func() string { return f.evaluate("part.invalid.innerText") }

	if status, _ := f.send("createCustomer", map[string]string{"id": production.ClientID, "secret": production.ClientSecret}); status != "" ||
		!strings.HasPrefix(invalid(), "Not sent. The token must be of a sandbox platform") {
		t.Errorf("with a token of production, the page says %q %q", status, invalid())
	}
	if status, _ := f.send("createCustomer", map[string]string{"id": sandbox.ClientID, "secret": "wrong"}); status != "" ||
		!strings.HasPrefix(invalid(), "Not sent.") {
		t.Errorf("with a wrong token, the page says %q %q", status, invalid())
	}
	if kept := f.evaluate("String(sessionStorage.length)"); kept != "0" {
		t.Errorf("the page keeps %s values of refused tokens", kept)
	}
	token := map[string]string{"id": sandbox.ClientID, "secret": sandbox.ClientSecret, "body": `{"customerType": }`}
	if status, _ := f.send("createCustomer", token); status != "" || !strings.HasPrefix(invalid(), "The body is no JSON") {
		t.Errorf("for what is no JSON, the page says %q %q", status, invalid())
	}
	token["body"] = `{"customerType": "INDIVIDUAL", "birthDate": "31.01.1990"}`
	if status, response := f.send("createCustomer", token); status != "400 Bad Request" || !strings.Contains(response, `"field": "birthDate"`) {
		t.Errorf("the response is %q\n%s", status, response)
	}
	f.run(chromedp.KeyEvent(kb.Escape))
	f.evaluate(`document.querySelector("#createQuote .try").focus(); ""`)
	f.run(chromedp.KeyEvent(kb.Enter))
	eventually(t, "the form", func() bool {
		return f.evaluate(`String(dialog.open && dialog.contains(document.activeElement))`) == "true"
	})
	f.run(chromedp.KeyEvent(kb.Escape))
	if got := f.evaluate(`document.activeElement.closest("article")?.id + document.activeElement.className`); got != "createQuotetry" {
		t.Errorf("after Escape, the focus is on %q", got)
	}
	if got := f.evaluate(`String(document.querySelectorAll("#uploadDocument .try, #agentGetQuote .try, #outgoingPayment .try").length)`); got != "0" {
		t.Errorf("%s operations that need a file, an agent or the service itself can be tried", got)
	}
	f.send("createCustomer", map[string]string{"body": "{"})
	f.checkForm("the form with an error")
	f.wantNoComplaints(400, 401, 403, 404)
}
