package browser

import (
	"strings"
	"testing"

	"github.com/chromedp/cdproto/webauthn"
)

// addAuthenticator gives the browser of a tab an authenticator that verifies its person.
func (b *tab) addAuthenticator() {
	b.t.Helper()
	command(b, webauthn.Enable, webauthn.EnableParams{})
	command(b, webauthn.AddVirtualAuthenticator, webauthn.AddVirtualAuthenticatorParams{Options: &webauthn.VirtualAuthenticatorOptions{
		Protocol: webauthn.AuthenticatorProtocolCtap2, Transport: webauthn.AuthenticatorTransportInternal,
		HasResidentKey: true, HasUserVerification: true, IsUserVerified: true, AutomaticPresenceSimulation: true}})
}

// activateNow presses a button whose script decides what follows.
func (b *tab) activateNow(selector string) {
	b.t.Helper()
	b.run(b.activate(selector))
}

// wantPath waits until a page of the console with a path is shown.
func (c *colleague) wantPath(path string) {
	c.t.Helper()
	eventually(c.t, "the page "+path, func() bool { return c.evaluate("location.pathname") == path })
}

func TestConsole_Passkey(t *testing.T) {
	t.Parallel()
	// A person adds a passkey after a code, signs out, signs in with the passkey alone, and approves with it what another has proposed.
	// Without script, the password and a code go on working, and no passkey is offered.
	s := startService(t)
	p := s.newPlatform("Acme Pay", "SANDBOX")
	id := strings.TrimPrefix(p.consolePath(), "/console/platforms/")
	s.causeway("ledger", "settings", "set", "fourEyes=ADJUSTMENT", "--platform", "PlatformConfig:"+id, "--actor", "Root")
	c := s.newColleague("ada@acme.example", "Ada Lovelace", "FINANCE", view{width: 1100, height: 900, script: true})
	c.addAuthenticator()

	c.visit("/console/account")
	c.check("your account")
	c.fill(map[string]string{"name": "work laptop", "code": c.code(1)})
	c.activateNow("[data-passkey=create] button")
	c.want("never")
	c.want("work laptop")
	c.press(".who form button")
	c.visit("/console/sign-in?next=" + p.consolePath() + "/proposals")
	c.activateNow("[data-passkey=sign-in] button")
	c.wantPath(p.consolePath() + "/proposals")

	proposed := p.call("POST", "/ledger/adjustments", map[string]any{"note": "The bank's fee", "entries": []any{map[string]any{
		"debit": "expense/rails", "credit": "rails/WIRE", "currency": "USD", "amount": 700}}}).text("id")
	c.visit(p.consolePath() + "/proposals/" + strings.TrimPrefix(proposed, "Proposal:"))
	c.activateNow("[data-passkey=confirm] button")
	c.want("Confirmed with your passkey.")
	c.press(`button[value="approve"]`)
	c.want("executed")
	if status := p.call("GET", "/ledger/proposals/"+proposed, nil).text("status"); status != "EXECUTED" {
		t.Errorf("the proposal is %s", status)
	}
	c.visit("/console/account")
	if c.evaluate(`String(document.body.innerText.includes("never"))`) == "true" {
		t.Error("the passkey was never used")
	}
	c.wantNoComplaints()

	c.press(".who form button")
	c.setScript(false)
	c.visit("/console/sign-in")
	c.wantNone("[data-passkey]:not([hidden])")
	c.fill(map[string]string{"email": c.email, "password": c.password, "code": c.recovery[0]})
	c.press("main form button.primary")
	c.visit("/console/account")
	c.want("This browser has no passkeys, or runs no script.")
}
