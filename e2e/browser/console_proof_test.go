package browser

import (
	"strings"
	"testing"
)

func TestConsole_PostingProvedInTheBrowser(t *testing.T) {
	t.Parallel()
	// The browser checks by itself that a posting is in the signed log: from what the page shows up to the signature. If the page
	// shows another
	// amount, or the proof or the key is another one, it says so. Without script the page has the proof and the commands.
	s := startServiceAt(t, "127.0.0.1:0", "--allow-private-webhooks", "--seal-every", "1s")
	p, _, _ := s.newWorkload()
	c := s.newColleague("root@acme.example", "Root Admin", "ADMINISTRATOR", view{width: 1100, height: 900, script: true})
	c.visit(p.consolePath() + "/entries?path=fx/position&currency=USD")
	posting := c.evaluate(`document.querySelector("a[href*='/postings/']").getAttribute("href")`)
	p.awaitCheckpoint()
	c.visit(posting)
	c.want("Your browser has checked: this posting is in the signed log.")
	c.checkEverywhere("posting with a proof")
	if got := c.evaluate(`String(document.querySelectorAll(".checks li").length)`); got != "4" {
		t.Errorf("%s checks: %s", got, c.text())
	}
	key := c.evaluate(`document.getElementById("key").value`)
	again := func(change, want string) {
		t.Helper()
		c.evaluate(change)
		c.evaluate(`document.querySelector("[data-proof] form").requestSubmit(); ""`)
		c.want(want)
	}
	const fails = "Your browser has checked: the proof does not hold."
	again(`window.cell = document.querySelector("main table td.amount"); window.was = cell.textContent; cell.textContent = "9" + was`, fails)
	c.want("The leaf and this page differ in: entries.")
	again(`cell.textContent = was`, "this posting is in the signed log.")
	again(`document.getElementById("key").value = "`+strings.Replace(key, key[len(key)-6:], "AAAAAA", 1)+`"`, fails)
	again(`document.getElementById("key").value = "`+key+`"`, "this posting is in the signed log.")
	again(`window.leaf = document.querySelector("[data-is=leaf]"); leaf.textContent = leaf.textContent.replace(/.{8}$/, "AAAAAAAA"); ""`,
		fails)
	c.wantNoComplaints()

	checkpointsInTheBrowser(t, c, p)
	c.setScript(false)
	c.visit(posting)
	c.want("causeway ledger verify")
}

// awaitCheckpoint waits until the newest checkpoint covers all postings.
func (p *platform) awaitCheckpoint() {
	p.t.Helper()
	eventually(p.t, "a checkpoint of all postings", func() bool {
		log := p.call("GET", "/ledger/log", nil)
		return log.text("checkpoint.size") == log.text("postings")
	})
}

// checkpointsInTheBrowser has the browser check that a checkpoint is signed and continues the one before, and say so if it does not.
// The list and the page work without script too, and lead to a posting with its proof in the checkpoint.
func checkpointsInTheBrowser(t *testing.T, c *colleague, p *platform) {
	t.Helper()
	c.visit(p.consolePath() + "/checkpoints")
	c.checkEverywhere("checkpoints")
	p.send("POST", "/sandbox/send", map[string]any{"reference": "UNKNOWN", "currencyCode": "USD", "currencyAmount": 1250}) // one more posting
	p.awaitCheckpoint()
	c.visit(p.consolePath() + "/checkpoints")
	c.press(`td a[href*="/checkpoints/"]`)
	const holds = "Your browser has checked: this checkpoint is signed and continues the one before."
	c.want(holds)
	c.checkEverywhere("checkpoint")
	again := func(change, want string) {
		t.Helper()
		c.evaluate(change)
		c.evaluate(`document.querySelector("[data-consistency] form").requestSubmit(); ""`)
		c.want(want)
	}
	const fails = "Your browser has checked: the proof does not hold."
	again(`window.path = document.querySelector("[data-is=path]"); window.was = path.textContent; path.textContent = was.slice(45); ""`, fails)
	again(`path.textContent = was; ""`, holds)
	again(`window.root = [...document.querySelectorAll("dt")].find((name) => name.textContent === "Root").nextElementSibling;
		window.was = root.textContent; root.textContent = was.slice(1); ""`, fails)
	c.want("Does not hold: The checkpoint has the root")
	again(`root.textContent = was; ""`, holds)
	again(`window.address = location.pathname; history.replaceState(null, "", address + "0"); ""`, fails)
	c.want("Does not hold: The checkpoint is of")
	again(`history.replaceState(null, "", address); ""`, holds)
	again(`window.before = document.querySelector("[data-is=before]"); before.textContent = before.textContent.replace(/\n(\d+)\n/, "\n1\n"); ""`,
		fails)
	c.wantNoComplaints()
	c.setScript(false)
	c.press(`td a[href*="/postings/"]`)
	c.want("In the signed log")
	c.press(`main a[href*="/checkpoints/"]`)
	c.want("Continues the one before")
	c.setScript(true)
}
