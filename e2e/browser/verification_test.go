package browser

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

var address = map[string]string{"line1": "1 Main St", "city": "Austin", "state": "TX", "postalCode": "78701", "country": "US"}

func addressAt(path string, fields map[string]string) map[string]string {
	for name, value := range address {
		fields[path+"."+name] = value
	}
	return fields
}

func owner(firstName, lastName, identifier, percentage string) map[string]string {
	return addressAt("personalInfo.address", map[string]string{"ownershipPercentage": percentage, "personalInfo.firstName": firstName, "personalInfo.lastName": lastName,
		"personalInfo.birthDate": "1970-01-02", "personalInfo.nationality": "US", "personalInfo.idType": "SSN", "personalInfo.identifier": identifier})
}

func TestVerification_BusinessInBrowser(t *testing.T) {
	t.Parallel()
	// A business with two owners is verified on a phone, in dark, and on a computer without script. Every
	// page is accessible in all of them, fits on the screen, and the browser complains about nothing.
	s := startService(t)
	for name, v := range map[string]view{"phone": phone, "dark": darkPhone, "no script": desktop} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := scan(t)
			business, link := s.newLink()
			b := newTab(t, v)
			b.open(link)
			b.check("link")
			b.shoot(name, "verification-start")
			b.press("form button")
			b.want("What we need from you")
			b.check("overview")
			b.shoot(name, "verification-overview")

			b.press(`a[href="/verification/details"]`)
			b.check("details")
			b.fill(addressAt("address", map[string]string{"businessInfo.country": "US", "businessInfo.entityType": "CORPORATION",
				"businessInfo.registrationNumber": "12345", "businessInfo.incorporatedOn": "2190-01-01", "businessInfo.taxId": "12-3456789"}))
			b.press("form button")
			b.want("Enter a date in the past.")
			b.check("refused details")
			b.fill(map[string]string{"businessInfo.incorporatedOn": "2020-01-01"})
			b.press("form button")
			b.want("What we need from you")
			for _, o := range []map[string]string{owner("Grace", "Hopper", "123-45-6789", "60"), owner("Ada", "Lovelace", "123-45-6788", "40")} {
				b.press(`a[href="/verification/owners/new"]`)
				b.check("owner")
				b.fill(o)
				b.tick("CONTROL_PERSON")
				b.press("form button")
				b.want(o["personalInfo.firstName"])
			}
			b.press(`a[href="/verification/documents/own"]`)
			for _, kind := range []string{"CERTIFICATE_OF_INCORPORATION", "DIRECTOR_REGISTRY", "SHAREHOLDER_REGISTER", "UTILITY_BILL"} {
				b.fill(map[string]string{"documentType": kind, "country": "US"})
				b.run(chromedp.SetUploadFiles(chromedp.CSS("[type=file]"), []string{file}))
				b.press("form button")
				b.want(map[string]string{"CERTIFICATE_OF_INCORPORATION": "Certificate of incorporation:", "DIRECTOR_REGISTRY": "Register of directors:",
					"SHAREHOLDER_REGISTER": "Register of shareholders:", "UTILITY_BILL": "Utility bill:"}[kind])
			}
			b.check("documents")
			b.press(`main a[href="/verification"]`)
			b.want("Everything is complete")
			b.check("complete")
			b.press("form button")
			b.want("You are verified")
			b.check("approved")
			b.shoot(name, "verification-approved")

			if status := s.call("GET", "/customers/"+business, "", "kybStatus"); status != "APPROVED" {
				t.Errorf("the status is %s", status)
			}
			if complaints := b.complaints(); len(complaints) > 0 {
				t.Errorf("the browser said:\n%s", strings.Join(complaints, "\n"))
			}
		})
	}
}

// shoot takes the pictures of the documentation: two on the phone, and one in dark.
func (b *tab) shoot(run, name string) {
	b.t.Helper()
	if run == "phone" && name != "verification-approved" || run == "dark" && name == "verification-approved" {
		b.screenshot(name)
	}
}
