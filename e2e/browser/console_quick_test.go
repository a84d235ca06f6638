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

func TestConsole_PagesRefreshWhileTheyAreSeen(t *testing.T) {
	t.Parallel()
	// A page is read again in place only while somebody sees it, and where nothing of it has the focus, is opened or selected. What is read
	// again announces nothing, and what another page says in its place is not shown.
	s := startServiceAt(t, "127.0.0.1:0", "--allow-private-webhooks")
	p, _, _ := s.newWorkload()
	c := s.newColleague("root@acme.example", "Root Admin", "ADMINISTRATOR", view{width: 1100, height: 900, script: true})
	const part = `document.querySelector("#live")`
	// read reads the page again as its timer does, and says whether its part was replaced.
	read := func(from string) string {
		t.Helper()
		c.evaluate(part + `.dataset.old = "yes"; window.ended = "";
			htmx.ajax("GET", ` + from + `, {source: "#live", target: "#live", select: "#live", swap: "outerHTML"}).finally(() =>
				setTimeout(() => { window.ended = "ended"; }, 100)); ""`)
		eventually(t, "the end of reading it again", func() bool { return c.evaluate(`window.ended`) == "ended" })
		return c.evaluate(`String(` + part + `.dataset.old !== "yes")`)
	}
	for _, path := range []string{"", "/state", "/jobs"} {
		c.visit(p.consolePath() + path)
		c.check("page that refreshes" + path)
		if got := read("location.href"); got != "true" {
			t.Errorf("%s is not read again", path)
		}
		if got := c.evaluate(`String(document.querySelector("#live [aria-live], #live[aria-live]"))`); got != "null" {
			t.Errorf("%s announces what is read again", path)
		}
	}
	c.visit(p.consolePath())
	for name, held := range map[string][2]string{
		"focus":     {`document.querySelector("#live a").focus(); ""`, `document.activeElement.blur(); ""`},
		"opened":    {`document.querySelector("#live details").open = true; ""`, `document.querySelector("#live details").open = false; ""`},
		"selection": {`getSelection().selectAllChildren(document.querySelector("#live h2")); ""`, `getSelection().removeAllRanges(); ""`},
		"hidden":    {`Object.defineProperty(document, "hidden", {value: true, configurable: true}); ""`, `delete document.hidden; ""`},
	} {
		c.evaluate(held[0])
		if got := read("location.href"); got != "false" {
			t.Errorf("%s: it was replaced", name)
		}
		c.evaluate(held[1])
		if got := read("location.href"); got != "true" {
			t.Errorf("after %s: it is not read again", name)
		}
	}
	if got := read(`"/console/account"`); got != "false" {
		t.Error("another page was shown in its place")
	}
	c.wantNoComplaints()
}

func TestConsole_RefundAgain(t *testing.T) {
	t.Parallel()
	// Support sees on the page of a payment that its refund failed and where the money is; finance sends it again with a code, once.
	s := startServiceAt(t, "127.0.0.1:0", "--allow-private-webhooks")
	p, done, _ := s.newWorkload()
	customer := p.call("GET", "/transactions/"+done.id, nil).text("customerId")
	wallet := p.call("POST", "/customers/external-accounts", map[string]any{"customerId": customer, "currency": "BTC",
		"accountInfo": map[string]any{"accountType": "LAYER2_WALLET", "address": "spark1nobody007"}}).text("id")
	failed := p.pay(customer, wallet, "FAILED")
	eventually(t, "the refund that failed", func() bool {
		return p.call("GET", "/transactions/"+failed.id, nil).text("refund.status") == "FAILED"
	})
	support := s.newColleague("sup@acme.example", "Sup Port", "SUPPORT", view{width: 1100, height: 900, script: true})
	support.visit(p.consolePath() + "/payments/" + failed.id[len("Transaction:"):])
	support.want("rests in the unmatched funds")
	support.checkEverywhere("payment whose refund failed")
	support.wantNone(`main a[href$="/assign"]`)
	c := s.newColleague("fin@acme.example", "Fin Ance", "FINANCE", view{width: 1100, height: 900, script: true})
	c.visit(p.consolePath())
	c.press(`main a[href$="/unmatched"]`)
	c.want("the refund of a payment failed")
	c.checkEverywhere("unmatched funds")
	c.visit(p.consolePath() + "/payments/" + failed.id[len("Transaction:"):])
	c.press(`main a[href$="/assign"]`)
	c.want("It cannot be undone.")
	c.checkEverywhere("refund again")
	c.fill(map[string]string{"note": "Their account is open again", "code": c.code(1)})
	c.press("main form button.primary")
	c.want("its payer")
	eventually(t, "the money that was sent back", func() bool {
		c.visit(p.consolePath() + "/payments/" + failed.id[len("Transaction:"):])
		return strings.Contains(c.text(), "Sent back")
	})
	c.wantNone(`main a[href$="/assign"]`)
	c.want("assign unmatched funds")
	c.wantNoComplaints()
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

	// The audit has the values before and after, also without script, of the price and of what the platform changes over the API.
	c.visit(p.consolePath() + "/audit")
	c.want("Fee in percent: ")
	c.press(`td a[href^="` + p.consolePath() + `/audit/"]`)
	c.want("Set corridor")
	c.want("What was changed")
	c.want("0.4%")
	c.checkEverywhere("entry of the audit")
	p.call("PATCH", "/config", map[string]any{"webhookEndpoint": "https://hooks.acme.example/in?key=hidden-password"})
	c.setScript(false)
	c.visit(p.consolePath() + "/audit")
	c.want("webhookEndpoint.query")
	c.checkEverywhere("audit with changes")
	c.press(`td a[href^="` + p.consolePath() + `/audit/"]`)
	c.want("https://hooks.acme.example/in")
	c.want("hidden")
	if strings.Contains(c.text(), "hidden-password") {
		t.Errorf("the query of the endpoint is shown: %s", c.text())
	}
	c.wantNoComplaints()
}
