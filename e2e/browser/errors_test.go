package browser

import (
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

func TestErrors_AccessibleInBrowser(t *testing.T) {
	t.Parallel()
	// The pages that say what is wrong are accessible on a phone, in light and in dark, and in Spanish.
	all := startService(t)
	for name, v := range map[string]view{"light": phone, "Spanish in dark": spanishDark} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := all.in(t)
			p, b := s.newPlatform("Acme Pay", "PRODUCTION"), newTab(t, v)
			customer := p.newIndividual()
			language := "?lang=" + v.language
			b.open(s.root + "/verification" + language)
			b.want(b.say("error.session.title"))
			b.check("no session")
			b.open(s.root + "/verify/x")
			b.want(b.say("error.link.title"))
			b.check("unknown link")

			expired := p.newLink(customer, nil)
			s.exec(`UPDATE kyc_links SET expires_at = now() - interval '1 second' WHERE customer_id = $1`, customer[len("Customer:"):])
			b.open(expired)
			b.want(b.say("error.link.title"))
			b.check("expired link")

			link := p.newLink(customer, nil)
			openElsewhere(t, link)
			b.open(link)
			b.want(b.say("error.link.title"))
			b.check("used link")

			late := p.newLink(customer, nil)
			b.open(late)
			openElsewhere(t, late)
			b.pressTo("form button.primary", http.StatusGone)
			b.want(b.say("error.link.title"))

			b.start(p.newLink(customer, nil))
			b.open(s.root + "/verification/owners/x")
			b.want(b.say("error.notFound.title"))
			b.check("not found")
			b.open(s.root + "/verification/details")
			b.run(chromedp.SetAttributeValue(chromedp.CSS("[name=csrf]"), "value", "x"),
				chromedp.SetAttributeValue(chromedp.CSS("[name=customer]"), "value", "x"))
			b.pressTo("form button.primary", http.StatusForbidden)
			b.want(b.say("error.forged.title"))
			b.check("forged")
			b.wantNoComplaints(http.StatusForbidden, http.StatusNotFound, http.StatusGone)
		})
	}
}

// openElsewhere opens a link in another browser.
func openElsewhere(t *testing.T, link string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, link, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Origin", link[:strings.Index(link, "/verify/")])
	response, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusSeeOther || len(response.Cookies()) != 1 {
		t.Fatalf("open %s: %d", link, response.StatusCode)
	}
}
