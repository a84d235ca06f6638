package browser

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// spendCode returns a recovery code that was not used yet: a code of the application counts once in thirty seconds.
func (c *colleague) spendCode() string {
	c.t.Helper()
	code := c.recovery[0]
	c.recovery = c.recovery[1:]
	return code
}

func TestConsole_MonthFromOpenToClosed(t *testing.T) {
	t.Parallel()
	// Two persons of finance close a month: one soft-closes it and proposes to close it, which says before what it will do, and the
	// other one approves. The steps say who did what. Without the confirmation of a first month nothing happens.
	s := startServiceAt(t, "127.0.0.1:0", "--allow-private-webhooks")
	p, _, _ := s.newWorkload()
	base := p.consolePath()
	_, id, _ := strings.Cut(base, "platforms/")
	s.causeway("ledger", "settings", "set", "fourEyes=CLOSE", "--platform", "PlatformConfig:"+id, "--actor", "Root")
	ana := s.newColleague("ana@acme.example", "Ana Lima", "FINANCE@PlatformConfig:"+id, view{width: 1100, height: 900, script: true})
	bob := s.newColleague("bob@acme.example", "Bob Ray", "FINANCE@PlatformConfig:"+id, desktop)
	month := base + "/months/" + time.Now().UTC().AddDate(0, 0, -time.Now().UTC().Day()).Format("2006-01")

	ana.visit(base + "/months")
	ana.want("Month end")
	ana.checkEverywhere("months")
	ana.visit(month)
	ana.want("Soft-close the month")
	ana.checkEverywhere("month")
	ana.press(`td a[href$="/soft-close"]`)
	ana.want("can be reopened")
	ana.checkEverywhere("soft-close")
	ana.fill(map[string]string{"note": "Complete", "code": ana.spendCode()})
	ana.pressTo("main form button.primary", http.StatusConflict)
	ana.wantField("note", "Complete")
	ana.checkEverywhere("refused soft-close")
	ana.evaluate(`String(document.getElementById("f-first").checked = true)`)
	ana.fill(map[string]string{"code": ana.spendCode()})
	ana.press("main form button.primary")
	ana.want("done")
	ana.want("Ana Lima")
	ana.press(`td a[href$="/close"]`)
	ana.fill(map[string]string{"note": "Reviewed", "code": ana.spendCode()})
	ana.press("main form button.primary")
	ana.want("You have proposed this")
	proposal := ana.evaluate("location.pathname")

	bob.visit(proposal)
	bob.fill(map[string]string{"code": bob.spendCode()})
	bob.press(`button[value="approve"]`)
	bob.want("Decided by")
	ana.visit(month)
	ana.want("closed")
	ana.want("approved by Bob Ray")
	ana.checkEverywhere("closed month")
	ana.visit(base + "/audit?actor=ana")
	ana.want("soft close month")
	ana.want("propose close")
	ana.want("executed")
	ana.visit(month)
	ana.screenshotAs("console-month", "body", view{width: 900, height: 620})
	for _, b := range []*tab{ana.tab, bob.tab} {
		b.wantNoComplaints(http.StatusConflict)
	}
}

func TestConsole_EveryPageOfAPlatform(t *testing.T) {
	t.Parallel()
	// Every page of the navigation opens for an administrator, on a platform where something has happened and on an empty one, and can
	// be read by everybody: with a screen reader, on a phone, in both themes.
	s := startServiceAt(t, "127.0.0.1:0", "--allow-private-webhooks")
	p, _, _ := s.newWorkload()
	empty := s.newPlatform("Empty Bank", "PRODUCTION")
	c := s.newColleague("root@acme.example", "Root Admin", "ADMINISTRATOR", view{width: 1100, height: 900, script: true})
	for name, base := range map[string]string{"": p.consolePath(), "empty ": empty.consolePath()} {
		c.visit(base)
		groups := strings.Fields(c.evaluate(`[...document.querySelectorAll("nav a")].map(a => a.getAttribute("href")).join(" ")`))
		paths := map[string]bool{}
		for _, group := range groups {
			c.visit(group)
			paths[group] = true
			for _, tab := range strings.Fields(c.evaluate(`[...document.querySelectorAll(".tabs a")].map(a => a.getAttribute("href")).join(" ")`)) {
				paths[tab] = true
			}
		}
		if len(paths) < 15 {
			t.Errorf("the navigation leads to %d pages only: %v", len(paths), paths)
		}
		paths[base+"/make-audit-pack"] = true
		for path := range paths {
			c.visit(path)
			c.want("Causeway")
			c.checkEverywhere(name + path)
		}
	}
	c.wantNoComplaints()
}

func TestConsole_AccrualApprovedInAnotherTimeZone(t *testing.T) {
	t.Parallel()
	// A person of finance who sees times in its own zone proposes an accrual of every month, without script; another one approves it, and
	// it is listed with both.
	s := startServiceAt(t, "127.0.0.1:0", "--allow-private-webhooks")
	p, _, _ := s.newWorkload()
	base := p.consolePath()
	_, id, _ := strings.Cut(base, "platforms/")
	s.causeway("ledger", "settings", "set", "fourEyes=ADJUSTMENT", "--platform", "PlatformConfig:"+id, "--actor", "Root")
	ana := s.newColleague("ana@acme.example", "Ana Lima", "FINANCE@PlatformConfig:"+id, view{width: 1100, height: 900, script: true})
	bob := s.newColleague("bob@acme.example", "Bob Ray", "FINANCE@PlatformConfig:"+id, desktop)

	ana.visit("/console/account")
	ana.fill(map[string]string{"zone": "Middle/Earth"})
	ana.pressTo(`form[action$="/time-zone"] button`, http.StatusBadRequest)
	ana.want("must be a time zone")
	ana.checkEverywhere("refused time zone")
	ana.fill(map[string]string{"zone": "Asia/Kolkata"})
	ana.press(`form[action$="/time-zone"] button`)
	ana.want("Times are in the zone Asia/Kolkata")
	ana.checkEverywhere("account with a time zone")
	ana.visit(base + "/payments")
	ana.want("From (Asia/Kolkata)")
	ana.want(" IST")

	ana.visit(base + "/set-recurring")
	ana.checkEverywhere("add a recurring adjustment")
	ana.fill(map[string]string{"name": "fees-accrued", "entries": "expense/rails income/fees", "note": "Fees of the bank",
		"code": ana.spendCode()})
	ana.pressTo("main form button.primary", http.StatusBadRequest)
	ana.want("must be debit account, credit account, amount and currency")
	ana.wantField("note", "Fees of the bank")
	ana.fill(map[string]string{"entries": "expense/rails income/fees 12.50 USD", "code": ana.spendCode()})
	ana.press("main form button.primary")
	ana.want("You have proposed this")
	proposal := ana.evaluate("location.pathname")
	bob.visit(proposal)
	bob.want("Set a recurring adjustment")
	bob.want("12.50")
	bob.checkEverywhere("approval of an adjustment")
	bob.fill(map[string]string{"code": bob.spendCode()})
	bob.press(`button[value="approve"]`)
	bob.want("Decided by")
	ana.visit(base + "/journals")
	ana.checkEverywhere("journals with a recurring adjustment")
	ana.press(`td a[href$="/recurring/fees-accrued"]`)
	ana.want("approved by Bob Ray")
	ana.want("No month was posted yet.")
	ana.checkEverywhere("recurring adjustment")
	ana.press(`a[href$="/end"]`)
	ana.checkEverywhere("end a recurring adjustment")
	for _, b := range []*tab{ana.tab, bob.tab} {
		b.wantNoComplaints(http.StatusBadRequest)
	}
}

func TestConsole_FileOfTheLedger(t *testing.T) {
	t.Parallel()
	// A viewer asks for a file of the ledger, which is written in the background and then has a link; one that is wrong says why.
	s := startServiceAt(t, "127.0.0.1:0", "--allow-private-webhooks")
	p, _, _ := s.newWorkload()
	base := p.consolePath()
	c := s.newColleague("ines@acme.example", "Ines Silva", "VIEWER", view{width: 1100, height: 900, script: true})
	c.visit(base + "/exports")
	c.want("There are no files")
	c.press(`main a[href$="/make-export"]`)
	c.checkEverywhere("make-export")
	c.fill(map[string]string{"currency": "XYZ"})
	c.pressTo("main form button.primary", http.StatusBadRequest)
	c.wantField("currency", "XYZ")
	c.fill(map[string]string{"currency": "usd"})
	c.press("main form button.primary")
	c.want("csv, USD")
	eventually(t, "the file", func() bool {
		c.visit(base + "/exports")
		return c.evaluate(`String(document.querySelector('main td a[href$="/file"]') !== null)`) == "true"
	})
	c.want("completed")
	c.checkEverywhere("exports")
	c.wantNoComplaints(http.StatusBadRequest)
}
