package browser

import (
	"os"
	"path/filepath"
	"testing"
)

// person are the details of an individual.
var person = map[string]string{"birthDate": "1990-12-31", "nationality": "DE", "address.line1": "Hauptstraße 1", "address.city": "Berlin",
	"address.postalCode": "10115", "address.country": "DE"}

// write writes a file with content.
func write(t *testing.T, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// newIndividual creates an individual.
func (p *platform) newIndividual() string {
	p.t.Helper()
	return p.call("POST", "/customers", map[string]any{"customerType": "INDIVIDUAL", "region": "DE", "fullName": "Ada Lovelace"}).text("id")
}

func TestVerification_IndividualInBrowser(t *testing.T) {
	t.Parallel()
	// An individual of a production platform leaves fields empty, uploads what is no document, and later one
	// that the operator cannot read; reads each time what is wrong, corrects it, is approved and returns to
	// the platform. So do people with only a keyboard, on a phone in Spanish and in dark, and without script.
	all := startService(t)
	for name, v := range map[string]view{"keyboard": keyboard, "Spanish in dark": spanishDark, "no script": desktop} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := all.in(t)
			p, site := s.newPlatform("Acme Pay", "PRODUCTION"), startWebsite(t)
			customer, file := p.newIndividual(), scan(t)
			b := newTab(t, v)
			b.open(p.newLink(customer, site))
			if v.language != "" {
				b.press(`nav a[hreflang="` + v.language + `"]`)
				b.want(b.say("link.title"))
			}
			b.check("link")
			b.press("form button.primary")
			b.want(b.say("home.change.title"))
			b.check("overview")

			b.press(`a[href="/verification/details"]`)
			b.check("details")
			b.fill(map[string]string{"address.line1": person["address.line1"]})
			b.pressTo("form button.primary", 422)
			b.want(b.say("problem.required"))
			b.wantField("address.line1", person["address.line1"])
			b.check("refused details")
			b.fill(person)
			b.press("form button.primary")
			b.want(b.say("step.done"))
			b.press(`a[href="/verification/documents/own"]`)
			b.check("upload")
			b.uploadRefused(write(t, "passport.jpg", []byte("no photo")), identityDocument("PASSPORT", ""), 422, b.say("problem.file"))
			b.wantField("documentNumber", "C01X00T47")
			b.check("refused upload")
			b.upload(file, nil)
			b.want("scan.png")
			b.check("uploaded")
			b.press(".files button")
			p.wantValue("/documents?documentHolder="+customer, "totalCount", "0")
			b.upload(file, identityDocument("PASSPORT", ""))
			b.want("scan.png")
			b.press(`main a[href="/verification"]`)
			b.want(b.say("home.complete"))
			b.check("complete")
			b.press("form button.primary")
			b.want(b.say("home.waiting.title"))
			b.check("waiting")

			s.request(p, customer, "UNREADABLE_DOCUMENT")
			b.open(s.root + "/verification")
			b.want(b.say("found.UNREADABLE_DOCUMENT"))
			b.check("to correct")
			b.press(`a[href="/verification/documents/own"]`)
			b.upload(file, identityDocument("PASSPORT", ""))
			b.want("scan.png")
			b.press(`main a[href="/verification"]`)
			b.press("form button.primary")
			b.want(b.say("home.waiting.title"))
			s.approve(p, customer)
			if !v.script {
				b.press(`main a[href="/verification"]`)
			}
			b.want(b.say("home.approved.title")) // with script, by itself
			b.check("approved")
			b.returnTo(site)
			p.wantValue("/customers/"+customer, "kycStatus", "APPROVED")
			p.wantValue("/customers/"+customer, "birthDate", "1990-12-31")
			b.wantNoComplaints(422)
		})
	}
}
