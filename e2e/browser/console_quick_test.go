package browser

import (
	"regexp"
	"strings"
	"testing"
)

func TestConsole_ListsAreQuickerWithScript(t *testing.T) {
	t.Parallel()
	// With script a list is filtered and counted again in the page that is open; its address can be shared and the way back works. The page
	// asks no other host for anything, and breaks no rule of its policy.
	s := startServiceAt(t, "127.0.0.1:0", "--allow-private-webhooks")
	p, _, failed := s.newWorkload()
	c := s.newColleague("root@acme.example", "Root Admin", "ADMINISTRATOR", view{width: 1100, height: 900, script: true})
	c.visit(p.consolePath() + "/payments")
	c.want("4 payments, newest first")
	c.evaluate(`window.isKept = "kept"`)

	c.fill(map[string]string{"status": "FAILED"})
	c.evaluate(`document.querySelector("#show").click(), ""`)
	c.want("1 payment, newest first")
	if got := c.evaluate(`window.isKept + location.search`); !strings.HasPrefix(got, "kept?status=FAILED") {
		t.Errorf("after the filter: %s", got)
	}
	c.check("filtered payments")
	c.fill(map[string]string{"min": "x"})
	c.evaluate(`document.querySelector("#show").click(), ""`)
	c.want("An amount needs its currency.")
	c.visit(p.consolePath() + "/payments")
	c.evaluate(`window.isKept = "kept"`)
	c.want("failed 1")
	p.payAgain(failed)
	c.want("failed 2")
	if got := c.evaluate(`window.isKept + document.querySelectorAll("style").length`); got != "kept0" {
		t.Errorf("after the count: %s", got)
	}
	c.wantNoComplaints(422)
}

// payAgain makes a payment as another one, which ends as that has.
func (p *platform) payAgain(as payment) {
	p.t.Helper()
	made := p.call("GET", "/transactions/"+as.id, nil)
	p.pay(made.text("customerId"), made.text("destination.accountId"), made.text("status"))
}

func TestConsole_PriceApprovedBySecondPerson(t *testing.T) {
	t.Parallel()
	// A price that an operator has proposed is shown before and after to a person of finance, who finds it among what waits and approves it
	// with a code. From then on it is in force.
	s := startServiceAt(t, "127.0.0.1:0", "--allow-private-webhooks")
	p, _, _ := s.newWorkload()
	c := s.newColleague("fin@acme.example", "Fin Ance", "FINANCE", view{width: 1100, height: 900, script: true})
	platformID := "PlatformConfig:" + p.consolePath()[len("/console/platforms/"):]
	s.causeway("ledger", "settings", "set", "fourEyes=PRICE", "--platform", platformID, "--note", "two persons", "--actor", "Root")
	said := s.causeway("corridors", "set", "USD", "BTC", "--fee-percent", "0.4%", "--note", "as agreed", "--platform", platformID,
		"--actor", "Olga")
	id := regexp.MustCompile(`Proposal:([0-9a-f-]{36})`).FindStringSubmatch(said)
	if id == nil {
		t.Fatalf("nothing was proposed: %s", said)
	}
	c.visit(p.consolePath())
	c.press(`main a[href^="/console/changes"]`)
	c.want("corridors set")
	c.checkEverywhere("changes")
	c.press(`td a[href$="` + id[1] + `"]`)
	c.want("0.4%")
	c.checkEverywhere("change")
	c.screenshotAs("console-change", "h1", view{width: 900, height: 640})
	c.press(`main a[href$="/approve"]`)
	c.want("The price is changed at once")
	c.checkEverywhere("approval of a change")
	c.fill(map[string]string{"code": c.code(1)})
	c.press("main form button.primary")
	c.want("executed")
	c.want("fin@acme.example")
	if out := s.causeway("corridors", "history", "USD", "BTC"); !strings.Contains(out, "Olga") || !strings.Contains(out, "fin@acme.example") {
		t.Errorf("history: %s", out)
	}
	c.wantNoComplaints()
}
