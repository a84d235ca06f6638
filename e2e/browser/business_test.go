package browser

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"causeway/e2e/kit"
)

var address = map[string]string{"line1": "1 Main St", "city": "Austin", "state": "TX", "postalCode": "78701", "country": "US"}

// with returns fields with those of an address at a path.
func with(path string, fields map[string]string) map[string]string {
	all := maps.Clone(fields)
	for name, value := range address {
		all[path+"."+name] = value
	}
	return all
}

func owner(firstName, lastName, identifier, percentage string) map[string]string {
	return with("personalInfo.address", map[string]string{"ownershipPercentage": percentage, "personalInfo.firstName": firstName,
		"personalInfo.lastName":  lastName,
		"personalInfo.birthDate": "1970-01-02", "personalInfo.nationality": "US", "personalInfo.idType": "SSN",
		"personalInfo.identifier": identifier})
}

// details are those of a business.
func details(registrationNumber string) map[string]string {
	return with("address", map[string]string{"businessInfo.country": "US", "businessInfo.entityType": "CORPORATION",
		"businessInfo.registrationNumber": registrationNumber, "businessInfo.incorporatedOn": "2020-01-01", "businessInfo.taxId": "12-3456789"})
}

// identityDocument are the fields of a passport or card.
func identityDocument(kind, side string) map[string]string {
	return map[string]string{"documentType": kind, "side": side, "country": "DE", "documentNumber": "C01X00T47",
		"issuingAuthority": "Stadt Berlin"}
}

// addOwner adds an owner with a role, and returns to the overview.
func (b *tab) addOwner(fields map[string]string, role string) {
	b.t.Helper()
	b.press(`a[href="/verification/owners/new"]`)
	b.fill(fields)
	b.tick(role)
	b.press("form button.primary")
	b.want(fields["personalInfo.firstName"])
}

// uploadBusinessDocuments uploads what a business needs, and returns to the overview.
func (b *tab) uploadBusinessDocuments(file string) {
	b.t.Helper()
	b.press(`a[href="/verification/documents/own"]`)
	for _, kind := range []string{"CERTIFICATE_OF_INCORPORATION", "DIRECTOR_REGISTRY", "SHAREHOLDER_REGISTER", "UTILITY_BILL"} {
		b.upload(file, map[string]string{"documentType": kind, "country": "US"})
		b.want(b.say("document."+kind) + ":")
	}
	b.check("documents")
	b.press(`main a[href="/verification"]`)
}

func TestVerification_BusinessInBrowser(t *testing.T) {
	t.Parallel()
	// A business with two owners is verified on a phone in dark, and on a computer without script. Every
	// page is accessible in both, fits on the screen, and the browser complains about nothing.
	s := startService(t)
	for name, v := range map[string]view{"dark": darkPhone, "no script": desktop} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, file := s.in(t).newPlatform("Acme Pay", "SANDBOX"), scan(t)
			business := p.newBusiness()
			b := newTab(t, v)
			b.open(p.newLink(business, nil))
			b.check("link")
			b.press("form button.primary")
			b.want("What we need from you")
			b.check("overview")

			b.press(`a[href="/verification/details"]`)
			b.check("details")
			b.fill(details("12345"))
			b.fill(map[string]string{"businessInfo.incorporatedOn": "2190-01-01"})
			b.pressTo("form button.primary", 422)
			b.want("Enter a date in the past.")
			b.check("refused details")
			b.fill(map[string]string{"businessInfo.incorporatedOn": "2020-01-01"})
			b.press("form button.primary")
			b.want("What we need from you")
			b.press(`a[href="/verification/owners/new"]`)
			b.check("owner")
			b.press(`main a[href="/verification"]`)
			b.addOwner(owner("Grace", "Hopper", "123-45-6789", "60"), "CONTROL_PERSON")
			b.addOwner(owner("Ada", "Lovelace", "123-45-6788", "40"), "CONTROL_PERSON")
			b.uploadBusinessDocuments(file)
			b.want("Everything is complete")
			b.check("complete")
			b.press("form button.primary")
			b.want("You are verified")
			b.check("approved")
			if v.dark {
				b.screenshot("verification-approved")
			}

			if status := p.call("GET", "/customers/"+business, nil).text("kybStatus"); status != "APPROVED" {
				t.Errorf("the status is %s", status)
			}
			b.wantNoComplaints(422)
		})
	}
}

// personal are words of the business and its owners that only they and the platform know.
var personal = []string{"Nordlicht", "12-3456789", "Grace", "Hopper", "Lovelace", "12345678901", "123-45-6788", "1970-01-02", "1 Main St",
	"78701", "C01X00T47", "Stadt Berlin", "scan.png"}

func TestVerification_BusinessFromInvitationToErasure(t *testing.T) {
	t.Parallel()
	// A business that a customer of another platform invited opens its link in a browser, corrects what is
	// refused, and enters its data, two owners and the documents that the pages ask for. An operator approves
	// it, it returns to the platform, pays, is deleted and erased. Afterwards nothing personal can be read.
	s := startService(t)
	inviting, p, site := s.newPlatform("First Pay", "SANDBOX"), s.newPlatform("Acme Pay", "SANDBOX"), startWebsite(t)
	inviting.call("PATCH", "/config", map[string]any{"invitationUrl": "https://example.com/join"})
	inviter := inviting.call("POST", "/customers", kit.CustomerBody()).text("umaAddress")
	invitation := inviting.call("POST", "/invitations", map[string]any{"inviterUma": inviter, "firstName": "Grace"}).text("code")
	business := p.newBusiness()
	umaAddress := "$nordlicht@" + p.call("GET", "/config", nil).text("umaDomain")
	p.call("PATCH", "/customers/"+business, map[string]any{"customerType": "BUSINESS", "umaAddress": umaAddress})
	if status := p.call("POST", "/invitations/"+invitation+"/claim", map[string]any{"inviteeUma": umaAddress}).text(
		"status"); status != "CLAIMED" {
		t.Fatalf("the invitation is %s", status)
	}
	wallet := p.call("POST", "/customers/external-accounts", kit.WalletBody(business, "")).text("id")
	payment := kit.RampQuoteBody(business, wallet, "SENDING", 100_50)
	if refused := p.send("POST", "/quotes", payment); refused.text("code") != "USER_NOT_READY" {
		t.Errorf("a payment before it is verified: %s", refused.body)
	}

	link, file, b := p.newLink(business, site), scan(t), newTab(t, phone)
	b.open(link)
	b.check("link")
	b.screenshot("verification-start")
	b.press("form button.primary")
	for _, missing := range []string{"Tax number", "who owns the business", "Acme Pay"} {
		b.want(missing)
	}
	b.check("overview")
	b.screenshot("verification-overview")
	b.press(`a[href="/verification/details"]`)
	b.check("details")
	b.fill(details("HRB 12001")) // a test value: a person decides
	b.fill(map[string]string{"businessInfo.taxId": "12-345"})
	b.press("form button.primary")
	b.want("Some details are not valid")
	b.press(`a[href="/verification/details"]`)
	b.want("nine digits")
	b.fill(map[string]string{"businessInfo.taxId": "12-3456789"})
	b.press("form button.primary")
	grace := owner("Grace", "Hopper", "12345678901", "60")
	maps.Copy(grace, map[string]string{"personalInfo.nationality": "DE", "personalInfo.idType": "NON_US_TAX_ID",
		"personalInfo.countryOfIssuance": "DE"})
	b.addOwner(grace, "CONTROL_PERSON")
	b.want("A passport")
	b.press(`a[href="/verification/owners/new"]`)
	b.fill(owner("Ada", "Lovelace", "123-45-6788", "41"))
	b.tick("UBO")
	b.pressTo("form button.primary", 422)
	b.want("All owners together have at most 100 percent")
	b.check("refused owner")
	b.fill(map[string]string{"ownershipPercentage": "40"})
	b.press("form button.primary")
	b.want("Ada Lovelace")
	b.uploadBusinessDocuments(file)
	b.press(`.steps li:nth-child(4) a[href^="/verification/documents/"]`)
	b.upload(file, identityDocument("PASSPORT", ""))
	b.want("Passport:")
	b.upload(file, identityDocument("NATIONAL_ID", "FRONT"))
	b.want("Front:")
	b.press(`main a[href="/verification"]`)
	if strings.Contains(b.text(), "Everything is complete") {
		t.Fatalf("it can be submitted without the other side of the card\n%s", b.text())
	}
	b.press(`.steps li:nth-child(4) a[href^="/verification/documents/"]`)
	b.upload(file, identityDocument("NATIONAL_ID", "BACK"))
	b.want("Back:")
	b.press(`main a[href="/verification"]`)
	b.want("Everything is complete")
	b.check("complete")
	b.press("form button.primary")
	b.want("We are checking your details")
	b.check("waiting")

	b.press(`main a[href="/verification"]`)
	b.want("We are checking your details")

	s.approve(p, business)
	b.open(s.root + "/verification") // unless the page has shown it already
	b.want("You are verified")
	b.check("approved, with a way back")
	b.returnTo(site)
	p.wantValue("/customers/"+business, "kybStatus", "APPROVED")
	p.wantValue("/customers/"+business, "businessInfo.taxId", "12-3456789")
	quote := p.call("POST", "/quotes", payment)
	p.call("POST", "/sandbox/send", map[string]any{"reference": quote.text("paymentInstructions.0.accountOrWalletInfo.reference"),
		"currencyCode": "USD"})
	eventually(t, "the payment", func() bool {
		return p.call("GET", "/transactions/"+quote.text("transactionId"), nil).text("status") == "COMPLETED"
	})
	owners := [2]string{p.call("GET", "/beneficial-owners?customerId="+business, nil).text("data.0.id"),
		p.call("GET", "/beneficial-owners?customerId="+business, nil).text("data.1.id")}
	readable := []string{"/customers/" + business, "/beneficial-owners?customerId=" + business, "/beneficial-owners/" + owners[0],
		"/beneficial-owners/" + owners[1],
		"/documents?documentHolder=" + business, "/documents?documentHolder=" + owners[0], "/documents?documentHolder=" + owners[1],
		"/verifications?customerId=" + business, "/transactions/" + quote.text("transactionId"), "/transactions?customerId=" + business,
		"/quotes/" + quote.text("id"),
		"/customers/internal-accounts?customerId=" + business, "/customers/external-accounts?customerId=" + business,
		"/invitations/" + invitation}
	before := p.readAll(readable)
	for _, word := range []string{"Nordlicht", "12-3456789", "Grace", "Hopper", "Lovelace", "1970-01-02", "1 Main St",
		"C01X00T47", "scan.png"} {
		if !strings.Contains(before, word) {
			t.Errorf("before it is erased, %q cannot be read", word)
		}
	}

	p.call("DELETE", "/customers/"+business, nil)
	b.open(s.root + "/verification")
	b.want("This link cannot be used any more")
	s.causeway("customers", "erase", business, "--platform", p.PlatformID, "--actor", "ana", "--now")
	p.wantValue("/documents?documentHolder="+business, "totalCount", "0")
	after := p.readAll(readable) + s.causeway("customers", "show", business, "--platform", p.PlatformID) + b.text() +
		s.process.Output() + s.storedTexts()
	for _, word := range append(personal, umaAddress) {
		if at := strings.Index(after, word); at >= 0 {
			t.Errorf("%q can be read: %s", word, after[max(0, at-200):min(len(after), at+100)])
		}
	}
	eventually(t, "the deletion of the files", func() bool { return s.countFiles() == 0 })
	b.open(link)
	b.want("This link cannot be used any more")
	s.causeway("ledger", "verify")
	b.wantNoComplaints(422, 410)
}

// approve approves what waits for a person, as an operator.
func (s *service) approve(p *platform, customer string) {
	s.t.Helper()
	s.review("approve", p, customer)
}

// request asks for the correction of a problem, as an operator.
func (s *service) request(p *platform, customer, problem string) {
	s.t.Helper()
	s.review("request", p, customer, "--problem="+problem+"=Ticket 17")
}

// review runs a command of causeway reviews on what a customer has submitted.
func (s *service) review(command string, p *platform, customer string, flags ...string) {
	s.t.Helper()
	verification := ""
	eventually(s.t, "a review", func() bool {
		found := p.call("GET", "/verifications?customerId="+customer, nil)
		verification = found.text("data.0.id")
		return found.text("data.0.verificationStatus") == "PENDING_MANUAL_REVIEW"
	})
	shown := s.causeway("reviews", "show", verification, "--platform", p.PlatformID)
	application := regexp.MustCompile(`application +(\S+)`).FindStringSubmatch(shown)
	if application == nil {
		s.t.Fatalf("no application is shown:\n%s", shown)
	}
	s.causeway(append([]string{"reviews", command, verification, "--platform", p.PlatformID, "--application", application[1], "--actor", "ana",
		"--reason", "Ticket 17"}, flags...)...)
}

// returnTo returns to the website.
func (b *tab) returnTo(site *website) {
	b.t.Helper()
	b.press(`a[href="/verification/return"]`)
	b.want("Welcome back")
	if got := site.visits(); got[0] != "/done?customer=1 from " {
		b.t.Errorf("the platform was visited with %q", got)
	}
}

// wantValue checks a value of a resource.
func (p *platform) wantValue(path, field, want string) {
	p.t.Helper()
	if got := p.call("GET", path, nil).text(field); got != want {
		p.t.Errorf("%s of %s is %q; want %q", field, path, got, want)
	}
}

// readAll returns all responses of some requests.
func (p *platform) readAll(paths []string) string {
	p.t.Helper()
	var all strings.Builder
	for _, path := range paths {
		a := p.send("GET", path, nil)
		if a.status >= 500 {
			p.t.Errorf("%s: %d", path, a.status)
		}
		fmt.Fprintf(&all, "%s: %s\n", path, a.body)
	}
	return all.String()
}

// storedTexts returns every row of every table, as text.
func (s *service) storedTexts() string {
	s.t.Helper()
	db, all := s.openDatabase(), ""
	rows := func(query string) (texts []string) {
		found, err := db.QueryContext(s.t.Context(), query)
		if err != nil {
			s.t.Fatal(err)
		}
		defer found.Close()
		for found.Next() {
			var text string
			if err := found.Scan(&text); err != nil {
				s.t.Fatal(err)
			}
			texts = append(texts, text)
		}
		if err := found.Err(); err != nil {
			s.t.Fatal(err)
		}
		return texts
	}
	for _, table := range rows(`SELECT format('%I', tablename) FROM pg_tables WHERE schemaname = 'public'`) {
		all += table + ": " + strings.Join(rows("SELECT r::text FROM "+table+" r"), "\n") + "\n"
	}
	return all
}

// countFiles returns how many uploaded files are stored.
func (s *service) countFiles() (n int) {
	s.t.Helper()
	if err := filepath.WalkDir(s.files, func(_ string, entry os.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() {
			n++
		}
		return nil // files are deleted meanwhile
	}); err != nil {
		s.t.Fatal(err)
	}
	return n
}
