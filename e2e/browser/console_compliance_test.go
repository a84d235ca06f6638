package browser

import (
	"net/http"
	"strings"
	"testing"
)

// asks makes an agent ask for a payment that its policy does not allow alone, and returns the id of the action.
func (p *platform) asks(customer, account string) string {
	p.t.Helper()
	limits := map[string]any{"currency": "USD", "perTransactionLimit": 500_00}
	made := p.call("POST", "/agents", map[string]any{"name": "Quetzalli bot", "customerId": customer, "policy": map[string]any{
		"permissions": []string{"CREATE_QUOTES", "EXECUTE_QUOTES"}, "defaultExecutionMode": "AUTO", "spendingLimits": limits,
		"approvalThresholds": map[string]any{"currency": "USD", "amount": 20_00}}})
	paired := p.call("POST", "/agents/device-codes/"+made.text("deviceCode.code")+"/redeem", nil)
	funds := p.call("GET", "/customers/internal-accounts?currency=USD&customerId="+customer, nil).text("data.0.id")
	p.call("POST", "/sandbox/internal-accounts/"+funds+"/fund", map[string]any{"amount": 200_00})
	quote := p.sendWith(http.Header{"Authorization": {"Bearer " + paired.text("accessToken")}}, "POST", "/agents/me/quotes", map[string]any{
		"source":             map[string]any{"sourceType": "ACCOUNT", "accountId": funds},
		"destination":        map[string]any{"destinationType": "ACCOUNT", "accountId": account},
		"lockedCurrencySide": "SENDING", "lockedCurrencyAmount": 50_00})
	asked := p.sendWith(http.Header{"Authorization": {"Bearer " + paired.text("accessToken")}}, "POST",
		"/agents/me/quotes/"+quote.text("id")+"/execute", nil)
	if asked.text("status") != "PENDING_APPROVAL" {
		p.t.Fatalf("the agent asks: %s", asked.body)
	}
	_, id, _ := strings.Cut(asked.text("id"), ":")
	return id
}

func TestConsole_QueueOfCompliance(t *testing.T) {
	t.Parallel()
	// On a phone and without script, a person of compliance puts a customer on hold with a reason, finds it and the payment of an agent in
	// the queue and on the overview, rejects the payment, and releases the customer. Its platform sees each. One of finance sees what
	// stands still, without names, and has no button; its forms are refused.
	s := startService(t)
	p := s.newPlatform("Acme Pay", "SANDBOX")
	customer := p.call("POST", "/customers", map[string]any{"customerType": "INDIVIDUAL", "region": "US", "fullName": "Quetzalli Balam",
		"birthDate": "1990-12-10", "nationality": "US", "address": map[string]any{"line1": "12 Analytical Way", "city": "Austin", "state": "TX",
			"postalCode": "78701", "country": "US"}}).text("id")
	wallet := p.call("POST", "/customers/external-accounts", map[string]any{"customerId": customer, "currency": "BTC",
		"accountInfo": map[string]any{"accountType": "LAYER2_WALLET", "address": "spark1qexamplewallet"}}).text("id")
	action := p.asks(customer, wallet)
	base := p.consolePath()
	_, id, _ := strings.Cut(customer, ":")
	c := s.newColleague("cleo@acme.example", "Cleo Ito", "COMPLIANCE", view{width: 360, height: 740})

	c.visit(base + "/customers/" + id + "/hold")
	c.fill(map[string]string{"reason": "Papers asked for", "code": c.code(1)})
	c.press("main form button.primary")

	c.want("HOLD")
	if got := p.call("GET", "/customers/"+customer, nil).text("kycStatus"); got != "HOLD" {
		t.Errorf("the platform sees %s", got)
	}
	c.visit(base)
	c.want("1 customer is on hold")
	c.want("1 payment of an agent waits")
	c.visit(base + "/reviews")
	c.want("put on hold by a person")
	c.want("payment of an agent, waits for an approval")
	c.checkEverywhere("queue")
	f := s.newColleague("finn@acme.example", "Finn Ito", "FINANCE", desktop)
	f.visit(base + "/agent-approvals/" + action)
	f.want("the policy asks for approval above 20.00 USD")
	f.wantNone(`a[href$="/approve"]`)
	for _, path := range []string{"/agent-approvals/" + action + "/approve", "/customers/" + id + "/release"} {
		f.visit(base + path)
		f.want("Not allowed")
	}
	c.visit(base + "/agent-approvals")
	c.want("50.00")
	c.checkEverywhere("payments of agents")
	c.visit(base + "/agent-approvals/" + action)
	c.checkEverywhere("payment of an agent")
	c.visit(base + "/agent-approvals/" + action + "/reject")
	c.fill(map[string]string{"reason": "Not ours", "code": c.recovery[0]})
	c.press("main form button.primary")
	c.want("rejected")
	c.visit(base + "/customers/" + id + "/release")
	c.fill(map[string]string{"reason": "Papers checked", "code": c.recovery[1]})
	c.press("main form button.primary")

	c.want("APPROVED")
	if got := p.call("GET", "/customers/"+customer, nil).text("kycStatus"); got != "APPROVED" {
		t.Errorf("the platform sees %s", got)
	}
	c.visit(base + "/audit")
	for _, want := range []string{"hold customer", "release customer", "reject payment", "(agent)"} {
		c.want(want)
	}
}

func TestConsole_VerificationIsReviewed(t *testing.T) {
	t.Parallel()
	// An individual of a production platform uploads a passport and submits. A person of compliance finds the verification on the overview,
	// sees the documents beside the form after asking for personal data, asks for a correction with a reason, and approves what is submitted
	// again. Then no button is left, and the platform sees each decision, which the review keeps with the person.
	s := startService(t)
	p, site := s.newPlatform("Acme Pay", "PRODUCTION"), startWebsite(t)
	customer, file := p.newIndividual(), scan(t)
	b := newTab(t, desktop)
	upload := func() {
		b.press(`a[href="/verification/documents/own"]`)
		b.upload(file, identityDocument("PASSPORT", ""))
		b.press(`main a[href="/verification"]`)
		b.press("form button.primary")
		b.want(b.say("home.waiting.title"))
	}
	b.open(p.newLink(customer, site))
	b.press("form button.primary")
	b.press(`a[href="/verification/details"]`)
	b.fill(person)
	b.press("form button.primary")
	upload()
	c := s.newColleague("cleo@acme.example", "Cleo Ito", "COMPLIANCE", view{width: 1100, height: 900, script: true})
	review := func() {
		t.Helper()
		eventually(t, "a verification on the overview", func() bool {
			c.visit(p.consolePath())
			return strings.Contains(c.text(), "1 verification waits for a decision")
		})
		c.press(`main a[href$="/reviews?kind=verifications"]`)
		c.press(`main td a[href*="/reviews/"]`)
		c.wantNone("img.document")
		c.press(`main form[method="post"] button`)
		c.want("This was recorded")
		c.want("Hauptstraße 1")
		if got := c.evaluate(`String(document.querySelector(".beside img.document").naturalWidth)`); got != "600" {
			t.Errorf("the document is %s pixels wide", got)
		}
	}

	review()
	c.checkEverywhere("review with documents")
	c.press(`main a[href*="/correct?"]`)
	c.fill(map[string]string{"reason": "The photo is dark", "problems": "UNREADABLE_DOCUMENT = Take another photo", "code": c.code(1)})
	c.press("main form button.primary")
	c.want("The photo is dark")
	c.wantNone(`main a[href*="/correct?"], main a[href*="/accept?"], main a[href*="/refuse?"]`)
	b.open(s.root + "/verification")
	b.want(b.say("found.UNREADABLE_DOCUMENT"))
	upload()
	review()
	c.press(`main a[href*="/accept?"]`)
	c.checkEverywhere("approval of a customer")
	c.fill(map[string]string{"reason": "Papers are genuine", "code": c.recovery[0]})
	c.press("main form button.primary")
	c.want("Papers are genuine")
	c.wantNone(`main a[href*="/correct?"], main a[href*="/accept?"], main a[href*="/refuse?"]`)

	p.wantValue("/customers/"+customer, "kycStatus", "APPROVED")
	c.visit(p.consolePath())
	if strings.Contains(c.text(), "verification waits") {
		t.Errorf("it still waits:\n%s", c.text())
	}
	s.wantPersons()
	c.wantNoComplaints()
}
